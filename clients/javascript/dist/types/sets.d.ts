/** Draws for answers from a list: unary bits, subsets as bits or as codes. */
import { type Reader } from "./draw.js";
import { type Source } from "./source.js";
export declare const unary: Reader;
/** Move a number past others that ascend: it is an index among the numbers that are not these. */
export declare const past: (index: number, others: number[]) => number;
/** Return the numbers in ascending order. */
export declare const sorted: (numbers: number[]) => number[];
/** Return `count` different numbers below a bound, in random order. */
export declare function different(source: Source, count: number, bound: number): number[];
export declare const subset: Reader;
export declare const indices: Reader;
