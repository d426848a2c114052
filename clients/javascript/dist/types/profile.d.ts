/** Marginals: several attributes of a person together, a profile. `Object.assign(draws, profile)` makes the client know the draw. It loads projective.js. */
import { type Reader } from "./parts.js";
/** The reader of the draw. */
export declare const profile: {
    [kind: string]: Reader;
};
