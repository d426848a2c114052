/** The K nearest of N points: `Object.assign(draws, nearest)` makes the client know the draws `nearest` and `listing`. It loads paths.js. */

import { asCell, below, codes, type Fields, lottery, need, type Ratio, type Reader, type Source, integer } from "./parts.js";
import { asPath, inArea, pair, type Place, readArea, spend } from "./paths.js";

/** Return numbers of 16 bits, written as four hexadecimal digits each. */
export function unpack(text: unknown, field: string): number[] {
  need((text as string).length <= 2 ** 17 && /^([0-9a-f]{4})*$/.test(text as string), "number", field);
  return ((text as string).match(/..../g) ?? []).map((digits) => parseInt(digits, 16));
}

/** The integers of a draw: one of K given numbers with probability K·d/2^w, otherwise any number below N. */
export function window(given: Fields): [cells: number, width: number, draw: (near: number[], source: Source) => Uint8Array, ratio: Ratio] {
  const cells = integer(given, "cells", 2, 65536);
  const width = integer(given, "width", 1, cells - 1);
  const [draw, step, all] = lottery(width, given);
  const outside = all - BigInt(width) * step;
  const one = (near: number[], source: Source): Uint8Array => {
    const [drawn, ticket] = draw(source, 0);
    const any = below(source, cells); // whichever way it falls
    return asCell(any + drawn * (near[drawn * ticket]! - any), cells);
  };
  return [cells, width, one, [outside + BigInt(cells) * step, outside]];
}

/** Cut to 0 … 65535. */
const short = (x: number): number => Math.min(Math.max(Math.floor(x), 0), 65535);

/** Read the rule from a value to its K nearest points: of a box of this number of sides, or (0) of a sphere. Return it with the box. */
export function selector(given: Fields, sides: number, cells: number, width: number): [near: (at: readonly number[]) => number[], box: Place[] | undefined] {
  const box = given["box"] && (given["box"] as unknown[][]).map((side) => pair(side, "box"));
  const axes = sides || 3;
  need(sides ? box?.length === sides : box === null, "selector");
  box?.forEach(([low, high]: Place) => need(low >= -1e30 && high <= 1e30 && high - low >= 1e-30, "selector"));
  const scales = (given["scales"] as unknown[]).map((scale) => integer(given, "scales", 1, 511, scale));
  const grain = 2 ** integer(given, "grain", 0, 12);
  let points: number[][] = [];
  if (given["kind"] === "grid") {
    const per = (given["per"] as unknown[]).map((count) => integer(given, "per", 1, 65536, count));
    const scale = integer(given, "scale", 0, 65536);
    need(box && per.length === axes, "selector");
    points = [[]];
    for (const count of per) {
      need(points.length * count <= 65536, "selector");
      const side = Array.from({ length: count }, (_, i) => short(32768 + Math.floor(((2 * i + 1 - count) * scale) / (2 * count))));
      points = points.flatMap((point) => side.map((at) => [...point, at]));
    }
  } else {
    need(given["kind"] === "points", "selector");
    const flat = unpack(given["points"], "points");
    need(flat.length % axes === 0, "selector");
    while (flat.length) points.push(flat.splice(0, axes));
  }
  need(points.length === cells && scales.length === axes, "selector");
  const integers = (at: readonly number[]): number[] => {
    if (box) return at.map((x, i) => short(((x - box[i][0]) / (box[i][1] - box[i][0])) * 65536));
    const [across, up] = at.map((x) => x * (Math.PI / 180)) as [number, number];
    const level = Math.cos(up);
    return [level * Math.cos(across), level * Math.sin(across), Math.sin(up)].map((x) => short(32767 * x + 32768.5));
  };
  const near = (place: readonly number[]): number[] => {
    const at = integers(place).map((x) => x - (x % grain) + Math.floor(grain / 2));
    const far = points.map((point) => point.reduce((sum, x, i) => sum + (scales[i]! * (at[i]! - x)) ** 2, 0));
    return Array.from(far.keys()).sort((a, b) => far[a]! - far[b]! || a - b).slice(0, width);
  };
  return [near, box];
}

const places: Reader = (device) => {
  const [cells, width, draw, ratio] = window(device);
  const area = readArea(device);
  const [near] = selector(device["selector"] as Fields, device["domain"].kind === "sphere" ? 0 : 2, cells, width);
  return {
    names: "Optimal",
    ratio,
    spend,
    inside: inArea(area),
    draw: (path: Place[], source) => asPath(path.map((place) => [draw(near(place), source)])),
  };
};

const listing: Reader = (device) => {
  const [cells, width, draw, ratio] = window(device);
  const [inside, count] = codes(device);
  const flat = unpack(device["lists"], "lists");
  const lists = Array.from({ length: count }, (_, i) => flat.slice(i * width, (i + 1) * width));
  // A number that stood twice in a list would be likelier than ε allows.
  need(flat.length === count * width && lists.every((list) => new Set(list).size === width && list.every((i) => i < cells)), "lists");
  return { names: "Optimal", ratio, inside, draw: (code: number, source) => draw(lists[code]!, source) };
};

/** The readers of both draws. */
export const nearest: { [kind: string]: Reader } = { nearest: places, listing };
