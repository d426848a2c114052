/** Tables of integers, such as Matrix, Exponential, Cumulative and JointMoments: `Object.assign(draws, tables)` makes the client know the three draws. */
import { type Reader } from "./parts.js";
/** The draws of tables: `channel` about a number, `table` about a category, `splines` about several numbers. */
export declare const tables: {
    [kind: string]: Reader;
};
