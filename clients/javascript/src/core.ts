/** dither on a device: read a question, verify what it promises, draw reports. */

export { readQuestion, draws, type Question } from "./question.js";
export type { Draw, Reader } from "./draw.js";
export { NoRandomness, systemSource, type Source } from "./source.js";
export { canonical, fingerprint, hex, Malformed, sha256 } from "./text.js";
export { expBelow } from "./exact.js";
