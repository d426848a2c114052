/** OLH, BLH and Hadamard response, for long lists: `Object.assign(draws, hashed)` makes the client know the draws `hashed` and `hadamard`. */

import { asBytes, asCell, bits, blocks, codes, coin, need, type Reader, integer } from "./parts.js";

const hadamard: Reader = (given) => {
  const [inside, count] = codes(given);
  const order = integer(given, "order", count + 1, 2 ** 32);
  const [toss, heads, tails] = coin(given, "heads");
  need(Number.isInteger(Math.log2(order)) && order <= 2 * count, "cells");
  return {
    names: "HadamardResponse",
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

const hashing: Reader = (given) => {
  const [inside] = codes(given);
  need(given["hash"] === "affine 1", "draw");
  const buckets = integer(given, "buckets", 2, 65536);
  const [cell, ratio] = blocks(given, buckets);
  return {
    names: "OLH BLH",
    ratio,
    inside,
    draw: (code: number, source) => {
      const seed = bits(source, 47);
      return Uint8Array.of(...asBytes(cell(bucket(seed, code, buckets), source), 2), ...asBytes(seed, 6));
    },
  };
};

/** The draws `hashed` (OLH and BLH) and `hadamard` (Hadamard response). */
export const hashed: { [kind: string]: Reader } = { hashed: hashing, hadamard };
