/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */
import { type InquiryTerms, type Shown, type Store } from "./client.js";
import { type Fields } from "./parts.js";
/** Return whether a signature of 64 bytes fits some bytes and an Ed25519 public key of 32 bytes. */
export declare function verify(bytes: Uint8Array, signature: Uint8Array, key: Uint8Array): Promise<boolean>;
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
    questions: {
        [name: string]: [specification: string, terms: InquiryTerms];
    };
    /** What a person is shown of it: `device.consent(true, campaign)` keeps these digests, and a yes covers nothing else. */
    shown: Shown;
    /** The names of questions whose draw this client does not know: they are not answered, and the others are. */
    unanswered: string[];
}
/** What a device keeps of askers: keys that were followed, by the key before; the length and the head of each key's list of campaigns. */
export interface Seen {
    keys: {
        [before: string]: string;
    };
    heads: {
        [key: string]: [count: number, head: string];
    };
}
/** The list of all campaigns that a key has published and retired. */
export interface CampaignList {
    /** The digest of each entry; the last one is the head. */
    heads: string[];
    /** By identity: the day from which on a campaign is retired, or null. */
    campaigns: Map<string, string | null>;
}
/**
 * Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits) or with the next one,
 * its terms are in order, and this client can answer all its questions: otherwise it could not check the campaign's promise.
 */
export declare const readCampaign: (published: string, key: string) => Promise<Campaign>;
/**
 * Read the list of campaigns of a collector. Throw `Malformed` unless it is signed with the pinned key or with the next one, every entry has the
 * digest of the one before, and ("list") it continues the list whose length and head were `kept`.
 */
export declare const readList: (published: string, key: string, kept?: Seen["heads"][string]) => Promise<CampaignList>;
/**
 * Fetch a campaign; the last part of its address is its identity. Batches are sent to the address + "/batches".
 *
 * `store` keeps the device's facts about askers, such as `indexedStore("askers")`. With it a pinned key is followed to the
 * next one, once, and ("list") the asker's list of campaigns must have this one and continue the list that was seen before.
 */
export declare function fetchCampaign(address: string, key: string, fetch?: typeof globalThis.fetch, store?: Store<Seen>): Promise<Campaign>;
