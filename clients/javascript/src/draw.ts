/** What every draw is, and the parts that draws share: coins, the lottery of windows, start rules. */

import { bits, concatenate, little, word, type Source } from "./source.js";
import { fields, hexadecimal, list, need, object, real, whole, type Fields, type Json } from "./text.js";

/** Two whole numbers: a numerator and a denominator. */
export type Ratio = readonly [bigint, bigint];

/** How a device turns one input into one report. */
export interface Draw {
  /** The largest ratio of the probabilities of one report under two inputs. */
  readonly ratio: Ratio;
  /** Return the report of an input as bytes, lowest byte first. */
  draw(input: number, source: Source): Uint8Array;
}

/** The reader of a kind of draw, for an interval or circle from `ends[0]` to `ends[1]`, or for `ends[1]` categories. */
export type Reader = (device: Fields, ends: readonly [number, number]) => Draw;

/** Return a whole number below 2^48 as so many bytes, lowest byte first. */
export function asBytes(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => Math.floor(value / 256 ** at) % 256);
}

/** Return a report below `cells` as 1, 2, 4 or 8 bytes. */
export const asCell = (value: number, cells: number): Uint8Array =>
  asBytes(value, cells <= 256 ? 1 : cells <= 65536 ? 2 : cells <= 2 ** 32 ? 4 : 8);

/** Return whether a number is a power of two, by its logarithm. */
export const power = (n: number): boolean => Number.isInteger(Math.log2(n));

/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export function coin(text: Json | undefined): [toss: (source: Source) => number, heads: bigint, tails: bigint] {
  const heads = hexadecimal(text, 32);
  const high = heads >> 64n;
  const low = BigInt.asUintN(64, heads);
  const toss = (source: Source): number => {
    const first = word(source.take(8));
    return +(first === high ? word(source.take(8)) < low : first < high);
  };
  return [toss, heads, (1n << 128n) - heads];
}

/** Draw [1 if a ticket was drawn, otherwise 0; the ticket; uniform bits beside it]. */
export type Lottery = (source: Source, extra: number) => [number, number, number];

/** A ticket below `tickets`, each with probability step/2^bits, or none. Return the lottery, step and 2^bits. */
export function lottery(tickets: number, given: Fields): [Lottery, bigint, bigint] {
  const size = given["bits"] as number;
  const step = hexadecimal(given["step"], 24);
  const long = step >> 32n;
  const first = Number(long);
  const late = Number(BigInt.asUintN(32, step));
  const early = size / 8 - 4;
  need(size === 96 ? step : size === 64 && long, "step");
  need(BigInt(tickets) * (long + 1n) <= 1n << BigInt(size - 32), "step");
  const draw: Lottery = (source, extra) => {
    const more = (extra + 7) >> 3;
    let taken = source.take(early + more);
    let begin = early;
    let drawn: boolean, ticket: number, last: number;
    if (early < 8) {
      const drew = little(taken, 0, 4);
      last = drew - 2 ** 32 + tickets;
      ticket = Math.floor(drew / first);
      drawn = ticket < tickets;
    } else {
      const drew = word(taken);
      last = Number(drew - (1n << 64n)) + tickets; // exact where it is not far below 0
      drawn = drew < BigInt(tickets) * long;
      ticket = drawn ? Number(drew / long) : 0;
    }
    if (last >= 0) {
      // The late word: the four bytes after the early ones decide, and what they were is taken again at the end.
      taken = concatenate([taken.subarray(early), source.take(4)]);
      begin = 4;
      drawn = little(taken, 0, 4) < late;
      ticket = last;
    }
    return [+drawn, ticket, Math.floor(little(taken, begin, begin + more) / 2 ** (8 * more - extra))];
  };
  return [draw, step, 1n << BigInt(size)];
}

/** Return the start of a value's window; random rounding takes bytes first. */
export type Start = (value: number, source: Source) => number;

/** Read a start rule for windows of so many cells, and values between two ends. */
export function readStart(data: Json | undefined, cells: number, ends: readonly [number, number]): Start {
  const given = object(data);
  const kind = given["kind"];
  const origin = real(given["origin"]);
  const scale = real(given["scale"]);
  const place = (value: number): number => Math.trunc((value - origin) * scale);
  const within = (value: number, last: number): number => Math.min(Math.max(place(value), 0), last);
  need(scale > 0 && ends.every((end) => Math.abs(place(end)) < (cells > 65536 ? 2 ** 52 : 2 ** 31)), "start");
  if (kind === "line") {
    fields(given, "fraction kind last origin scale");
    const fraction = whole(given["fraction"], 0, 30);
    const last = given["last"] === null ? Infinity : whole(given["last"], 0, 2 ** 52);
    const aim = last < Infinity ? (value: number): number => within(value, last) : place;
    return (value, source) => (fraction ? Math.floor((aim(value) + bits(source, fraction)) / 2 ** fraction) : aim(value));
  }
  const table: number[] = [];
  if (kind === "steps") {
    fields(given, "counts kind origin scale starts");
    const starts = list(given["starts"]);
    const counts = list(given["counts"]);
    need(starts.length === counts.length && starts.length, "start");
    counts.forEach((count, i) => {
      const start = whole(starts[i], 0, cells - 1);
      for (let left = whole(count, 1, 65536 - table.length); left--; ) table.push(start);
    });
    return (value) => table[within(value, table.length - 1)]!;
  }
  need(kind === "knots" && cells <= 65536, "start");
  fields(given, "bits first kind origin pieces scale");
  const most = cells * 65536;
  const text = given["bits"];
  need(typeof text === "string" && /^([0-9a-f]{2})+$/.test(text), "start");
  let entry = whole(given["first"], 0, most - 1);
  table.push(entry);
  const bit = (at: number): number => (parseInt(text.slice((at >> 3) * 2, (at >> 3) * 2 + 2), 16) >> (at & 7)) & 1;
  for (const piece of list(given["pieces"])) {
    const [count, base, ...more] = list(piece);
    need(!more.length, "start");
    whole(base, -most, most);
    for (let left = whole(count, 1, 32768 - table.length); left--; ) {
      entry += (base as number) + bit(table.length - 1);
      table.push(whole(entry, 0, most - 1));
    }
  }
  const size = table.length - 1;
  need(size && text.length === 2 * ((size + 7) >> 3), "start");
  for (let at = size; at & 7; at++) need(!bit(at), "start");
  return (value, source) => {
    const knot = table[Math.floor((within(value, size * 65536 - 1) + bits(source, 16)) / 65536)]!;
    return Math.floor((knot + bits(source, 16)) / 65536);
  };
}
