/** Noise on a lattice, such as Laplace and Staircase: `draws.lattice = lattice` makes the client know the draw. */
import { type Reader } from "./draw.js";
export declare const lattice: Reader;
