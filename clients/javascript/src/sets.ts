/** Draws for answers from a list: unary bits, subsets. */

import { codes, coin, type Reader } from "./draw.js";
import { below } from "./source.js";
import { need, whole } from "./text.js";

/** Return bits as bytes, lowest bit first. */
function pack(size: number, bit: (at: number) => number): Uint8Array {
  const row = new Uint8Array((size + 7) >> 3);
  for (let at = 0; at < size; at++) row[at >> 3]! |= bit(at) << (at & 7);
  return row;
}

export const unary: Reader = (given) => {
  const [inside, count] = codes(given);
  const size = whole(given, "size", count, Math.min(count, 2 ** 24)); // as many as categories, and not too many
  const [own, yes, no] = coin(given, "own");
  const [other, heads, tails] = coin(given, "other");
  need(0n < heads && heads < yes, "step");
  return {
    names: "OUE SUE",
    ratio: [yes * tails, no * heads],
    inside,
    draw: (code: number, source) => pack(size, (bit) => (bit === code ? own : other)(source)),
  };
};

export const subset: Reader = (given) => {
  const [inside, count] = codes(given);
  const last = whole(given, "size", count, Math.min(count, 65536)) - 1;
  const chosen = whole(given, "chosen", 1, last);
  const [toss, heads, tails] = coin(given, "heads");
  return {
    names: "SubsetSelection",
    ratio: [heads * BigInt(count - chosen), tails * BigInt(chosen)],
    inside,
    draw: (code: number, source) => {
      const held = toss(source);
      const row: number[] = [];
      for (let wanted = chosen - held; row.length < last; wanted -= row.at(-1)!) row.push(+(below(source, last - row.length) < wanted));
      // The others were drawn as 0 … k − 2: the element at the input's place becomes k − 1.
      row[last] = row[code]!;
      row[code] = held;
      return pack(count, (element) => row[element]!);
    },
  };
};
