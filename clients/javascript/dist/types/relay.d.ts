/** Batches that are sealed to a collector's key, so that a relay passes them on and cannot read them. docs/wire.md has the bytes. */
import { type Fields } from "./parts.js";
type Bytes = Uint8Array<ArrayBuffer>;
/** Return a new X25519 public key, and the secret that it shares with another key. Throw `Malformed` ("key") if everybody knows that secret. */
export declare function agree(key: string): Promise<[own: ArrayBuffer, common: ArrayBuffer]>;
/**
 * Return a body (JSON as text, or packed bytes) encrypted for a campaign: HPKE [RFC 9180] in base mode. Other bytes come out every time.
 *
 * `key` is the campaign's sealing key (64 hexadecimal digits), `campaign` its identity. Throw `Malformed` ("key") if nothing can be sealed to it.
 */
export declare function seal(body: string | Uint8Array, key: string, campaign: string): Promise<Bytes>;
/**
 * Return a `fetch` for `device.send` that seals every body: `device.send(question, address, { fetch: sealed(campaign) })`.
 *
 * `campaign` is what `fetchCampaign` returned: its signature covers the key. Throw `Malformed` ("key") if it has none. Nothing is ever sent unsealed.
 */
export declare function sealed({ id, terms }: {
    id: string;
    terms: Fields;
}, fetch?: typeof globalThis.fetch): typeof globalThis.fetch;
export {};
