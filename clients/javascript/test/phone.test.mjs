// As on a phone: no source of randomness, no database, no structuredClone. Source and store are injected.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, Malformed } from "../dist/dither.js";

const file = new URL("../../../conformance/2/draws.json", import.meta.url);
const specification = JSON.parse(readFileSync(file, "utf8")).questions[0].specification;

for (const name of ["crypto", "structuredClone", "indexedDB", "navigator"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
}

/** A store as an application may have one: a text that is read and written, one change after the other. */
function textStore() {
  let text = "";
  let last = Promise.resolve();
  return {
    update(change) {
      const done = last.then(() => {
        const [result, next] = change(text ? JSON.parse(text) : undefined);
        if (next) text = JSON.stringify(next);
        return result;
      });
      last = done.catch(() => {});
      return done;
    },
  };
}

/** A source as a native module is one; here it only looks random. */
function nativeSource() {
  let count = 0;
  const block = () => createHash("sha256").update(`phone ${count++}`).digest();
  let left = Buffer.alloc(0);
  return {
    take(size) {
      while (left.length < size) left = Buffer.concat([left, block()]);
      const taken = Uint8Array.from(left.subarray(0, size));
      left = left.subarray(size);
      return taken;
    },
  };
}

test("without a source nothing is opened", async () => {
  await assert.rejects(Device.open({ epsilon: 1, store: textStore() }), new Malformed("source"));
});

test("with a source and a store of its own, a phone answers, keeps account and sends", async () => {
  const store = textStore();
  const sent = [];
  const fetch = async (url, { body }) => (sent.push(body), { ok: true });
  const device = await Device.open({ epsilon: 2, store, source: nativeSource() });
  const question = device.asking(specification, { name: "minutes", asker: "clinic.example" });
  const outcomes = await Promise.all([1, 2, 3].map((value) => device.answer(question, value)));
  assert.deepEqual(outcomes.map((one) => one.is), ["drawn", "drawn", "refused"]);
  assert.equal((await device.send(question, "https://clinic.example/", { fetch })).sent, 2);
  const again = await Device.open({ epsilon: 2, store, source: nativeSource() });
  assert.equal((await again.answer(again.asking(specification, { name: "minutes", asker: "clinic.example" }), 1)).reason, "budget");
  assert.equal(sent.length, 2); // one report to a question in a batch
});
