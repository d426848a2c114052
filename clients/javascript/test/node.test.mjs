// The file store: durable, readable by its owner alone, for several processes, and whole whenever one is killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import files from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Device, Malformed } from "../dist/dither.js";
import { fileStore } from "../dist/node.js";
import { taken } from "./events.mjs";

const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name.startsWith("Podium")).specification;
const ASKING = { name: "minutes", asker: "city.example" };
const folders = [];
const folder = () => {
  folders.push(mkdtempSync(join(tmpdir(), "dither-")));
  return join(folders.at(-1), "account");
};
/** The names of the files that hold something: one, the account. */
const full = (place) => readdirSync(place).filter((name) => statSync(join(place, name)).size);
test.after(() => folders.forEach((one) => rmSync(one, { recursive: true })));

test("an account is kept, and goes on", async () => {
  const place = folder();
  const device = await Device.open({ epsilon: 2, store: fileStore(place) });
  const asking = device.asking(specification, ASKING);
  const outcomes = await Promise.all([1, 2, 3].map((value) => device.answer(asking, value)));
  assert.deepEqual(outcomes.map(({ is }) => is), ["drawn", "drawn", "refused"]);
  const again = await Device.open({ epsilon: 2, store: fileStore(place) });
  assert.equal((await again.answer(again.asking(specification, ASKING), 1)).reason, "budget");
  assert.equal((await again.send(again.asking(specification, ASKING), "https://x/", { fetch: async (_, { body }) => taken(body) })).sent, 2);
  assert.equal(full(place).length, 1);
  if (process.platform !== "win32") {
    assert.equal(statSync(place).mode & 0o777, 0o700);
    assert.equal(statSync(join(place, full(place)[0])).mode & 0o777, 0o600);
  }
});

test("what is damaged is no account, and nothing is answered", async () => {
  for (const text of ["", "{", "null", '{"state":']) {
    const place = folder();
    const device = await Device.open({ epsilon: 2, store: fileStore(place) });
    const [name] = full(place);
    writeFileSync(join(place, name), text);
    await assert.rejects(Device.open({ epsilon: 2, store: fileStore(place) }), { name: "Malformed", reason: "account" });
    await assert.rejects(device.answer(device.asking(specification, ASKING), 1), { name: "Malformed", reason: "account" });
  }
});

test("a folder that cannot be written answers nothing, and works again when it can", { skip: process.platform === "win32" }, async () => {
  const place = folder();
  const [root, nobody] = [process.getuid() === 0, 65534];
  if (root) chownSync(join(place, ".."), nobody, nobody);
  if (root) process.seteuid(nobody); // root may write everywhere
  try {
    const device = await Device.open({ epsilon: 2, store: fileStore(place) });
    chmodSync(place, 0o500);
    await assert.rejects(device.answer(device.asking(specification, ASKING), 1), { code: "EACCES" });
    chmodSync(place, 0o700);
    assert.equal((await device.answer(device.asking(specification, ASKING), 1)).is, "drawn");
  } finally {
    chmodSync(place, 0o700);
    if (root) process.seteuid(0);
  }
});

test("a folder that others can write to is refused, and nothing is put into it", { skip: process.platform === "win32" }, async () => {
  for (const mode of [0o770, 0o777, 0o1777, 0o702, 0o720]) {
    const place = folder();
    mkdirSync(place);
    chmodSync(place, mode);
    await assert.rejects(Device.open({ epsilon: 2, store: fileStore(place) }), { name: "Malformed", reason: "folder" }, mode.toString(8));
    assert.deepEqual(readdirSync(place), []);
  }
  for (const mode of [0o700, 0o750, 0o755]) {
    const place = folder();
    mkdirSync(place);
    chmodSync(place, mode);
    await Device.open({ epsilon: 2, store: fileStore(place) });
  }
  if (process.getuid()) return;
  const place = folder();
  mkdirSync(place);
  chownSync(place, 65534, 65534); // whose owner can write to it
  await assert.rejects(Device.open({ epsilon: 2, store: fileStore(place) }), { name: "Malformed", reason: "folder" });
});

test("a store that cannot be made fails when it is used, not before", async () => {
  const failed = [];
  const note = (error) => failed.push(error);
  process.on("unhandledRejection", note);
  const place = folder();
  writeFileSync(place, ""); // no folder
  const store = fileStore(place);
  await new Promise((done) => setTimeout(done, 20));
  process.off("unhandledRejection", note);
  assert.deepEqual(failed, []);
  await assert.rejects(Device.open({ epsilon: 2, store }), { code: "EEXIST" });
  rmSync(place);
  await Device.open({ epsilon: 2, store });
});

test("a change that is refused leaves nothing behind", async () => {
  const place = folder();
  const store = fileStore(place);
  await store.update(() => [0, { count: 1 }]);
  await assert.rejects(store.update(() => assert.fail("no")), /no/);
  assert.equal(await store.update((kept) => [kept.count]), 1);
  assert.deepEqual(readdirSync(place), ["1.json"]);
});

/** Let a process be stopped before or after it claims a number, while another one makes two changes; return all changes. */
async function stopped(when) {
  const place = folder();
  const [one, other] = [fileStore(place), fileStore(place)];
  const add = (store, name) => store.update((kept) => [0, { made: [...(kept?.made ?? []), name] }]);
  await add(one, "first");
  const { link } = files;
  files.link = async (...given) => {
    files.link = link;
    syncBuiltinESMExports();
    if (when === "after") await link(...given);
    for (const name of ["b", "c"]) await add(other, name);
    if (when === "before") await link(...given);
  };
  syncBuiltinESMExports();
  await add(one, "a");
  assert.equal(full(place).length, 1);
  return (await one.update((kept) => [kept])).made;
}

test("a change that others go on from is made once, and one that comes too late is made again", async () => {
  assert.deepEqual(await stopped("after"), ["first", "a", "b", "c"]);
  assert.deepEqual(await stopped("before"), ["first", "b", "c", "a"]);
});

test("a listing that misses everything does not begin a new account", async () => {
  const store = fileStore(folder());
  for (let i = 0; i < 40; i++) await store.update((kept) => [0, { count: (kept?.count ?? 0) + 1 }]);
  const { readdir } = files;
  files.readdir = async () => {
    files.readdir = readdir;
    syncBuiltinESMExports();
    return [];
  };
  syncBuiltinESMExports();
  await store.update((kept) => [0, { count: (kept?.count ?? 0) + 1 }]);
  assert.equal(await store.update((kept) => [kept.count]), 41);
});

const WORK = `
import { fileStore } from ${JSON.stringify(new URL("../dist/node.js", import.meta.url).href)};
const store = fileStore(process.argv[1]);
for (let i = 0; i < Number(process.argv[2]); i++) {
  const count = await store.update((kept) => [(kept?.count ?? 0) + 1, { count: (kept?.count ?? 0) + 1, made: [...(kept?.made ?? []), process.pid + " " + i] }]);
  process.stdout.write(process.pid + " " + i + "\\n");
}
`;
const work = (place, count) => spawn(process.execPath, ["--input-type=module", "-e", WORK, place, String(count)], { stdio: ["ignore", "pipe", "inherit"] });

test("two processes change one account: nothing is lost", async () => {
  const place = folder();
  const both = [work(place, 25), work(place, 25)];
  for (const ended of await Promise.all(both.map((one) => once(one, "exit")))) assert.deepEqual(ended, [0, null]);
  const { count, made } = await fileStore(place).update((kept) => [kept]);
  assert.deepEqual([count, new Set(made).size], [50, 50]);
  assert.equal(full(place).length, 1);
});

test("a process that is killed leaves a whole account, with everything that it told", async () => {
  const place = folder();
  for (let turn = 0; turn < 6; turn++) {
    const one = work(place, 1e6);
    let told = "";
    one.stdout.on("data", (part) => (told += part));
    while (!existsSync(place) || told.split("\n").length < 3 + turn) await new Promise((resolve) => setTimeout(resolve, 1));
    one.kill("SIGKILL");
    await once(one, "close");
    const { count, made } = await fileStore(place).update((kept) => [kept]);
    assert.equal(made.length, count);
    for (const line of told.split("\n").slice(0, -1)) assert.ok(made.includes(line), line);
  }
});
