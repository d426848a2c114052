// The scenarios of conformance/2/account.json: the outcome and the state after every event.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { accounts } from "../dist/testing.js";

const file = new URL("../../../conformance/2/account.json", import.meta.url);
const { account, scenarios } = JSON.parse(readFileSync(file, "utf8"));

function happen(state, event, policy) {
  const bytes = Uint8Array.from(Buffer.from(event.random ?? "", "hex"));
  let next = 0;
  const source = { take: (size) => bytes.slice(next, (next += size)) };
  const drawing = { report: () => event.report, below: (bound) => accounts.below(source, bound) };
  switch (event.do) {
    case "answer":
      return accounts.answer(state, event.id, event.question, event.at, policy, drawing);
    case "dry run":
      return accounts.answer(state, event.id, event.question, event.at, policy, drawing, true);
    case "act":
      return accounts.act(state, event.at);
    case "batch":
      return accounts.batch(state, event.id, event.asker, event.most);
    case "acknowledge":
      return accounts.acknowledge(state, event.id);
    case "split":
      return accounts.split(state, event.device, event.share);
    case "merge":
      return accounts.merge(state, event.from);
  }
}

assert.equal(account, 2);
for (const scenario of scenarios) {
  test(`account: ${scenario.name}`, () => {
    let state = scenario.open;
    for (const { event, outcome, state: expected } of scenario.steps) {
      const before = structuredClone(state);
      const [told, next] = happen(state, event, scenario.policy);
      assert.deepEqual(state, before, "a state is never changed in place");
      if (event.do === "dry run") delete told.report;
      assert.deepEqual(told, outcome);
      assert.deepEqual(next ?? before, expected ?? before);
      state = next ?? before;
    }
  });
}
