/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */

import { unhex } from "./batch.js";
import { type Asking } from "./client.js";
import { hex, Malformed, need, sha256, utf8, type Fields } from "./parts.js";

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

/** Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits). */
export async function readCampaign(published: string, key: string): Promise<Campaign> {
  try {
    const { campaign, key: stated, signature, retired } = JSON.parse(published) as Fields;
    need(stated === key && typeof campaign === "string", "key");
    const signed = (text: string, mark: string): Promise<boolean> => verify(utf8(text), unhex(mark), unhex(key));
    need(await signed("dither campaign 1\n" + campaign, signature as string), "signature");
    const id = hex(sha256(utf8(campaign)));
    need(!retired || (await signed(`dither retirement 1\n${id}\n${retired.day}`, retired.signature as string)), "signature");
    const terms = JSON.parse(campaign) as Fields;
    need(terms["dither-campaign"] === 1, "version");
    const { asker, repeat, days, begins } = terms;
    const once = repeat === "once" && { days: days as number, start: Date.parse(begins as string) / 864e5 };
    const questions = (terms["questions"] as [string, string][]).map(([name, specification]) => [name, [specification, { name, asker, repeat, ...once }]]);
    return { id, terms, retired: retired ? (retired.day as string) : null, questions: Object.fromEntries(questions) as Campaign["questions"] };
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
