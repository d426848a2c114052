/** What every draw is, and the parts that draws share: coins, the lottery of windows, start rules. */

import { bits, little, littleBig, type Source } from "./source.js";
import { fields, hexadecimal, Malformed, real, whole, type Json } from "./text.js";

/** How a device turns one input into one report. */
export interface Draw {
  /** The largest ratio of the probabilities of one report under two inputs: [numerator, denominator]. */
  readonly ratio: readonly [bigint, bigint];
  /** Return the report of an input as bytes, lowest byte first. */
  draw(input: number, source: Source): Uint8Array;
}

/** Return a whole number below 2^48 as so many bytes, lowest byte first. */
export function asBytes(value: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) {
    bytes[at] = value % 256;
    value = Math.floor(value / 256);
  }
  return bytes;
}

/** Return the number of bytes of a report below `cells`: 1, 2, 4 or 8. */
export const bytesOf = (cells: number): number => (cells <= 256 ? 1 : cells <= 65536 ? 2 : cells <= 2 ** 32 ? 4 : 8);

/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export class Coin {
  readonly heads: bigint;
  readonly #high: bigint;
  readonly #top: number;
  readonly #next: number;

  constructor(text: Json | undefined) {
    this.heads = hexadecimal(text, 32);
    this.#high = this.heads >> 64n;
    this.#top = Number(this.#high >> 32n);
    this.#next = Number(this.#high & 0xffffffffn);
  }

  /** The odds P(heads)/P(tails) as [numerator, denominator]. */
  get odds(): [bigint, bigint] {
    return [this.heads, (1n << 128n) - this.heads];
  }

  toss(source: Source): boolean {
    const bytes = source.take(8);
    const top = little(bytes, 4, 8);
    const next = little(bytes, 0, 4);
    if (top !== this.#top || next !== this.#next) return top < this.#top || (top === this.#top && next < this.#next);
    return littleBig(source.take(8)) < (this.heads & 0xffffffffffffffffn);
  }
}

/** An index below `tickets`, each with probability step/2^bits, or none; and uniform bits beside it. */
export class Lottery {
  readonly tickets: number;
  readonly step: bigint;
  readonly bits: number;
  readonly #first: number;
  readonly #late: number;
  readonly #long: bigint;

  constructor(tickets: number, step: Json | undefined, size: Json | undefined) {
    this.tickets = tickets;
    this.bits = whole(size, 64, 96);
    this.step = hexadecimal(step, 24);
    this.#long = this.step >> 32n;
    this.#first = Number(this.#long);
    this.#late = Number(this.step & 0xffffffffn);
    const fine = this.#long >= 1n || (this.bits === 96 && this.step >= 1n);
    if ((this.bits !== 64 && this.bits !== 96) || !fine) throw new Malformed("a draw has 64 or 96 bits and a step");
    if (BigInt(tickets) * (this.#long + 1n) > 1n << BigInt(this.bits - 32)) throw new Malformed("the step is too large");
  }

  /** Draw once: [drawn (0 or 1), index, `extra` uniform bits]. All bytes are taken at once but for the rare late ones. */
  draw(source: Source, extra: number): [number, number, number] {
    const early = (this.bits - 32) >> 3;
    const more = (extra + 7) >> 3;
    const taken = source.take(early + more);
    const kept = 2 ** (8 * more - extra);
    if (this.bits === 96) return this.#drawLong(taken, source, more, kept);
    const word = little(taken, 0, 4);
    const last = word - 2 ** 32 + this.tickets;
    if (last < 0) {
      const index = Math.floor(word / this.#first);
      return [+(index < this.tickets), index, Math.floor(little(taken, 4, 4 + more) / kept)];
    }
    return this.#drawLate(taken.subarray(4), last, source, more, kept);
  }

  /** The late word: the four bytes after the early ones decide, and what they were is taken again at the end. */
  #drawLate(rest: Uint8Array, last: number, source: Source, more: number, kept: number): [number, number, number] {
    const all = new Uint8Array(more + 4);
    all.set(rest);
    all.set(source.take(4), more);
    return [+(little(all, 0, 4) < this.#late), last, Math.floor(little(all, 4, 4 + more) / kept)];
  }

  #drawLong(taken: Uint8Array, source: Source, more: number, kept: number): [number, number, number] {
    const word = littleBig(taken, 0, 8);
    const last = word - (1n << 64n) + BigInt(this.tickets);
    if (last >= 0n) return this.#drawLate(taken.subarray(8), Number(last), source, more, kept);
    const drawn = word < BigInt(this.tickets) * this.#long;
    const index = drawn ? Number(word / this.#long) : 0;
    return [+drawn, index, Math.floor(little(taken, 8, 8 + more) / kept)];
  }
}

/** Return the start of a value's window; random rounding takes bytes first. */
export type Start = (value: number, source: Source) => number;

const clamp = (value: number, last: number): number => Math.min(Math.max(value, 0), last);

/** Read a start rule for windows of so many cells. */
export function readStart(data: Json | undefined, cells: number): Start {
  const kind = typeof data === "object" && data !== null && !Array.isArray(data) ? data["kind"] : undefined;
  const place = (given: { [key: string]: Json }): ((value: number) => number) => {
    const origin = real(given["origin"]);
    const scale = real(given["scale"]);
    if (scale <= 0) throw new Malformed("a scale is positive");
    return (value) => Math.trunc((value - origin) * scale);
  };
  if (kind === "line") {
    const given = fields(data, "kind", "origin", "scale", "last", "fraction");
    const at = place(given);
    const fraction = whole(given["fraction"], 0, 30);
    const last = given["last"] === null ? null : whole(given["last"], 0, Number.MAX_SAFE_INTEGER);
    const aim = (value: number): number => (last === null ? at(value) : clamp(at(value), last));
    if (fraction === 0) return aim;
    return (value, source) => Math.floor((aim(value) + bits(source, fraction)) / 2 ** fraction);
  }
  if (kind === "steps") {
    const given = fields(data, "kind", "origin", "scale", "starts", "counts");
    const at = place(given);
    const starts = list(given["starts"]).map((one) => whole(one, 0, cells - 1));
    const counts = list(given["counts"]).map((one) => whole(one, 1, 65536));
    if (starts.length !== counts.length) throw new Malformed("each start has a count");
    const table = new Uint32Array(sized(counts.reduce((sum, one) => sum + one, 0), 1, 65536));
    let next = 0;
    counts.forEach((count, i) => table.fill(starts[i]!, next, (next += count)));
    return (value) => table[clamp(at(value), table.length - 1)]!;
  }
  if (kind === "knots") {
    const given = fields(data, "kind", "origin", "scale", "first", "pieces", "bits");
    const at = place(given);
    const table = knots(given["first"], given["pieces"], given["bits"], cells);
    const last = (table.length - 1) * 65536 - 1;
    return (value, source) => {
      const entry = table[Math.floor((clamp(at(value), last) + bits(source, 16)) / 65536)]!;
      return Math.floor((entry + bits(source, 16)) / 65536);
    };
  }
  throw new Malformed("the start rule is not known");
}

function knots(first: Json | undefined, pieces: Json | undefined, text: Json | undefined, cells: number): Float64Array {
  const most = cells * 65536;
  if (cells > 65536) throw new Malformed("knots are for at most 2^16 cells");
  const steps = list(pieces).map((piece) => {
    const [count, base, ...more] = list(piece);
    if (more.length) throw new Malformed("a piece is a count and a base");
    return [whole(count, 1, 32767), whole(base, -most, most)] as const;
  });
  const size = sized(steps.reduce((sum, [count]) => sum + count, 1), 2, 32768);
  if (typeof text !== "string" || text.length !== 2 * ((size + 6) >> 3) || !/^[0-9a-f]*$/.test(text)) {
    throw new Malformed("each knot after the first has a bit");
  }
  const unused = (8 - ((size - 1) & 7)) & 7;
  if (unused && parseInt(text.slice(-2), 16) >> (8 - unused)) throw new Malformed("the last bits are zero");
  const table = new Float64Array(size);
  let at = 0;
  let entry = (table[0] = whole(first, 0, most - 1));
  for (const [count, base] of steps) {
    for (let i = 0; i < count; i++) {
      entry += base + ((parseInt(text.substr((at >> 3) * 2, 2), 16) >> (at & 7)) & 1);
      if (entry < 0 || entry >= most) throw new Malformed("a knot is a place of the window");
      table[++at] = entry;
    }
  }
  return table;
}

/** Return a list as it is. */
export function list(value: Json | undefined): Json[] {
  if (!Array.isArray(value)) throw new Malformed("a list is missing");
  return value;
}

function sized(size: number, least: number, most: number): number {
  if (size < least || size > most) throw new Malformed(`a table has ${least} to ${most} entries`);
  return size;
}

