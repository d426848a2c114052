/** What every draw is, and the parts that draws share: domains, coins, the lottery of windows, start rules. */
import { type Source } from "./source.js";
import { type Fields } from "./text.js";
/** Two integers: a numerator and a denominator. */
export type Ratio = readonly [bigint, bigint];
/** The two ends of an interval or a circle. */
export type Ends = readonly [number, number];
/** Return the input of a value, or undefined if nobody may answer with it. It never throws. */
export type Inside<Input = number> = (value: unknown) => Input | undefined;
/** How a device turns one value into one report. */
export interface Draw<Input = any> {
    /** The mechanisms that draw so, with spaces between them. A specification must name one: policies and people go by the name. */
    readonly names: string;
    /** The largest ratio of the probabilities of one report under two inputs. */
    readonly ratio: Ratio;
    readonly inside: Inside<Input>;
    /** Return the report of an input as bytes, lowest byte first. */
    draw(input: Input, source: Source): Uint8Array;
    /** For sets: return how many items of a value are not in the list and are left out. */
    leftOut?(value: unknown): number;
    /** For a promise with a δ: return it, or throw if the integers do not keep it at a lower bound of e^ε·2^320. */
    delta?(bound: bigint, stated: unknown): number;
    /** For paths: return the ε of this number of locations, and its assumptions. */
    spend?(epsilon: number, times: number): [epsilon: number, assumes: string[]];
}
/** The reader of a kind of draw: of the fields of a device text. */
export type Reader = (device: Fields) => Draw;
/** Return the interval or the circle of a device text. */
export declare function line({ domain, outside }: Fields): [inside: Inside, ends: Ends];
/** Return the categories of a device text. */
export declare function codes({ domain, outside }: Fields): [inside: Inside, count: number];
/** Return an integer below 2^48 as bytes, lowest byte first. */
export declare const asBytes: (value: number, length: number) => Uint8Array;
/** Return a report below `cells` as 1, 2, 4 or 8 bytes. */
export declare function asCell(value: number, cells: number): Uint8Array;
/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export declare function coin(given: Fields, field: string): [toss: (source: Source) => number, heads: bigint, tails: bigint];
/** Draw [1 if a ticket was drawn, otherwise 0; the ticket; further uniform bits]. */
export type Lottery = (source: Source, extra: number) => [number, number, number];
/** A ticket below `tickets`, each with probability step/2^bits, or none. Return the lottery, step and 2^bits. */
export declare function lottery(tickets: number, given: Fields): [Lottery, bigint, bigint];
/** Return the start of a value's window; random rounding takes bytes first. */
export type Start = (value: number, source: Source) => number;
/** Read a start rule for windows of this number of cells, and values between two ends. */
export declare function readStart(given: Fields, cells: number, ends: Ends): Start;
