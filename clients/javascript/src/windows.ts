/** Draws from windows: numbers, angles and randomized response. */

import { asCell, lottery, power, readStart, type Ratio, type Reader } from "./draw.js";
import { bits, type Source } from "./source.js";
import { fields, need, whole, type Fields } from "./text.js";

type Cell = (input: number, source: Source) => number;
export const NAMES = "bits cells draw start step width";

/** The integers of a window: a cell of the window with probability K·d/2^w, otherwise any cell. */
function window(given: Fields, ends: readonly [number, number]): [cells: number, cell: Cell, ratio: Ratio] {
  fields(given, NAMES);
  const cells = whole(given["cells"], 2, 2 ** 32);
  const size = Math.log2(cells);
  need(power(cells) && given["draw"] === "sliding", "cells");
  const width = whole(given["width"], 1, cells - 1);
  const [draw, step, all] = lottery(width, given);
  const start = readStart(given["start"], cells, ends);
  const outside = all - BigInt(width) * step;
  const cell: Cell = (value, source) => {
    const begin = start(value, source);
    const [drawn, ticket, uniform] = draw(source, size);
    // No branch on the value; a start below 0 wraps, on circles alone.
    return (((uniform + drawn * (begin + ticket - uniform)) % cells) + cells) % cells;
  };
  return [cells, cell, [outside + BigInt(cells) * step, outside]];
}

export const sliding: Reader = (device, ends) => {
  const [cells, cell, ratio] = window(device, ends);
  return { ratio, draw: (value, source) => asCell(cell(value, source), cells) };
};

export const mixture: Reader = (device, ends) => {
  const given = fields(device, "draw first heads second");
  const [cells, cell, ratio] = window(given["first"] as Fields, ends);
  const [others, other, more] = window(given["second"] as Fields, ends);
  const heads = whole(given["heads"], 0, 2 ** 32 - 1);
  return {
    ratio: ratio[0] * more[1] > more[0] * ratio[1] ? ratio : more,
    draw: (value, source) =>
      asCell(bits(source, 32) < heads ? cell(value, source) : cells + other(value, source), cells + others),
  };
};

/** Blocks of equal width: each with probability d/2^w, otherwise the input's own. */
export function blocks(given: Fields, cells: number, width = 1): [cell: Cell, ratio: Ratio] {
  const count = cells / width;
  need(power(width) && Number.isInteger(count) && count > 1, "cells");
  const [draw, step, all] = lottery(count, given);
  const cell: Cell = (input, source) => {
    const [drawn, block, inner] = draw(source, Math.log2(width));
    const own = Math.floor(input / width);
    return (own + drawn * (block - own)) * width + inner;
  };
  return [cell, [all - BigInt(count - 1) * step, step]];
}

export const response: Reader = (device, [, count]) => {
  const given = fields(device, "bits cells draw step width");
  whole(given["width"], 1, 1);
  const [cell, ratio] = blocks(given, whole(given["cells"], count, count));
  return { ratio, draw: (code, source) => asCell(cell(code, source), count) };
};
