/** SetResponse by polynomials, of very many items: `draws.polynomial = polynomial` makes the client know the draw. It loads several.js. */

import { coin, need, type Reader, integer } from "./parts.js";
import { passed, sets, uniform } from "./several.js";

/** A report has the items at which the value of its polynomial over a prime field is below a bound. */
export const polynomial: Reader = (given) => {
  const { items, most, domain, elements } = sets(given);
  const prime = integer(given, "prime", items + most, 2 ** 21 - 1);
  for (let trial = 2; trial * trial <= prime; trial++) need(prime % trial, "cells");
  const bound = integer(given, "below", 1, prime - 1);
  const terms = integer(given, "terms", most + 1, most + 2);
  need(terms <= 2048, "cells");
  const [p, low, high] = [BigInt(prime), BigInt(bound), BigInt(prime - bound)];
  const length = ((p ** BigInt(terms) - 1n).toString(16).length + 1) >> 1;
  need(length <= 256, "cells");
  const [toss, heads, tails] = coin(given, "heads");
  const firsts = Array.from({ length: most }, (_, at) => high ** BigInt(at) * low * p ** BigInt(most - 1 - at));
  const [hits, misses] = [firsts.reduce((sum, one) => sum + one, 0n), high ** BigInt(most)];
  /** Products of numbers below 2^21 are exact, and remainders from 0 on. */
  const modulo = (number: number): number => ((number % prime) + prime) % prime;
  const inverse = (number: number): number => {
    let [power, base] = [1, number];
    for (let exponent = prime - 2; exponent; exponent = Math.floor(exponent / 2)) {
      if (exponent % 2) power = modulo(power * base);
      base = modulo(base * base);
    }
    return power;
  };
  return {
    names: "SetResponse",
    ratio: [heads * misses, tails * hits],
    ...domain,
    draw: (input: number[], source) => {
      const own = elements(input, source);
      // Whatever the items are and whether they are met, the same numbers are drawn.
      const held = toss(source);
      const hit = uniform(source, hits);
      const miss = uniform(source, misses);
      const rest = uniform(source, p ** BigInt(terms - most));
      const place = passed(hit, firsts);
      const first = [most, place][+held]!;
      let drawn = [miss, firsts.slice(0, place).reduce((left, part) => left - part, hit)][+held]!;
      const values = own.map((_, at) => {
        const base = at < first ? high : at === first ? low : p;
        const number = Number(drawn % base) + (at < first ? bound : 0);
        drawn /= base;
        return number;
      });
      for (let step = 1; step < most; step++) {
        for (let at = most - 1; at >= step; at--) {
          values[at] = modulo(modulo(values[at]! - values[at - 1]!) * inverse(modulo(own[at]! - own[at - step]!)));
        }
      }
      let row = [Number(rest % p), Number(rest / p)].slice(0, terms - most);
      for (let at = most; at--; ) row = [values[at]!, ...row].map((up, i) => modulo(up - own[at]! * (row[i] ?? 0)));
      let packed = row.reduceRight((number, term) => number * p + BigInt(term), 0n);
      return Uint8Array.from({ length }, () => {
        const byte = Number(packed & 255n);
        packed >>= 8n;
        return byte;
      });
    },
  };
};
