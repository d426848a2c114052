/** Sectors, for angles: `draws.sectors = sectors` makes the client know the draw. */

import { asCell, blocks, type Fields, line, need, type Reader, readStart, integer } from "./parts.js";

export const sectors: Reader = (given) => {
  const [inside, ends] = line(given);
  const cells = integer(given, "cells", 2, 2 ** 32);
  const width = integer(given, "width", 1, cells / 2);
  const size = Math.log2(width);
  need(Number.isInteger(size) && cells % width === 0, "cells");
  const [cell, ratio] = blocks(given, cells / width, size);
  const rule = given["start"] as Fields;
  need(rule["kind"] === "line" && rule["fraction"] === 0, "start");
  const start = readStart(rule, cells, ends);
  return {
    names: "Sectors",
    ratio,
    inside,
    draw: (value: number, source) => asCell(cell(Math.floor((((start(value, source) % cells) + cells) % cells) / width), source), cells),
  };
};
