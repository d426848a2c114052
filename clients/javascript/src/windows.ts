/** Draws from windows: numbers, angles and randomized response. */

import { asBytes, bytesOf, Lottery, readStart, type Draw, type Start } from "./draw.js";
import { bits, type Source } from "./source.js";
import { fields, Malformed, whole, type Fields } from "./text.js";

const power = (n: number): boolean => Number.isInteger(Math.log2(n));

/** The integers of a window: a cell of the window with probability K·d/2^w, otherwise any cell. */
class Sliding {
  readonly cells: number;
  readonly width: number;
  readonly start: Start;
  readonly #lottery: Lottery;
  readonly #size: number;

  constructor(given: Fields) {
    this.cells = whole(given["cells"], 2, 2 ** 32);
    if (!power(this.cells)) throw new Malformed("the number of cells is a power of two");
    this.width = whole(given["width"], 1, this.cells - 1);
    this.#lottery = new Lottery(this.width, given["step"], given["bits"]);
    this.#size = Math.log2(this.cells);
    this.start = readStart(given["start"], this.cells);
  }

  get ratio(): [bigint, bigint] {
    const outside = (1n << BigInt(this.#lottery.bits)) - BigInt(this.width) * this.#lottery.step;
    return [outside + BigInt(this.cells) * this.#lottery.step, outside];
  }

  cell(value: number, source: Source): number {
    const start = this.start(value, source);
    const [drawn, index, uniform] = this.#lottery.draw(source, this.#size);
    const cell = (uniform + drawn * (start + index - uniform)) % this.cells;
    return cell < 0 ? cell + this.cells : cell; // no branch on the value: a start below 0 wraps on circles alone
  }
}

const SLIDING = ["draw", "cells", "width", "step", "bits", "start"];

export function sliding(device: Fields, extra: string[]): Draw {
  const window = new Sliding(fields(device, ...SLIDING, ...extra));
  const size = bytesOf(window.cells);
  return { ratio: window.ratio, draw: (value, source) => asBytes(window.cell(value, source), size) };
}

export function mixture(device: Fields, extra: string[]): Draw {
  const given = fields(device, "draw", "first", "second", "heads", ...extra);
  const parts = [given["first"], given["second"]].map((part) => {
    const one = fields(part, ...SLIDING);
    if (one["draw"] !== "sliding") throw new Malformed("a mixture is of two windows");
    return new Sliding(one);
  });
  const [first, second] = parts as [Sliding, Sliding];
  const heads = whole(given["heads"], 0, 2 ** 32 - 1);
  const size = bytesOf(first.cells + second.cells);
  const larger = first.ratio[0] * second.ratio[1] > second.ratio[0] * first.ratio[1] ? first : second;
  return {
    ratio: larger.ratio,
    draw: (value, source) => {
      const one = bits(source, 32) < heads;
      return asBytes(one ? first.cell(value, source) : first.cells + second.cell(value, source), size);
    },
  };
}

/** Blocks of equal width: each with probability d/2^w, otherwise the input's own. */
export class Blocks {
  readonly cells: number;
  readonly width: number;
  readonly #blocks: number;
  readonly #lottery: Lottery;
  readonly #inner: number;

  constructor(given: Fields, cells: number, width: number) {
    this.cells = cells;
    this.width = width;
    this.#blocks = cells / width;
    if (!power(width) || !Number.isInteger(this.#blocks) || this.#blocks < 2) throw new Malformed("blocks have one width");
    this.#lottery = new Lottery(this.#blocks, given["step"], given["bits"]);
    this.#inner = Math.log2(width);
  }

  get ratio(): [bigint, bigint] {
    const { step } = this.#lottery;
    return [(1n << BigInt(this.#lottery.bits)) - BigInt(this.#blocks - 1) * step, step];
  }

  cell(cell: number, source: Source): number {
    const [drawn, block, inner] = this.#lottery.draw(source, this.#inner);
    const own = Math.floor(cell / this.width);
    return (own + drawn * (block - own)) * this.width + inner;
  }
}

export function response(device: Fields, extra: string[], count: number): Draw {
  const given = fields(device, "draw", "cells", "width", "step", "bits", ...extra);
  const blocks = new Blocks(given, whole(given["cells"], count, count), whole(given["width"], 1, 1));
  const size = bytesOf(blocks.cells);
  return { ratio: blocks.ratio, draw: (code, source) => asBytes(blocks.cell(code, source), size) };
}

export function sectors(device: Fields, extra: string[]): Draw {
  const given = fields(device, ...SLIDING, ...extra);
  const cells = whole(given["cells"], 2, 2 ** 32);
  const blocks = new Blocks(given, cells, whole(given["width"], 1, cells));
  const rule = fields(given["start"], "kind", "origin", "scale", "last", "fraction");
  if (rule["kind"] !== "line" || rule["fraction"] !== 0) throw new Malformed("sectors do not round at random");
  const start = readStart(rule, cells);
  const size = bytesOf(cells);
  return {
    ratio: blocks.ratio,
    draw: (value, source) => {
      const at = start(value, source) % cells;
      return asBytes(blocks.cell(at < 0 ? at + cells : at, source), size);
    },
  };
}
