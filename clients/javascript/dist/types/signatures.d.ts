/** Campaigns that are signed: what a collector publishes, verified by WebCrypto with a pinned key. Secure pages and Node have it. */
import { type Asking } from "./client.js";
import { type Fields } from "./parts.js";
/** Return whether a signature of 64 bytes is that of some bytes, by an Ed25519 public key of 32 bytes. */
export declare function verify(bytes: Uint8Array, signature: Uint8Array, key: Uint8Array): Promise<boolean>;
/** A campaign whose signature was verified. */
export interface Campaign {
    /** The SHA-256 of its text. */
    id: string;
    /** Its terms, as they are published: name, asker, contact, purpose, begins, ends, people, labels, promise … */
    terms: Fields;
    /** The day from which on it is retired, or null. */
    retired: string | null;
    /** By name: the arguments of `device.question`. */
    questions: {
        [name: string]: [specification: string, asking: Asking];
    };
}
/**
 * Read what a collector publishes. Throw `Malformed` unless it is signed with the pinned key (64 hexadecimal digits), its terms are in order,
 * and this client can answer all its questions: otherwise it could not tell whether they keep the campaign's promise.
 */
export declare function readCampaign(published: string, key: string): Promise<Campaign>;
/** Fetch a campaign; the last part of its address is its identity. Batches are sent to the address + "/batches". */
export declare function fetchCampaign(address: string, key: string, fetch?: typeof globalThis.fetch): Promise<Campaign>;
