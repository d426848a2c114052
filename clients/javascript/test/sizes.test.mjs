// The sizes that docs/devices.md states: bytes of each file, as gzip sends it. The other files import core.js.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const size = (name) => gzipSync(readFileSync(new URL(`../dist/${name}.js`, import.meta.url)), { level: 9 }).length;
const STATED = { core: 4500, dither: 5400, account: 2400, angles: 350, auto: 500, box: 500, changes: 2250, elements: 4600, hashed: 650, lattice: 1900, nearest: 1200, node: 1000, optional: 500, packed: 400, paths: 2350, polynomial: 800, presence: 4200, profile: 1100, projective: 1050, react: 700, relay: 1700, routes: 1000, rules: 2750, several: 1050, signatures: 5650, tables: 1800, vectors: 1300 };

for (const [name, most] of Object.entries(STATED)) {
  test(`the size of ${name}.js`, () => {
    assert.ok(size(name) <= most && size(name) > most - 100, `${size(name)} bytes; ${most} are stated`);
  });
}

// What a page loads, in bytes, as docs/devices.md states it beside the goals.
test("the sizes of what a page loads", () => {
  assert.ok(size("core") <= 4500);
  assert.ok(size("core") + size("dither") <= 9850);
  assert.ok(size("react") <= 1000);
  assert.ok(size("core") + size("lattice") <= 6500);
});
