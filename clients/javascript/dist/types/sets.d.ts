/** Draws for answers from a list: unary bits, subsets, Hadamard columns, hashing, projective points. */
import { type Draw } from "./draw.js";
import { type Fields } from "./text.js";
export declare function unary(device: Fields, extra: string[], count: number): Draw;
export declare function subset(device: Fields, extra: string[], count: number): Draw;
export declare function hadamard(device: Fields, extra: string[], count: number): Draw;
/** Return the bucket of a code under a seed: the hash family "affine 1". */
export declare function bucket(seed: number, code: number, buckets: number): number;
export declare function hashed(device: Fields, extra: string[]): Draw;
export declare function projective(device: Fields, extra: string[], count: number): Draw;
