/** What every draw is, and the parts that draws share: coins, the lottery of windows, start rules. */
import { type Source } from "./source.js";
import { type Json } from "./text.js";
/** How a device turns one input into one report. */
export interface Draw {
    /** The largest ratio of the probabilities of one report under two inputs: [numerator, denominator]. */
    readonly ratio: readonly [bigint, bigint];
    /** Return the report of an input as bytes, lowest byte first. */
    draw(input: number, source: Source): Uint8Array;
}
/** Return a whole number below 2^48 as so many bytes, lowest byte first. */
export declare function asBytes(value: number, length: number): Uint8Array;
/** Return the number of bytes of a report below `cells`: 1, 2, 4 or 8. */
export declare const bytesOf: (cells: number) => number;
/** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of `heads`. */
export declare class Coin {
    #private;
    readonly heads: bigint;
    constructor(text: Json | undefined);
    /** The odds P(heads)/P(tails) as [numerator, denominator]. */
    get odds(): [bigint, bigint];
    toss(source: Source): boolean;
}
/** An index below `tickets`, each with probability step/2^bits, or none; and uniform bits beside it. */
export declare class Lottery {
    #private;
    readonly tickets: number;
    readonly step: bigint;
    readonly bits: number;
    constructor(tickets: number, step: Json | undefined, size: Json | undefined);
    /** Draw once: [drawn (0 or 1), index, `extra` uniform bits]. All bytes are taken at once but for the rare late ones. */
    draw(source: Source, extra: number): [number, number, number];
}
/** Return the start of a value's window; random rounding takes bytes first. */
export type Start = (value: number, source: Source) => number;
/** Read a start rule for windows of so many cells. */
export declare function readStart(data: Json | undefined, cells: number): Start;
/** Return a list as it is. */
export declare function list(value: Json | undefined): Json[];
