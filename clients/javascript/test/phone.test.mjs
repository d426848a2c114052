// As in React Native: what it lacks is taken away, and source, store and clock are the application's. docs/devices.md has the list.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { erase, view } from "../dist/account.js";
import { autoSend } from "../dist/auto.js";
import { Device, Malformed } from "../dist/dither.js";
import { relayed } from "../dist/relay.js";
import { allRules } from "../dist/rules.js";
import { readCampaign } from "../dist/signatures.js";
import { taken } from "./events.mjs";

const file = new URL("../../conformance/2/draws.json", import.meta.url);
const specification = JSON.parse(readFileSync(file, "utf8")).questions[0].specification;

new Response(""); // Node makes its own of parts that are taken away now
const MISSING = ["crypto", "structuredClone", "indexedDB", "caches", "navigator", "performance", "document", "addEventListener", "customElements"];
for (const name of MISSING) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
}
delete Blob.prototype.arrayBuffer;

/** An answer of a polyfill: it has no stream, and no more than this. */
class Plain {
  status = 200;
  constructor(text) {
    this.text = async () => text;
  }
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
  const fetch = async (url, { body }) => (sent.push(body), taken(body, Plain));
  const device = await Device.open({ epsilon: 2, store, source: nativeSource() });
  const question = device.asking(specification, { name: "minutes", asker: "clinic.example" });
  const outcomes = await Promise.all([1, 2, 3].map((value) => device.answer(question, value)));
  assert.deepEqual(outcomes.map((one) => one.is), ["drawn", "drawn", "refused"]);
  assert.equal((await device.send(question, "https://clinic.example/", { fetch })).sent, 2);
  const again = await Device.open({ epsilon: 2, store, source: nativeSource() });
  assert.equal((await again.answer(again.asking(specification, { name: "minutes", asker: "clinic.example" }), 1)).reason, "budget");
  assert.equal(sent.length, 2); // one report to a question in a batch
});

test("all rules need a clock of the application; account and sending without a call need nothing", async () => {
  let wall = 1.8e9;
  const rules = allRules({ epoch: "week", now: () => ({ wall: wall++, boot: "1", elapsed: wall }) });
  const device = await Device.open({ epsilon: 2, store: textStore(), source: nativeSource(), rules });
  const asking = device.asking(specification, { name: "minutes", asker: "clinic.example" });
  assert.equal((await device.answer(asking, 1)).is, "drawn");
  const told = await new Promise((onSend, onError) => autoSend(device, [asking], "https://clinic.example/", { fetch: async (_, { body }) => taken(body, Plain), onSend, onError }));
  assert.equal(told.sent, 1);
  assert.equal((await device.account(view)).given.length, 1);
  assert.equal((await device.account(erase)).given[0].asker, "");
});

test("signatures and relays need WebCrypto: they say so, and nothing is sent in another way", async () => {
  await assert.rejects(readCampaign("{}", "00".repeat(32)), { name: "Malformed", reason: "crypto" });
  const device = await Device.open({ epsilon: 2, store: textStore(), source: nativeSource() });
  const asking = device.asking(specification, { name: "minutes", asker: "clinic.example" });
  await device.answer(asking, 1);
  const key = `01${"0020"}${"31e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e798155"}000400010001`;
  const fetch = relayed("https://relay.example/city", key, () => assert.fail("sent"));
  const told = await device.send(asking, "https://clinic.example/", { fetch });
  assert.deepEqual(told, { sent: 0, waiting: 1, refused: [{ reason: "unreachable", words: "Malformed: crypto", dropped: 0 }], retryAfter: 0 });
});
