/** Requests that are encrypted to the gateway of a collector (Oblivious HTTP, RFC 9458), so that a relay passes them on and cannot read them. */
type Bytes = Uint8Array<ArrayBuffer>;
/** Return a new X25519 public key, the secret that it shares with the key of a configuration, and that key. Throw `Malformed` ("key") if everybody knows that secret. */
export declare function agree(configuration: unknown): Promise<[own: ArrayBuffer, common: ArrayBuffer, key: Bytes]>;
/**
 * Return an encrypted request [RFC 9458, 4.3], of other bytes every time, and a function that opens its answer.
 *
 * `configuration` is the gateway's key configuration, as hexadecimal text: a campaign's `sealing_key`. Throw `Malformed` ("key") if nothing can be encrypted to it.
 */
export declare function encapsulate(configuration: string, plain: Bytes): Promise<[sealed: Bytes, open: (answer: Bytes) => Promise<Bytes>]>;
/** Return a request in binary HTTP [RFC 9292], padded to a power of two: its length reveals only the magnitude of the number of reports. */
export declare function binaryRequest(method: string, address: string, form?: string, body?: string | Uint8Array): Bytes;
/** Return a response of known length in binary HTTP; throw unless it is complete. */
export declare function binaryResponse(data: Bytes): Response;
/**
 * Return a `fetch` that encrypts every request to the gateway of a collector and sends it to a relay. The relay passes it on and reads nothing:
 * `device.send(question, address, { fetch: relayed(relay, campaign.terms.sealing_key) })`.
 *
 * `configuration` is the gateway's key configuration: the `sealing_key` of a campaign, whose signature covers it, or a pinned one. Throw
 * `Malformed` ("key") for other texts. Nothing is ever sent unencrypted. Where the relay answers anything but what the collector encrypted,
 * the answer is `Response.error()`: it acknowledges nothing.
 */
export declare function relayed(relay: string, configuration: string, fetch?: typeof globalThis.fetch): typeof globalThis.fetch;
export {};
