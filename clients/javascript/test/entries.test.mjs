// A question is answered by the main entry point alone, or by it and the one entry point that the error names.
// VECTORS may name another file of draws: tests/conformance/test_javascript.py writes one of the default mechanisms of lists.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, draws, hex, memoryStore, readQuestion } from "../dist/dither.js";
import "../dist/dither.global.js";
import { scripted, unknown } from "./events.mjs";

const file = process.env.VECTORS ?? new URL("../../conformance/2/draws.json", import.meta.url);
const { questions } = JSON.parse(readFileSync(file, "utf8"));
const core = Object.keys(draws);

/** Return the entry point that an error names, or undefined if the question is read. */
function entryOf(specification, name) {
  try {
    readQuestion(specification, name);
  } catch ({ reason, field, question }) {
    assert.equal(reason, "draw", `${name}: ${reason} ${field}`);
    assert.equal(question, name);
    const [mechanism, entry] = field.split(" needs dither-ldp/");
    assert.equal(mechanism, JSON.parse(specification).mechanism);
    return entry;
  }
}

const deviceOf = (specification) => JSON.parse(JSON.parse(specification).device);

for (const { name, specification, draws: drawn } of questions) {
  const { draw: kind, first } = deviceOf(specification);
  const skip = (unknown(specification) && "this client does not know the draw") || (first?.draw === "sectors" && "it needs two entry points");
  test(`one entry point answers ${name}`, { skip }, async () => {
    const entry = entryOf(specification, name);
    assert.equal(entry === undefined, core.includes(kind));
    if (entry) {
      const { [entry]: exported, ...others } = await import(`../dist/${entry}.js`);
      Object.assign(draws, typeof exported === "object" ? exported : { [kind]: exported ?? others[kind] });
    }
    try {
      assert.equal(entryOf(specification, name), undefined);
      const question = readQuestion(specification);
      for (const { value, bytes, report } of drawn.slice(0, 3)) assert.equal(hex(question.report(value, scripted(bytes))), report);
      // One script has all draws, because a page that is opened from disk cannot load another entry point.
      assert.equal(globalThis.dither.readQuestion(specification).kind, kind);
    } finally {
      for (const added of Object.keys(draws)) if (!core.includes(added)) delete draws[added];
    }
    console.log(`entry: ${JSON.stringify([name, entry ?? "main"])}`);
  });
}

test("the error of a device names the question", async () => {
  const device = await Device.open({ epsilon: 1, store: memoryStore() });
  const { specification } = questions.find((question) => deviceOf(question.specification).draw === "projective");
  const terms = { name: "colour", asker: "clinic.example" };
  assert.throws(() => device.asking(specification, terms), { name: "Malformed", message: 'question "colour": draw: ProjectiveResponse needs dither-ldp/projective', question: "colour" });
  assert.throws(() => readQuestion(specification), { message: "draw: ProjectiveResponse needs dither-ldp/projective" });
});

test("an error names no entry point for a draw that none has", () => {
  const other = questions.find(({ specification }) => unknown(specification));
  if (other) assert.throws(() => readQuestion(other.specification), { reason: "draw", field: "" });
});
