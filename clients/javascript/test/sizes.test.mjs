// The sizes that docs/devices_errors.md and README.md state: bytes of each file, as gzip sends it. The other files import core.js.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const size = (name) => gzipSync(read(`dist/${name}.js`), { level: 9 }).length;
const page = read("../../docs/devices_errors.md");
const STATED = Object.fromEntries([...page.matchAll(/^\| `([a-z]+)\.js`[^|]*\| ([\d ]+)/gm)].map(([, name, bytes]) => [name, +bytes.replace(" ", "")]));
const files = readdirSync(new URL("../dist", import.meta.url)).flatMap((name) => /^([a-z]+)\.js$/.exec(name)?.[1] ?? []);

for (const name of files.filter((one) => one !== "testing")) {
  test(`the size of ${name}.js`, () => {
    assert.ok(size(name) <= STATED[name] && size(name) > STATED[name] - 100, `${size(name)} bytes; ${STATED[name]} are stated`);
  });
}

// What a page loads, in bytes, as docs/devices_errors.md states it beside the goals.
test("the sizes of what a page loads", () => {
  assert.ok(size("core") <= 4500);
  assert.ok(size("core") + size("dither") <= 10300);
  assert.ok(page.includes("with the core 10 300"));
  assert.ok(size("react") <= 1000);
  assert.ok(size("core") + size("lattice") <= 6500);
});

test("the sizes of the README, and of the one script", () => {
  const told = [...read("README.md").matchAll(/^\| `dither-ldp(?:\/(\w+))?` .*\| (\+ )?([\d.]+) kB \|$/gm)];
  assert.ok(told.length > 25);
  for (const [, name = "dither", more, kilobytes] of told) {
    const bytes = name === "global" ? size("dither.global") : size(name) + (name === "dither" && !more ? size("core") : 0);
    assert.ok(Math.abs(bytes / 1000 - kilobytes) < 0.1, `${name}: ${bytes} bytes, ${kilobytes} kB`);
  }
  assert.ok(page.includes(`one script of ${(size("dither.global") / 1000).toFixed(1)} kB`));
});
