// The draws of clients/conformance/2/draws.json: the same report from the same bytes, and no byte more or less.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sectors } from "../dist/angles.js";
import { draws as kinds, hex, Malformed, readQuestion } from "../dist/core.js";
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
import { scripted, unknown } from "./events.mjs";
import { hashed } from "../dist/hashed.js";

const file = process.env.VECTORS ?? new URL("../../conformance/2/draws.json", import.meta.url);

test("what another entry point knows is not known before", () => {
  const { questions } = JSON.parse(readFileSync(file, "utf8"));
  const one = questions.find(({ name }) => name === "Sectors");
  if (one) assert.throws(() => readQuestion(one.specification), new Malformed("draw", "Sectors needs dither-ldp/angles"));
  Object.assign(kinds, { ...hashed, lattice, sectors, projective, several, polynomial, optional, box, directions, routes, ...paths, ...nearest, ...profile, ...tables });
});

for (const { name, specification, draws } of JSON.parse(readFileSync(file, "utf8")).questions) {
  const skip = unknown(specification) && "this client does not know the draw";
  test(`draws of ${name}`, { skip }, () => {
    const question = readQuestion(specification);
    for (const { value, bytes, report } of draws) {
      const source = scripted(bytes);
      assert.equal(hex(question.report(value, source)), report);
      assert.equal(source.left, 0, "fewer bytes than Python takes");
    }
  });
}
