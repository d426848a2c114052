// What conformance vectors are played with: given bytes, a given ephemeral key, and the events of an account.
import { changes } from "../dist/changes.js";
import { accounts } from "../dist/testing.js";

/** The bytes of hexadecimal text. */
export const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The answer of a collector that has stored a batch: it names the batch. */
export function taken(body, Answer = Response) {
  const id = typeof body === "string" ? JSON.parse(body).batch : Buffer.from(body.slice(8, 24)).toString("hex");
  return new Answer(JSON.stringify({ batch: id }));
}

/** Do something while WebCrypto draws a given X25519 key, in place of a random one. */
export async function withEphemeral(text, work) {
  const { subtle } = globalThis.crypto;
  const packed = bytes(`302e020100300506032b656e04220420${text}`); // the key as PKCS #8
  const privateKey = await subtle.importKey("pkcs8", packed, "X25519", true, ["deriveBits"]);
  const { x } = await subtle.exportKey("jwk", privateKey);
  const publicKey = await subtle.importKey("jwk", { kty: "OKP", crv: "X25519", x }, "X25519", true, []);
  const generateKey = subtle.generateKey;
  subtle.generateKey = async () => ({ privateKey, publicKey });
  try {
    return await work();
  } finally {
    subtle.generateKey = generateKey;
  }
}

/** A source that returns given bytes, and no others. */
export function scripted(text) {
  let left = bytes(text);
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

/** The draws of clients/conformance/2/draws.json that this client does not know. Every other one must be met. */
export const UNKNOWN = [
  ...["prefix", "planar", "rings", "points", "grid"],
  ...["two copies", "joint response", "joint bits", "joint hashed"],
];

/** Return whether the draw of a specification is one that this client does not know. */
export function unknown(specification) {
  return UNKNOWN.includes(JSON.parse(JSON.parse(specification).device).draw);
}

/** Return the outcome of an event, and the state after it if it changed, by all rules or by others. */
export function happen(state, event, policy, rules = accounts.allRules({ changes, now: () => event.at })) {
  // What a path assumes: `asking` adds it, where the rules of a page do not.
  if (rules === accounts.plain && event.question) event = { ...event, question: { ...event.question, assumes: event.question.assumes.concat(accounts.pathAssumes(event.question.times)) } };
  const now = accounts.upgraded(state);
  const [outcome, next = now === state ? undefined : now] = events(now, event, policy ?? accounts.DEFAULT, rules);
  return [outcome, next && accounts.ordered(next)];
}

function events(state, event, policy, rules) {
  const drawing = { report: () => event.report, mark: () => event.mark, change: () => [event.report, event.mark], source: scripted(event.random ?? "") };
  switch (event.do) {
    case "answer":
      return accounts.answer(state, event.id, event.question, policy, rules, drawing);
    case "dry run": {
      const [{ report, ...outcome }] = accounts.answer(state, event.id, event.question, policy, rules);
      return [outcome];
    }
    case "act":
      return rules.act(state);
    case "batch": {
      const { questions } = event;
      const listed = (one) => !questions || questions.some(([name, mark]) => one.question === name && one.fingerprint === mark);
      const [id, found, next] = accounts.batch(state, event.id, event.most, (one) => one.asker === event.asker && listed(one));
      const reports = found.map((one) => one.id);
      return reports.length ? [{ is: next ? "batched" : "resent", id, reports }, next] : [{ is: "empty" }];
    }
    case "acknowledge":
      return accounts.acknowledge(state, event.id, event.sent);
    case "withdraw":
      return accounts.withdraw(state, event.id);
    case "drop":
      return accounts.drop(state, event.id);
    case "present":
      return accounts.decidePresent(state, event.id, event.at, event.presence, event.question, policy, drawing);
    case "message":
      return accounts.decideMessage(state, event.at, event.presence, event.question);
    case "split":
      return accounts.split(state, event.device, event.share);
    case "merge":
      return accounts.merge(state, event.from);
  }
}
