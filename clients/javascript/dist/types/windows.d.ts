/** Draws from windows: numbers, angles and randomized response. */
import { type Draw } from "./draw.js";
import { type Source } from "./source.js";
import { type Fields } from "./text.js";
export declare function sliding(device: Fields, extra: string[]): Draw;
export declare function mixture(device: Fields, extra: string[]): Draw;
/** Blocks of equal width: each with probability d/2^w, otherwise the input's own. */
export declare class Blocks {
    #private;
    readonly cells: number;
    readonly width: number;
    constructor(given: Fields, cells: number, width: number);
    get ratio(): [bigint, bigint];
    cell(cell: number, source: Source): number;
}
export declare function response(device: Fields, extra: string[], count: number): Draw;
export declare function sectors(device: Fields, extra: string[]): Draw;
