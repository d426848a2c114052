// The hook in React, also in StrictMode, which runs effects twice.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, Malformed, memoryStore } from "../dist/dither.js";

// Where `npm ci` was not run React is not there.
const found = await Promise.all([import("react"), import("react-test-renderer"), import("../dist/react.js")]).catch((error) => assert.equal(error.code, "ERR_MODULE_NOT_FOUND"));
const [React, renderer, { useQuestion }] = found ?? [{}, {}, {}];
const skip = !found;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name.startsWith("Podium")).specification;

async function device(taken = {}) {
  const store = memoryStore();
  return [await Device.open({ epsilon: 5, store, ...taken }), () => store.update(({ state }) => [state])];
}

/** Render a component that answers in an effect, as often as React runs it. */
async function mount(opened, seen, strict = true) {
  function Minutes() {
    const used = useQuestion(opened, specification, { name: "minutes", asker: "city.example" });
    seen.push(used);
    React.useEffect(() => {
      if (used.asking) void used.answer(42);
    }, [used.answer]);
    return used.promised ? `left ${used.promised.left}` : "…";
  }
  let root;
  const element = React.createElement(Minutes);
  await renderer.act(async () => {
    root = renderer.create(strict ? React.createElement(React.StrictMode, null, element) : element);
  });
  // Until the answer is told and what is left was read again, however slow the machine is.
  const ready = () => !opened || (seen.at(-1).outcome && seen.at(-1).promised?.left < 5);
  for (const end = performance.now() + 20_000; !ready() && performance.now() < end; ) await renderer.act(async () => new Promise(setImmediate));
  return root;
}

test("in StrictMode, which runs effects twice, one answer is drawn and charged", { skip }, async () => {
  const [opened, state] = await device();
  const calls = [];
  const watched = { ...opened, answer: (...given) => (calls.push(given[2]), opened.answer(...given)) };
  const seen = [];
  const root = await mount(watched, seen);
  assert.ok(calls.length >= 2, "StrictMode ran the effect once");
  assert.equal(new Set(calls).size, 1); // one identity
  const { entries, queue } = await state();
  assert.deepEqual([entries.length, queue.length], [1, 1]);
  assert.ok(["drawn", "resent"].includes(seen.at(-1).outcome.is));
  assert.match(root.toJSON(), /^left 4(\.0+\d)?$/); // what is left is read again after the answer
  await seen.at(-1).answer(43); // a second click
  assert.equal((await state()).entries.length, 1);
  root.unmount();
});

test("another mount is another answer", { skip }, async () => {
  const [opened, state] = await device();
  for (let i = 0; i < 2; i++) (await mount(opened, [], false)).unmount();
  assert.equal((await state()).entries.length, 2);
});

test("without a device nothing is asked, and a bad question throws", { skip }, async () => {
  const seen = [];
  const root = await mount(undefined, seen);
  assert.deepEqual([seen.at(-1).asking, root.toJSON()], [undefined, "…"]);
  await assert.rejects(seen.at(-1).answer(1), /not open/);
  root.unmount();
  const [opened] = await device();
  const Bad = () => useQuestion(opened, "{}", { name: "minutes", asker: "city.example" }) && null;
  const silent = console.error;
  console.error = () => {};
  try {
    await assert.rejects(async () => renderer.act(async () => void renderer.create(React.createElement(Bad))), Malformed);
  } finally {
    console.error = silent;
  }
});

/** Render a question below an error boundary; return what the component used, and what the boundary was told. */
async function shown(device) {
  const [used, told, unhandled] = [[], [], []];
  class Boundary extends React.Component {
    state = {};
    static getDerivedStateFromError = () => ({ failed: true });
    componentDidCatch(error) {
      told.push(error);
    }
    render() {
      return this.state.failed ? "failed" : this.props.children;
    }
  }
  function Minutes() {
    used.push(useQuestion(device, specification, { name: "minutes", asker: "city.example" }));
    return "asked";
  }
  const note = (error) => unhandled.push(error);
  const { error } = console;
  console.error = () => undefined; // React tells errors there, too
  process.on("unhandledRejection", note);
  let root;
  await renderer.act(async () => {
    root = renderer.create(React.createElement(Boundary, null, React.createElement(Minutes)));
  });
  await renderer.act(() => new Promise((done) => setTimeout(done, 5)));
  process.off("unhandledRejection", note);
  console.error = error;
  return { last: used.at(-1), told, unhandled, text: root.toJSON() };
}

test("an account that cannot be read reaches the error boundary", { skip }, async () => {
  const store = memoryStore();
  const opened = await Device.open({ epsilon: 5, store });
  const broken = { ...opened, asking: (...given) => ({ ...opened.asking(...given), promise: async () => { throw new Malformed("account"); } }) };
  const { told, unhandled, text } = await shown(broken);
  assert.deepEqual([told.map(String), unhandled, text], [["Malformed: account"], [], "failed"]);
});

test("a device that never opens promises nothing, and an answer rejects", { skip }, async () => {
  const { last, told, unhandled, text } = await shown(undefined);
  assert.deepEqual([last.asking, last.promised, told, unhandled, text], [undefined, undefined, [], [], "asked"]);
  await assert.rejects(last.answer(42), /not open yet/);
});
