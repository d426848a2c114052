// The draws of conformance/2/draws.json: the same report from the same bytes, and no byte more or less.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sectors } from "../dist/angles.js";
import { draws as kinds, hex, Malformed, readQuestion } from "../dist/core.js";
import { projective } from "../dist/projective.js";

const file = process.env.VECTORS ?? new URL("../../../conformance/2/draws.json", import.meta.url);

class Scripted {
  constructor(text) {
    this.left = Uint8Array.from(Buffer.from(text, "hex"));
  }
  take(size) {
    assert.ok(size <= this.left.length, "more bytes than Python takes");
    const taken = this.left.slice(0, size);
    this.left = this.left.subarray(size);
    return taken;
  }
}

test("what another entry point knows is not known before", () => {
  const { questions } = JSON.parse(readFileSync(file, "utf8"));
  const one = questions.find(({ name }) => name === "Sectors");
  if (one) assert.throws(() => readQuestion(one.specification), new Malformed("draw"));
  Object.assign(kinds, { sectors, projective });
});

for (const { name, specification, draws } of JSON.parse(readFileSync(file, "utf8")).questions) {
  test(`draws of ${name}`, () => {
    const question = readQuestion(specification);
    for (const { value, bytes, report } of draws) {
      const source = new Scripted(bytes);
      assert.equal(hex(question.report(value, source)), report);
      assert.equal(source.left.length, 0, "fewer bytes than Python takes");
    }
  });
}
