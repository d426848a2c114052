/** Requests that are encrypted to the gateway of a collector (Oblivious HTTP, RFC 9458), so that a relay passes them on and cannot read them. */

import { unhex } from "./batch.js";
import { asBytes, exchange, need, utf8 } from "./parts.js";

type Bytes = Uint8Array<ArrayBuffer>;

const join = async (...parts: BlobPart[]): Promise<Bytes> => new Uint8Array(await new Blob(parts).arrayBuffer());

/** Return HMAC-SHA256: both steps of HKDF are one of it [RFC 9180, 4], because 32 bytes are enough. */
async function mac(key: Bytes, ...parts: BlobPart[]): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const opened = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", opened, await join(...parts)));
}

/** Encrypt or decrypt with AES-128-GCM; the first bytes of the key and of the nonce are taken. */
async function cipher(use: "encrypt" | "decrypt", key: Bytes, nonce: Bytes, data: Bytes): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const opened = await subtle.importKey("raw", key.slice(0, 16), "AES-GCM", false, [use]);
  return new Uint8Array(await subtle[use]({ name: "AES-GCM", iv: nonce.slice(0, 12) }, opened, data));
}

const VERSION = "HPKE-v1";
const KEM = "KEM\0\x20"; // DHKEM(X25519, HKDF-SHA256)
const SUITE = "HPKE\0\x20\0\x01\0\x01"; // with HKDF-SHA256 and AES-128-GCM
const NO_SALT = new Uint8Array(32);

const expand = async (secret: Bytes, suite: string, label: string, length: number, ...info: BlobPart[]): Promise<Bytes> =>
  (await mac(secret, asBytes(length * 256, 2) as Bytes, VERSION, suite, label, ...info, "\x01")).slice(0, length);

/** Return the public key of a key configuration [RFC 9458, 3.1]; throw `Malformed` ("key") for other texts and algorithms. */
function keyOf(configuration: unknown): Bytes {
  const [, key, length, list] = (typeof configuration === "string" && /^[0-9a-f]{2}0020([0-9a-f]{64})([0-9a-f]{4})((?:[0-9a-f]{8})+)$/.exec(configuration)) || [];
  need(list && parseInt(length!, 16) * 2 === list.length && list.match(/.{8}/g)!.includes("00010001"), "key", "expected the sealing_key of a campaign");
  return unhex(key!);
}

/** Return a new X25519 public key, the secret that it shares with the key of a configuration, and that key. Throw `Malformed` ("key") if everybody knows that secret. */
export async function agree(configuration: unknown): Promise<[own: ArrayBuffer, common: ArrayBuffer, key: Bytes]> {
  const key = keyOf(configuration);
  need(globalThis.crypto?.subtle, "crypto");
  const { subtle } = globalThis.crypto;
  const { publicKey, privateKey } = (await subtle.generateKey("X25519", false, ["deriveBits"])) as CryptoKeyPair;
  // A key of small order is refused by WebCrypto, here or there.
  const common = await subtle
    .importKey("raw", key, "X25519", false, [])
    .then((opened) => subtle.deriveBits({ name: "X25519", public: opened }, privateKey, 256))
    .catch(() => need(0, "key"));
  return [await subtle.exportKey("raw", publicKey), common!, key];
}

/**
 * Return an encrypted request [RFC 9458, 4.3], of other bytes every time, and a function that opens its answer.
 *
 * `configuration` is the gateway's key configuration, as hexadecimal text: a campaign's `sealing_key`. Throw `Malformed` ("key") if nothing can be encrypted to it.
 */
export async function encapsulate(configuration: string, plain: Bytes): Promise<[sealed: Bytes, open: (answer: Bytes) => Promise<Bytes>]> {
  const [own, common, key] = await agree(configuration);
  const header = unhex(configuration.slice(0, 2) + "002000010001");
  const shared = await expand(await mac(NO_SALT, VERSION, KEM, "eae_prk", common), KEM, "shared_secret", 32, own, key);
  const secret = await mac(shared, VERSION, SUITE, "secret");
  const bound = await join(
    "\0",
    await mac(NO_SALT, VERSION, SUITE, "psk_id_hash"),
    await mac(NO_SALT, VERSION, SUITE, "info_hash", "message/bhttp request\0", header),
  );
  const part = (label: string, length: number): Promise<Bytes> => expand(secret, SUITE, label, length, bound);
  const answers = await expand(await part("exp", 32), SUITE, "sec", 16, "message/bhttp response");
  const sealed = await cipher("encrypt", await part("key", 16), await part("base_nonce", 12), plain);
  return [
    await join(header, own, sealed),
    async (answer) => {
      const secret = await mac(await join(own, answer.slice(0, 16)), answers);
      return cipher("decrypt", await mac(secret, "key\x01"), await mac(secret, "nonce\x01"), answer.slice(16));
    },
  ];
}

/** Return a text, or bytes, after its length [RFC 9000, 16]. */
function text(given: string | ArrayLike<number>): number[] {
  const data = typeof given === "string" ? utf8(given) : given;
  const size = data.length;
  const length = size < 64 ? [size] : size < 2 ** 14 ? [64 | (size >> 8), size & 255] : [128 | (size >> 24), ...asBytes(size, 3).reverse()];
  return length.concat(Array.from(data));
}

/** Return a request in binary HTTP [RFC 9292], padded to a power of two: its length reveals only the magnitude of the number of reports. */
export function binaryRequest(method: string, address: string, form = "", body: string | Uint8Array = ""): Bytes {
  const { host, pathname, search } = new URL(address);
  const words = [method, "https", host, pathname + search].flatMap(text);
  const all = [0, ...words, ...text(form && text("content-type").concat(text(form))), ...text(body)];
  const plain = new Uint8Array(2 ** Math.max(10, Math.ceil(Math.log2(all.length))));
  plain.set(all);
  return plain;
}

/** Return a response of known length in binary HTTP; throw unless it is complete. */
export function binaryResponse(data: Bytes): Response {
  let at = 0;
  const take = (size: number): Bytes => {
    need((at += size) <= data.length, "text");
    return data.subarray(at - size, at);
  };
  const number = (): number => {
    const [first] = take(1) as unknown as [number];
    return take((1 << (first >> 6)) - 1).reduce((sum, byte) => sum * 256 + byte, first & 63);
  };
  const section = (): Bytes => take(at < data.length ? number() : 0); // those at the end may be left out
  const word = (): string => String.fromCharCode(...take(number()));
  need(number() === 1, "text");
  let status = number();
  for (; status >= 100 && status < 200; status = number()) section();
  const headers: [string, string][] = [];
  const end = (at < data.length ? number() : 0) + at;
  while (at < end) headers.push([word(), word()]);
  need(at === end, "text");
  const content = section();
  section();
  need(!data.subarray(at).some(Boolean), "text");
  return new Response(content.length ? content : null, { status, headers });
}

/**
 * Return a `fetch` that encrypts every request to the gateway of a collector and sends it to a relay. The relay passes it on and reads nothing:
 * `device.send(question, address, { fetch: relayed(relay, campaign.terms.sealing_key) })`.
 *
 * `configuration` is the gateway's key configuration: the `sealing_key` of a campaign, whose signature covers it, or a pinned one. Throw
 * `Malformed` ("key") for other texts. Nothing is ever sent unencrypted. Where the relay answers anything but what the collector encrypted,
 * the answer is `Response.error()`: it acknowledges nothing.
 */
export function relayed(relay: string, configuration: string, fetch = globalThis.fetch): typeof globalThis.fetch {
  keyOf(configuration);
  return async (address, { method = "GET", body, headers, keepalive, ...options } = {}) => {
    const { "content-type": form } = (headers ?? {}) as { [name: string]: string };
    const [sealed, open] = await encapsulate(configuration, binaryRequest(method, address as string, form, body as string));
    // Browsers refuse a request that may outlive its page and has a body beyond 64 KiB.
    const outer = { ...options, method: "POST", body: sealed, keepalive: !!keepalive && sealed.length < 2 ** 16, headers: { "content-type": "message/ohttp-req" } };
    // An answer is padded to a power of two.
    const [answer, content] = await exchange(fetch, relay, (method === "GET" ? 2 ** 23 : 2 ** 17) + 1024, outer);
    try {
      need(answer.ok, "text");
      return binaryResponse(await open(new Uint8Array(await content.arrayBuffer())));
    } catch {
      return Response.error();
    }
  };
}
