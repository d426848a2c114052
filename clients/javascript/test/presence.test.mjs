// Presence for applications: the first use in a week makes a message, which is sent inside its week, taken back, and dropped by a no.
// COLLECTOR and KEY name a collector that runs: tests/conformance/test_javascript.py starts one.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { erase, takeBack, view } from "../dist/account.js";
import { Device, memoryStore } from "../dist/dither.js";
import { present, sendPresent } from "../dist/presence.js";
import { fetchCampaign, readCampaign } from "../dist/signatures.js";
import { taken } from "./events.mjs";

const { key, campaigns } = JSON.parse(readFileSync(new URL("../../conformance/2/texts.json", import.meta.url), "utf8"));
const found = campaigns.filter(({ name, verdict }) => name === "present" && verdict === "read");
const WEEK = 7 * 86400;
const START = (Math.floor((Date.now() / 1000 - 4 * 86400) / WEEK) + 1) * WEEK + 4 * 86400; // the next Monday: an account begins today
const day = (week) => new Date((START + week * WEEK) * 1000).toISOString().slice(0, 10);
const [counted, labelled] = (await Promise.all(found.slice(0, 2).map(({ published }) => readCampaign(published, key)))).map((one) => ({ ...one, terms: { ...one.terms, begins: day(-4), ends: day(50) } }));
const URL_OF = ({ id }) => `https://clinic.example/v1/campaigns/${id}/batches`;

const open = () => Device.open({ epsilon: 99, store: memoryStore(), policy: { epsilon: 9 } });
const at = (week, day = 0) => () => ({ wall: START + week * WEEK + day * 86400, boot: "one", elapsed: week * WEEK + day * 86400 });

/** Return a fetch that keeps what it is sent. */
function collector() {
  const bodies = [];
  const fetch = async (address, { body }) => {
    bodies.push(JSON.parse(body));
    return address.endsWith("/batches") ? taken(body) : new Response(JSON.stringify({ withdrawn: JSON.parse(body).withdraw }));
  };
  return [fetch, bodies];
}

test("one message in a week, with the label that is drawn and charged once", async () => {
  const device = await open();
  const [fetch, bodies] = collector();
  const outcomes = [];
  for (const now of [at(0), at(0, 6), at(1), at(1, 1)]) {
    outcomes.push((await present(device, labelled, undefined, now)).is);
    await sendPresent(device, labelled, URL_OF(labelled), { fetch }, now);
  }
  const public_ = bodies.every(({ reports }) => !Object.keys(reports).length);
  assert.deepEqual(outcomes, [public_ ? "present" : "drawn", "silent", "present", "silent"]);
  assert.equal(bodies.length, 2);
  assert.notEqual(bodies[0].batch, bodies[1].batch);
  assert.deepEqual(bodies[0].reports, bodies[1].reports);
  assert.equal((await device.account()).entries.length, public_ ? 0 : 1);
});

test("no device carries both kinds of labels, and the coin is as the campaign says", async () => {
  let marked = 0;
  for (let number = 0; number < 200; number++) {
    const device = await open();
    const [fetch, bodies] = collector();
    const campaign = { ...labelled, terms: { ...labelled.terms, labels: ["1.0"] } };
    await present(device, campaign, undefined, at(0));
    await sendPresent(device, campaign, URL_OF(campaign), { fetch, label: "1.0" }, at(0));
    const [{ label, reports }] = bodies;
    assert.equal(label === "1.0", !Object.keys(reports).length);
    marked += label === "";
  }
  assert.ok(marked > 200 * 0.7 - 6 * 6.5 && marked < 200 * 0.7 + 6 * 6.5, `${marked} of 200`); // 6 standard deviations
});

test("a campaign that counts alone sends a message without a report", async () => {
  const device = await open();
  const [fetch, bodies] = collector();
  assert.equal((await present(device, counted, undefined, at(0))).is, "present");
  assert.equal((await sendPresent(device, counted, URL_OF(counted), { fetch }, at(0))).sent, 1);
  assert.deepEqual([bodies[0].label, bodies[0].reports], ["", {}]);
  await assert.rejects(sendPresent(device, counted, URL_OF(counted), { fetch, label: "9.9" }, at(0)), { reason: "label" });
});

test("offline until the week is over: the message is dropped, and the next week has its own", async () => {
  const device = await open();
  const [fetch, bodies] = collector();
  const offline = async () => {
    throw new TypeError("offline");
  };
  await present(device, counted, undefined, at(0));
  const told = await sendPresent(device, counted, URL_OF(counted), { fetch: offline }, at(0));
  assert.deepEqual([told.sent, told.waiting, told.refused[0].reason], [0, 1, "unreachable"]);
  assert.deepEqual(await sendPresent(device, counted, URL_OF(counted), { fetch }, at(1)), { sent: 0, waiting: 0, refused: [], retryAfter: 0 });
  assert.equal((await present(device, counted, undefined, at(1))).is, "present");
  assert.equal((await sendPresent(device, counted, URL_OF(counted), { fetch }, at(1))).sent, 1);
  assert.equal(bodies.length, 1);
  assert.equal((await present(device, counted, undefined, at(0))).is, "silent"); // the clock was turned back
  assert.equal((await present(device, counted, undefined, at(60))).reason, "ended");
  assert.equal((await present(device, counted, undefined, at(-20))).reason, "early");
});

test("a no keeps the message from being sent, and a later yes drops it", async () => {
  const device = await open();
  const [fetch, bodies] = collector();
  await device.consent(true, labelled);
  await present(device, labelled, undefined, at(0));
  await device.consent(false, labelled);
  assert.equal((await sendPresent(device, labelled, URL_OF(labelled), { fetch }, at(0))).refused[0].reason, "consent");
  assert.equal((await present(device, labelled, undefined, at(1))).reason, "consent");
  assert.equal((await device.account(view)).waiting, 1);
  await device.consent(true, labelled);
  assert.equal((await device.account(view)).waiting, 0);
  assert.equal((await sendPresent(device, labelled, URL_OF(labelled), { fetch }, at(0))).sent, 0);
  assert.equal(bodies.length, 0);
  const { answers, present: kept } = await device.account();
  assert.equal((await present(device, labelled, undefined, at(1))).is, "present");
  const after = await device.account();
  assert.deepEqual(after.answers, answers); // consent that is given again keeps the label
  assert.equal(after.present[0].permanent, kept[0].permanent);
});

test("a message is taken back, sent or not; erasing forgets coin, label and period", async () => {
  const device = await open();
  const [fetch, bodies] = collector();
  const real = () => ({ wall: Math.floor(Date.now() / 1000), boot: "one", elapsed: 0 });
  const today = counted;
  await present(device, today, undefined, real);
  await sendPresent(device, today, URL_OF(today), { fetch }, real);
  assert.deepEqual((await device.account(view)).withdrawable[0].questions, [today.terms.name]);
  assert.deepEqual(await takeBack(device, today, URL_OF(today), { fetch }), { withdrawn: 1, unsent: 0, left: 0, refused: [] });
  assert.deepEqual(bodies[1], { dither: 2, withdraw: bodies[0].batch });
  assert.equal((await present(device, today, undefined, real)).is, "silent"); // withdrawing reopens nothing
  await device.account(erase);
  assert.equal((await present(device, today, undefined, real)).is, "present");
  assert.equal((await takeBack(device, today, URL_OF(today), { fetch })).withdrawn, 1); // it may have arrived
  assert.equal((await sendPresent(device, today, URL_OF(today), { fetch }, real)).sent, 0);
});

test("other campaigns are refused, and a value that is none before the coin is tossed", async () => {
  const device = await open();
  await assert.rejects(present(device, { ...counted, terms: { ...counted.terms, repeat: "once" } }), { reason: "asking" });
  await assert.rejects(present(device, { ...counted, unanswered: ["since"] }), { reason: "draw" });
  assert.equal((await present(device, labelled, "yesterday", at(0))).reason, "value");
  assert.equal((await device.account()).present, undefined);
});

test("messages come to a collector", { skip: !process.env.COLLECTOR && "no collector runs" }, async () => {
  const address = process.env.COLLECTOR;
  const campaign = await fetchCampaign(address, process.env.KEY);
  const device = await open();
  for (const expected of [1, 0]) {
    assert.equal((await present(device, campaign)).is === "silent", !expected);
    const told = await sendPresent(device, campaign, `${address}/batches`, { label: "1.0" });
    assert.deepEqual([told.sent, told.waiting, told.refused], [expected, 0, []]);
  }
  if (process.env.TAKE_BACK) assert.deepEqual(await takeBack(device, campaign, `${address}/batches`), { withdrawn: 1, unsent: 0, left: 0, refused: [] });
});
