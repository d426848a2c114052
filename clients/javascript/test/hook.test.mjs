// The hook in React where something fails. What it does otherwise is in react.test.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Device, Malformed, memoryStore } from "../dist/dither.js";

// Where `npm ci` was not run React is not there.
const found = await Promise.all([import("react"), import("react-test-renderer"), import("../dist/react.js")]).catch((error) => assert.equal(error.code, "ERR_MODULE_NOT_FOUND"));
const [React, renderer, { useQuestion }] = found ?? [{}, {}, {}];
const skip = !found;
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const { questions } = JSON.parse(readFileSync(new URL("../../../conformance/2/draws.json", import.meta.url), "utf8"));
const specification = questions.find(({ name }) => name.startsWith("Podium")).specification;

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
