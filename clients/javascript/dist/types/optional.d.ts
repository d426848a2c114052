/** A number that may be missing: `null` is "no answer", a private one. `draws.optional = optional` makes the client know the draw. */
import { type Reader } from "./parts.js";
export declare const optional: Reader;
