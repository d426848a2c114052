/** Draws for answers from a list: unary bits, subsets, Hadamard columns, hashing. */
import { type Reader } from "./draw.js";
export declare const unary: Reader;
export declare const subset: Reader;
export declare const hadamard: Reader;
export declare const hashed: Reader;
