// The sizes that docs/devices.md states: bytes of each file, as gzip sends it. The other files import core.js.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const size = (name) => gzipSync(readFileSync(new URL(`../dist/${name}.js`, import.meta.url)), { level: 9 }).length;
const STATED = { core: 3650, dither: 3250, rules: 2000, lattice: 1800, paths: 1750, nearest: 1100, projective: 750, relay: 1600, signatures: 2700, packed: 400, angles: 300, several: 950, optional: 450 };

for (const [name, most] of Object.entries(STATED)) {
  test(`the size of ${name}.js`, () => {
    assert.ok(size(name) <= most && size(name) > most - 100, `${size(name)} bytes; ${most} are stated`);
  });
}

// What a page loads, in bytes, as docs/devices.md states it beside the goals.
test("the sizes of what a page loads", () => {
  assert.ok(size("core") + size("dither") <= 6850);
  assert.ok(size("core") + size("lattice") <= 6500);
});
