// The sizes that docs/devices.md states: bytes of each file, as gzip sends it. The other files import core.js.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const size = (name) => gzipSync(readFileSync(new URL(`../dist/${name}.js`, import.meta.url)), { level: 9 }).length;
const STATED = { core: 3500, dither: 3800, lattice: 1800, paths: 1700, projective: 800, signatures: 750, angles: 300 };

for (const [name, most] of Object.entries(STATED)) {
  test(`the size of ${name}.js`, () => {
    assert.ok(size(name) <= most && size(name) > most - 150, `${size(name)} bytes; ${most} are stated`);
  });
}
