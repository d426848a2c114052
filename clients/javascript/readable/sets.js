/** Draws for answers from a list: unary bits, subsets as bits or as codes. */
import { asCell, codes, coin } from "./draw.js";
import { below } from "./source.js";
import { need, integer } from "./text.js";
/** Return bits as bytes, lowest bit first. */
function pack(size, bit) {
    const row = new Uint8Array((size + 7) >> 3);
    for (let at = 0; at < size; at++)
        row[at >> 3] |= bit(at) << (at & 7);
    return row;
}
export const unary = (given) => {
    const [inside, count] = codes(given);
    const size = integer(given, "size", count, Math.min(count, 2 ** 24)); // at least the number of categories, and not too many
    const [own, yes, no] = coin(given, "own");
    const [other, heads, tails] = coin(given, "other");
    need(0n < heads && heads < yes, "step");
    return {
        names: "OUE SUE",
        ratio: [yes * tails, no * heads],
        inside,
        draw: (code, source) => pack(size, (bit) => (bit === code ? own : other)(source)),
    };
};
/** Move a number past others that ascend: it is an index among the numbers that are not these. */
export const past = (index, others) => others.reduce((at, other) => at + +(at >= other), index);
/** Return the numbers in ascending order. */
export const sorted = (numbers) => numbers.sort((a, b) => a - b);
/** Return `count` different numbers below a bound, in random order. */
export function different(source, count, bound) {
    const taken = [];
    while (taken.length < count)
        taken.push(past(below(source, bound - taken.length), sorted([...taken])));
    return taken;
}
/** Return the reader of a random set of `chosen` codes, for `draw`: the own code is in the set if `held` is 1. */
const sets = (names, least, most, draw) => (given) => {
    const [inside, count] = codes(given);
    const last = integer(given, "size", count, Math.min(count, 65536)) - 1;
    const chosen = integer(given, "chosen", least, Math.min(most, last));
    const [toss, heads, tails] = coin(given, "heads");
    return {
        names,
        ratio: [heads * BigInt(count - chosen), tails * BigInt(chosen)],
        inside,
        draw: (code, source) => draw(code, toss(source), chosen, last, source),
    };
};
export const subset = sets("SubsetSelection", 1, 65536, (code, held, chosen, last, source) => {
    const row = [];
    for (let wanted = chosen - held; row.length < last; wanted -= row.at(-1))
        row.push(+(below(source, last - row.length) < wanted));
    // The others were drawn as 0 … k − 2: the element at the input's index becomes k − 1.
    row[last] = row[code];
    row[code] = held;
    return pack(last + 1, (element) => row[element]);
});
export const indices = sets("SubsetIndices", 2, 8, (code, held, chosen, last, source) => {
    const row = different(source, chosen, last).map((other) => past(other, [code]));
    row[chosen - 1] = [row[chosen - 1], code][held]; // no branch: the time must not reveal it
    return Uint8Array.from(sorted(row).flatMap((element) => [...asCell(element, last + 1)]));
});
