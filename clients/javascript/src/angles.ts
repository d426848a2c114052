/** Sectors, for angles: `draws.sectors = sectors` makes the client know the draw. */

import { asCell, readStart, type Reader } from "./draw.js";
import { fields, need, whole } from "./text.js";
import { blocks, NAMES } from "./windows.js";

export const sectors: Reader = (device, ends) => {
  const given = fields(device, NAMES);
  const cells = whole(given["cells"], 2, 2 ** 32);
  const [cell, ratio] = blocks(given, cells, whole(given["width"], 1, cells));
  const rule = fields(given["start"], "fraction kind last origin scale");
  need(rule["kind"] === "line" && rule["fraction"] === 0, "start");
  const start = readStart(rule, cells, ends);
  return {
    ratio,
    draw: (value, source) => asCell(cell(((start(value, source) % cells) + cells) % cells, source), cells),
  };
};
