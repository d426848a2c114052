// What an account shows and forgets. The element is tested in browsers.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DitherAccount, erase, view } from "../dist/account.js";
import { Device, memoryStore } from "../dist/dither.js";
import { allRules } from "../dist/rules.js";

const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name.startsWith("Podium")).specification;

test("what was given is shown, and forgotten, and stays counted", async () => {
  for (const rules of [undefined, allRules()]) {
    const store = memoryStore();
    const device = await Device.open({ epsilon: 3, store, ...(rules && { rules }) });
    assert.deepEqual(await device.account(view), { epsilon: 3, left: 3, given: [], waiting: 0, sent: 0, withdrawable: [] });
    const once = device.asking(specification, { name: "minutes", asker: "city.example" });
    const kept = device.asking(specification, { name: "usual", asker: "clinic.example", repeat: "same" });
    await device.answer(once, 1);
    const { report } = await device.answer(kept, 2);
    await device.answer(kept, 3);
    const shown = await device.account(view);
    const line = { epsilon: 1, delta: 0, assumes: [] };
    assert.deepEqual(shown.given, [{ asker: "city.example", question: "minutes", ...line }, { asker: "clinic.example", question: "usual", ...line }]);
    assert.deepEqual([shown.epsilon, shown.left, shown.waiting], [3, 1, 2]);
    const key = await store.update((all) => [all.key]);
    const left = await device.account(erase);
    assert.deepEqual(left, { epsilon: 3, left: 1, given: [{ asker: "", question: "", ...line }, { asker: "", question: "", ...line }], waiting: 0, sent: 0, withdrawable: [] });
    const { key: newKey, state } = await store.update((all) => [all]);
    assert.ok(newKey !== key && newKey.length === 64); // permanent answers per value cannot be drawn again
    const text = JSON.stringify(state);
    for (const word of ["city.example", "clinic.example", "minutes", "usual", once.question.fingerprint, report]) assert.ok(!text.includes(word), word);
    assert.equal(await device.body([once, kept]), undefined);
    // Who is asked again gives again, and is charged: what was promised holds.
    assert.equal((await device.answer(kept, 3)).is, "drawn");
    assert.equal((await device.answer(once, 3)).reason, "budget");
    assert.equal((await device.account()).entries.length, 3);
  }
});

test("where there is no page the element is not defined", () => {
  assert.equal(typeof DitherAccount, "function");
});
