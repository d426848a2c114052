/** What every draw is, and the parts that draws share: coins, the lottery of windows, start rules. */
import { type Source } from "./source.js";
import { type Fields, type Json } from "./text.js";
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
export declare function asBytes(value: number, length: number): Uint8Array;
/** Return a report below `cells` as 1, 2, 4 or 8 bytes. */
export declare const asCell: (value: number, cells: number) => Uint8Array;
/** Return whether a number is a power of two, by its logarithm. */
export declare const power: (n: number) => boolean;
/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export declare function coin(text: Json | undefined): [toss: (source: Source) => number, heads: bigint, tails: bigint];
/** Draw [1 if a ticket was drawn, otherwise 0; the ticket; uniform bits beside it]. */
export type Lottery = (source: Source, extra: number) => [number, number, number];
/** A ticket below `tickets`, each with probability step/2^bits, or none. Return the lottery, step and 2^bits. */
export declare function lottery(tickets: number, given: Fields): [Lottery, bigint, bigint];
/** Return the start of a value's window; random rounding takes bytes first. */
export type Start = (value: number, source: Source) => number;
/** Read a start rule for windows of so many cells, and values between two ends. */
export declare function readStart(data: Json | undefined, cells: number, ends: readonly [number, number]): Start;
