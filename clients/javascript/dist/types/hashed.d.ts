/** OLH, BLH and Hadamard response, for long lists: `Object.assign(draws, hashed)` makes the client know the draws `hashed` and `hadamard`. */
import { type Reader } from "./parts.js";
/** The draws `hashed` (OLH and BLH) and `hadamard` (Hadamard response). */
export declare const hashed: {
    [kind: string]: Reader;
};
