/** dither on a device: read a question, verify its promise, draw reports. */
export { draws, readQuestion, type Question } from "./question.js";
export { systemSource, type Source } from "./source.js";
export { hex, Malformed } from "./text.js";
export type { Draw, Reader } from "./draw.js";
