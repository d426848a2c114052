/** Draws for answers from a list: unary bits, subsets, Hadamard columns, hashing. */

import { asBytes, asCell, coin, power, type Reader } from "./draw.js";
import { below, bits, concatenate } from "./source.js";
import { fields, need, whole } from "./text.js";
import { blocks } from "./windows.js";

const MOST = 2 ** 24; // categories that bits are sent of

export const unary: Reader = (device, [, count]) => {
  const given = fields(device, "draw other own size");
  const size = whole(given["size"], count, Math.min(count, MOST));
  const [own, yes, no] = coin(given["own"]);
  const [other, heads, tails] = coin(given["other"]);
  need(0n < heads && heads < yes, "step");
  return {
    ratio: [yes * tails, no * heads],
    draw: (code, source) => {
      const row = new Uint8Array((size + 7) >> 3);
      for (let bit = 0; bit < size; bit++) row[bit >> 3]! |= (bit === code ? own : other)(source) << (bit & 7);
      return row;
    },
  };
};

export const subset: Reader = (device, [, count]) => {
  const given = fields(device, "chosen draw heads size");
  const last = whole(given["size"], count, Math.min(count, MOST)) - 1;
  const chosen = whole(given["chosen"], 1, last);
  const [toss, heads, tails] = coin(given["heads"]);
  return {
    ratio: [heads * BigInt(count - chosen), tails * BigInt(chosen)],
    draw: (code, source) => {
      const held = toss(source);
      const row = new Uint8Array((count + 7) >> 3);
      const put = (element: number, one: number): void => {
        row[element >> 3] = (row[element >> 3]! & ~(1 << (element & 7))) | (one << (element & 7));
      };
      let wanted = chosen - held;
      for (let element = 0; element < last; element++) {
        const taken = +(below(source, last - element) < wanted);
        put(element, taken);
        wanted -= taken;
      }
      // The others were drawn as 0 … k − 2: the element at the input's place becomes k − 1.
      put(last, (row[code >> 3]! >> (code & 7)) & 1);
      put(code, held);
      return row;
    },
  };
};

export const hadamard: Reader = (device, [, count]) => {
  const given = fields(device, "draw heads order");
  const order = whole(given["order"], count + 1, 2 ** 32);
  const [toss, heads, tails] = coin(given["heads"]);
  need(power(order), "cells");
  return {
    ratio: [heads, tails],
    draw: (code, source) => {
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

export const hashed: Reader = (device) => {
  const given = fields(device, "bits buckets draw hash step");
  need(given["hash"] === "affine 1", "draw");
  const buckets = whole(given["buckets"], 2, 65536);
  const [cell, ratio] = blocks(given, buckets);
  return {
    ratio,
    draw: (code, source) => {
      const seed = bits(source, 47);
      return concatenate([asBytes(cell(bucket(seed, code, buckets), source), 2), asBytes(seed, 6)]);
    },
  };
};
