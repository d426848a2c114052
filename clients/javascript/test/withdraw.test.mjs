// Taking back what was sent: each batch by a request, to where it was sent; nothing is sent again.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { takeBack, view } from "../dist/account.js";
import { Device, memoryStore } from "../dist/dither.js";
import { readCampaign } from "../dist/signatures.js";
import { taken } from "./events.mjs";

const { published, key, id } = JSON.parse(readFileSync(new URL("../../conformance/2/signatures.json", import.meta.url), "utf8"));

test("batches are withdrawn until the collector confirms it", async () => {
  const campaign = await readCampaign(published, key);
  const device = await Device.open({ epsilon: 99, store: memoryStore(), policy: { epsilon: 9 } });
  const [specification, terms] = Object.values(campaign.questions)[0];
  const inquiry = device.asking(specification, { ...terms, repeat: "fresh", days: undefined, start: undefined, ends: undefined, shown: undefined });
  const url = `https://city.example/v1/campaigns/${id}/batches`;
  const requests = [];
  let busy = true;
  const fetch = async (address, { body }) => {
    requests.push([address, body]);
    if (address.endsWith("/batches")) return taken(body);
    return busy ? new Response("", { status: 503 }) : new Response(JSON.stringify({ withdrawn: JSON.parse(body).withdraw }));
  };
  await device.answer(inquiry, 1);
  assert.equal((await device.send(inquiry, url, { fetch })).sent, 1);
  const batch = JSON.parse(requests[0][1]).batch;
  await device.answer(inquiry, 2);
  const [{ until, questions }] = (await device.account(view)).withdrawable;
  assert.equal(Date.parse(until), Math.floor(Date.now() / 864e5) * 864e5 + campaign.terms.retry * 864e5);
  assert.deepEqual(questions, [terms.name]);
  assert.deepEqual(await takeBack(device, inquiry, url, { fetch }), { withdrawn: 0, unsent: 1, left: 1, refused: ["status 503"] });
  busy = false;
  assert.deepEqual(await takeBack(device, inquiry, url, { fetch }), { withdrawn: 1, unsent: 0, left: 0, refused: [] });
  assert.deepEqual(requests.at(-1), [`https://city.example/v1/campaigns/${id}/withdrawals`, `{"dither":2,"withdraw":"${batch}"}`]);
  assert.deepEqual((await device.account(view)).withdrawable, []);
  const before = requests.length;
  await takeBack(device, inquiry, url, { fetch });
  await device.send(inquiry, url, { fetch });
  assert.equal(requests.length, before); // nothing is left to take back, or to send
  assert.equal((await device.account()).entries.length, 2); // what was spent stays spent
});
