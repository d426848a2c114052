/** ProjectiveResponse: points of a finite geometry. `draws.projective = projective` makes the client know the draw. */

import { asCell, codes, digest, hexadecimal, need, type Reader, whole, word } from "./parts.js";

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
  const order = whole(given, "order", 2, 2 ** 21);
  const dimension = whole(given, "dimension", 2, 21);
  let prime = 2;
  while (order % prime) prime++;
  const degree = Math.round(Math.log(order) / Math.log(prime));
  const points = (order ** dimension - 1) / (order - 1);
  const block = (order ** (dimension - 1) - 1) / (order - 1);
  need(prime ** degree === order && points >= count && points <= 2 ** 21, "cells");
  const polynomial = (given["polynomial"] as unknown[]).map((one) => whole(given, "polynomial", 0, prime - 1, one));
  need(polynomial.length === degree * dimension, "cells");
  const own = hexadecimal(given, "own", 32);
  const other = hexadecimal(given, "other", 32);
  const size = whole(given, "bits", 64, 128);
  const told = BigInt(block) * own;
  const total = told + BigInt(points - block) * other;
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
      const place = drawn < told ? Number(drawn / own) : block + Number((drawn - told) / other);
      return asCell((((all[place]! - code) % points) + points) % points, points);
    },
  };
};
