/** The K nearest of N points: `Object.assign(draws, nearest)` makes the client know the draws `nearest` and `listing`. It loads paths.js. */
import { type Reader } from "./parts.js";
/** The readers of both draws. */
export declare const nearest: {
    [kind: string]: Reader;
};
