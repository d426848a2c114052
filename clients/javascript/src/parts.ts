/** Parts of the core that the other entry points are made of. The build lets them import core.js: it has these under short names. */

export * from "./core.js";
export { asBytes, asCell, codes, coin, line, lottery, readStart, type Ends, type Inside, type Ratio } from "./draw.js";
export { different, past, sorted } from "./sets.js";
export { below, bits, little, word } from "./source.js";
export { digest, hexadecimal, need, parse, real, sha256, utf8, watched, integer, type Fields, type Json } from "./text.js";
export { expBelow } from "./exact.js";
export { blocks } from "./windows.js";
export { checkAddress, exchange } from "./exchange.js";
