// The sizes that docs/devices.md states: bytes of each file, as gzip sends it. The other files import core.js.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const size = (name) => gzipSync(readFileSync(new URL(`../dist/${name}.js`, import.meta.url)), { level: 9 }).length;
const STATED = { core: 4250, dither: 3300, account: 1350, angles: 300, auto: 450, box: 450, hashed: 600, lattice: 1850, nearest: 1150, node: 950, packed: 400, paths: 2100, projective: 1000, react: 400, relay: 1600, rules: 2100, several: 900, optional: 450, signatures: 2700 };

for (const [name, most] of Object.entries(STATED)) {
  test(`the size of ${name}.js`, () => {
    assert.ok(size(name) <= most && size(name) > most - 100, `${size(name)} bytes; ${most} are stated`);
  });
}

// What a page loads, in bytes, as docs/devices.md states it beside the goals.
test("the sizes of what a page loads", () => {
  assert.ok(size("core") <= 4250);
  assert.ok(size("core") + size("dither") <= 7550);
  assert.ok(size("react") <= 1000);
  assert.ok(size("core") + size("lattice") <= 6500);
});
