// The same question, the same person: what is permanent is so for one asker, one value and one charge, and is sent once.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sectors } from "../dist/angles.js";
import { Device, draws, memoryStore } from "../dist/dither.js";
import { paths } from "../dist/paths.js";
import { allRules } from "../dist/rules.js";
import { hashed } from "../dist/hashed.js";
import { taken } from "./events.mjs";

Object.assign(draws, { ...hashed, sectors, ...paths });
const read = (name) => JSON.parse(readFileSync(new URL(`../../conformance/2/${name}`, import.meta.url), "utf8"));
const specifications = Object.fromEntries(read("draws.json").questions.map((one) => [one.name, one.specification]));
const LINES = ["the value never changes", "the device's key stays on the device"];
const LENGTH = "how many locations a trajectory has, and when they were sent, is public";
const policy = { epsilon: 50, assumptions: [...LINES, LENGTH] };
const ASKING = { name: "home", asker: "clinic.example", repeat: "per value" };

async function device(options = {}) {
  return Device.open({ epsilon: 500, store: memoryStore(), rules: allRules(), policy, ...options });
}

/** Send all that waits; return the reports of each batch. */
async function sent(mine, questions) {
  const batches = [];
  const fetch = async (_, { body }) => (batches.push(JSON.parse(body).reports), taken(body));
  await mine.send(questions, "https://x/", { fetch });
  return batches.map((reports) => Object.values(reports));
}

test("two askers with one question name share no noise", async () => {
  const mine = await device();
  const reports = [];
  for (const [asker, name] of [["a", "home"], ["b", "home"], ["a", "b home"], ["a b", "home"], ["ab", "home"]]) {
    reports.push((await mine.answer(mine.asking(specifications["OLH"], { ...ASKING, asker, name }), 3)).report);
  }
  assert.equal(new Set(reports).size, 5); // a report of OLH has a seed of 47 bits
});

test("two questions with one name share no noise", async () => {
  const mine = await device();
  const seeds = [];
  for (const [name, value] of [["OLH", 3], ["BLH", "other"]]) { // both are number 3 of a list
    seeds.push((await mine.answer(mine.asking(specifications[name], ASKING), value)).report.slice(4));
  }
  assert.notEqual(...seeds);
});

test("values that are moved to one place of the domain are one value", async () => {
  const mine = await device();
  for (const [name, values] of [
    ["Podium", [1e3, 1e4, 1e300, Infinity]],
    ["Podium", [-1e3, -1e300, -Infinity]],
    ["OGPM, circle", [0, -0, ...[1, 2, -5, 1000].map((turns) => JSON.parse(JSON.parse(specifications["OGPM, circle"]).device).domain.period * turns)]],
  ]) {
    const question = mine.asking(specifications[name], { ...ASKING, name: `${name} ${values[0]}` });
    const reports = new Set();
    for (const value of values) reports.add((await mine.answer(question, value)).report);
    assert.equal(reports.size, 1, name);
    assert.equal((await sent(mine, question)).length, 1, name);
  }
  const declared = mine.asking(specifications["OLH"], { ...ASKING, name: "other", otherwise: 1 });
  const reports = new Set();
  for (const value of [1, "x", null, 1e9]) reports.add((await mine.answer(declared, value)).report);
  assert.equal(reports.size, 1);
});

test("what an answer per value assumes is asked, also of a signed campaign", async () => {
  const strict = await device({ policy: { epsilon: 50 } });
  const asks = strict.asking(specifications["OLH"], ASKING);
  assert.equal((await strict.answer(asks, 1)).reason, "policy");
  assert.deepEqual((await asks.promise()).assumes, LINES);
  for (const line of LINES) {
    const mine = await device({ policy: { epsilon: 50, assumptions: [line] } });
    assert.equal((await mine.answer(mine.asking(specifications["OLH"], ASKING), 1)).reason, "policy");
  }
  const path = strict.asking(specifications["TraCSD"], { name: "trip", asker: "a", times: 2 });
  assert.equal((await strict.answer(path, [[139.5, 35.6], [139.6, 35.7]])).reason, "policy");
  assert.deepEqual((await path.promise()).assumes, [LENGTH]);
});

test("by default an answer may have an ε of 1, no δ, and assume nothing", async () => {
  const mine = await device({ policy: undefined });
  assert.equal((await mine.answer(mine.asking(specifications["Podium"], { ...ASKING, repeat: "fresh" }), 3)).is, "drawn");
  const more = specifications["Podium"].replace('"epsilon": 1.0', '"epsilon": 1.0000000000000002');
  assert.notEqual(more, specifications["Podium"]);
  assert.equal((await mine.answer(mine.asking(more, { ...ASKING, repeat: "fresh" }), 3)).reason, "policy");
});

test("a longer path is not the answer that was charged", async () => {
  for (const repeat of ["same", "per value"]) {
    const mine = await device();
    const trip = (times) => mine.asking(specifications["TraCSD"], { ...ASKING, repeat, times });
    const path = (times) => Array(times).fill([139.5, 35.6]);
    assert.equal((await mine.answer(trip(1), path(1))).is, "drawn");
    assert.equal((await mine.answer(trip(1), path(1))).is, "repeated");
    assert.deepEqual(await mine.answer(trip(20), path(20)), { is: "refused", reason: "changed" });
  }
});

test("another ε for one device text is another charge", async () => {
  const mine = await device();
  const more = specifications["Podium"].replace('"epsilon": 1.0', '"epsilon": 1.5');
  await mine.answer(mine.asking(specifications["Podium"], { ...ASKING, repeat: "same" }), 3);
  assert.deepEqual(await mine.answer(mine.asking(more, { ...ASKING, repeat: "same" }), 3), { is: "refused", reason: "changed" });
});

test("a permanent answer is sent once, a value once, a period once", async () => {
  const clock = { wall: 86400 * 20000, boot: "x", elapsed: 0 };
  const mine = await device({ rules: allRules({ now: () => ({ ...clock }) }) });
  const same = mine.asking(specifications["OLH"], { ...ASKING, repeat: "same" });
  const first = await mine.answer(same, 1);
  for (const value of [1, 2, 3]) assert.equal((await mine.answer(same, value)).report, first.report);
  assert.deepEqual(await sent(mine, same), [[[first.report]]]);
  assert.equal((await mine.answer(same, 1)).is, "repeated");
  assert.deepEqual(await sent(mine, same), []);
  const each = mine.asking(specifications["OLH"], ASKING);
  const reports = [];
  for (const value of [1, 2, 1, 2, 1]) reports.push((await mine.answer(each, value)).report);
  assert.deepEqual(await sent(mine, each), [[[reports[0]]], [[reports[1]]]]);
  await mine.answer(each, 1);
  assert.deepEqual(await sent(mine, each), []);
  await mine.answer(each, 3);
  assert.equal((await sent(mine, each)).length, 1);
  const daily = mine.asking(specifications["OLH"], { ...ASKING, name: "mood", repeat: "once", days: 1, start: 0 });
  for (let day = 0; day < 4; day++, clock.wall += 86400, clock.elapsed += 86400) {
    for (let i = 0; i < 3; i++) await mine.answer(daily, 1);
  }
  assert.equal((await sent(mine, daily)).length, 4); // a device that was offline for four periods
});

test("a batch has at most one report to a question", async () => {
  const mine = await device();
  const asks = ["OLH", "Podium"].map((name) => mine.asking(specifications[name], { ...ASKING, name, repeat: "fresh" }));
  for (let i = 0; i < 3; i++) await mine.answer(asks[0], 1);
  await mine.answer(asks[1], 1);
  const trip = mine.asking(specifications["TraCSD"], { name: "trip", asker: "clinic.example", times: 12 });
  await mine.answer(trip, Array(12).fill([139.5, 35.6]));
  const batches = await sent(mine, [...asks, trip]);
  assert.deepEqual(batches.map((reports) => reports.map((some) => some.length)), [[1, 1, 1], [1], [1]]);
});

test("a value is read before the account is, so that a failing one draws no day again", async () => {
  const store = memoryStore();
  let held = false;
  const watched = { update: (change) => store.update((kept) => ((held = true), [change(kept), (held = false)][0])) };
  const mine = await device({ store: watched });
  const daily = mine.asking(specifications["TraCSD"], { ...ASKING, repeat: "once", days: 1, start: 0, times: 1 });
  const place = new Proxy([139.5, 35.6], { get: (pair, key) => (assert.ok(!held, "read in the transaction"), pair[key]) });
  assert.equal((await mine.answer(daily, [place])).is, "drawn");
});
