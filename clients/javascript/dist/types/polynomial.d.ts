/** SetResponse by polynomials, of very many items: `draws.polynomial = polynomial` makes the client know the draw. It loads several.js. */
import { type Reader } from "./parts.js";
/** A report has the items at which the value of its polynomial over a prime field is below a bound. */
export declare const polynomial: Reader;
