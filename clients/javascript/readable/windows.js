/** Draws from windows: numbers, angles and randomized response. */
import { asCell, codes, line, lottery, readStart } from "./draw.js";
import { bits } from "./source.js";
import { need, integer } from "./text.js";
/** The integers of a window: a cell of the window with probability K·d/2^w, otherwise any cell. */
function window(given, ends) {
    const cells = integer(given, "cells", 2, 2 ** 32);
    const size = Math.log2(cells);
    need(given["draw"] === "sliding" && Number.isInteger(size), "cells");
    const width = integer(given, "width", 1, cells - 1);
    const [draw, step, all] = lottery(width, given);
    const start = readStart(given["start"], cells, ends);
    const outside = all - BigInt(width) * step;
    const cell = (value, source) => {
        const begin = start(value, source);
        const [drawn, ticket, uniform] = draw(source, size);
        // No branch on the value, and no division: modulo a power of two. A start below 0 wraps, only on circles.
        return ((uniform + ((begin + ticket - uniform) & -drawn)) & (cells - 1)) >>> 0;
    };
    return [cells, cell, [outside + BigInt(cells) * step, outside]];
}
export const sliding = (device) => {
    const [inside, ends] = line(device);
    const [cells, cell, ratio] = window(device, ends);
    return { names: "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused", ratio, inside, draw: (value, source) => asCell(cell(value, source), cells) };
};
export const mixture = (device) => {
    const [inside, ends] = line(device);
    const [cells, cell, ratio] = window(device["first"], ends);
    const [others, other, more] = window(device["second"], ends);
    const heads = integer(device, "heads", 0, 2 ** 32 - 1);
    return {
        names: "Hybrid",
        ratio: ratio[0] * more[1] > more[0] * ratio[1] ? ratio : more,
        inside,
        draw: (value, source) => asCell(bits(source, 32) < heads ? cell(value, source) : cells + other(value, source), cells + others),
    };
};
/** Blocks: each with probability d/2^w, otherwise the input's own; and a uniform position in it, of this number of bits. */
export function blocks(given, count, size = 0) {
    const [draw, step, all] = lottery(count, given);
    const cell = (own, source) => {
        const [drawn, block, inner] = draw(source, size);
        return (own + drawn * (block - own)) * 2 ** size + inner;
    };
    return [cell, [all - BigInt(count - 1) * step, step]];
}
export const response = (device) => {
    const [inside, count] = codes(device);
    integer(device, "width", 1, 1);
    const [cell, ratio] = blocks(device, integer(device, "cells", count, count));
    return { names: "KRR RR", ratio, inside, draw: (code, source) => asCell(cell(code, source), count) };
};
