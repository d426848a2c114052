/** SetResponse: sets of items, "select all that apply". `draws.several = several` makes the client know the draw. */
import { type Reader } from "./parts.js";
export declare const several: Reader;
