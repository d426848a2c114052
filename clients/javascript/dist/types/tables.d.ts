/** Tables of integers, such as Matrix, Exponential and Cumulative: `Object.assign(draws, tables)` makes the client know both draws. */
import { type Reader } from "./parts.js";
/** The draws of tables: `channel` about a number, `table` about a category. */
export declare const tables: {
    channel: Reader;
    table: Reader;
};
