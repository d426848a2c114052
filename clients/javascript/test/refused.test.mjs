// Specifications that every device must refuse, and certified bounds of e^ε.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sectors } from "../dist/angles.js";
import { draws, Malformed } from "../dist/core.js";
import { lattice } from "../dist/lattice.js";
import { nearest } from "../dist/nearest.js";
import { paths } from "../dist/paths.js";
import { projective } from "../dist/projective.js";
import { optional } from "../dist/optional.js";
import { several } from "../dist/several.js";
import { expBelow, readNamed } from "../dist/testing.js";

Object.assign(draws, { lattice, sectors, projective, several, optional, ...paths, ...nearest });

const read = (name) => JSON.parse(readFileSync(new URL(`../../../conformance/2/${name}.json`, import.meta.url), "utf8"))[name];

for (const { name, reason, specification } of read("refused")) {
  test(`refused: ${name}: ${reason}`, () => {
    assert.throws(
      () => readNamed(specification),
      (error) => error instanceof Malformed && /^[a-z]+$/.test(error.message),
    );
  });
}

test("certified bounds of e^ε", () => {
  for (const { epsilon, below } of read("bounds")) {
    assert.equal(expBelow(epsilon).toString(16), below);
  }
});
