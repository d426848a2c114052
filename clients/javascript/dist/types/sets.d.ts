/** Draws for answers from a list: unary bits, subsets. */
import { type Reader } from "./draw.js";
export declare const unary: Reader;
export declare const subset: Reader;
