/** SetResponse: sets of items, "select all that apply". `draws.several = several` makes the client know the draw. */

import { below, codes, coin, different, type Fields, need, past, type Reader, sorted, type Source, integer } from "./parts.js";

/** Return how many sets of some of n elements there are. */
function choose(n: number, some: number): bigint {
  let ways = 1n;
  for (let at = 0; at < some; at++) ways = (ways * BigInt(n - at)) / BigInt(at + 1);
  return some < 0 ? 0n : ways;
}

/** Return a uniform integer below a bound of any size, by rejection. */
export function uniform(source: Source, bound: bigint): bigint {
  const size = (bound - 1n).toString(2).length * +(bound > 1n);
  for (;;) {
    let drawn = 0n;
    for (const byte of source.take((size + 7) >> 3).reverse()) drawn = (drawn << 8n) | BigInt(byte);
    drawn >>= BigInt(-size & 7);
    if (drawn < bound) return drawn;
  }
}

/** Return how many parts, one after the other, end at a place or before it; all are looked at. */
export const passed = (place: bigint, parts: bigint[]): number => parts.reduce((count, part) => count + +((place -= part) >= 0n), 0);

/** Read the list of items and the number that a person reports. A set becomes exactly this number of elements, thinned or with dummies. */
export function sets(given: Fields) {
  const { domain } = given;
  need(domain["kind"] === "several", "domain");
  // Labels are read only without a count, so that a text with both is refused.
  const list = { kind: "categories", count: domain["count"], get labels() { return domain["labels"]; } }; // prettier-ignore
  const [code, items] = codes({ domain: list, outside: given["outside"] } as never);
  const most = integer(domain, "most", 1, items);
  need(items <= 2 ** 20, "cells");
  return {
    items,
    most,
    domain: {
      // An item that is not in the list becomes "other", or is left out: a person who is not counted would bias all shares, and the gap would reveal the answer.
      inside: (value: unknown) => (Array.isArray(value) ? sorted([...new Set(value.flatMap((item) => code(item) ?? code("other") ?? []))]) : undefined),
      leftOut: (value: unknown) => [value].flat().filter((item) => (code(item) ?? code("other")) === undefined).length,
    },
    elements: (input: number[], source: Source): number[] => {
      const own = [...input];
      for (let at = 0; own.length > most && at < most; at++) {
        const other = at + below(source, own.length - at);
        [own[at], own[other]] = [own[other]!, own[at]!];
      }
      own.length = Math.min(own.length, most);
      sorted(own);
      for (let dummy = items; own.length < most; dummy++) own.push(dummy);
      return own;
    },
  };
}

export const several: Reader = (given) => {
  const { items, most, domain, elements } = sets(given);
  const chosen = integer(given, "chosen", 1, Math.min(items, 512));
  const least = integer(given, "least", 1, Math.min(most, chosen));
  const [toss, heads, tails] = coin(given, "heads");
  const width = 32 - Math.clz32(items + most - 1);
  need(chosen * width <= 512, "cells");
  const ways = Array.from({ length: Math.min(most, chosen) + 1 }, (_, j) => choose(most, j) * choose(items, chosen - j));
  const [missed, met] = [ways.slice(0, least), ways.slice(least)];
  const [misses, hits] = [missed, met].map((part) => part.reduce((sum, one) => sum + one, 0n)) as [bigint, bigint];
  return {
    names: "SetResponse",
    ratio: [heads * misses, tails * hits],
    ...domain,
    draw: (input: number[], source) => {
      const own = elements(input, source);
      // Whatever the items are and whether they are met, the same numbers are drawn.
      const held = toss(source);
      const counts = [passed(uniform(source, hits), met) + least, passed(uniform(source, misses), missed)];
      const count = counts[1 - held]!;
      const others = different(source, chosen, items);
      const members = different(source, Math.min(most, chosen), most);
      const subset = others.map((other) => past(other, own)).map((other, at) => (at < count ? own[members[at]!]! : other));
      const row = new Uint8Array((chosen * width + 7) >> 3);
      sorted(subset).forEach((element, at) => {
        for (let bit = 0; bit < width; bit++) row[(at * width + bit) >> 3]! |= ((element >> bit) & 1) << ((at * width + bit) & 7);
      });
      return row;
    },
  };
};
