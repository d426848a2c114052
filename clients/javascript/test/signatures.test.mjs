// A campaign that Python signed: read with the pinned key, and refused if a byte or the key is another one.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { box } from "../dist/box.js";
import { Device, draws, Malformed, memoryStore } from "../dist/dither.js";
import { hashed } from "../dist/hashed.js";
import { lattice } from "../dist/lattice.js";
import { nearest } from "../dist/nearest.js";
import { optional } from "../dist/optional.js";
import { paths } from "../dist/paths.js";
import { profile } from "../dist/profile.js";
import { projective } from "../dist/projective.js";
import { several } from "../dist/several.js";
import { fetchCampaign, readCampaign, readList, verify } from "../dist/signatures.js";
import { taken } from "./events.mjs";

const file = new URL("../../conformance/2/signatures.json", import.meta.url);
const { published, key, id, address } = JSON.parse(readFileSync(file, "utf8"));

test("a signed campaign is read, answered and sent", async () => {
  const asked = [];
  const fetch = async (url, options) => {
    asked.push([url, options.method ?? "GET"]);
    return options.body ? taken(options.body) : { ok: true, text: async () => published };
  };
  const campaign = await fetchCampaign(address, key, fetch);
  assert.equal(campaign.id, id);
  assert.equal(campaign.retired, null);
  const device = await Device.open({ epsilon: 2, store: memoryStore() });
  const question = device.asking(...campaign.questions.minutes);
  assert.equal(question.asked.asker, campaign.terms.asker);
  assert.equal((await device.answer(question, 42)).is, "drawn");
  assert.equal((await device.send(question, `${address}/batches`, { fetch })).sent, 1);
  assert.deepEqual(asked, [[address, "GET"], [`${address}/batches`, "POST"]]);
  await assert.rejects(fetchCampaign(`${address}0`, key, fetch), { name: "Malformed", reason: "fingerprint" });
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
  for (const [word, text] of bad) await assert.rejects(readCampaign(text, key), { name: "Malformed", reason: word });
  await assert.rejects(readCampaign(published, "1".repeat(64)), { name: "Malformed", reason: "key" });
});

test("bytes are verified as they are", async () => {
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const { campaign, signature } = JSON.parse(published);
  const text = new TextEncoder().encode(`dither campaign 2\n${campaign}`);
  assert.equal(await verify(text, bytes(signature), bytes(key)), true);
  assert.equal(await verify(text.subarray(1), bytes(signature), bytes(key)), false);
});

const { key: pinned, lists } = JSON.parse(readFileSync(new URL("../../conformance/2/list.json", import.meta.url), "utf8"));

test("a list of campaigns is read, or refused", async () => {
  for (const { verdict, published, kept, head } of lists) {
    const reading = readList(published, pinned, kept ?? undefined);
    if (verdict === "refused") await assert.rejects(reading, Malformed);
    else assert.equal((await reading).heads.at(-1), head);
  }
  await assert.rejects(readList(lists[0].published, "dither-private-key-1:ed25519:00"), { name: "Malformed", reason: "private" });
});

/** An asker with a list: keys are made here, and every signature. */
async function asker() {
  const { subtle } = globalThis.crypto;
  const text = new TextEncoder();
  const hex = (data) => Buffer.from(data).toString("hex");
  const { campaign } = JSON.parse(published);
  const make = async () => {
    const pair = await subtle.generateKey("Ed25519", true, ["sign", "verify"]);
    const sign = async (words) => hex(await subtle.sign("Ed25519", pair.privateKey, text.encode(words)));
    return { key: hex(await subtle.exportKey("raw", pair.publicKey)), sign };
  };
  const before = async (old, now) => old && { key_before: { key: old.key, signature: await old.sign(`dither next key 1\n${now.key}`) } };
  const list = async (by, old, ...entries) => {
    let head = "0".repeat(64);
    const log = [];
    for (const entry of entries) {
      log.push(JSON.stringify(Object.fromEntries(Object.entries({ ...entry, before: head }).sort())));
      head = hex(await subtle.digest("SHA-256", text.encode(log.at(-1))));
    }
    return JSON.stringify({ list: log, key: by.key, signature: await by.sign(`dither list 2\n${head}`), ...(await before(old, by)) });
  };
  const publish = async (by, old) =>
    JSON.stringify({ campaign, key: by.key, signature: await by.sign(`dither campaign 2\n${campaign}`), retired: null, ...(await before(old, by)) });
  return { make, list, publish };
}

test("a device keeps the head of a list, and follows a key once", async () => {
  const { make, list, publish } = await asker();
  const [first, second, third] = [await make(), await make(), await make()];
  const store = memoryStore();
  const get = (text, listed, kept = store, pin = first.key) =>
    fetchCampaign(address, pin, async (url) => new Response(url === address ? text : listed, { status: url === address || listed ? 200 : 404 }), kept);
  const here = { published: id };
  const other = { published: "ab".repeat(32) };
  const next = { next_key: second.key };
  const old = await publish(first);
  assert.equal((await get(old, await list(second, undefined, other))).key, first.key); // the list of another asker
  await assert.rejects(get(old, await list(first, undefined, other)), { name: "Malformed", reason: "list" }); // not in it
  await get(old, await list(first, undefined, here));
  await get(old, await list(first, undefined, here, other));
  for (const entries of [[here], [other, here], [here, next]]) await assert.rejects(get(old, await list(first, undefined, ...entries)), { name: "Malformed", reason: "list" });
  await assert.rejects(get(old, ""), { name: "Malformed", reason: "list" });
  await assert.rejects(get(old, await list(first, undefined, here, other, { day: "2026-06-01", retired: id })), { name: "Malformed", reason: "list" });

  const following = await publish(second, first);
  await assert.rejects(get(following, "", undefined), { name: "Malformed", reason: "list" });
  await assert.rejects(fetchCampaign(address, first.key, async () => new Response(following)), { name: "Malformed", reason: "key" }); // nothing to remember it by
  await assert.rejects(get(following, await list(second, first, other, here)), { name: "Malformed", reason: "list" });
  // A page that pins the new key: the list of the old one must go on.
  await assert.rejects(get(following, await list(second, first, other, here), store, second.key), { name: "Malformed", reason: "list" });
  await assert.rejects(get(following, "", store, second.key), { name: "Malformed", reason: "list" });
  const gone = await list(second, first, here, other, next);
  assert.equal((await get(following, gone)).key, second.key);
  for (const text of [old, await publish(third, first)]) await assert.rejects(get(text, gone), { name: "Malformed", reason: "key" });
  const last = await list(third, second, here, other, next, { next_key: third.key });
  assert.equal((await get(await publish(third, second), last)).key, third.key);
  await assert.rejects(get(await publish(first, third), last), { name: "Malformed", reason: "key" }); // back to a key that was replaced
});

const golden = new URL("../../../tests/golden/campaign-2.json", import.meta.url); // not beside a copy of the client

test("the golden campaigns, with every term, and their list", { skip: !existsSync(golden) }, async () => {
  const { pinned, campaigns, list } = JSON.parse(readFileSync(golden, "utf8"));
  for (const draw of [{ lattice }, { optional }, { several }, { projective }, { box }, hashed, nearest, paths, profile]) Object.assign(draws, draw);
  const listed = await readList(list, pinned);
  for (const { id, published } of campaigns) {
    const campaign = await readCampaign(published, pinned);
    assert.deepEqual([campaign.id, campaign.unanswered, Object.keys(campaign.questions)], [id, [], campaign.terms.questions.map(({ name }) => name)]);
    assert.equal(listed.campaigns.get(id) ?? null, campaign.retired); // the list has the first of them
  }
  assert.ok(campaigns.length > 3);
});
