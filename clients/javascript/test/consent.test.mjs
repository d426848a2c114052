// Consent to a campaign: it holds for what was shown, and what waited under a no is never sent.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, memoryStore } from "../dist/dither.js";
import { readCampaign } from "../dist/signatures.js";
import { view } from "../dist/account.js";
import { share, totalOf } from "../dist/testing.js";

const { campaigns, key, totals } = JSON.parse(readFileSync(new URL("../../conformance/2/consent.json", import.meta.url), "utf8"));
const ADDRESS = "https://city.example/v1/campaigns/" + "0".repeat(64);
const fetch = async (_, { body }) => new Response(JSON.stringify({ batch: JSON.parse(body).batch }), { status: 200 });
const read = (name) => readCampaign(campaigns[name].published, key);

async function open() {
  const store = memoryStore();
  return [await Device.open({ epsilon: 50, store, policy: { epsilon: 8 } }), store];
}
const answered = async (device, campaign, name = "minutes") => {
  const outcome = await device.answer(device.asking(...campaign.questions[name]), name === "minutes" ? 3 : "bus");
  return outcome.is === "refused" ? outcome.reason + ": " + outcome.words : outcome.is;
};
const send = (device, campaign, to = ADDRESS) => device.send(Object.values(campaign.questions).map((one) => device.asking(...one)), to + "/batches", { fetch });

test("a yes covers what was shown, the same with fewer questions or days, and nothing else", async () => {
  const [device] = await open();
  const first = await read("first");
  assert.equal(await device.chosen(first), undefined);
  assert.equal(await device.consent(true, first, ADDRESS), true);
  assert.equal(await device.chosen(first), true);
  assert.equal(await answered(device, first), "drawn");
  const seen = new Set();
  for (const [name, { covered }] of Object.entries(campaigns)) {
    const other = await read(name);
    seen.add(covered);
    assert.equal(await device.chosen(other), covered || undefined, name);
    assert.equal(await device.consent(undefined, other), covered, name);
    const told = await answered(device, other);
    if (covered) assert.equal(told, "repeated", name);
    else assert.match(told, /^consent: the person was asked about something else: .* device.consent\(true, campaign\)/, name);
  }
  assert.equal(seen.size, 2);
});

test("a yes is to one collector", async () => {
  const [device] = await open();
  const first = await read("first");
  await device.consent(true, first, ADDRESS);
  await answered(device, first);
  const elsewhere = await send(device, first, ADDRESS.replace("city", "other"));
  assert.deepEqual([elsewhere.sent, elsewhere.waiting, elsewhere.refused[0].reason], [0, 1, "consent"]);
  assert.equal((await send(device, first, ADDRESS.replace(/0+$/, first.id))).sent, 1); // another version has another identity
});

test("a yes of an earlier version of this client, which kept no digest, is asked for once more", async () => {
  const [device, store] = await open();
  const first = await read("first");
  await store.update((kept) => [0, { ...kept, consent: true }]);
  assert.equal(await device.chosen(first), undefined);
  assert.match(await answered(device, first), /^consent/);
  await store.update((kept) => [0, { ...kept, consent: false }]); // a no stays a no
  assert.equal(await device.chosen(first), false);
});

test("a no to one campaign is not a no to another; a no to all is", async () => {
  const [device] = await open();
  const [first, other] = [await read("first"), await read("asker")];
  await device.consent(true, first);
  await device.consent(false, other);
  assert.deepEqual([await device.chosen(first), await device.chosen(other)], [true, false]);
  assert.equal(await answered(device, first), "drawn");
  assert.equal(await answered(device, other), "consent: the person does not want to answer");
  await device.consent(false);
  assert.deepEqual([await device.chosen(first), await device.chosen(other), await device.chosen()], [false, false, false]);
});

for (const all of [false, true]) {
  test(`what waited when the person said no${all ? " to all" : ""} is kept, and a later yes does not send it`, async () => {
    const [device] = await open();
    const [first, other] = [await read("first"), await read("asker")];
    await device.consent(true, first);
    await device.consent(true, other);
    await answered(device, first);
    await answered(device, first, "travel");
    await answered(device, other);
    await (all ? device.consent(false) : device.consent(false, first));
    assert.equal((await send(device, first)).sent, 0);
    assert.equal((await device.account(view)).waiting, 3);
    await device.consent(true, first);
    assert.equal((await send(device, first)).sent, 0);
    assert.equal((await device.account(view)).waiting, 1); // that of the other asker
    assert.equal((await send(device, other)).sent, all ? 0 : 1);
    assert.equal(await answered(device, first), "repeated"); // a permanent answer is given again, for no further ε
    const { left } = await device.account(view);
    assert.deepEqual([(await send(device, first)).sent, (await device.account(view)).left], [1, left]);
  });
}

test("the total of a campaign, and how sure it makes", () => {
  for (const { terms, total, sure } of totals) {
    assert.equal(totalOf(terms) ?? null, total, JSON.stringify(terms));
    assert.equal(share(total ?? terms.promise.epsilon), sure);
  }
});
