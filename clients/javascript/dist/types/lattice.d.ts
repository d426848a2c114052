/** Noise on a lattice, such as Laplace, Staircase and Gaussian: `draws.lattice = lattice` makes the client know the draw. */
import { type Reader } from "./parts.js";
export declare const lattice: Reader;
