/** ProjectiveResponse: points of a finite geometry. `draws.projective = projective` makes the client know the draw. */

import { asCell, codes, digest, hexadecimal, need, type Reader, integer, word } from "./parts.js";

/** Return the coefficients c_0 … c_(n−1) of the first primitive polynomial x^n + Σ c_j·x^j modulo a prime, in the order of Σ c_j·p^j. */
function firstPrimitive(prime: number, length: number): number[] {
  const order = prime ** length - 1; // below 2^42
  const factors: number[] = [];
  let rest = order;
  for (let trial = 2; rest > 1; trial = trial * trial > rest ? rest : trial + 1) {
    if (rest % trial === 0) factors.push(trial);
    while (rest % trial === 0) rest /= trial;
  }
  const unit = Array.from({ length }, (_, j) => +!j);
  for (let number = prime + 1; ; number++) {
    const given = unit.map((_, j) => Math.floor(number / prime ** j) % prime);
    const byX = (a: number[]): number[] => a.map((_, j) => ((a[j - 1] ?? 0) + a[length - 1]! * (prime - given[j]!)) % prime);
    const times = (a: number[], b: number[]): number[] => b.reduceRight<number[]>((sum, digit) => byX(sum).map((one, j) => (one + digit * a[j]!) % prime), unit.map(() => 0));
    /** Return whether x^exponent = 1. */
    const isOne = (exponent: number): boolean => {
      let power = unit;
      for (let square = byX(unit); exponent; exponent = Math.floor(exponent / 2), square = times(square, square)) if (exponent % 2) power = times(power, square);
      return power + "" === unit + "";
    };
    if (isOne(order) && !factors.some((factor) => isOne(order / factor))) return given;
  }
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

export const projective: Reader = (given) => {
  const [inside, count] = codes(given);
  const order = integer(given, "order", 2, 2 ** 21);
  const dimension = integer(given, "dimension", 2, 21);
  let prime = 2;
  while (order % prime) prime++;
  const degree = Math.round(Math.log(order) / Math.log(prime));
  const points = (order ** dimension - 1) / (order - 1);
  const block = (order ** (dimension - 1) - 1) / (order - 1);
  need(prime ** degree === order && points >= count && points <= 2 ** 21, "cells");
  const polynomial = (given["polynomial"] as unknown[]).map((one) => integer(given, "polynomial", 0, prime - 1, one));
  // Another one has another set: its reports would support other categories.
  need(polynomial + "" === firstPrimitive(prime, degree * dimension) + "", "number", "polynomial");
  const own = hexadecimal(given, "own", 32);
  const other = hexadecimal(given, "other", 32);
  const size = integer(given, "bits", 64, 128);
  const likely = BigInt(block) * own;
  const total = likely + BigInt(points - block) * other;
  need((size === 64 || size === 128) && 0n < other && other < own, "step");
  need(total <= 1n << BigInt(size) && total >= 1n << BigInt(size - 1), "step");
  const all = members(prime, degree, dimension, polynomial, points);
  const set = Uint8Array.from({ length: 4 * block }, (_, at) => all[at >> 2]! >>> (8 * (at & 3)));
  need(digest(set) === given["set"], "fingerprint");
  return {
    names: "ProjectiveResponse",
    ratio: [own, other],
    inside,
    draw: (code: number, source) => {
      let drawn: bigint;
      do {
        const taken = source.take(size >> 3);
        drawn = size > 64 ? (word(taken.subarray(8)) << 64n) | word(taken) : word(taken);
      } while (drawn >= total);
      const place = drawn < likely ? Number(drawn / own) : block + Number((drawn - likely) / other);
      return asCell((((all[place]! - code) % points) + points) % points, points);
    },
  };
};
