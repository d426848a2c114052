/** Answers about kept changes, by docs/account.md: `Device.open({ rules: allRules({ changes }), … })` keeps them. A value is the list of the values of all days of the period so far. */
import { isPaid, named, refuse, same } from "./account.js";
import { asBytes, below, bits, digest, hex, utf8 } from "./parts.js";
import { DAY, keyed, periodOf } from "./rules.js";
/** Return a whole number below a bound of any size, by rejection. */
function large(source, bound) {
    const size = (bound - 1n).toString(2).length * +(bound > 1n);
    const length = (size + 7) >> 3;
    for (;;) {
        const drawn = source.take(length).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n) >> BigInt(8 * length - size);
        if (drawn < bound)
            return drawn;
    }
}
/** Return the numbers of patterns of `size` places with 0, 1, … flips. */
function binomials(size) {
    const row = [1n];
    for (let at = 0; at < size; at++)
        row.push((row[at] * BigInt(size - at)) / BigInt(at + 1));
    return row;
}
/** Return the first index at which the sum of some numbers is above a place. */
function find(counts, place) {
    let [at, sum] = [0, counts[0]];
    while (place >= sum)
        sum += counts[++at];
    return at;
}
/** Draw the pattern of flips of a group: in a Hamming ball, or outside with the smaller probability. */
function flipsOf([top, bottom], size, source) {
    const ways = binomials(size);
    const means = binomials(size - 1);
    const all = 1n << BigInt(size);
    const inside = [];
    for (const count of ways.slice(0, size))
        inside.push((inside.at(-1) ?? 0n) + count);
    let [best, radius] = [[0n, 1n], 0];
    inside.forEach((count, at) => {
        const mean = [means[at], count * (top - bottom) + (bottom << BigInt(size))];
        if (mean[0] * best[1] > best[0] * mean[1])
            [best, radius] = [mean, at];
    });
    const [near, far] = [inside[radius] * top, (all - inside[radius]) * bottom];
    const held = large(source, 1n << 128n) < (near << 128n) / (near + far);
    const places = [large(source, inside[radius]), large(source, all - inside[radius])];
    let left = held ? find(ways, places[0]) : radius + 1 + find(ways.slice(radius + 1), places[1]);
    return Array.from({ length: size }, (_, at) => {
        const flip = +(below(source, size - at) < left);
        left -= flip;
        return flip;
    });
}
/** Draw the reports of the intervals that are over: rows of group, interval and cell. Return them with the number of changes that were in all so far. */
export function drawChange(question, codes, { group, changes, all, before, intervals }, reported, flips, source) {
    const length = group ? 2 ** (group - 1) : 1;
    const pattern = changes > 1 && group ? flipsOf(question.ratio, Math.min(changes, all), flips) : [];
    let moves = 0;
    // After as many changes as are kept, a value stays as it is.
    const still = codes.map((code, day) => {
        if (day && code !== codes[day - 1])
            moves++;
        return codes[0] ^ (Math.min(moves, changes) & 1);
    });
    const rows = [];
    for (let interval = before; interval < intervals; interval++) {
        const coin = bits(source, 1);
        const [begin, end] = [interval * length, Math.min((interval + 1) * length, codes.length - 1)];
        const moved = group > 0 && reported < (pattern.length || 1) && still[end] !== still[begin];
        const own = moved ? still[end] : group ? coin : codes[0];
        const cell = pattern.length ? (moved ? own ^ pattern[reported] : coin) : question.draw(own, source)[0];
        rows.push(group, interval, cell);
        reported += +moved;
    }
    return [Uint8Array.from(rows.flatMap((row) => [...asBytes(row, 4)])), reported];
}
/** Return a secret number for each number of intervals: a bit, or 16 bits for more than one change. */
function pad(key, facts, { period, changes }, intervals) {
    const [low = 0, high = 0] = keyed(key, facts, [period, intervals], 2).take(2);
    return changes === 1 ? low & 1 : low + 256 * high;
}
/** Return the intervals that are over and were not reported, or undefined. */
function due(state, facts, choice, today) {
    if (choice.device !== state.device)
        return; // another device of the person drew the group, and reports
    const [days, changes] = [facts.days, facts.changes];
    const group = Math.floor(choice.day / changes);
    const passed = today - choice.period;
    const length = group ? 2 ** (group - 1) : 1;
    const intervals = !group ? 1 : passed === days - 1 ? Math.ceil(passed / length) : Math.floor(passed / length);
    const kept = state.trees?.find((one) => same(one, facts) && one.period === choice.period);
    const before = kept?.intervals ?? 0;
    const all = group ? Math.ceil((days - 1) / length) : 1;
    return intervals > before ? { period: choice.period, group, changes, all, days: passed + 1, before, mark: kept?.mark ?? null, intervals } : undefined;
}
/** What `allRules` takes: `allRules({ changes })`. */
export const changes = {
    knows: ({ days, start, changes }) => [days, start, changes].every(Number.isInteger) && changes >= 1 && changes <= 1000 && days > changes,
    of(question, days, changes) {
        const { domain, cells } = JSON.parse(question.device);
        if (question.kind !== "response" || domain.kind !== "categories" || cells !== 2)
            return;
        const fingerprint = digest(utf8(`{"changes":${changes},"days":${days},"draw":"kept change${changes > 1 ? "s" : ""}","part":${question.device}}`));
        const inside = (given) => {
            const codes = Array.isArray(given) ? [...given].map(question.inside) : [undefined];
            return codes.includes(undefined) ? undefined : codes;
        };
        return { ...question, fingerprint, inside };
    },
    decide(state, kept, facts, entry, short, drawing) {
        const today = Math.floor(state.clock.wall / DAY);
        const [period] = periodOf(facts, today);
        let choice = state.choices.find((one) => same(one, facts) && one.repeat === "kept change" && one.period === period);
        if (!choice && drawing) {
            const groups = 1 + (facts.days - 1).toString(2).length;
            choice = { ...named(facts), repeat: "kept change", period, day: below(drawing.source, groups * facts.changes), device: state.device, answer: null };
            state = kept = { ...state, choices: [...state.choices, choice] };
        }
        const owed = choice && due(state, facts, choice, today);
        if (!owed)
            return [{ is: "silent" }, kept];
        const isFirst = choice.answer === null;
        if (!isFirst && !isPaid(state.entries.find(({ id }) => id === choice.answer), entry))
            return refuse("changed");
        const reason = isFirst && short(state);
        if (reason)
            return [refuse(reason)[0], kept];
        const drawn = drawing?.change(owed);
        if (drawing && !drawn)
            return [{ is: "refused", reason: "value", words: `question "${facts.question}": expected the values of all ${owed.days} days of the period so far` }, kept];
        const [report, mark] = drawn ?? [];
        const next = { ...state };
        if (isFirst) {
            next.entries = [...state.entries, entry];
            next.choices = state.choices.map((one) => (one === choice ? { ...one, answer: entry.id } : one));
        }
        const others = state.trees?.filter((one) => !same(one, facts) || one.period !== period) ?? [];
        next.trees = [...others, { ...named(facts), period, intervals: owed.intervals, mark: mark }];
        next.queue = [...state.queue, { ...named(facts), id: entry.id, report: report, batch: null }];
        return [{ is: "drawn", charged: isFirst ? entry.epsilon : "0", report }, next];
    },
    draw(question, codes, facts, owed, key, source) {
        if (codes.length !== owed.days)
            return;
        const reported = owed.mark === null ? 0 : pad(key, facts, owed, owed.before) ^ owed.mark;
        const [report, now] = drawChange(question, codes, owed, reported, keyed(key, facts, [owed.period, owed.group], 3), source);
        return [hex(report), pad(key, facts, owed, owed.intervals) ^ now];
    },
};
