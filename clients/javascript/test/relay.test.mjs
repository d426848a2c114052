// Oblivious HTTP: the vectors, what a page sends to a relay, keys to which nothing is encrypted, and a gateway that is not ours.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, hex, Malformed, memoryStore } from "../dist/dither.js";
import { packedBody } from "../dist/packed.js";
import { binaryRequest, binaryResponse, encapsulate, relayed } from "../dist/relay.js";
import { bytes, taken, withEphemeral } from "./events.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../../conformance/2/${name}.json`, import.meta.url), "utf8"));
const { requests, exchanges, responses, configurations } = read("ohttp");
const { configuration, private: secret } = exchanges[1];
const relay = "https://relay.example/city";
const address = "https://city.example/v1/campaigns/00/batches";
const specification = read("draws").questions.find((one) => one.name.startsWith("Podium")).specification;
// Where `npm ci` was not run the libraries are not there.
const independent = await import("../independent.mjs").catch((error) => assert.equal(error.code, "ERR_MODULE_NOT_FOUND"));

test("the vectors, of which the first is RFC 9458's own", async () => {
  assert.equal(exchanges[0].name, "RFC 9458, Appendix A");
  for (const one of exchanges) {
    const [sealed, open] = await withEphemeral(one.ephemeral, () => encapsulate(one.configuration, bytes(one.plain)));
    assert.equal(hex(sealed), one.sealed);
    assert.equal(hex(await open(bytes(one.answer))), one.opened);
    await assert.rejects(open(bytes(one.answer).reverse()));
  }
  for (const one of requests) {
    const plain = binaryRequest(one.method, one.address, one.form, bytes(one.body));
    assert.equal(hex(plain), one.plain.padEnd(2 * one.length, "0"));
  }
  for (const one of responses) {
    if (one.refused) assert.throws(() => binaryResponse(bytes(one.plain)));
    else assert.equal(hex(new Uint8Array(await binaryResponse(bytes(one.plain)).arrayBuffer())), one.content);
    if (one.name?.startsWith("busy")) assert.equal(binaryResponse(bytes(one.plain)).headers.get("retry-after"), "5");
  }
});

/** A relay and a gateway in one: it opens requests with the libraries, and answers what it is told. */
const gateway = (seen, told) => async (place, options) => {
  const [request, answer] = await independent.open(options.body, bytes(secret));
  seen.push({ place, request, ...options });
  return new Response(await answer(await told(request)));
};

test("an account sends through a relay to a gateway that is not ours", { skip: !independent }, async () => {
  const device = await Device.open({ epsilon: 9, store: memoryStore() });
  const question = device.asking(specification, { name: "minutes", asker: "clinic.example" });
  for (let i = 0; i < 3; i++) await device.answer(question, 0.5);
  const before = await device.body(question);
  const seen = [];
  let status = 503;
  const fetch = relayed(relay, configuration, gateway(seen, async (request) => (status === 200 ? taken(await request.clone().text()) : new Response("{}", { status }))));
  for (const pack of [undefined, packedBody]) assert.equal((await device.send(question, address, { fetch, pack })).sent, 0);
  assert.deepEqual(await device.body(question), before);
  status = 200;
  assert.equal((await device.send(question, address, { fetch })).sent, 3);
  assert.equal(seen.length, 5); // two that failed, and a batch for each report to the question
  for (const { place, request, method, body, headers, credentials, referrerPolicy, keepalive } of seen) {
    assert.deepEqual([place, method, credentials, referrerPolicy, keepalive], [relay, "POST", "omit", "no-referrer", true]);
    assert.deepEqual(headers, { "content-type": "message/ohttp-req" });
    assert.deepEqual([request.method, request.url], ["POST", address]);
    assert.equal(body.length, 1024 + 55);
    assert.ok(!new TextDecoder("latin1").decode(body).includes(before.id));
  }
  assert.equal(await seen[0].request.text(), before.body);
  assert.equal(seen[1].request.headers.get("content-type"), "application/vnd.dither.batch");
  assert.equal(new Set(seen.map(({ body }) => hex(body))).size, 5);
});

test("what the relay says by itself acknowledges nothing", async () => {
  for (const answer of [new Response("{}"), new Response("{}", { status: 409 }), new Response("", { status: 502 }), new Response(new Uint8Array(600))]) {
    const told = await relayed(relay, configuration, async () => answer)(address, { method: "POST", body: "{}" });
    assert.deepEqual([told.ok, told.status], [false, 0]);
  }
});

test("the length is a power of two", async () => {
  for (const [size, most] of [[0, 1024], [800, 1024], [1000, 2048], [3000, 4096], [70000, 2 ** 17]]) {
    assert.equal(binaryRequest("POST", address, "application/json", new Uint8Array(size)).length, most);
  }
  let told;
  const fetch = async (_, options) => (told = options) && new Response();
  await relayed(relay, configuration, fetch)(address, { method: "POST", body: new Uint8Array(40000), keepalive: true });
  assert.equal(told.keepalive, false); // browsers refuse more than 64 KiB
});

test("nothing is encrypted to a bad key, and then nothing is sent", async () => {
  const never = () => assert.fail("sent");
  const plain = new Uint8Array(9);
  for (const bad of [undefined, null, 7, [configuration], "dither-private-key-1:x25519:00"]) {
    await assert.rejects(encapsulate(bad, plain), { name: "Malformed", reason: "key" });
    assert.throws(() => relayed(relay, bad, never), { name: "Malformed", reason: "key" });
  }
  for (const { configuration: bad } of configurations) {
    await assert.rejects(encapsulate(bad, plain), { name: "Malformed", reason: "key" });
    await assert.rejects(async () => relayed(relay, bad, never)(address), { name: "Malformed", reason: "key" });
  }
  const { subtle } = globalThis.crypto;
  const generateKey = subtle.generateKey;
  subtle.generateKey = () => Promise.reject(new Error("not supported"));
  try {
    await assert.rejects(relayed(relay, configuration, never)(address), /not supported/);
  } finally {
    subtle.generateKey = generateKey;
  }
});
