// What `send` tells, drops and keeps, and sending without a call.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { autoSend } from "../dist/auto.js";
import { Device, memoryStore } from "../dist/dither.js";
import { taken } from "./events.mjs";

const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name.startsWith("Podium")).specification;
const URL_ = "https://city.example/v1/campaigns/00/batches";

async function waiting(count) {
  const device = await Device.open({ epsilon: 50, store: memoryStore() });
  const asking = device.asking(specification, { name: "minutes", asker: "city.example" });
  for (let i = 0; i < count; i++) await device.answer(asking, i);
  return [device, asking];
}

const refusal = (status, refused, headers = {}) => new Response(JSON.stringify({ refused, words: `about ${refused}` }), { status, headers });

test("a batch that is refused for good is dropped, and holds up none of the others", async () => {
  const [device, asking] = await waiting(6);
  let calls = 0;
  const fetch = async (_, { body }) => (++calls === 1 ? refusal(413, "size") : taken(body));
  const told = await device.send(asking, URL_, { fetch });
  assert.deepEqual(told, { sent: 5, waiting: 0, refused: [{ reason: "size", words: "about size", dropped: 1 }], retryAfter: 0 });
  assert.equal(calls, 6);
  assert.deepEqual(await device.send(asking, URL_, { fetch }), { sent: 0, waiting: 0, refused: [], retryAfter: 0 });
});

test("every word of a collector: what can never be taken goes, everything else waits", async () => {
  const final = [[400, "body"], [413, "size"], [415, "form"], [422, "fingerprint"], [422, "report"], [422, "many"], [410, "retired"], [410, "late"]];
  const later = [[422, "label"], [403, "early"], [404, "campaign"], [408, "slow"], [429, "rate"], [503, "busy"]];
  for (const [status, word] of [...final, ...later]) {
    const [device, asking] = await waiting(2);
    const dropped = final.some(([, one]) => one === word);
    const before = await device.body(asking);
    const told = await device.send(asking, URL_, { fetch: async () => refusal(status, word) });
    assert.deepEqual([told.sent, told.waiting, told.refused.length], [0, dropped ? 0 : 2, dropped ? 2 : 1], word);
    assert.deepEqual(told.refused[0], { reason: word, words: `about ${word}`, dropped: +dropped });
    if (!dropped) assert.deepEqual(await device.body(asking), before); // the same bytes
  }
});

test("a proxy's page is no word of the collector: nothing is dropped", async () => {
  for (const status of [400, 404, 410, 413, 415, 422, 500, 502]) {
    for (const body of ["<html>413 Request Entity Too Large</html>", "", "null", "7", '"refused"', "[]", '{"error":"x"}']) {
      const [device, asking] = await waiting(1);
      const told = await device.send(asking, URL_, { fetch: async () => new Response(body, { status }) });
      assert.deepEqual(told, { sent: 0, waiting: 1, refused: [{ reason: `status ${status}`, words: "no collector at …/campaigns/<id>/batches; it may have moved", dropped: 0 }], retryAfter: 0 });
    }
  }
});

test("without a network send does not throw, and says why", async () => {
  const [device, asking] = await waiting(3);
  const fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  const told = await device.send(asking, URL_, { fetch });
  assert.deepEqual(told, { sent: 0, waiting: 3, refused: [{ reason: "unreachable", words: "TypeError: Failed to fetch", dropped: 0 }], retryAfter: 0 });
});

test("retry-after is read, in seconds; anything else is none", async () => {
  for (const [given, seconds] of [["10", 10], ["0", 0], ["soon", 0], ["Wed, 21 Oct 2037 07:28:00 GMT", 0], [undefined, 0]]) {
    const [device, asking] = await waiting(1);
    const told = await device.send(asking, URL_, { fetch: async () => refusal(429, "rate", given ? { "retry-after": given } : {}) });
    assert.deepEqual([told.waiting, told.refused[0].reason], [1, "rate"]);
    assert.ok(told.retryAfter >= seconds && told.retryAfter <= 1.25 * seconds, `${told.retryAfter} for ${given}`);
  }
});

test("a conflict is an acknowledgement, and two pages count a report once", async () => {
  const [device, asking] = await waiting(1);
  let both;
  const slow = new Promise((resolve) => (both = resolve));
  let calls = 0;
  const fetch = async (_, { body }) => {
    const turn = ++calls;
    if (turn === 2) both();
    await slow;
    return turn === 2 ? refusal(409, "conflict") : taken(body);
  };
  const told = await Promise.all([device.send(asking, URL_, { fetch }), device.send(asking, URL_, { fetch })]);
  assert.deepEqual(told.map(({ sent, refused }) => sent + refused.length).sort(), [0, 1]);
});

/** Wait until something was told: on a machine with other work a digest takes as long as it takes. */
async function filled(told) {
  for (const end = performance.now() + 20_000; !told.length && performance.now() < end; ) await new Promise(setImmediate);
}

/** A page: events, a clock that a test turns, and timers. */
function page(run) {
  const kept = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };
  const listeners = new Map();
  const on = (name, listener) => listeners.set(name, [...(listeners.get(name) ?? []), listener]);
  const off = (name, listener) => listeners.set(name, listeners.get(name).filter((one) => one !== listener));
  const state = { now: 1e12, timers: [], listeners, fire: async (name) => Promise.all((listeners.get(name) ?? []).map((listener) => listener())) };
  Object.assign(globalThis, {
    addEventListener: on,
    removeEventListener: off,
    document: { addEventListener: on, removeEventListener: off },
    setTimeout: (call, wait) => state.timers.push({ call, wait }),
    clearTimeout: () => (state.timers.length = 0),
  });
  Date.now = () => state.now;
  return run(state).finally(() => {
    Date.now = kept.now;
    Object.assign(globalThis, { setTimeout: kept.setTimeout, clearTimeout: kept.clearTimeout });
    for (const name of ["addEventListener", "removeEventListener", "document"]) delete globalThis[name];
  });
}

test("autoSend sends now, when it is online and when the page is shown or left, and waits as long as it is told", () =>
  page(async (state) => {
    const [device, asking] = await waiting(1);
    const answers = [refusal(429, "rate", { "retry-after": "30" }), refusal(503, "busy"), refusal(503, "busy")];
    const told = [];
    let calls = 0;
    const fetch = async (_, { body }) => (calls++, answers.shift() ?? taken(body));
    const askings = [asking];
    const { send, stop } = autoSend(device, askings, URL_, { fetch, onSend: (sent) => told.push(sent) });
    await filled(told);
    const [{ retryAfter }] = told;
    assert.ok(retryAfter >= 30 && retryAfter < 37.5);
    assert.deepEqual([calls, state.timers.map(({ wait }) => wait)], [1, [1000 * retryAfter]]);
    await state.fire("online"); // the collector asked to wait
    await state.fire("visibilitychange");
    assert.equal(calls, 1);
    state.now += 1000 * retryAfter + 1;
    await state.timers[0].call();
    assert.deepEqual([calls, state.timers.map(({ wait }) => wait)], [2, [120000]]);
    await state.fire("visibilitychange");
    assert.deepEqual([calls, state.timers.map(({ wait }) => wait)], [3, [240000]]);
    await state.fire("online");
    assert.deepEqual([calls, told.at(-1).sent, state.timers], [4, 1, []]); // nothing waits, so nothing is planned
    await state.fire("online");
    assert.equal(calls, 4);
    const other = device.asking(specification, { name: "others", asker: "city.example" });
    askings.push(other);
    await device.answer(other, 3);
    await Promise.all([send(), send()]); // one after the other
    assert.deepEqual([calls, told.at(-1).sent], [5, 1]);
    stop();
    assert.deepEqual([...state.listeners.values()].flat(), []);
    await device.answer(other, 3);
    await send();
    assert.equal(calls, 5);
  }));

test("autoSend hands on what fails on the device, and needs no page", async () => {
  const [device, asking] = await waiting(1);
  const broken = { ...device, send: () => Promise.reject(new Error("the disk is full")) };
  const failed = [];
  const { stop } = autoSend(broken, [asking], URL_, { onError: (error) => failed.push(error.message) });
  await filled(failed);
  assert.deepEqual(failed, ["the disk is full"]);
  stop();
});
