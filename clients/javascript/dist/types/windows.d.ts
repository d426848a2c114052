/** Draws from windows: numbers, angles and randomized response. */
import { type Ratio, type Reader } from "./draw.js";
import { type Source } from "./source.js";
import { type Fields } from "./text.js";
type Cell = (input: number, source: Source) => number;
export declare const sliding: Reader;
export declare const mixture: Reader;
/** Blocks: each with probability d/2^w, otherwise the input's own; and a uniform position in it, of this number of bits. */
export declare function blocks(given: Fields, count: number, size?: number): [cell: Cell, ratio: Ratio];
export declare const response: Reader;
export {};
