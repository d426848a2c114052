/** One person with several devices: budgets that are divided beforehand, and accounts that are merged. */
import { fits } from "./account.js";
const FIELDS = ["epsilon", "delta"];
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export const canonical = (value) => Array.isArray(value)
    ? `[${value.map(canonical)}]`
    : Object(value) === value
        ? `{${Object.keys(value)
            .sort()
            .map((key) => JSON.stringify(key) + ":" + canonical(value[key]))}}`
        : JSON.stringify(value);
const copy = (data) => JSON.parse(JSON.stringify(data));
/** Sort by fields, one after the other: texts by their UTF-16 code units. */
function sorted(list, ...keys) {
    return [...list].sort((a, b) => {
        for (const key of keys)
            if (a[key] !== b[key])
                return a[key] < b[key] ? -1 : 1;
        return 0;
    });
}
/** Return a state with its lists in the order of docs/account.md, as it is compared and exported. A store keeps them as they came. */
export function ordered(state) {
    return {
        ...state,
        entries: sorted(state.entries, "id"),
        answers: sorted(state.answers, "asker", "question", "fingerprint", "permanent"),
        choices: sorted(state.choices, "asker", "question", "fingerprint", "repeat", "period"),
        ...(state.coins && { coins: sorted(state.coins, "asker", "name") }),
        ...(state.told && { told: [...state.told].sort() }),
        ...(state.trees && { trees: sorted(state.trees, "asker", "question", "fingerprint", "period") }),
        ...(state.present && { present: sorted(state.present, "asker", "name") }),
    };
}
const equal = (a, b) => canonical(a) === canonical(b);
/** Give part/whole of this device's budget to another device. */
export function split(state, device, [part, total]) {
    const own = copy(state.own);
    const gift = copy(state.own);
    for (const [mine, theirs] of [[own, gift], [own.lifetime, gift.lifetime]]) {
        for (const field of mine && theirs ? FIELDS : []) {
            const all = BigInt(`0x${mine[field]}`);
            const given = (all * BigInt(part)) / BigInt(total);
            mine[field] = (all - given).toString(16);
            theirs[field] = given.toString(16);
        }
    }
    const entries = state.entries.filter((one) => one.device === state.device);
    const over = (some, most) => !fits(some, most);
    const spent = entries.some(({ first, last }) => {
        for (let i = first; i <= last; i++)
            if (over(entries.filter((one) => one.first <= i && i <= one.last), own))
                return true;
        return false;
    });
    if (spent || (own.lifetime && over(entries, own.lifetime)))
        return [{ is: "refused", reason: "spent" }];
    return [{ is: "split", device, own: gift }, { ...state, own }];
}
/** Take over what another device of the same person has given. */
export function merge(state, from) {
    const refuse = (reason) => [{ is: "refused", reason }];
    if (from.person !== state.person)
        return refuse("person");
    if (!equal(from.limits, state.limits))
        return refuse("limits");
    const next = copy(state);
    for (const entry of from.entries) {
        const known = state.entries.find((one) => one.id === entry.id);
        if (known && !equal(known, entry))
            return refuse("conflict");
        if (!known && entry.device === state.device)
            return refuse("rolled back");
        if (!known)
            next.entries.push(entry);
    }
    const unite = (mine, theirs, same, wins) => {
        for (const one of theirs) {
            const place = mine.findIndex((other) => same(other, one));
            if (place < 0)
                mine.push(one);
            else if (wins(one, mine[place]))
                mine[place] = one;
        }
    };
    const named = (a) => canonical([a.asker, a.question, a.fingerprint]);
    unite(next.answers, from.answers.filter((one) => one.permanent !== "present"), (a, b) => named(a) === named(b) && a.permanent === b.permanent, (a, b) => a.id < b.id);
    const rank = (one) => (one.answer === null ? "1" : "0") + (one.answer ?? "") + one.device;
    unite(next.choices, from.choices, (a, b) => named(a) === named(b) && a.repeat === b.repeat && a.period === b.period, (a, b) => rank(a) < rank(b));
    if (from.coins)
        unite((next.coins ??= []), from.coins, (a, b) => a.asker === b.asker && a.name === b.name, (a, b) => a.heads && !b.heads);
    return [{ is: "merged", entries: next.entries.length - state.entries.length }, next];
}
