/** The K nearest of N points: `Object.assign(draws, nearest)` makes the client know the draws `nearest` and `listing`. It loads paths.js. */
import { type Fields, type Ratio, type Reader, type Source } from "./parts.js";
import { type Place } from "./paths.js";
/** Return numbers of 16 bits, written as four hexadecimal digits each. */
export declare function unpack(text: unknown, field: string): number[];
/** The integers of a draw: one of K given numbers with probability K·d/2^w, otherwise any number below N. */
export declare function window(given: Fields): [cells: number, width: number, draw: (near: number[], source: Source) => Uint8Array, ratio: Ratio];
/** Read the rule from a value to its K nearest points: of a box of this number of sides, or (0) of a sphere. Return it with the box. */
export declare function selector(given: Fields, sides: number, cells: number, width: number): [near: (at: readonly number[]) => number[], box: Place[] | undefined];
/** The readers of both draws. */
export declare const nearest: {
    [kind: string]: Reader;
};
