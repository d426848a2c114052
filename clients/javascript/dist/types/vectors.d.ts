/** Vectors of many numbers, `dt.Vectors`: `draws.directions = directions` makes the client know the draw. It loads nearest.js. */
import { type Reader } from "./parts.js";
/** A vector is an array of numbers: plain, or a Float32Array or Float64Array. */
export declare const directions: Reader;
