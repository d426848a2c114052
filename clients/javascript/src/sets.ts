/** Draws for answers from a list: unary bits, subsets, Hadamard columns, hashing. */

import { asBytes, asCell, codes, coin, power, type Reader } from "./draw.js";
import { below, bits } from "./source.js";
import { need, whole, type Fields } from "./text.js";
import { blocks } from "./windows.js";

/** Return the number of bits: as many as categories, at most 2^24. */
const sized = (given: Fields, count: number): number => whole(given["size"], count, Math.min(count, 2 ** 24));

/** Return bits as bytes, lowest bit first. */
function pack(size: number, bit: (at: number) => number): Uint8Array {
  const row = new Uint8Array((size + 7) >> 3);
  for (let at = 0; at < size; at++) row[at >> 3]! |= bit(at) << (at & 7);
  return row;
}

export const unary: Reader = (given) => {
  const [inside, count] = codes(given);
  const size = sized(given, count);
  const [own, yes, no] = coin(given["own"]);
  const [other, heads, tails] = coin(given["other"]);
  need(0n < heads && heads < yes, "step");
  return {
    ratio: [yes * tails, no * heads],
    inside,
    draw: (code: number, source) => pack(size, (bit) => (bit === code ? own : other)(source)),
  };
};

export const subset: Reader = (given) => {
  const [inside, count] = codes(given);
  const last = sized(given, count) - 1;
  const chosen = whole(given["chosen"], 1, last);
  const [toss, heads, tails] = coin(given["heads"]);
  return {
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

export const hadamard: Reader = (given) => {
  const [inside, count] = codes(given);
  const order = whole(given["order"], count + 1, 2 ** 32);
  const [toss, heads, tails] = coin(given["heads"]);
  need(power(order) && order <= 2 * count, "cells");
  return {
    ratio: [heads, tails],
    inside,
    draw: (code: number, source) => {
      const row = code + 1;
      let column = bits(source, Math.log2(order)) | 0;
      let odd = row & column;
      for (let half = 16; half; half >>= 1) odd ^= odd >>> half;
      if ((odd & 1) === toss(source)) column ^= row & -row;
      return asCell(column >>> 0, order);
    },
  };
};

const low = (value: bigint): bigint => BigInt.asUintN(64, value);

/** Return the bucket of a code under a seed: the hash family "affine 1". */
function bucket(seed: number, code: number, buckets: number): number {
  let word = low((BigInt(seed) + 1n) * 0x9e3779b97f4a7c15n);
  word = low((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
  word = low((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
  word ^= word >> 31n;
  const place = BigInt.asUintN(32, (word >> 32n) * BigInt(code) + word);
  return Math.floor((Number(place) * buckets) / 2 ** 32);
}

export const hashed: Reader = (given) => {
  const [inside] = codes(given);
  need(given["hash"] === "affine 1", "draw");
  const buckets = whole(given["buckets"], 2, 65536);
  const [cell, ratio] = blocks(given, buckets);
  return {
    ratio,
    inside,
    draw: (code: number, source) => {
      const seed = bits(source, 47);
      return Uint8Array.of(...asBytes(cell(bucket(seed, code, buckets), source), 2), ...asBytes(seed, 6));
    },
  };
};
