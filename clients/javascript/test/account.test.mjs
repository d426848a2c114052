// The scenarios of conformance/2/account.json: the outcome and the state after every event.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { happen } from "./events.mjs";

const file = new URL("../../../conformance/2/account.json", import.meta.url);
const { account, scenarios } = JSON.parse(readFileSync(file, "utf8"));

assert.equal(account, 2);
for (const scenario of scenarios) {
  test(`account: ${scenario.name}`, () => {
    let state = scenario.open;
    for (const { event, outcome, state: expected } of scenario.steps) {
      const before = structuredClone(state);
      const [told, next] = happen(state, event, scenario.policy);
      assert.deepEqual(state, before, "a state is never changed in place");
      assert.deepEqual(told, outcome);
      assert.deepEqual(next ?? before, expected ?? before);
      state = next ?? before;
    }
  });
}
