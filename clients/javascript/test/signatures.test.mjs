// A campaign that Python signed: read with the pinned key, and refused if a byte or the key is another one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, Malformed, memoryStore } from "../dist/dither.js";
import { fetchCampaign, readCampaign, verify } from "../dist/signatures.js";

const file = new URL("../../../conformance/2/signatures.json", import.meta.url);
const { published, key, id, address } = JSON.parse(readFileSync(file, "utf8"));

test("a signed campaign is read, answered and sent", async () => {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push([url, options.method ?? "GET"]);
    return { ok: true, text: async () => published };
  };
  const campaign = await fetchCampaign(address, key, fetch);
  assert.equal(campaign.id, id);
  assert.equal(campaign.retired, null);
  const device = await Device.open({ epsilon: 2, store: memoryStore() });
  const question = device.question(...campaign.questions.minutes);
  assert.equal(question.asked.asker, campaign.terms.asker);
  assert.equal((await device.answer(question, 42)).is, "drawn");
  assert.equal(await device.send(question, `${address}/batches`, { fetch }), 1);
  assert.deepEqual(asked, [[address, "GET"], [`${address}/batches`, "POST"]]);
  await assert.rejects(fetchCampaign(`${address}0`, key, fetch), new Malformed("fingerprint"));
});

test("a changed campaign, another key and another signature are refused", async () => {
  const changed = (change) => {
    const one = JSON.parse(published);
    change(one);
    return JSON.stringify(one);
  };
  const bad = [
    ["key", changed((one) => (one.key = "0".repeat(64)))],
    ["signature", changed((one) => (one.campaign = one.campaign.replace("minutes", "seconds")))],
    ["signature", changed((one) => (one.campaign += " "))],
    ["signature", changed((one) => (one.signature = one.signature.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))))],
    ["signature", changed((one) => (one.signature = ""))],
    ["signature", changed((one) => (one.retired = { day: "2026-01-01", signature: one.signature }))],
    ["text", "{"],
    ["text", "null"],
  ];
  for (const [word, text] of bad) await assert.rejects(readCampaign(text, key), new Malformed(word));
  await assert.rejects(readCampaign(published, "1".repeat(64)), new Malformed("key"));
});

test("bytes are verified as they are", async () => {
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const { campaign, signature } = JSON.parse(published);
  const text = new TextEncoder().encode(`dither campaign 1\n${campaign}`);
  assert.equal(await verify(text, bytes(signature), bytes(key)), true);
  assert.equal(await verify(text.subarray(1), bytes(signature), bytes(key)), false);
});
