/** Records of several numbers, `dt.Box`: a list in the order of the sides, or an object by their names. */

import { need, type Fields, type Inside } from "./parts.js";

/** Return the record of a value; the sides of the domain are these ends (finite and in order). */
export function record({ domain, outside }: Fields, ends: readonly (readonly [number, number])[], field: string): Inside<number[]> {
  const sides = domain.sides as unknown[][];
  const names = sides.map((side) => side[0]) as string[];
  need(domain.kind === "box" && outside === "clip" && sides.length > 1 && sides.length < 9, "domain");
  need(new Set(names).size === sides.length && names.every((name) => typeof name === "string"), "domain");
  need(sides.length === ends.length && sides.every(([, low, high, ...more], i) => !more.length && low === ends[i]![0] && high === ends[i]![1]), field);
  return (value) => {
    const row = Array.isArray(value) ? [...value] : names.map((name) => (value as Fields)?.[name]);
    return row.length === sides.length && row.every(Number.isFinite) ? row.map((x: number, i) => Math.min(Math.max(x, ends[i]![0]), ends[i]![1])) : undefined;
  };
}
