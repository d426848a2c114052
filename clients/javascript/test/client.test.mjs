// A device that answers, keeps account and sends, in memory: what it must do whatever happens around it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, draws, hex, Malformed, memoryStore } from "../dist/dither.js";
import { lattice } from "../dist/lattice.js";
import { packedBody } from "../dist/packed.js";
import { paths } from "../dist/paths.js";
import { allRules } from "../dist/rules.js";
import { jsonBody } from "../dist/testing.js";
import { hashed } from "../dist/hashed.js";
import { taken } from "./events.mjs";

Object.assign(draws, hashed);

const read = (name) => JSON.parse(readFileSync(new URL(`../../conformance/2/${name}`, import.meta.url), "utf8"));
const specifications = Object.fromEntries(read("draws.json").questions.map((one) => [one.name, one.specification]));
const ASKING = { name: "minutes", asker: "clinic.example" };

async function device(options = {}) {
  const store = options.store ?? memoryStore();
  return { store, device: await Device.open({ epsilon: 2, store, ...options }) };
}

test("bodies of batches", () => {
  for (const { batch, label, reports, json, packed } of read("batches.json").batches) {
    assert.equal(jsonBody(batch, label, reports), json);
    assert.equal(hex(packedBody(batch, label, reports)), packed);
  }
});

test("answers until the budget is used up, and says what is promised", async () => {
  const { device: mine } = await device();
  const question = mine.asking(specifications["Podium"], ASKING);
  const promised = await question.promise();
  assert.equal(promised.epsilon, 1);
  assert.ok(Math.abs(promised.reach - 0.7310585786300049) < 1e-12);
  assert.equal((await mine.answer(question, 3)).is, "drawn");
  assert.equal((await mine.answer(question, 3)).is, "drawn");
  assert.deepEqual(await mine.answer(question, 3), { is: "refused", reason: "budget", words: "ε = 1, δ = 0 is too much; ε = 0 is left" });
  assert.ok((await question.promise()).left < 1e-9);
});

test("what is left begins anew with the next epoch, but not beyond the lifetime", async () => {
  const clock = { wall: 86400 * 100, boot: "x", elapsed: 0 };
  const { device: mine } = await device({ epsilon: 1, rules: allRules({ epoch: "day", lifetime: 1.5, now: () => ({ ...clock }) }) });
  const question = mine.asking(specifications["Podium"], ASKING);
  assert.equal((await question.promise()).left, 1 + 2 ** -52);
  await mine.answer(question, 3);
  assert.ok((await question.promise()).left < 1e-9);
  clock.wall += 86400;
  clock.elapsed += 86400;
  assert.ok(Math.abs((await question.promise()).left - 0.5) < 1e-9);
});

test("a dry run spends nothing", async () => {
  const { device: mine, store } = await device();
  const question = mine.asking(specifications["Podium"], ASKING);
  const before = await store.update((kept) => [structuredClone(kept)]);
  assert.equal((await mine.dryRun(question)).is, "drawn");
  assert.deepEqual(await store.update((kept) => [structuredClone(kept)]), before);
});

test("a retry sends the same bytes and is charged once", async () => {
  const { device: mine } = await device();
  const question = mine.asking(specifications["Podium"], ASKING);
  const id = "00".repeat(16);
  const first = await mine.answer(question, 3, id);
  assert.deepEqual(await mine.answer(question, 3, id), { is: "resent", report: first.report });
  const bodies = [];
  const fetch = async (url, { body }) => {
    bodies.push(body);
    return bodies.length > 2 ? taken(body) : new Response("", { status: 503 });
  };
  assert.equal((await mine.send(question, "https://x/", { fetch })).sent, 0);
  assert.equal((await mine.send(question, "https://x/", { fetch })).sent, 0);
  assert.equal((await mine.send(question, "https://x/", { fetch })).sent, 1);
  assert.equal(new Set(bodies).size, 1);
  assert.equal((await mine.send(question, "https://x/", { fetch })).sent, 0);
  assert.equal(bodies.length, 3);
});

test("a body beyond 64 KiB is sent by a request that does not outlive the page, which browsers would refuse", async () => {
  const { device: mine } = await device();
  const question = mine.asking(specifications["Podium"], ASKING);
  await mine.answer(question, 3);
  const seen = [];
  const fetch = async (_, { keepalive }) => (seen.push(keepalive), new Response("", { status: 500 }));
  for (const size of [10, 70000]) await mine.send(question, "https://x/", { fetch, pack: () => new Uint8Array(size) });
  assert.deepEqual(seen, [true, false]);
});

test("a value never throws", async () => {
  const { device: mine } = await device({ epsilon: 1000, policy: { epsilon: 2 } });
  const values = [NaN, Infinity, -Infinity, 1e308, -0, "5", null, undefined, {}, [], 5n, Symbol("x"), true, new Date(), () => 1];
  for (const name of ["Podium", "OGPM, circle", "KRR", "OUE", "Hybrid", "OLH"]) {
    const question = mine.asking(specifications[name], { ...ASKING, name });
    for (const value of values) {
      const outcome = await mine.answer(question, value);
      assert.ok(outcome.is === "drawn" || (outcome.is === "refused" && outcome.reason === "value"), name);
    }
  }
  const declared = mine.asking(specifications["KRR"], { ...ASKING, name: "browser", otherwise: "other" });
  for (const value of values) assert.equal((await mine.answer(declared, value)).is, "drawn");
});

test("permanent answers stay", async () => {
  const assumptions = ["the value never changes", "the device's key stays on the device"];
  const { device: mine } = await device({ rules: allRules(), policy: { assumptions } });
  const same = mine.asking(specifications["Podium"], { ...ASKING, repeat: "same" });
  const first = await mine.answer(same, 1);
  for (let i = 0; i < 5; i++) assert.deepEqual(await mine.answer(same, i), { is: "repeated", charged: "0", report: first.report });
  const each = mine.asking(specifications["Podium"], { ...ASKING, name: "each", repeat: "per value" });
  const one = await mine.answer(each, 1);
  const two = await mine.answer(each, 2);
  assert.ok(one.report && two.report);
  assert.equal((await mine.answer(each, 1)).report, one.report);
  assert.equal((await mine.answer(each, 2)).report, two.report);
});

test("a path is charged for each of its locations", async () => {
  Object.assign(draws, paths);
  const policy = { epsilon: 6, assumptions: ["how many locations a trajectory has, and when they were sent, is public"] };
  const { device: mine } = await device({ epsilon: 6, policy });
  const question = mine.asking(specifications["TraCSD"], { ...ASKING, times: 3 });
  const path = [[139.5, 35.6], [139.6, 35.7], [500, -500]];
  assert.equal((await question.promise()).epsilon, 6);
  const { is, charged, report } = await mine.answer(question, path);
  assert.deepEqual([is, BigInt(`0x${charged}`), report.length], ["drawn", 6n << 64n, 36]);
  for (const value of [[], path.slice(1), [...path, path[0]], 5, "x", [[1], [2], [3]], [[NaN, 1], path[0], path[1]], null]) {
    assert.equal((await mine.answer(question, value)).reason, "value");
  }
  assert.equal((await mine.answer(question, path)).reason, "budget");
  for (const times of [undefined, 0, 0.5, -1, 1e9, "3"]) {
    assert.throws(() => mine.asking(specifications["TraCSC"], { ...ASKING, times }), Malformed);
  }
  assert.throws(() => mine.asking(specifications["Podium"], { ...ASKING, times: 2 }), Malformed);
  const third = mine.asking(specifications["TraCSC"].replace('"epsilon": 2.0', '"epsilon": 2.1'), { ...ASKING, times: 3 });
  assert.equal(third.asked.epsilon, 6.300000000000001); // 3 · 2.1 lies between two doubles
});

test("a δ is spent only where the policy allows one", async () => {
  draws.lattice = lattice;
  const specification = specifications["Gaussian"];
  const { device: strict } = await device();
  assert.equal((await strict.answer(strict.asking(specification, ASKING), 1)).reason, "policy");
  const { device: mine } = await device({ delta: 1.5e-6, policy: { delta: 1e-6 } });
  const question = mine.asking(specification, ASKING);
  assert.equal(question.question.delta, 9.964419486868745e-7); // computed from the integers; 1e-6 is stated
  assert.equal((await mine.answer(question, 1)).is, "drawn");
  assert.equal((await mine.answer(question, 1)).words, "ε = 1, δ = 9.964419486868745e-7 is too much; ε = 1 is left");
  const less = JSON.parse(specification);
  less.parameters.delta = 0.9e-6;
  assert.throws(() => mine.asking(JSON.stringify(less), ASKING), new Malformed("privacy", "", "minutes"));
});

test("what a device is opened with is checked without coercion", async () => {
  for (const wrong of [{ epsilon: "2" }, { epsilon: 0 }, { epsilon: NaN }, { epsilon: 2 ** 20 }, { epsilon: [2] }, { delta: "0" }, { delta: 1 }, { delta: -1 }]) {
    await assert.rejects(device(wrong), Malformed);
  }
  for (const wrong of [{ epoch: "month" }, { epoch: "toString" }, { lifetime: "3" }, { quota: -1 }, { askers: 0.5 }, { askers: "1" }]) {
    assert.throws(() => allRules(wrong), Malformed);
  }
});

test("an account goes on by its own rules, or not at all", async () => {
  const { store } = await device({ rules: allRules({ epoch: "day" }) });
  await assert.rejects(Device.open({ epsilon: 2, store }), { name: "Malformed", reason: "rules", message: /see allRules/ });
  const { store: simple, device: mine } = await device();
  await mine.answer(mine.asking(specifications["Podium"], ASKING), 1);
  const again = await Device.open({ epsilon: 50, store: simple, rules: allRules({ epoch: "day" }) });
  const question = again.asking(specifications["Podium"], ASKING);
  assert.ok((await question.promise()).left < 1.001); // the limits are those that it was opened with
  assert.equal((await again.answer(question, 1)).is, "drawn");
  assert.equal((await again.answer(question, 1)).reason, "budget");
});

test("two campaigns of one asker do not share a batch", async () => {
  const { device: mine } = await device();
  const one = mine.asking(specifications["Podium"], ASKING);
  const two = mine.asking(specifications["SW"], { ...ASKING, name: "hours" });
  await mine.answer(one, 3);
  await mine.answer(two, 0.5);
  const bodies = [];
  const fetch = async (url, { body, headers }) => (bodies.push(body), headers["content-type"] === "application/json" ? taken(body) : Response.error());
  const first = await mine.body(one);
  assert.deepEqual(Object.keys(JSON.parse(first.body).reports), [one.question.fingerprint]);
  assert.equal((await mine.send(two, "https://x/", { fetch })).sent, 1);
  assert.equal((await mine.send([one, two], "https://x/", { fetch })).sent, 1);
  assert.equal(bodies[1], first.body);
  assert.equal(bodies.length, 2);
});

test("a packed batch has the same identity and the same reports", async () => {
  const { device: mine } = await device();
  const question = mine.asking(specifications["Podium"], ASKING);
  await mine.answer(question, 3);
  const { id, body } = await mine.body(question, { label: "1.0" });
  const packed = await mine.body(question, { label: "1.0", pack: packedBody });
  const [report] = JSON.parse(body).reports[question.question.fingerprint];
  assert.equal(packed.id, id);
  assert.deepEqual(packed.body, packedBody(id, "1.0", [{ fingerprint: question.question.fingerprint, report }]));
  const types = [];
  const fetch = async (url, { body, headers }) => (types.push(headers["content-type"]), taken(body));
  assert.equal((await mine.send(question, "https://x/", { fetch, pack: packedBody })).sent, 1);
  assert.deepEqual(types, ["application/vnd.dither.batch"]);
});

test("the policy is obeyed", async () => {
  const { device: mine } = await device({ policy: { epsilon: 0.5, mechanisms: ["SW"] } });
  assert.equal((await mine.answer(mine.asking(specifications["Podium"], ASKING), 1)).reason, "policy");
  assert.equal((await mine.answer(mine.asking(specifications["SW"], ASKING), 1)).is, "drawn");
});

test("no other source, no log, no code made of text", () => {
  const folder = new URL("../dist/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 9);
  for (const name of files) {
    const text = readFileSync(new URL(name, folder), "utf8");
    assert.doesNotMatch(text, /Math\.random|console|eval\(|Function\(|localStorage|innerHTML/, name);
    if (!["account.js", "auto.js", "elements.js", "dither.global.js"].includes(name)) assert.doesNotMatch(text, /document/, name);
  }
});

test("without a secure source nothing is drawn", async () => {
  const kept = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    await assert.rejects(Device.open({ epsilon: 1, store: memoryStore() }), new Malformed("source"));
    const source = { take: (size) => new Uint8Array(size).fill(7) };
    const mine = await Device.open({ epsilon: 1, store: memoryStore(), source });
    assert.equal((await mine.answer(mine.asking(specifications["Podium"], ASKING), 1)).is, "drawn");
  } finally {
    Object.defineProperty(globalThis, "crypto", kept);
  }
});

test("hostile specifications are refused with a reason", async () => {
  const { device: mine } = await device();
  const good = JSON.parse(specifications["Podium"]);
  const changed = (change) => {
    const one = structuredClone(good);
    change(one);
    return JSON.stringify(one);
  };
  const bad = [
    "", "[", "null", "5", "{}", "[]", '"x"', 5, undefined, {},
    changed((one) => (one.dither = 1)),
    changed((one) => (one.dither = "2")),
    changed((one) => (one.fingerprint = "0".repeat(32))),
    changed((one) => (one.parameters.epsilon = "1")),
    changed((one) => (one.parameters.epsilon = 0.9)),
    changed((one) => (one.parameters.epsilon = 1e9)),
    changed((one) => (one.parameters = null)),
    changed((one) => (one.device = ` ${one.device}`)),
    changed((one) => (one.device = 5)),
  ];
  for (const text of bad) assert.throws(() => mine.asking(text, ASKING), Malformed);
  const askings = [
    { repeat: "hourly" }, { repeat: "once" }, { name: "" }, { name: 5 }, { asker: ["x"] }, { asker: undefined }, { days: 3 }, { start: 0 },
    { data: [0] }, { data: [0, 1, 2] }, { data: ["0", "1"] }, { repeat: "once", days: 7 }, { repeat: "once", days: "7", start: 0 },
    { repeat: "once", days: 0, start: 0 },
  ];
  const { device: other } = await device({ rules: allRules() });
  for (const asking of askings) {
    for (const one of [mine, other]) assert.throws(() => one.asking(specifications["Podium"], { ...ASKING, ...asking }), Malformed);
  }
  for (const asking of [{ repeat: "per value" }, { repeat: "once", days: 7, start: 0 }, { data: [0, 1] }]) {
    assert.throws(() => mine.asking(specifications["Podium"], { ...ASKING, ...asking }), Malformed);
    other.asking(specifications["Podium"], { ...ASKING, ...asking });
  }
});
