// The scenarios of clients/conformance/2/account.json: the outcome and the state after every event.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { accounts } from "../dist/testing.js";
import { happen } from "./events.mjs";

const file = new URL("../../conformance/2/account.json", import.meta.url);
const { account, scenarios } = JSON.parse(readFileSync(file, "utf8"));

assert.equal(account, 3);
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

// The plain rules, which a page has that loads no others: wherever they know the question and the limits, the same outcome
// and the same spend. They keep neither the clock nor the list of askers.
const { plain } = accounts;
const opens = (state) => {
  try {
    return plain.open(state);
  } catch (error) {
    assert.equal(error.reason, "rules");
    return undefined;
  }
};
const spent = ({ clock, askers, ...state }) => state;
const seen = { compared: 0, refused: 0 };
for (const { name, open, steps, policy } of scenarios) {
  let state = opens(open);
  if (!state) {
    seen.refused++;
    continue;
  }
  test(`plain rules: ${name}`, () => {
    for (const { event, outcome, state: expected } of steps) {
      if (!["answer", "dry run", "batch", "acknowledge"].includes(event.do)) return; // the person's other devices
      if (event.question && !plain.knows(event.question)) return;
      const [told, next = state] = happen(state, event, policy, plain);
      assert.deepEqual(told, outcome);
      if (expected) assert.deepEqual(spent(next), spent(expected));
      state = next;
      seen.compared++;
    }
  });
}
test("the plain rules refuse accounts with other limits, and are compared in the rest", () => {
  assert.ok(seen.refused > 10 && seen.compared > 60, JSON.stringify(seen));
});
