/** Sectors, for angles: `draws.sectors = sectors` makes the client know the draw. */
import { type Reader } from "./parts.js";
export declare const sectors: Reader;
