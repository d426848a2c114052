/** Exact draws by integer weights of total 2^128, for noise on a lattice and for tables. */

import { little, type Ratio, type Source } from "./parts.js";

export const TOTAL = 1n << 128n;

/** Return the largest quotient of two lists, compared in integers. */
export const largest = (tops: bigint[], bottoms: bigint[]): Ratio =>
  tops.reduce<Ratio>((most, top, i) => (top * most[1] > most[0] * bottoms[i]! ? [top, bottoms[i]!] : most), [0n, 1n]);

/** Return a uniform integer below 2^size: the highest bits of ⌈size/8⌉ bytes. */
function bitsOf(source: Source, size: number): bigint {
  let drawn = 0n;
  const bytes = source.take((size + 7) >> 3);
  for (let at = bytes.length; at--; ) drawn = (drawn << 8n) | BigInt(bytes[at]!);
  return drawn >> BigInt(8 * bytes.length - size);
}

/** Return a draw of an outcome by its weight: a column, and a coin between its two outcomes. Vose's method in integers. */
export function alias(row: bigint[]): (source: Source) => number {
  const size = Math.max(1, 32 - Math.clz32(row.length - 1));
  const capacity = 1n << BigInt(128 - size);
  const left = Array.from({ length: 2 ** size }, (_, i) => row[i] ?? 0n);
  const thresholds = left.map(() => 0n);
  const others = left.map((_, i) => i);
  const small: number[] = [];
  const large: number[] = [];
  left.forEach((weight, i) => (weight < capacity ? small : large).push(i));
  for (let column; (column = small.pop()) !== undefined; ) {
    const giver = large.at(-1)!;
    thresholds[column] = left[column]!;
    others[column] = giver;
    left[giver]! -= capacity - left[column]!;
    if (left[giver]! < capacity) small.push(large.pop()!);
  }
  return (source) => {
    const bytes = source.take((size + 7) >> 3);
    const column = little(bytes, 0, bytes.length) >> (8 * bytes.length - size);
    return bitsOf(source, 128 - size) < thresholds[column]! ? column : others[column]!;
  };
}
