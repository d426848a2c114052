/** Records of several numbers, `dt.Box`: a list in the order of the sides, or an object by their names. */
import { type Fields, type Inside } from "./parts.js";
/** Return the record of a value; the sides of the domain are these ends (finite and in order). */
export declare function record({ domain, outside }: Fields, ends: readonly (readonly [number, number])[], field: string): Inside<number[]>;
