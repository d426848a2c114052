// The sizes that docs/devices.md states: bytes of each bundle, as gzip sends it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const MOST = { core: 4200, dither: 7800, lattice: 2600, angles: 1700, projective: 1600 };

for (const [name, most] of Object.entries(MOST)) {
  test(`the size of ${name}.js`, () => {
    const size = gzipSync(readFileSync(new URL(`../dist/${name}.js`, import.meta.url)), { level: 9 }).length;
    assert.ok(size <= most && size > most * 0.9, `${size} bytes; ${most} are stated`);
  });
}
