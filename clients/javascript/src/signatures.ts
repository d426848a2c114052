/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */

import { unhex } from "./batch.js";
import { type Asking } from "./client.js";
import { readNamed } from "./mechanisms.js";
import { hex, Malformed, need, parse, type Question, real, sha256, utf8, watched, whole, type Fields } from "./parts.js";
import { agree } from "./relay.js";

/** Return whether a signature of 64 bytes is that of some bytes, by an Ed25519 public key of 32 bytes. */
export async function verify(bytes: Uint8Array, signature: Uint8Array, key: Uint8Array): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const opened = await subtle.importKey("raw", key as Uint8Array<ArrayBuffer>, "Ed25519", false, ["verify"]);
  return subtle.verify("Ed25519", opened, signature as Uint8Array<ArrayBuffer>, bytes as Uint8Array<ArrayBuffer>);
}

/** A campaign whose signature was verified. */
export interface Campaign {
  /** The SHA-256 of its text. */
  id: string;
  /** Its terms, as they are published: name, asker, contact, purpose, begins, ends, people, labels, promise … */
  terms: Fields;
  /** The day from which on it is retired, or null. */
  retired: string | null;
  /** By name: the arguments of `device.question`. */
  questions: { [name: string]: [specification: string, asking: Asking] };
}

const SPACES = /[ \n]/g;
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(a, b);

/** Refuse what is no text of 1 to so many bytes that can be shown, on one line unless `spaces` may break it. */
function show(text: unknown, most: number, spaces = / /g): void {
  need(typeof text === "string" && text.trim() && utf8(text).length <= most && !/[\p{C}\p{Z}]/u.test(text.replace(spaces, "")), "terms");
}

/** Return the number of a day that is written as 2026-05-01. */
function dayOf(text: unknown): number {
  need(typeof text === "string" && /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toISOString().startsWith(text), "terms");
  return Date.parse(text) / 864e5;
}

/** Refuse units and steps that are declared of anything but a number, or that cannot be. */
function checkReading(reading: unknown, read: Map<string, Question>): void {
  need(Object(reading) === reading && !Array.isArray(reading), "terms");
  for (const [name, words] of Object.entries(reading as Fields)) {
    const { low = 0, high, period = high - low } = (JSON.parse(read.get(name)!.device) as Fields)["domain"];
    const { step = null, unit = "" } = words as Fields;
    const count = step === null ? 1 : period / real(step);
    need(period && Object(words) === words && Object.keys(words as Fields).length && count >= 1 - 1e-12 && count <= 500, "terms");
    need(high !== undefined || Math.abs(count - Math.round(count)) <= 1e-9, "terms"); // a step divides a circle
    need(typeof unit === "string" && [...unit].length <= 40, "terms");
    show("_" + unit, 200);
  }
}

/** Refuse terms of a campaign that are not as docs/wire.md says, or promise something else than its questions. */
async function checkTerms(text: string): Promise<void> {
  const [given, finish] = watched(text);
  const { name, version, asker, contact, purpose, begins, ends, people, repeat, days, labels, promise, questions } = given;
  need(given["dither-campaign"] === 1, "version");
  show(name, 64, SPACES);
  show(asker, 253);
  show(contact, 500, SPACES);
  show(purpose, 4000, SPACES);
  whole(version, 1, 2 ** 31 - 1);
  whole(people, 1, 2 ** 53 - 1);
  need([...asker].length <= 200 && dayOf(begins) <= dayOf(ends), "terms");
  need(repeat === "once" ? whole(days, 1, 36600) : days === null && ["fresh", "same", "per value"].includes(repeat as string), "terms");
  need(Array.isArray(labels) && labels.length <= 1000 && new Set(labels).size === labels.length, "terms");
  labels.forEach((label) => show(label, 64, SPACES));
  if ("sealing_key" in given) await agree(given["sealing_key"] as string);
  if ("reports_a_batch" in given) whole(given["reports_a_batch"], 1, 2 ** 31 - 1); // for gateways: a device sends one

  const read = new Map<string, Question>();
  const marks = new Set<string>();
  let [epsilon, delta] = [0, 0];
  need(Array.isArray(questions), "terms");
  for (const [name, specification, ...more] of questions as string[][]) {
    show(name, 64);
    const question = readNamed(specification!);
    const [top, bottom] = question.ratio;
    epsilon += question.delta ? question.epsilon : Math.log1p(Number(((top - bottom) << 64n) / bottom) / 2 ** 64);
    delta += question.delta;
    need(!more.length && !question.spend, "terms"); // nobody says how many places of a path are asked
    read.set(name!, question);
    marks.add(question.fingerprint);
  }
  // A name that stands twice would be one question to some readers; reports to one fingerprint could not be told apart.
  need(read.size && read.size <= 1024 && read.size === questions.length && read.size === marks.size, "terms");
  if ("reading" in given) checkReading(given["reading"], read);
  // The last digits of a promise may be another version's. No mechanism that this client knows assumes anything.
  need(near(real(promise.epsilon), epsilon) && (delta ? near(real(promise.delta), delta) : promise.delta === null), "promise");
  need(Array.isArray(promise.assumptions) && !promise.assumptions.length, "promise");
  finish();
}

/**
 * Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits), its terms are in order,
 * and this client can answer all its questions: otherwise it could not tell whether they keep the campaign's promise.
 */
export async function readCampaign(published: string, key: string): Promise<Campaign> {
  try {
    const { campaign, key: stated, signature, retired } = parse(published);
    need(stated === key && /^[0-9a-f]{64}$/.test(key) && typeof campaign === "string", "key");
    const check = async (text: string, mark: string): Promise<void> =>
      need(/^[0-9a-f]{128}$/.test(mark) && (await verify(utf8(text), unhex(mark), unhex(key))), "signature");
    await check("dither campaign 1\n" + campaign, signature as string);
    const id = hex(sha256(utf8(campaign)));
    if (retired !== null) {
      dayOf(retired.day);
      await check(`dither retirement 1\n${id}\n${retired.day}`, retired.signature as string);
    }
    await checkTerms(campaign);
    const terms = JSON.parse(campaign) as Fields;
    const { asker, repeat, days, begins } = terms;
    const once = repeat === "once" && { days: days as number, start: dayOf(begins) };
    const questions = (terms["questions"] as [string, string][]).map(([name, specification]) => [name, [specification, { name, asker, repeat, ...once }]]);
    return { id, terms, retired: retired && (retired.day as string), questions: Object.fromEntries(questions) as Campaign["questions"] };
  } catch (error) {
    throw error instanceof Malformed ? error : new Malformed("text");
  }
}

/** Fetch a campaign; the last part of its address is its identity. Batches are sent to the address + "/batches". */
export async function fetchCampaign(address: string, key: string, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<Campaign> {
  const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" });
  need(response.ok, "text");
  const campaign = await readCampaign(await response.text(), key);
  need(address.endsWith("/" + campaign.id), "fingerprint");
  return campaign;
}
