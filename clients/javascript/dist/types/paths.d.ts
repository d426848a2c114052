/** TraCS, for places and paths: `Object.assign(draws, paths)` makes the client know the draws `pair` and `walk`. */
import { type Reader } from "./parts.js";
export declare const paths: {
    [kind: string]: Reader;
};
