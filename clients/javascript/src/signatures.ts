/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */

import { noted } from "./withdraw.js";
import { unhex } from "./batch.js";
import { type InquiryTerms, type Shown, type Store } from "./client.js";
import { checkTerms, dayOf, digits, valueOf } from "./campaign.js";
import { exchange, hex, Malformed, need, parse, type Question, readQuestion, sha256, utf8, watched, type Fields } from "./parts.js";

/** Return whether a signature of 64 bytes fits some bytes and an Ed25519 public key of 32 bytes. */
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
  /** By name: the arguments of `device.asking`. One of `unanswered` throws `Malformed` with the reason. */
  questions: { [name: string]: [specification: string, terms: InquiryTerms] };
  /** What a person is shown of it: `device.consent(true, campaign)` keeps these digests, and a yes covers nothing else. */
  shown: Shown;
  /** The names of questions whose draw this client does not know: they are not answered, and the others are. */
  unanswered: string[];
}

/** What a device keeps of askers: keys that were followed, by the key before; the length and the head of each key's list of campaigns. */
export interface Seen {
  keys: { [before: string]: string };
  heads: { [key: string]: [count: number, head: string] };
}

/** The list of all campaigns that a key has published and retired. */
export interface CampaignList {
  /** The digest of each entry; the last one is the head. */
  heads: string[];
  /** By identity: the day from which on a campaign is retired, or null. */
  campaigns: Map<string, string | null>;
}

/**
 * Return the text signed with a pinned key, or with the next key that the pinned one has signed, and a function that checks a signature.
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

/** What an error of one word means here, and what to do. */
const SENTENCES: { [reason: string]: string } = {
  text: "expected what a collector publishes at …/v1/campaigns/<id>, got another text",
  key: "expected the key of the one who signed, 64 digits; dither serve prints it. This text has another one",
  private: "a page shows its key to everybody: pin the public key, and replace this private one",
  signature: "the text was changed, or somebody else has signed it",
  crypto: "expected a page of https or localhost: WebCrypto is missing here",
  list: "the asker's list of campaigns is not in order, or does not continue the one that was read before",
};

/** Do something; what fails in another way than by `Malformed` is a text that is not as it must be. */
const reading = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    const { reason, field, question } = error instanceof Malformed ? error : new Malformed("text");
    throw new Malformed(reason, field || SENTENCES[reason], question);
  });

/**
 * Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits) or with the next one,
 * its terms are in order, and this client can answer all its questions: otherwise it could not check the campaign's promise.
 */
export const readCampaign = (published: string, key: string): Promise<Campaign> => reading(read(published, key));

/** Throw `Malformed` for a question whose draw this client does not know. */
function unread({ name, specification }: Fields): never {
  readQuestion(specification as string, name as string);
  throw new Malformed("draw", "add the draw before you read the campaign", name as string);
}

async function read(published: string, pin: string): Promise<Campaign> {
  const [{ campaign, key, key_before: before, signature, retired, card }, check] = await signed(published, pin);
  need(typeof campaign === "string", "text");
  await check("dither campaign 2\n" + campaign, signature);
  const id = hex(sha256(utf8(campaign)));
  if (retired !== null) {
    dayOf(retired as Fields);
    await check(`dither retirement 1\n${id}\n${retired.day}`, retired.signature);
  }
  if (card !== undefined) {
    await check("dither card 1\n" + card.text, card.signature);
    need(parse(card.text as string)["campaign"] === id, "terms", "card");
  }
  const read = await checkTerms(campaign);
  const terms = JSON.parse(campaign) as Fields;
  const questions: [string, Campaign["questions"][string]][] = []; // a name may be __proto__
  const unanswered = Object.create(null) as { [name: string]: { get(): never } };
  const shown = shownOf(terms, key as string);
  for (const stated of terms["questions"] as Fields[]) {
    const question = read.get(stated["name"] as string);
    if (question) questions.push([stated["name"] as string, [stated["specification"] as string, { ...inquiryTerms(id, terms, stated, question, retired as Fields | null), shown }]]);
    else unanswered[stated["name"] as string] = { get: () => unread(stated) };
  }
  return { id, key: key as string, before: before?.key as string | undefined, terms, retired: retired && (retired.day as string), questions: Object.defineProperties(Object.fromEntries(questions), unanswered), shown, unanswered: Object.keys(unanswered) };
}

/** What a person reads about a campaign, without its version, its days and its questions. */
const STATED = ["answers", "asker", "changes", "contact", "days", "every", "labels", "people", "purpose", "purposes", "repeat"];

/** Return digests of what a campaign shows to a person. The text of a campaign is canonical, so that its parts are written as they were. */
function shownOf(terms: Fields, key: string): Shown {
  const mark = (given: unknown): string => hex(sha256(utf8(JSON.stringify(given))));
  const { questions, begins, ends } = terms as { questions: Fields[]; begins: string; ends: string };
  return { general: mark([STATED.map((name) => (terms[name] ?? null) as unknown), key]), questions: questions.map(mark), begins, ends };
}

/** Return what a campaign adds to one of its questions. */
function inquiryTerms(campaign: string, terms: Fields, stated: Fields, question: Question, retired: Fields | null): InquiryTerms {
  const { asker, repeat, days, every, changes, answers, phase, labels, languages } = terms;
  return {
    name: stated["name"] as string,
    asker,
    repeat,
    ...(days && { days, start: dayOf(terms, "begins") }),
    ...(every && { every }),
    ...(changes && { changes }),
    ...(question.spend && { times: 1 }), // one place
    ...(answers && { limit: { campaign, answers } }),
    ...(phase && { phase: { campaign, name: terms["name"], ...phase } }),
    labels,
    taken: (state, id) => noted(state, id, { campaign, day: Math.floor(Date.now() / 864e5), retry: terms["retry"] }),
    ends: Math.min(dayOf(terms, "ends"), retired ? dayOf(retired) - 1 : Infinity),
    value: valueOf(stated, question),
    ...(languages && { languages }),
    ...(stated["text"] && { text: stated["text"] }),
    ...(stated["names"] && { names: stated["names"] }),
    ...(stated["unit"] && { unit: stated["unit"] }),
    ...(stated["step"] && { step: stated["step"] }),
    ...(stated["form"] && { form: stated["form"] }),
    ...(stated["scale"] && { scale: stated["scale"] }),
  };
}

const continues = ({ heads }: CampaignList, kept: Seen["heads"][string] | undefined): boolean => !kept || heads[kept[0] - 1] === kept[1];

/**
 * Read the list of campaigns of a collector. Throw `Malformed` unless it is signed with the pinned key or with the next one, every entry has the
 * digest of the one before, and ("list") it continues the list whose length and head were `kept`.
 */
export const readList = (published: string, key: string, kept?: Seen["heads"][string]): Promise<CampaignList> =>
  reading(
    (async () => {
      const [{ list, signature }, check] = await signed(published, key);
      const heads: string[] = [];
      const campaigns: CampaignList["campaigns"] = new Map();
      need(Array.isArray(list) && list.length && list.length <= 1e4, "list");
      for (const entry of list as string[]) {
        const [{ ...fields }] = watched(entry);
        const { before, published, retired, next_key, day } = fields;
        need(before === (heads.at(-1) ?? "0".repeat(64)) && digits(published ?? retired ?? next_key, 64), "list");
        need(Object.keys(fields).length === (retired ? 3 : 2) && (!retired || campaigns.has(retired)) && !campaigns.has(published), "list");
        if (retired) dayOf(fields);
        if (!next_key) campaigns.set(published ?? retired, day ?? null);
        heads.push(hex(sha256(utf8(entry))));
      }
      await check("dither list 2\n" + heads.at(-1), signature);
      const read = { heads, campaigns };
      need(continues(read, kept), "list");
      return read;
    })(),
  );

/**
 * Fetch a campaign; the last part of its address is its identity. Batches are sent to the address + "/batches".
 *
 * `store` keeps the device's facts about askers, such as `indexedStore("askers")`. With it a pinned key is followed to the
 * next one, once, and ("list") the asker's list of campaigns must have this one and continue the list that was seen before.
 */
export async function fetchCampaign(address: string, key: string, fetch: typeof globalThis.fetch = globalThis.fetch, store?: Store<Seen>): Promise<Campaign> {
  const get = async (url: string, must?: true): Promise<string> => {
    const [{ ok, status }, content] = await exchange(fetch, url, 2 ** 22).catch((error: unknown) => {
      throw error instanceof Malformed ? error : new Malformed("unreachable", `${(error as Error).message}: does the collector run, and allow this page (dither serve --origin)?`);
    });
    need(ok || !must, "campaign", `the collector answers ${status}: no campaign at this address; it may have moved, or ended long ago`);
    return ok ? content.text() : "";
  };
  const seen = await store?.update((kept) => [kept]);
  let pin = key;
  while (seen?.keys[pin]) pin = seen.keys[pin]!;
  const campaign = await readCampaign(await get(address, true), pin);
  need(address.endsWith("/" + campaign.id), "fingerprint", "expected the campaign that the address names, got " + campaign.id);
  need(store || campaign.key === pin, "key", "the asker has a new key: pin it, or give fetchCampaign a store, to follow it"); // who cannot remember it does not follow
  const listed = store && (await get(address.replace(/campaigns\/\w+$/, "list")));
  // A collector of several askers has the list of one.
  const list = listed && (await reading((async () => parse(listed))())).key === campaign.key ? await readList(listed, campaign.key) : undefined;
  await store?.update(({ keys, heads } = { keys: {}, heads: {} }) => {
    if (campaign.key !== pin) need(!keys[campaign.key] && (keys[pin] ??= campaign.key) === campaign.key, "key", "the asker's key was replaced by another one before");
    // Also where the new key is the pinned one: the list goes on.
    const before = heads[campaign.key] ?? heads[campaign.before!];
    need(list ? continues(list, before) && list.campaigns.has(campaign.id) && (campaign.retired || !list.campaigns.get(campaign.id)) : !before, "list", SENTENCES["list"]);
    if (list) heads[campaign.key] = [list.heads.length, list.heads.at(-1)!];
    return [0, { keys, heads }];
  });
  return campaign;
}
