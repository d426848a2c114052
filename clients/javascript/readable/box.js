/** Several numbers together, `dt.Box`: `draws.box = box` makes the client know the draw. It loads nearest.js. */
import { selector, window } from "./nearest.js";
import { record } from "./record.js";
/** A record is a list of numbers in the order of the sides, or an object by their names. */
export const box = (device) => {
    const [cells, width, draw, ratio] = window(device);
    const [near, ends] = selector(device["selector"], device["domain"].sides.length, cells, width);
    // A box of the selector has finite ends in order, and so does the domain, because its ends are equal.
    return { names: "Optimal", ratio, inside: record(device, ends, "selector"), draw: (row, source) => draw(near(row), source) };
};
