/** dither on a device: read a question, verify its promise, draw reports. */
export { draws, readQuestion } from "./question.js";
export { systemSource } from "./source.js";
export { hex, Malformed } from "./text.js";
