// A collector that is hostile or broken, or a page in its place: nothing is lost, nothing goes elsewhere, and everything ends.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { Device, Malformed, memoryStore } from "../dist/dither.js";
import { relayed } from "../dist/relay.js";
import { fetchCampaign } from "../dist/signatures.js";
import { checkAddress, judge } from "../dist/testing.js";
import { bytes } from "./events.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../../conformance/2/${name}.json`, import.meta.url), "utf8"));
const specification = read("draws").questions.find(({ name }) => name.startsWith("Podium")).specification;
const signed = read("signatures");
const MOST = 2 ** 22;

async function waiting() {
  const device = await Device.open({ epsilon: 50, store: memoryStore() });
  const asking = device.asking(specification, { name: "minutes", asker: "city.example" });
  await device.answer(asking, 1);
  return [device, asking];
}

/** A server that does as it is told with each connection, after the head of a request. `seen` are the heads, `wrote` the bytes that were taken from it. */
async function server(t, act) {
  const seen = [];
  const state = { seen, wrote: 0, address: "" };
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      seen.push(data.toString("latin1"));
      act(socket, data.toString("latin1"));
    });
    socket.once("close", () => (state.wrote += socket.bytesWritten));
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const sockets = new Set();
  listening.on("connection", (socket) => sockets.add(socket));
  t.after(() => (listening.close(), sockets.forEach((socket) => socket.destroy())));
  state.address = `http://127.0.0.1:${listening.address().port}`;
  return state;
}

/** Let the deadline of 30 seconds end after 300 milliseconds. */
function hasten(t) {
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (call, wait, ...more) => real(call, wait === 30_000 ? 300 : wait, ...more);
  t.after(() => (globalThis.setTimeout = real));
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

/** Write without an end, as fast as it is taken. */
function flood(socket) {
  const part = Buffer.alloc(1 << 16, "a");
  const more = () => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.on("drain", more);
  more();
}

test("an answer without an end is cut off: a batch at 64 KiB, a campaign and a list at 4 MiB", async (t) => {
  const [device, asking] = await waiting();
  const place = await server(t, (socket, head) => {
    if (head.startsWith("GET /right/v1/campaigns")) return socket.end(HEAD + signed.published);
    socket.write(HEAD);
    flood(socket);
  });
  const told = await device.send(asking, `${place.address}/v1/campaigns/00/batches`);
  assert.deepEqual(told, { sent: 0, waiting: 1, refused: [{ reason: "unreachable", words: "Malformed: size", dropped: 0 }], retryAfter: 0 });
  await assert.rejects(fetchCampaign(`${place.address}/v1/campaigns/${signed.id}`, signed.key), new Malformed("size"));
  const list = fetchCampaign(`${place.address}/right/v1/campaigns/${signed.id}`, signed.key, undefined, memoryStore());
  await assert.rejects(list, new Malformed("size"));
  await new Promise((done) => setTimeout(done, 50));
  assert.ok(place.wrote < 3 * MOST + 64 * 2 ** 20, `${place.wrote} bytes`); // sockets have large buffers
});

test("an answer that comes byte after byte ends at the deadline, its head, too", async (t) => {
  hasten(t);
  const [device, asking] = await waiting();
  for (const begin of [HEAD, "HTTP/1.1 200 OK\r\nx: ", ""]) {
    const place = await server(t, (socket) => {
      socket.write(begin);
      const timer = setInterval(() => socket.write("a"), 20);
      socket.once("close", () => clearInterval(timer));
    });
    const began = performance.now();
    const told = await device.send(asking, `${place.address}/batches`);
    assert.deepEqual([told.waiting, told.refused[0].reason], [1, "unreachable"]);
    await assert.rejects(fetchCampaign(`${place.address}/v1/campaigns/${signed.id}`, signed.key));
    assert.ok(performance.now() - began < 5000);
  }
});

test("no redirect is followed, and the page behind it acknowledges nothing", async (t) => {
  const [device, asking] = await waiting();
  const other = await server(t, (socket) => socket.end(HEAD + "{}"));
  for (const status of [301, 302, 303, 307, 308]) {
    const place = await server(t, (socket) => socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${other.address}/login\r\ncontent-length: 0\r\n\r\n`));
    const told = await device.send(asking, `${place.address}/batches`);
    assert.deepEqual([told.sent, told.waiting, told.refused[0].reason], [0, 1, `status ${status}`]);
    assert.match(told.refused[0].words, /it may have moved/);
    await assert.rejects(fetchCampaign(`${place.address}/v1/campaigns/${signed.id}`, signed.key), { message: /it may have moved/ });
  }
  assert.deepEqual(other.seen, []);
});

test("200 headers, and other answers that are none, are told and not thrown", async (t) => {
  const [device, asking] = await waiting();
  const many = `HTTP/1.1 200 OK\r\n${Array.from({ length: 200 }, (_, i) => `x-${i}: ${"a".repeat(200)}\r\n`).join("")}\r\n`;
  for (const text of [many, "", "HTTP/1.1 999 Odd\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", "hello", "HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"]) {
    const place = await server(t, (socket) => socket.end(text));
    const told = await device.send(asking, `${place.address}/batches`);
    assert.deepEqual([told.sent, told.waiting, told.refused.length], [0, 1, 1], text.slice(0, 40));
  }
});

test("a 2xx acknowledges only if it names the batch", async () => {
  const [device, asking] = await waiting();
  const { id } = await device.body(asking);
  for (const text of ["", "{}", "<html>welcome</html>", `{"batch":"${"0".repeat(32)}"}`, `{"batch":"${id.toUpperCase()}g"}`, `["${id}"]`, `"${id}"`, `{"BATCH":"${id}"}`]) {
    const told = await device.send(asking, "https://x/", { fetch: async () => new Response(text) });
    assert.deepEqual(told, { sent: 0, waiting: 1, refused: [{ reason: "status 200", words: "no collector at …/campaigns/<id>/batches; it may have moved", dropped: 0 }], retryAfter: 0 }, text);
  }
  for (const text of ["{}", "<html>conflict</html>", `{"batch":"${id}"}`]) {
    const told = await device.send(asking, "https://x/", { fetch: async () => new Response(text, { status: 409 }) });
    assert.deepEqual([told.sent, told.waiting], [0, 1], text);
  }
  assert.equal((await device.send(asking, "https://x/", { fetch: async () => new Response(`{"batch":"${id}"}`) })).sent, 1);
});

test("an address that is neither https nor this machine is refused before anything is sent", async () => {
  const [device, asking] = await waiting();
  const fetch = async () => assert.fail("sent");
  const told = await device.send(asking, "http://city.example/batches", { fetch });
  assert.deepEqual(told.refused, [{ reason: "unreachable", words: "Malformed: address: expected https, or this machine", dropped: 0 }]);
  await assert.rejects(fetchCampaign(`http://city.example/v1/campaigns/${signed.id}`, signed.key, fetch), { name: "Malformed", reason: "address" });
  const { configuration } = read("ohttp").exchanges[1];
  await assert.rejects(relayed("http://relay.example/", configuration, fetch)("https://city.example/", {}), { name: "Malformed", reason: "address" });
});

test("retry-after is at most a day", async () => {
  for (const [given, seconds] of [["1e9", 86400], ["Infinity", 86400], ["-5", 0], ["86401", 86400], ["30", 30]]) {
    const [device, asking] = await waiting();
    const told = await device.send(asking, "https://x/", { fetch: async () => new Response("{}", { status: 503, headers: { "retry-after": given } }) });
    assert.ok(told.retryAfter >= seconds && told.retryAfter <= 1.25 * seconds, given);
  }
});

test("the vectors of exchanges", () => {
  const { answers, addresses } = read("exchange");
  for (const one of answers) assert.equal(judge(one.batch, one.status, new TextDecoder().decode(bytes(one.content))).fate, one.fate, one.name);
  for (const one of addresses) {
    const told = one.verdict === "used" ? assert.doesNotThrow : assert.throws;
    told(() => checkAddress(one.address), one.address);
  }
  assert.ok(answers.length > 30 && addresses.length > 20);
});
