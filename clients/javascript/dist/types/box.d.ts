/** Several numbers together, `dt.Box`: `draws.box = box` makes the client know the draw. It loads nearest.js. */
import { type Reader } from "./parts.js";
/** A record is a list of numbers in the order of the sides, or an object by their names. */
export declare const box: Reader;
