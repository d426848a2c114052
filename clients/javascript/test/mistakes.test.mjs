// A mistake of the page is an error that one can read, and loses no report; a person who says no is not counted.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { erase, view } from "../dist/account.js";
import { Device, draws, indexedStore, memoryStore } from "../dist/dither.js";
import { changes } from "../dist/changes.js";
import { allRules } from "../dist/rules.js";
import { fetchCampaign, readCampaign } from "../dist/signatures.js";
import { several } from "../dist/several.js";
import { taken } from "./events.mjs";

draws.several = several;
const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name === "Podium").specification;
const ADDRESS = "https://city.example/v1/campaigns/00/batches";
const ASKING = { name: "minutes", asker: "city.example" };
const refusal = (status, refused) => new Response(JSON.stringify({ refused, words: `about ${refused}` }), { status });
const open = (options = {}) => Device.open({ epsilon: 50, store: memoryStore(), ...options });

test("a label that the campaign does not list is refused before anything is sent, and the reports are kept", async () => {
  const device = await open();
  const inquiry = device.asking(specification, { ...ASKING, repeat: "same", labels: ["1.0", "1.1"] });
  await device.answer(inquiry, 3);
  let calls = 0;
  const fetch = async (_, { body }) => (calls++, taken(body));
  const error = { name: "Malformed", reason: "label", message: 'label: "2.0" is not in the campaign; it lists ["1.0","1.1"]' };
  await assert.rejects(device.send(inquiry, ADDRESS, { label: "2.0", fetch }), error);
  await assert.rejects(device.body([inquiry], { label: "2.0" }), error);
  assert.deepEqual([calls, (await device.account(view)).waiting], [0, 1]);
  assert.equal((await device.send(inquiry, ADDRESS, { label: "1.1", fetch })).sent, 1);
});

test("a permanent answer that was dropped waits again when the question is asked again", async () => {
  const assumptions = ["the value never changes", "the device's key stays on the device"];
  for (const repeat of ["same", "per value", "fresh"]) {
    const device = await open({ rules: allRules(), policy: { assumptions } });
    const inquiry = device.asking(specification, { ...ASKING, repeat });
    const { report } = await device.answer(inquiry, 3);
    const dropped = await device.send(inquiry, ADDRESS, { fetch: async () => refusal(410, "late") });
    assert.deepEqual([dropped.refused[0].dropped, dropped.waiting, (await device.account(view)).waiting], [1, 0, 0]);
    assert.equal(await device.body(inquiry), undefined); // nothing is sent before the person is asked
    const again = await device.answer(inquiry, 3);
    const expected = repeat === "fresh" ? "drawn" : "repeated";
    assert.deepEqual([again.is, again.charged === "0", again.report === report], [expected, repeat !== "fresh", repeat !== "fresh"]);
    const bodies = [];
    const sent = await device.send(inquiry, ADDRESS, { fetch: async (_, { body }) => (bodies.push(body), taken(body)) });
    assert.deepEqual([sent.sent, sent.waiting, bodies[0].includes(again.report)], [1, 0, true], repeat);
    if (repeat === "fresh") continue;
    await device.answer(inquiry, 3); // it was acknowledged: once is enough
    assert.equal(await device.body(inquiry), undefined);
  }
});

test("a kept change is asked by rules that keep it, of the values of all days so far, and is charged once", async () => {
  const { draws: kept } = JSON.parse(readFileSync(new URL("../../conformance/2/changes.json", import.meta.url), "utf8"));
  const yesNo = kept[0].specification;
  const { labels } = JSON.parse(JSON.parse(yesNo).device).domain;
  const terms = { ...ASKING, repeat: "kept change", days: 2, start: 0, changes: 1 };
  for (const rules of [undefined, allRules()]) {
    const device = await open({ rules });
    assert.throws(() => device.asking(yesNo, terms), { name: "Malformed", message: 'question "minutes": asking: changes: see dither-ldp/changes' });
  }
  const wall = 86400 * 20001; // the last day of a period of two
  const device = await open({ rules: allRules({ changes, now: () => ({ wall, boot: "", elapsed: 0 }) }), policy: { epsilon: 50 } });
  for (const wrong of [{ days: 1 }, { changes: 2 }, { changes: 0.5 }, { start: null }, { repeat: "once" }, { repeat: "fresh" }, { data: [1, 2] }]) {
    assert.throws(() => device.asking(yesNo, { ...terms, ...wrong }), { name: "Malformed", reason: "asking" }, JSON.stringify(wrong));
  }
  assert.throws(() => device.asking(specification, terms), { reason: "asking" });
  const inquiry = device.asking(yesNo, terms);
  for (const wrong of [undefined, labels[0], [labels[0]], [labels[0], "another"], [labels[0], labels[1], labels[1]], [, labels[0]], "no"]) {
    assert.equal((await device.answer(inquiry, wrong)).reason, "value");
  }
  const { choices, entries } = await device.account();
  assert.deepEqual([choices.length, entries.length], [1, 0]); // the group is drawn, and stays
  assert.equal((await device.dryRun(inquiry)).is, "drawn");
  const { is, report } = await device.answer(inquiry, [labels[0], labels[1]]);
  assert.deepEqual([is, report.length], ["drawn", 24]); // one row of 12 bytes
  assert.equal((await device.answer(inquiry, [labels[0], labels[1]])).is, "silent");
  assert.ok((await device.body(inquiry)).body.includes(report));
  assert.equal((await device.account()).trees.length, 1);
  const forgotten = await device.account(erase);
  assert.deepEqual([forgotten.given.length, (await device.account()).trees], [1, undefined]);
});

test("the same identity brings a dropped permanent answer back, too", async () => {
  const device = await open();
  const inquiry = device.asking(specification, { ...ASKING, repeat: "same" });
  const id = "ab".repeat(16);
  const { report } = await device.answer(inquiry, 3, id);
  await device.send(inquiry, ADDRESS, { fetch: async () => refusal(410, "late") });
  assert.deepEqual(await device.answer(inquiry, 3, id), { is: "resent", report });
  assert.equal((await device.account(view)).waiting, 1);
});

test("a campaign that is over says so, and costs nothing", async () => {
  const device = await open();
  const today = Math.floor(Date.now() / 864e5);
  const over = device.asking(specification, { ...ASKING, ends: 20000 });
  const expected = { is: "refused", reason: "ended", words: "the campaign ended on 2024-10-04" };
  assert.deepEqual(await device.answer(over, 3), expected);
  assert.deepEqual(await device.dryRun(over), expected);
  assert.equal((await device.account(view)).left, 50);
  assert.equal((await device.answer(device.asking(specification, { ...ASKING, ends: today }), 3)).is, "drawn"); // its last day
});

test("unknown items of a set become other, or are left out, and the person is counted", async () => {
  const { specification, draws: drawn } = questions.find(({ name }) => name === "SetResponse");
  const device = await open({ policy: { epsilon: 50 } });
  const inquiry = device.asking(specification, ASKING);
  const { inside } = inquiry.question;
  const known = drawn.find(({ value }) => value.length > 1).value;
  assert.deepEqual(inside([...known, "no such item", null, {}]), inside(known));
  assert.deepEqual(inside([]), []);
  assert.deepEqual(inside(["no such item"]), []);
  const { leftOut } = await device.answer(inquiry, [...known, "no such item", 7.5]);
  assert.equal(leftOut, 2);
  assert.equal((await device.answer(inquiry, [])).is, "drawn");
  for (const value of ["x", 1, null, undefined, {}]) assert.equal((await device.answer(inquiry, value)).reason, "value");
});

test("Global Privacy Control and DO_NOT_TRACK are obeyed until the person has agreed", async () => {
  const fetch = async (_, { body }) => taken(body);
  const signals = [
    ["Global Privacy Control", () => Object.defineProperty(globalThis, "navigator", { value: { globalPrivacyControl: true }, configurable: true }), () => delete globalThis.navigator],
    ["DO_NOT_TRACK", () => (process.env.DO_NOT_TRACK = "1"), () => delete process.env.DO_NOT_TRACK],
  ];
  for (const [name, set, unset] of signals) {
    const device = await open();
    const inquiry = device.asking(specification, ASKING);
    assert.equal(await device.consent(), true);
    await device.answer(inquiry, 3);
    set();
    try {
      const words = `${name} is set: ask the person, and call device.consent(true) if they agree`;
      assert.equal(await device.consent(), false);
      assert.deepEqual(await device.answer(inquiry, 3), { is: "refused", reason: "consent", words });
      assert.deepEqual(await device.dryRun(inquiry), { is: "refused", reason: "consent", words });
      assert.deepEqual(await device.send(inquiry, ADDRESS, { fetch }), { sent: 0, waiting: 1, refused: [{ reason: "consent", words, dropped: 0 }], retryAfter: 0 });
      assert.equal(await device.body(inquiry), undefined);
      assert.equal(await device.consent(true), true);
      assert.equal((await device.send(inquiry, ADDRESS, { fetch })).sent, 1);
    } finally {
      unset();
    }
  }
});

test("a person who says no while reports are sent stops the sender before the next batch; the queue is kept", async () => {
  const device = await open();
  const inquiry = device.asking(specification, ASKING);
  for (let i = 0; i < 5; i++) await device.answer(inquiry, i);
  let calls = 0;
  const fetch = async (_, { body }) => {
    if (++calls === 2) await device.consent(false);
    return taken(body);
  };
  const told = await device.send(inquiry, ADDRESS, { fetch });
  assert.deepEqual([calls, told.sent, told.waiting, told.refused[0].reason], [2, 2, 3, "consent"]);
  assert.equal((await device.send(inquiry, ADDRESS, { fetch })).sent, 0);
  assert.equal((await device.account(view)).waiting, 3);
  const { sent, waiting } = await device.account(erase);
  assert.deepEqual([calls, sent, waiting], [2, 2, 0]);
  assert.equal((await device.send(inquiry, ADDRESS, { fetch })).waiting, 0);
});

test("errors are sentences: no store, no IndexedDB, no inquiry, no value", async () => {
  await assert.rejects(Device.open({ epsilon: 1 }), { reason: "store", message: /expected store: indexedStore\(\)/ });
  await assert.rejects(Device.open(), { reason: "store" });
  assert.throws(() => indexedStore(), { reason: "store", message: /IndexedDB is missing here: use fileStore/ });
  const device = await open();
  for (const wrong of [undefined, specification, {}, { questions: {} }]) {
    const error = { reason: "asking", message: "asking: expected an inquiry of device.asking" };
    for (const call of ["answer", "dryRun", "send", "body"]) await assert.rejects(async () => device[call](wrong, ADDRESS), error, call);
  }
  assert.throws(() => device.asking(specification), { reason: "asking" });
  const inquiry = device.asking(specification, ASKING);
  assert.deepEqual(await device.answer(inquiry), { is: "refused", reason: "value", words: 'question "minutes": expected a value, got undefined' });
  assert.throws(() => device.asking(specification.replace("Podium", "Pdium"), ASKING), { message: 'question "minutes": draw', question: "minutes", reason: "draw" });
  assert.throws(() => device.asking(specification, { ...ASKING, repeat: "daily" }), { message: 'question "minutes": asking: repeat = daily: not with these rules, days, start and data; see dither-ldp/rules' });
});

test("what is left is 0, not the slack of a limit", async () => {
  for (const rules of [undefined, allRules()]) {
    const device = await open({ epsilon: 1, ...(rules && { rules }) });
    const inquiry = device.asking(specification, ASKING);
    await device.answer(inquiry, 3);
    assert.deepEqual([(await inquiry.promise()).left, (await device.account(view)).left], [0, 0]);
  }
});

test("limits, rules and consent that cannot be meant so are refused with a sentence", async () => {
  for (const wrong of [{ epsilon: undefined }, { epsilon: "1" }, { epsilon: -1 }, { delta: 1 }]) {
    await assert.rejects(open(wrong), { reason: "epsilon", message: "epsilon: expected epsilon > 0, and delta < 1" });
  }
  await assert.rejects(open({ rules: allRules }), { message: "rules: expected rules: allRules()" });
  assert.throws(() => allRules({ epoch: "month" }), { message: "rules: epoch: expected one of day,week,year,lifetime" });
  const device = await open();
  for (const wrong of [["yes"], [1], [true, {}], [true, { terms: {} }]]) await assert.rejects(async () => device.consent(...wrong), { reason: "asking", message: /expected true or false, and a campaign/ });
  assert.throws(() => device.asking(undefined, ASKING), { message: /expected the text of a question/ });
  assert.throws(() => device.asking(specification, { name: "minutes" }), { message: "asking: asker: expected a text" });
  const { words } = await (await open({ policy: { epsilon: 0.1 } }).then((one) => one.answer(one.asking(specification, ASKING), 3)));
  assert.match(words, /^policy of this device, for one answer: \{"epsilon":0.1,/);
});

test("what a question takes is said where a value is refused, and the value is not", async () => {
  const device = await open();
  const told = async (terms, value, text = specification) => (await device.answer(device.asking(text, { ...ASKING, ...terms }), value)).words;
  const KRR = questions.find(({ name }) => name === "KRR").specification;
  const { labels } = JSON.parse(JSON.parse(KRR).device).domain;
  assert.match(await told({}, "secret"), /expected \{"high":.*"kind":"interval".*declare otherwise/);
  if (labels) assert.ok((await told({}, "secret", KRR)).includes(JSON.stringify(labels)));
  assert.match(await told({ form: "date" }, "secret"), /expected a date, such as 2026-05-01/);
  assert.match(await told({ form: "time" }, "secret"), /expected a time, such as 13:45/);
  assert.match(await told({ scale: [0, 10, 1000] }, "secret"), /expected a number from 0 to 1000/);
  for (const terms of [{}, { form: "date" }]) assert.doesNotMatch(await told(terms, "secret"), /secret/);
});

test("a campaign at another place, or with another key, says what was expected", async () => {
  const { published, key } = JSON.parse(readFileSync(new URL("../../conformance/2/signatures.json", import.meta.url), "utf8"));
  const { id } = await readCampaign(published, key);
  const at = `https://city.example/v1/campaigns/${id}`;
  const gives = (text, status = 200) => async () => new Response(text, { status });
  for (const [address, pin, fetch, message] of [
    [undefined, key, gives(""), "address: expected https, or this machine"],
    ["/v1/campaigns/00", key, gives(""), "address: expected https, or this machine"],
    [at.replace("https", "http"), key, gives(""), "address: expected https, or this machine"],
    [at, key, gives("<html>"), "text: expected what a collector publishes at …/v1/campaigns/<id>, got another text"],
    [at, key, gives("", 404), /^campaign: the collector answers 404: no campaign at this address/],
    [at, key, async () => Promise.reject(new TypeError("Failed to fetch")), /^unreachable: Failed to fetch: does the collector run, and allow this page \(dither serve --origin\)\?$/],
    [at, undefined, gives(published), /^key: expected the key of the one who signed, 64 digits/],
    [at, "0".repeat(64), gives(published), /^key: expected the key of the one who signed, 64 digits/],
    [at, "dither-private-key-1:ed25519:00", gives(published), /^private: .* pin the public key/],
    [at + "0", key, gives(published), `fingerprint: expected the campaign that the address names, got ${id}`],
  ]) {
    await assert.rejects(fetchCampaign(address, pin, fetch), { name: "Malformed", message });
  }
});

test("a question without a draw throws its reason where it is taken, and is not listed", async () => {
  const { campaigns } = JSON.parse(readFileSync(new URL("../../conformance/2/texts.json", import.meta.url), "utf8"));
  const { key } = JSON.parse(readFileSync(new URL("../../conformance/2/signatures.json", import.meta.url), "utf8"));
  let found = 0;
  for (const { published, verdict } of campaigns) {
    if (verdict !== "read") continue;
    const { questions: asked, unanswered } = await readCampaign(published, key);
    for (const name of unanswered) {
      assert.throws(() => asked[name], { name: "Malformed", reason: "draw", question: name });
      assert.ok(!Object.keys(asked).includes(name));
      found++;
    }
  }
  assert.ok(found > 0);
});

const folder = new URL("..", import.meta.url);

test("an error that nobody catches prints a line, not a file", () => {
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", `import { Device } from ${JSON.stringify(String(new URL("dist/dither.js", folder)))}; await Device.open({ epsilon: 1 });`], { encoding: "utf8" });
  assert.match(stderr, /expected store/);
  assert.ok(stderr.length < 1500, `${stderr.length} characters`);
});

test("the package has the modules as they were written, which Node loads, and source maps", () => {
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", 'import { Device } from "dither-ldp"; Device.open().catch(({ stack }) => console.log(stack))'], { cwd: folder, encoding: "utf8" });
  assert.match(told, /readable\/client\.js:\d+/);
  for (const name of readdirSync(new URL("dist", folder)).filter((one) => one.endsWith(".js"))) {
    const map = JSON.parse(readFileSync(new URL(`maps/${name}.map`, folder), "utf8"));
    assert.ok(map.mappings && map.sources.some((source) => /^\.\.\/src\/\w+\.ts$/.test(source)), name);
  }
});
