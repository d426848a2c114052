/** Exact draws by integer weights of total 2^128, for noise on a lattice and for tables. */
import { type Ratio, type Source } from "./parts.js";
export declare const TOTAL: bigint;
/** Return the largest quotient of two lists, compared in integers. */
export declare const largest: (tops: bigint[], bottoms: bigint[]) => Ratio;
/** Return a draw of an outcome by its weight: a column, and a coin between its two outcomes. Vose's method in integers. */
export declare function alias(row: bigint[]): (source: Source) => number;
