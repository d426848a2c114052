// Sealed bodies: those of the vectors, what a page sends to a relay, and keys to which nothing is sealed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, hex, Malformed, memoryStore } from "../dist/dither.js";
import { packedBody } from "../dist/packed.js";
import { seal, sealed } from "../dist/relay.js";
import { bytes, withEphemeral } from "./events.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../../../conformance/2/${name}.json`, import.meta.url), "utf8"));
const { key, campaign, sealed: bodies } = read("sealed");
const signed = { id: campaign, terms: { sealing_key: key } };
const specification = read("draws").questions.find((one) => one.name.startsWith("Podium")).specification;

test("the sealed bodies of the vectors", async () => {
  for (const one of bodies) {
    const body = one.form === "json" ? one.body : bytes(one.body);
    assert.equal(hex(await withEphemeral(one.ephemeral, () => seal(body, key, campaign))), one.sealed);
  }
  assert.ok(bodies.length >= 8);
});

test("an account sends sealed bodies, other ones each time, and keeps the batch until it is acknowledged", async () => {
  const device = await Device.open({ epsilon: 9, store: memoryStore() });
  const question = device.question(specification, { name: "minutes", asker: "clinic.example" });
  for (let i = 0; i < 3; i++) await device.answer(question, 0.5);
  const before = await device.body(question);
  const seen = [];
  let ok = false;
  const fetch = async (address, options) => {
    seen.push({ address, ...options });
    return { ok, status: ok ? 200 : 503 };
  };
  for (const pack of [undefined, packedBody]) {
    assert.equal(await device.send(question, "https://relay.example/x", { fetch: sealed(signed, fetch), pack }), 0);
  }
  assert.deepEqual(await device.body(question), before);
  ok = true;
  assert.equal(await device.send(question, "https://relay.example/x", { fetch: sealed(signed, fetch) }), 3);
  assert.equal(seen.length, 5); // two that failed, and a batch for each report to the question
  for (const { address, method, body, headers, credentials, referrerPolicy, keepalive } of seen) {
    assert.deepEqual([address, method, credentials, referrerPolicy, keepalive], ["https://relay.example/x", "POST", "omit", "no-referrer", true]);
    assert.deepEqual(headers, { "content-type": "application/vnd.dither.sealed" });
    assert.equal(body.length, 1024 + 48);
    assert.ok(!new TextDecoder("latin1").decode(body).includes(before.id));
  }
  assert.equal(new Set(seen.map(({ body }) => hex(body))).size, 5);
});

test("the length is a power of two", async () => {
  for (const [size, most] of [[0, 1024], [1019, 1024], [1020, 2048], [2043, 2048], [2044, 4096], [70000, 2 ** 17]]) {
    assert.equal((await seal(new Uint8Array(size), key, campaign)).length, most + 48);
  }
  let told;
  const fetch = async (_, options) => (told = options);
  await sealed(signed, fetch)("https://relay.example/x", { body: new Uint8Array(40000), keepalive: true });
  assert.equal(told.keepalive, false); // browsers refuse more than 64 KiB
});

test("nothing is sealed to a bad key, and then nothing is sent", async () => {
  const never = () => assert.fail("sent");
  const small = ["00".repeat(32), "01" + "00".repeat(31), "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"];
  for (const bad of [undefined, null, 7, "", "ab", key.toUpperCase(), key + "00", [key, key]]) {
    await assert.rejects(seal("{}", bad, campaign), new Malformed("key"));
    assert.throws(() => sealed({ id: campaign, terms: { sealing_key: bad } }, never), new Malformed("key"));
  }
  for (const bad of small) {
    await assert.rejects(seal("{}", bad, campaign), new Malformed("key"));
    await assert.rejects(sealed({ id: campaign, terms: { sealing_key: bad } }, never)("x", { body: "{}" }), new Malformed("key"));
  }
  const { subtle } = globalThis.crypto;
  const generateKey = subtle.generateKey;
  subtle.generateKey = () => Promise.reject(new Error("not supported"));
  try {
    await assert.rejects(sealed(signed, never)("x", { body: "{}" }), /not supported/);
  } finally {
    subtle.generateKey = generateKey;
  }
});
