// What conformance vectors are played with: given bytes, and the events of an account.
import { accounts } from "../dist/testing.js";

/** A source that returns given bytes, and no others. */
export function scripted(text) {
  let left = Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return {
    take(size) {
      if (size > left.length) throw new Error("more bytes were taken");
      const taken = left.slice(0, size);
      left = left.slice(size);
      return taken;
    },
    get left() {
      return left.length;
    },
  };
}

/** The draws of conformance/2/draws.json that this client does not know. Every other one must be met. */
export const UNKNOWN = [
  ...["channel", "table", "indices", "questions", "prefix", "planar", "rings", "points", "grid"],
  ...["two copies", "polar", "joint response", "joint bits", "joint hashed"],
];

/** Return whether the draw of a specification is one that this client does not know. */
export function unknown(specification) {
  return UNKNOWN.includes(JSON.parse(JSON.parse(specification).device).draw);
}

/** Return the outcome of an event, and the state after it if it changed. */
export function happen(state, event, policy) {
  const source = scripted(event.random ?? "");
  const drawing = { report: () => event.report, below: (bound) => accounts.below(source, bound) };
  switch (event.do) {
    case "answer":
      return accounts.answer(state, event.id, event.question, event.at, policy, drawing);
    case "dry run":
      return accounts.answer(state, event.id, event.question, event.at, policy, drawing, true);
    case "act":
      return accounts.act(state, event.at);
    case "batch":
      return accounts.batch(state, event.id, event.asker, event.most);
    case "acknowledge":
      return accounts.acknowledge(state, event.id);
    case "split":
      return accounts.split(state, event.device, event.share);
    case "merge":
      return accounts.merge(state, event.from);
  }
}
