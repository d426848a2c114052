/** What every draw is, and the parts that draws share: domains, coins, the lottery of windows, start rules. */
import { bits, highest, little, word } from "./source.js";
import { hex, hexadecimal, need, real, integer } from "./text.js";
/** Return the interval or the circle of a device text. */
export function line({ domain, outside }) {
    const turn = domain.kind === "circle";
    need(outside === (turn ? "wrap" : "clip") && (turn || domain.kind === "interval"), "domain");
    const low = turn ? 0 : real(domain, "low");
    const high = real(domain, turn ? "period" : "high");
    need(low >= -1e30 && high <= 1e30 && high - low >= 1e-30, "domain");
    const inside = (value) => {
        if (typeof value !== "number" || value !== value)
            return;
        if (!turn)
            return Math.min(Math.max(value, low), high);
        const turned = value % high;
        return turned === turned ? (turned + high * +(turned < 0)) % high : undefined; // just below 0 rounds to the period: 0
    };
    return [inside, [low, high]];
}
/** Return the categories of a device text. */
export function codes({ domain, outside }) {
    need(domain.kind === "categories" && outside === "refuse", "domain");
    if (domain.count !== undefined) {
        const count = integer(domain, "count", 2, 2 ** 32);
        return [(value) => (Number.isInteger(value) && value >= 0 && value < count ? value : undefined), count];
    }
    const labels = domain.labels;
    const known = new Map(labels.map((label, code) => {
        need(typeof label !== "number" || Number.isSafeInteger(label), "domain"); // a fraction is {"number": 0.5}
        return [Object(label) === label ? real(label, "number") : label, code];
    }));
    // Some languages take truth values for 1 and 0.
    const both = (known.has(true) && known.has(1)) || (known.has(false) && known.has(0));
    need(known.size > 1 && known.size === labels.length && !both, "domain");
    return [(value) => known.get(value), known.size];
}
/** Return an integer below 2^48 as bytes, lowest byte first. */
export const asBytes = (value, length) => Uint8Array.from({ length }, (_, at) => value * 2 ** (-8 * at)); // each is taken modulo 256
/** Return a report below `cells` as 1, 2, 4 or 8 bytes. */
export function asCell(value, cells) {
    let length = 1;
    while (256 ** length < cells)
        length *= 2;
    return asBytes(value, length);
}
/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export function coin(given, field) {
    const heads = hexadecimal(given, field, 32);
    const high = heads >> 64n;
    const low = BigInt.asUintN(64, heads);
    const toss = (source) => {
        const first = word(source.take(8));
        return +(first === high ? word(source.take(8)) < low : first < high);
    };
    return [toss, heads, (1n << 128n) - heads];
}
/** A ticket below `tickets`, each with probability step/2^bits, or none. Return the lottery, step and 2^bits. */
export function lottery(tickets, given) {
    const size = given["bits"];
    const step = hexadecimal(given, "step", 24);
    const many = BigInt(tickets);
    const long = step >> 32n;
    const early = size / 8 - 4;
    need(size === 96 ? step : size === 64 && long, "step");
    const all = 1n << BigInt(size - 32); // the range of the early bytes
    need(many * (long + 1n) <= all, "step");
    const draw = (source, extra) => {
        let taken = source.take(early + ((extra + 7) >> 3));
        let begin = early;
        const drew = early < 8 ? BigInt(little(taken, 0, 4, 1)) - all : word(taken); // see `little`
        let drawn = drew < many * long;
        let ticket = Number(drew / (long || 1n)); // also if it is not used: the time must not reveal this
        const last = drew - all + many; // no number: see `little`
        if (last >= 0) {
            // The late word: the four bytes after the early ones decide, and four new bytes are taken at the end.
            taken = Uint8Array.of(...taken, ...source.take(4));
            drawn = little(taken, early, (begin += 4)) < BigInt.asUintN(32, step);
            ticket = Number(last);
        }
        return [+drawn, ticket, highest(taken, extra, begin)];
    };
    return [draw, step, 1n << BigInt(size)];
}
/** Return x·2^−size rounded at random: up with the probability of its fraction. With + 0 it is not −0, because engines would check for it only at 0. */
const rounded = (x, source, size = 16) => Math.floor((x + bits(source, size)) * 2 ** -size) + 0;
/** Read a start rule for windows of this number of cells, and values between two ends. */
export function readStart(given, cells, ends) {
    const kind = given["kind"];
    const origin = real(given, "origin");
    const scale = real(given, "scale");
    const place = (value) => Math.trunc((value - origin) * scale);
    // Cut to 0 … last without Math.min and Math.max, because their time reveals the side. All are integers below 2^52.
    const within = (value, last) => (Math.abs(place(value)) - Math.abs(place(value) - last) + last) / 2;
    const room = 2 ** (cells > 65536 ? 52 : 31);
    const far = Math.max(...ends.map((end) => Math.abs(end - origin) * scale));
    need(scale > 0 && far * (1 + 2 ** -19) < room, "start"); // Python's narrow floats may exceed an end
    if (kind === "line") {
        const fraction = integer(given, "fraction", 0, 30);
        const free = given["last"] === null;
        const last = free ? far : integer(given, "last", 0, room);
        need(last <= room - 2 ** fraction, "start");
        return (value, source) => rounded(free ? place(value) : within(value, last), source, fraction);
    }
    const table = [];
    if (kind === "steps") {
        given["counts"].forEach((count, i) => {
            for (let left = integer(given, "counts", 1, 65536 - table.length, count); left--;)
                table.push(integer(given, "starts", 0, cells - 1, given["starts"][i]));
        });
        need(table.length, "start");
        return (value) => table[within(value, table.length - 1)];
    }
    const bytes = Uint8Array.from(given["bits"].match(/../g), (pair) => parseInt(pair, 16));
    need(kind === "knots" && cells <= 65536 && hex(bytes) === given["bits"], "start");
    const most = cells * 65536;
    table.push(integer(given, "first", 0, most - 1));
    for (const [count, base] of given["pieces"]) {
        for (let left = integer(given, "pieces", 1, 32768 - table.length, count); left--;) {
            const at = table.length - 1;
            const entry = table[at] + integer(given, "pieces", -most, most, base) + ((bytes[at >> 3] >> (at & 7)) & 1);
            table.push(integer(given, "pieces", 0, most - 1, entry));
        }
    }
    const size = table.length - 1;
    need(size && bytes.length === (size + 7) >> 3 && !(bytes.at(-1) >> (((size - 1) & 7) + 1)), "start");
    return (value, source) => rounded(table[rounded(within(value, size * 65536 - 1), source)], source);
}
