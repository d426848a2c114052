// Specifications that every device must refuse, and certified bounds of e^ε.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sectors } from "../dist/angles.js";
import { draws, readQuestion } from "../dist/core.js";
import { lattice } from "../dist/lattice.js";
import { tables } from "../dist/tables.js";
import { box } from "../dist/box.js";
import { routes } from "../dist/routes.js";
import { directions } from "../dist/vectors.js";
import { nearest } from "../dist/nearest.js";
import { paths } from "../dist/paths.js";
import { projective } from "../dist/projective.js";
import { optional } from "../dist/optional.js";
import { profile } from "../dist/profile.js";
import { polynomial } from "../dist/polynomial.js";
import { several } from "../dist/several.js";
import { expBelow } from "../dist/testing.js";
import { hashed } from "../dist/hashed.js";

Object.assign(draws, { ...hashed, lattice, sectors, projective, several, polynomial, optional, box, directions, routes, ...paths, ...nearest, ...profile, ...tables });

const read = (name) => JSON.parse(readFileSync(new URL(`../../conformance/2/${name}.json`, import.meta.url), "utf8"))[name];

const WHOLE = ["window: start", "response: domain.labels", "text"]; // more than a field was changed
for (const { name, reason, specification } of read("refused")) {
  test(`refused: ${name}: ${reason}`, () => {
    assert.throws(
      () => readQuestion(specification),
      // The reason is a word; of a number it says which field has it, the one that was changed.
      ({ name: kind, reason, field, message }) => {
        assert.deepEqual([kind, message], ["Malformed", field ? `${reason}: ${field}` : reason]);
        assert.match(reason, /^[a-z]+$/);
        if (reason === "number" || reason === "fields") assert.ok(name.includes(field || "?") || /^\d+$/.test(field) || WHOLE.includes(name), `${name}: ${message}`);
        return true;
      },
    );
  });
}

test("certified bounds of e^ε", () => {
  for (const { epsilon, below } of read("bounds")) {
    assert.equal(expBelow(epsilon).toString(16), below);
  }
});
