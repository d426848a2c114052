/** Noise on a lattice, such as Laplace and Staircase: `draws.lattice = lattice` makes the client know the draw. */

import { asCell, readStart, type Ratio, type Reader } from "./draw.js";
import { little, type Source } from "./source.js";
import { fields, hex, hexadecimal, need, object, sha256, whole, type Fields } from "./text.js";

const ONE = 1n << 256n;
const TOTAL = 1n << 128n;
const sum = (list: bigint[]): bigint => list.reduce((all, one) => all + one, 0n);

/** Return a uniform whole number below 2^size: ⌈size/8⌉ bytes, of which the highest bits are kept. */
function bitsOf(source: Source, size: number): bigint {
  let drawn = 0n;
  const bytes = source.take((size + 7) >> 3);
  for (let at = bytes.length; at--; ) drawn = (drawn << 8n) | BigInt(bytes[at]!);
  return drawn >> BigInt(8 * bytes.length - size);
}

/** Return the weights by distance from the centre, of total 2^128 over both sides; all but the centre's are rounded up. */
function weigh(noise: Fields, ring: boolean): bigint[] {
  const stairs = noise["decay"] === "stairs";
  need(stairs || noise["decay"] === "geometric", "draw");
  fields(noise, stairs ? "base decay digest first reach run" : "base decay digest reach");
  const base = hexadecimal(noise["base"], 64);
  const reach = whole(noise["reach"], 1, 32768);
  const run = stairs ? whole(noise["run"], 1, 2 ** 52) : 1; // geometric weights are stairs of one step
  const first = stairs ? whole(noise["first"], 1, run) : 1;
  need(base, "step");
  const values: bigint[] = [];
  for (let value = ONE, z = 0; z <= reach; z++) {
    if (z >= first && (z - first) % run === 0) value = (value * base) >> 256n;
    values.push(value);
  }
  let last = values.pop()!;
  if (!ring) {
    const rest = (((first - reach) % run) + run) % run || run;
    last = BigInt(rest) * last + BigInt(run) * ((last * base) / (ONE - base));
  }
  const copies = ring ? 1n : 2n;
  const mass = 2n * sum(values) - ONE + copies * last;
  const outer = [...values.slice(1), last].map((value) => (value * (TOTAL - (1n << 40n)) + mass - 1n) / mass);
  const weights = [TOTAL - 2n * sum(outer.slice(0, -1)) - copies * outer.at(-1)!, ...outer];
  for (let z = ring ? reach : reach - 1; z--; ) need(weights[z]! >= weights[z + 1]!, "step");
  const content = new Uint8Array(17 * weights.length);
  weights.forEach((weight, i) => {
    for (let at = 0; at < 17; at++, weight >>= 8n) content[17 * i + at] = Number(weight & 255n);
  });
  need(hex(sha256(content)).slice(0, 16) === noise["digest"], "fingerprint");
  return weights;
}

/** Return a draw of an outcome by its weight: a column, and a coin between its two outcomes. Vose's method in integers. */
function alias(row: bigint[]): (source: Source) => number {
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

export const lattice: Reader = (device, ends) => {
  const given = fields(device, "draw lattice start");
  const shape = object(given["lattice"]);
  const rule = object(given["start"]);
  const ring = shape["kind"] === "ring";
  need(ring || shape["kind"] === "clamped", "draw");
  fields(shape, ring ? "kind noise" : "fraction kind last noise");
  const weights = weigh(object(shape["noise"]), ring);
  const reach = weights.length - 1;
  const outer = weights.slice(1);
  const start = readStart(rule, 2 * reach, ends);
  need(rule["kind"] === "line", "start");
  if (ring) {
    need(rule["fraction"] === 0, "start");
    const draw = alias([...weights, ...outer.slice(0, -1).reverse()]);
    const cells = 2 * reach;
    return {
      ratio: [weights[0]!, outer.at(-1)!],
      draw: (value, source) => asCell((((start(value, source) + draw(source)) % cells) + cells) % cells, cells),
    };
  }
  const fraction = whole(shape["fraction"], 1, 30);
  const step = 2 ** fraction;
  const last = whole(shape["last"], 1, 2 ** 31 - step);
  const steps = Math.ceil(last / step);
  need(rule["last"] === last && rule["fraction"] === fraction, "start");
  need(steps < reach && (last < step || last % step === 0), "cells");
  // The largest ratio is between the two ends of the domain: of two weights, or of what is piled up at the last report.
  let [top, bottom]: Ratio = [sum(weights.slice(reach - steps)), weights[reach]!];
  for (let z = 0; z + steps < reach; z++) {
    if (weights[z]! * bottom > top * weights[z + steps]!) [top, bottom] = [weights[z]!, weights[z + steps]!];
  }
  const all = BigInt(step);
  const share = BigInt(Math.min(last, step));
  const draw = alias([...outer.slice().reverse(), ...weights]);
  return {
    ratio: [(all - share) * bottom + share * top, all * bottom],
    draw: (value, source) => {
      const place = start(value, source) + draw(source);
      return asCell(Math.min(Math.max(place, steps), 2 * reach) - steps, 2 * reach - steps + 1);
    },
  };
};
