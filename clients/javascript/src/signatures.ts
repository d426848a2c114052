/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */

import { unhex } from "./batch.js";
import { type InquiryTerms, type Store } from "./client.js";
import { exchange, hex, Malformed, need, parse, type Question, readQuestion, real, sha256, utf8, watched, whole, type Fields } from "./parts.js";
import { agree } from "./relay.js";

/** Return whether a signature of 64 bytes is that of some bytes, by an Ed25519 public key of 32 bytes. */
export async function verify(bytes: Uint8Array, signature: Uint8Array, key: Uint8Array): Promise<boolean> {
  // Engines differ in the keys that they accept. One of small order has valid signatures of any text; all those have y (y² − 1)(d·y⁴ + 2y² − 1) = 0.
  const prime = 2n ** 255n - 19n;
  const y = BigInt.asUintN(255, BigInt("0x" + hex(key.slice().reverse())));
  const square = y * y;
  if (y >= prime || (y * (square - 1n) * ((121665n * square - 243332n) * square + 121666n)) % prime === 0n) return false;
  const { subtle } = globalThis.crypto;
  const opened = await subtle.importKey("raw", key as Uint8Array<ArrayBuffer>, "Ed25519", false, ["verify"]);
  return subtle.verify("Ed25519", opened, signature as Uint8Array<ArrayBuffer>, bytes as Uint8Array<ArrayBuffer>);
}

/** A campaign whose signature was verified. */
export interface Campaign {
  /** The SHA-256 of its text. */
  id: string;
  /** The key that it is signed with: the pinned one, or the one that the pinned one has signed as the next. */
  key: string;
  /** The key before that one, if it was replaced. */
  before: string | undefined;
  /** Its terms, as they are published: name, asker, contact, purpose, begins, ends, people, labels, promise … */
  terms: Fields;
  /** The day from which on it is retired, or null. */
  retired: string | null;
  /** By name: the arguments of `device.asking`. */
  questions: { [name: string]: [specification: string, terms: InquiryTerms] };
}

/** What a device keeps of askers: keys that were followed, by the key before; the length and the head of each key's list of campaigns. */
export interface Seen {
  keys: { [before: string]: string };
  heads: { [key: string]: [count: number, head: string] };
}

/** The list of all campaigns that a key has published and retired. */
export interface Log {
  /** The digest of each entry; the last one is the head. */
  heads: string[];
  /** By identity: the day from which on a campaign is retired, or null. */
  campaigns: Map<string, string | null>;
}

const SPACES = /[ \n]/g;
const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(a, b);

/** Refuse a field that is no text of 1 to so many bytes that can be shown, on one line unless `spaces` may break it. */
function show(given: Fields, field: string, most: number, spaces = / /g): void {
  const text = given[field];
  need(typeof text === "string" && text.trim() && utf8(text).length <= most && !/[\p{C}\p{Z}]/u.test(text.replace(spaces, "")), "terms", field);
}

/** Return the number of a day that is written as 2026-05-01. */
function dayOf(given: Fields, field = "day"): number {
  const text = given[field];
  need(typeof text === "string" && /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toISOString().startsWith(text), "terms", field);
  return Date.parse(text) / 864e5;
}

/** Refuse units and steps that are declared of anything but a number, or that cannot be. */
function checkReading(reading: unknown, read: Map<string, Question>): void {
  need(Object(reading) === reading && !Array.isArray(reading), "terms", "reading");
  for (const [name, words] of Object.entries(reading as Fields)) {
    const { domain } = JSON.parse(read.get(name)!.device) as Fields;
    const { low = 0, high, period = high - low } = domain.of ?? domain; // of a number that may be missing
    const { step, unit = "" } = words as Fields;
    const count = step === undefined ? 1 : period / real({ step }, "step");
    need(period && Object(words) === words && Object.keys(words as Fields).length, "terms", "reading");
    // A step divides a circle.
    need(count >= 1 - 1e-12 && count <= 500 && (high !== undefined || Math.abs(count - Math.round(count)) <= 1e-9), "terms", "step");
    need(typeof unit === "string" && [...unit].length <= 40, "terms", "unit");
    show({ unit: "_" + unit }, "unit", 200);
  }
}

/** Refuse terms of a campaign that are not as docs/wire.md says, or promise something else than its questions. */
async function checkTerms(text: string): Promise<void> {
  const [given, finish] = watched(text);
  const { asker, repeat, days, labels, promise, questions } = given;
  need(given["dither-campaign"] === 1, "version");
  show(given, "name", 64, SPACES);
  show(given, "asker", 253);
  show(given, "contact", 500, SPACES);
  show(given, "purpose", 4000, SPACES);
  whole(given, "version", 1, 2 ** 31 - 1);
  whole(given, "people", 1, 2 ** 53 - 1);
  need([...asker].length <= 200, "terms", "asker");
  need(dayOf(given, "begins") <= dayOf(given, "ends"), "terms", "ends");
  need(repeat === "once" ? whole(given, "days", 1, 36600) : days === null && ["fresh", "same", "per value"].includes(repeat as string), "terms", "repeat");
  need(Array.isArray(labels) && labels.length <= 1000 && new Set(labels).size === labels.length, "terms", "labels");
  labels.forEach((labels) => show({ labels }, "labels", 64, SPACES));
  if ("sealing_key" in given) await agree(given["sealing_key"] as string);
  if ("reports_a_batch" in given) whole(given, "reports_a_batch", 1, 2 ** 31 - 1); // for gateways: a device sends one

  const read = new Map<string, Question>();
  const marks = new Set<string>();
  let [epsilon, delta] = [0, 0];
  need(Array.isArray(questions), "terms", "questions");
  for (const [name, specification, ...more] of questions as string[][]) {
    show({ questions: name }, "questions", 64);
    const question = readQuestion(specification!, name);
    const [top, bottom] = question.ratio;
    epsilon += question.delta ? question.epsilon : Math.log1p(Number(((top - bottom) << 64n) / bottom) / 2 ** 64);
    delta += question.delta;
    need(!more.length && !question.spend, "terms", "questions"); // nobody says how many places of a path are asked
    read.set(name!, question);
    marks.add(question.fingerprint);
  }
  // A name that stands twice would be one question to some readers; reports to one fingerprint could not be told apart.
  need(read.size && read.size <= 1024 && read.size === questions.length && read.size === marks.size, "terms", "questions");
  if ("reading" in given) checkReading(given["reading"], read);
  // The last digits of a promise may be another version's. No mechanism that this client knows assumes anything.
  need(near(real(promise, "epsilon"), epsilon), "promise", "epsilon");
  need(delta ? near(real(promise, "delta"), delta) : promise.delta === null, "promise", "delta");
  need(Array.isArray(promise.assumptions) && !promise.assumptions.length, "promise", "assumptions");
  finish();
}

const digits = (text: unknown, length: number): text is string => typeof text === "string" && text.length === length && /^[0-9a-f]*$/.test(text);

/**
 * Return what is signed with a pinned key, or with the one that the pinned key has signed as the next, and a function that checks a signature.
 *
 * Throw `Malformed` ("key") if it is signed with another key, ("private") if a private key was pinned.
 */
async function signed(text: string, pin: string): Promise<[given: Fields, check: (text: string, mark: unknown) => Promise<void>]> {
  need(!/^\s*dither-private-key/.test(pin), "private");
  need(globalThis.crypto?.subtle, "crypto");
  const given = parse(text);
  const { key, key_before: before } = given;
  const check = async (text: string, mark: unknown, by: unknown = key): Promise<void> =>
    need(digits(mark, 128) && digits(by, 64) && (await verify(utf8(text), unhex(mark), unhex(by))), "signature");
  need(digits(pin, 64) && (key === pin || before?.key === pin), "key");
  if (before !== undefined) await check("dither next key 1\n" + key, before.signature, before.key ?? "");
  return [given, check];
}

/** Do something; what fails in another way than by `Malformed` is a text that is not as it must be. */
const reading = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof Malformed ? error : new Malformed("text");
  });

/**
 * Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits) or with the next one,
 * its terms are in order, and this client can answer all its questions: otherwise it could not tell whether they keep the campaign's promise.
 */
export const readCampaign = (published: string, key: string): Promise<Campaign> => reading(read(published, key));

async function read(published: string, pin: string): Promise<Campaign> {
  const [{ campaign, key, key_before: before, signature, retired }, check] = await signed(published, pin);
  need(typeof campaign === "string", "text");
  await check("dither campaign 1\n" + campaign, signature);
  const id = hex(sha256(utf8(campaign)));
  if (retired !== null) {
    dayOf(retired as Fields);
    await check(`dither retirement 1\n${id}\n${retired.day}`, retired.signature);
  }
  await checkTerms(campaign);
  const terms = JSON.parse(campaign) as Fields;
  const { asker, repeat, days } = terms;
  const once = repeat === "once" && { days: days as number, start: dayOf(terms, "begins") };
  const questions = (terms["questions"] as [string, string][]).map(([name, specification]) => [name, [specification, { name, asker, repeat, ...once }]]);
  return { id, key: key as string, before: before?.key as string | undefined, terms, retired: retired && (retired.day as string), questions: Object.fromEntries(questions) as Campaign["questions"] };
}

const continues = ({ heads }: Log, kept: Seen["heads"][string] | undefined): boolean => !kept || heads[kept[0] - 1] === kept[1];

/**
 * Read the list of campaigns of a collector. Throw `Malformed` unless it is signed with the pinned key or with the next one, every entry has the
 * digest of the one before, and ("log") it continues the list whose length and head were `kept`.
 */
export const readLog = (published: string, key: string, kept?: Seen["heads"][string]): Promise<Log> =>
  reading(
    (async () => {
      const [{ log, signature }, check] = await signed(published, key);
      const heads: string[] = [];
      const campaigns: Log["campaigns"] = new Map();
      need(Array.isArray(log) && log.length && log.length <= 1e4, "log");
      for (const entry of log as string[]) {
        const [{ ...fields }] = watched(entry);
        const { before, published, retired, next_key, day } = fields;
        need(before === (heads.at(-1) ?? "0".repeat(64)) && digits(published ?? retired ?? next_key, 64), "log");
        need(Object.keys(fields).length === (retired ? 3 : 2) && (!retired || campaigns.has(retired)) && !campaigns.has(published), "log");
        if (retired) dayOf(fields);
        if (!next_key) campaigns.set(published ?? retired, day ?? null);
        heads.push(hex(sha256(utf8(entry))));
      }
      await check("dither log 1\n" + heads.at(-1), signature);
      const read = { heads, campaigns };
      need(continues(read, kept), "log");
      return read;
    })(),
  );

/**
 * Fetch a campaign; the last part of its address is its identity. Batches are sent to the address + "/batches".
 *
 * `store` is where the device keeps what it has seen of askers, such as `indexedStore("askers")`. With it a pinned key is followed to the
 * next one, once, and ("log") the asker's list of campaigns must have this one and continue the list that was seen before.
 */
export async function fetchCampaign(address: string, key: string, fetch: typeof globalThis.fetch = globalThis.fetch, store?: Store<Seen>): Promise<Campaign> {
  const get = async (url: string): Promise<string> => {
    const [{ ok }, content] = await exchange(fetch, url, 2 ** 22);
    return ok ? content.text() : "";
  };
  const seen = await store?.update((kept) => [kept]);
  let pin = key;
  while (seen?.keys[pin]) pin = seen.keys[pin]!;
  const campaign = await readCampaign(await get(address), pin);
  need(address.endsWith("/" + campaign.id), "fingerprint");
  need(store || campaign.key === pin, "key"); // who cannot remember it does not follow
  const listed = store && (await get(address.replace(/campaigns\/\w+$/, "log")));
  // A collector of several askers has the list of one.
  const log = listed && (await reading((async () => parse(listed))())).key === campaign.key ? await readLog(listed, campaign.key) : undefined;
  await store?.update(({ keys, heads } = { keys: {}, heads: {} }) => {
    if (campaign.key !== pin) need(!keys[campaign.key] && (keys[pin] ??= campaign.key) === campaign.key, "key");
    // Also where the new key is the pinned one: the list goes on.
    const before = heads[campaign.key] ?? heads[campaign.before!];
    need(log ? continues(log, before) && log.campaigns.has(campaign.id) && (campaign.retired || !log.campaigns.get(campaign.id)) : !before, "log");
    if (log) heads[campaign.key] = [log.heads.length, log.heads.at(-1)!];
    return [0, { keys, heads }];
  });
  return campaign;
}
