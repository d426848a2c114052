/** ProjectiveResponse: points of a finite geometry. `draws.projective = projective` makes the client know the draw. */
import { type Reader } from "./parts.js";
export declare const projective: Reader;
