/** Draws for answers from a list: unary bits, subsets, Hadamard columns, hashing, projective points. */

import { asBytes, bytesOf, Coin, list, type Draw } from "./draw.js";
import { below, bits, littleBig } from "./source.js";
import { fields, hex, hexadecimal, Malformed, sha256, whole, type Fields } from "./text.js";
import { Blocks } from "./windows.js";

export function unary(device: Fields, extra: string[], count: number): Draw {
  const given = fields(device, "draw", "size", "own", "other", ...extra);
  const size = whole(given["size"], count, count);
  const own = new Coin(given["own"]);
  const other = new Coin(given["other"]);
  if (!(0n < other.heads && other.heads < own.heads)) throw new Malformed("the own bit is likelier");
  return {
    ratio: [own.odds[0] * other.odds[1], own.odds[1] * other.odds[0]],
    draw: (code, source) => {
      const row = new Uint8Array((size + 7) >> 3);
      for (let bit = 0; bit < size; bit++) row[bit >> 3]! |= +(bit === code ? own : other).toss(source) << (bit & 7);
      return row;
    },
  };
}

export function subset(device: Fields, extra: string[], count: number): Draw {
  const given = fields(device, "draw", "size", "chosen", "heads", ...extra);
  const size = whole(given["size"], count, count);
  const chosen = whole(given["chosen"], 1, size - 1);
  const coin = new Coin(given["heads"]);
  return {
    ratio: [coin.odds[0] * BigInt(size - chosen), coin.odds[1] * BigInt(chosen)],
    draw: (code, source) => {
      const held = +coin.toss(source);
      const last = size - 1;
      const row = new Uint8Array((size + 7) >> 3);
      let wanted = chosen - held;
      for (let element = 0; element < last; element++) {
        const taken = +(below(source, last - element) < wanted);
        row[element >> 3]! |= taken << (element & 7);
        wanted -= taken;
      }
      // The others were drawn as 0 … k − 2: the element at the input's place becomes k − 1.
      row[last >> 3]! |= ((row[code >> 3]! >> (code & 7)) & 1) << (last & 7);
      row[code >> 3] = (row[code >> 3]! & ~(1 << (code & 7))) | (held << (code & 7));
      return row;
    },
  };
}

function odd(word: number): number {
  word ^= word >>> 16;
  word ^= word >>> 8;
  word ^= word >>> 4;
  return (0x6996 >>> (word & 15)) & 1;
}

export function hadamard(device: Fields, extra: string[], count: number): Draw {
  const given = fields(device, "draw", "order", "heads", ...extra);
  const order = whole(given["order"], count + 1, 2 ** 32);
  const coin = new Coin(given["heads"]);
  const size = Math.log2(order);
  if (!Number.isInteger(size)) throw new Malformed("the order is a power of two");
  return {
    ratio: coin.odds,
    draw: (code, source) => {
      const row = code + 1;
      const column = bits(source, size) | 0;
      const wrong = odd(row & column) === +coin.toss(source);
      return asBytes((wrong ? column ^ (row & -row) : column) >>> 0, bytesOf(order));
    },
  };
}

const MASK = (1n << 64n) - 1n;

/** Return the bucket of a code under a seed: the hash family "affine 1". */
export function bucket(seed: number, code: number, buckets: number): number {
  let word = ((BigInt(seed) + 1n) * 0x9e3779b97f4a7c15n) & MASK;
  word = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  word = ((word ^ (word >> 27n)) * 0x94d049bb133111ebn) & MASK;
  word ^= word >> 31n;
  const place = (Math.imul(Number(word >> 32n) | 0, code) + (Number(word & 0xffffffffn) | 0)) >>> 0;
  return Math.floor((place * buckets) / 2 ** 32);
}

export function hashed(device: Fields, extra: string[]): Draw {
  const given = fields(device, "draw", "hash", "buckets", "step", "bits", ...extra);
  if (given["hash"] !== "affine 1") throw new Malformed("the hash family is not known");
  const buckets = whole(given["buckets"], 2, 65536);
  const blocks = new Blocks(given, buckets, 1);
  return {
    ratio: blocks.ratio,
    draw: (code, source) => {
      const seed = bits(source, 47);
      const told = blocks.cell(bucket(seed, code, buckets), source);
      const report = new Uint8Array(8);
      report.set(asBytes(told, 2));
      report.set(asBytes(seed, 6), 2);
      return report;
    },
  };
}

/** Return the elements of the difference set in ascending order, then all others. */
function members(prime: number, degree: number, dimension: number, polynomial: number[], points: number): Uint32Array {
  const length = degree * dimension;
  const total = degree * points;
  const values = new Uint32Array(total + length);
  values[length - 1] = 1;
  for (let i = 0; i + length < total; i++) {
    let sum = 0;
    for (let j = 0; j < length; j++) sum += polynomial[j]! * values[i + j]!;
    values[i + length] = (prime - (sum % prime)) % prime;
  }
  const inside: number[] = [];
  const outside: number[] = [];
  for (let i = 0; i < points; i++) {
    let zero = true;
    for (let j = 0; j < degree; j++) zero &&= values[i + j * points] === 0;
    (zero ? inside : outside).push(i);
  }
  return Uint32Array.from([...inside, ...outside]);
}

export function projective(device: Fields, extra: string[], count: number): Draw {
  const given = fields(device, "draw", "order", "dimension", "polynomial", "set", "own", "other", "bits", ...extra);
  const order = whole(given["order"], 2, 2 ** 21);
  const dimension = whole(given["dimension"], 2, 21);
  let prime = 2;
  while (order % prime) prime++;
  const degree = Math.round(Math.log(order) / Math.log(prime));
  const points = (order ** dimension - 1) / (order - 1);
  const block = (order ** (dimension - 1) - 1) / (order - 1);
  if (prime ** degree !== order || !(points >= count && points <= 2 ** 21)) throw new Malformed("the geometry is too large");
  const polynomial = list(given["polynomial"]).map((one) => whole(one, 0, prime - 1));
  if (polynomial.length !== degree * dimension) throw new Malformed("the polynomial has another degree");
  const own = hexadecimal(given["own"], 32);
  const other = hexadecimal(given["other"], 32);
  const size = whole(given["bits"], 64, 128);
  const told = BigInt(block) * own;
  const total = told + BigInt(points - block) * other;
  if ((size !== 64 && size !== 128) || !(0n < other && other < own)) throw new Malformed("the own weight is larger");
  if (total > 1n << BigInt(size) || total < 1n << BigInt(size - 1)) throw new Malformed("the weights do not fill the word");
  const all = members(prime, degree, dimension, polynomial, points);
  const set = new Uint8Array(4 * block);
  all.subarray(0, block).forEach((one, i) => set.set(asBytes(one, 4), 4 * i));
  if (hex(sha256(set)).slice(0, 32) !== given["set"]) throw new Malformed("the set is another one");
  return {
    ratio: [own, other],
    draw: (code, source) => {
      let word: bigint;
      do word = littleBig(source.take(size >> 3));
      while (word >= total);
      const place = word < told ? Number(word / own) : block + Number((word - told) / other);
      const report = (all[place]! - code) % points;
      return asBytes(report < 0 ? report + points : report, bytesOf(points));
    },
  };
}

