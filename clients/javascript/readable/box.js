/** Several numbers together, `dt.Box`: `draws.box = box` makes the client know the draw. It loads nearest.js. */
import { need } from "./parts.js";
import { selector, window } from "./nearest.js";
/** A record is a list of numbers in the order of the sides, or an object by their names. */
export const box = (device) => {
    const { domain, outside } = device;
    const [cells, width, draw, ratio] = window(device);
    const sides = domain.sides;
    const names = sides.map((side) => side[0]);
    const [near, ends] = selector(device["selector"], sides.length, cells, width);
    need(domain.kind === "box" && outside === "clip" && sides.length > 1 && sides.length < 9, "domain");
    need(new Set(names).size === sides.length && names.every((name) => typeof name === "string"), "domain");
    // A box of the selector has finite ends in order, so that the domain's, which are equal, have.
    need(sides.every(([, low, high, ...more], i) => !more.length && low === ends[i][0] && high === ends[i][1]), "selector");
    return {
        names: "Optimal",
        ratio,
        inside: (value) => {
            const row = Array.isArray(value) ? [...value] : names.map((name) => value?.[name]);
            return row.length === sides.length && row.every(Number.isFinite) ? row.map((x, i) => Math.min(Math.max(x, ends[i][0]), ends[i][1])) : undefined;
        },
        draw: (record, source) => draw(near(record), source),
    };
};
