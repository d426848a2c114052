/** Batches that are sealed to a collector's key, so that a relay passes them on and cannot read them. docs/wire.md has the bytes. */

import { unhex } from "./batch.js";
import { asBytes, need, type Fields } from "./parts.js";

type Bytes = Uint8Array<ArrayBuffer>;

const join = async (...parts: BlobPart[]): Promise<Bytes> => new Uint8Array(await new Blob(parts).arrayBuffer());

/** Return HMAC-SHA256: both steps of HKDF are one of it [RFC 9180, 4], for no more than 32 bytes are needed. */
async function mac(key: Bytes, ...parts: BlobPart[]): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const opened = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", opened, await join(...parts)));
}

const VERSION = "HPKE-v1";
const KEM = "KEM\0\x20"; // DHKEM(X25519, HKDF-SHA256)
const SUITE = "HPKE\0\x20\0\x01\0\x01"; // with HKDF-SHA256 and AES-128-GCM
const KEY = /^[0-9a-f]{64}$/;
const NO_SALT = new Uint8Array(32);

const expand = async (secret: Bytes, suite: string, label: string, length: number, ...info: BlobPart[]): Promise<Bytes> =>
  (await mac(secret, asBytes(length * 256, 2) as Bytes, VERSION, suite, label, ...info, "\x01")).slice(0, length);

/** Return a new X25519 public key, and the secret that it shares with another key. Throw `Malformed` ("key") if everybody knows that secret. */
export async function agree(key: string): Promise<[own: ArrayBuffer, common: ArrayBuffer]> {
  need(KEY.test(key), "key");
  const { subtle } = globalThis.crypto;
  const { publicKey, privateKey } = (await subtle.generateKey("X25519", false, ["deriveBits"])) as CryptoKeyPair;
  // A key of small order is refused by WebCrypto, here or there.
  const common = await subtle
    .importKey("raw", unhex(key), "X25519", false, [])
    .then((opened) => subtle.deriveBits({ name: "X25519", public: opened }, privateKey, 256))
    .catch(() => need(0, "key"));
  return [await subtle.exportKey("raw", publicKey), common!];
}

/**
 * Return a body (JSON as text, or packed bytes) encrypted for a campaign: HPKE [RFC 9180] in base mode. Other bytes come out every time.
 *
 * `key` is the campaign's sealing key (64 hexadecimal digits), `campaign` its identity. Throw `Malformed` ("key") if nothing can be sealed to it.
 */
export async function seal(body: string | Uint8Array, key: string, campaign: string): Promise<Bytes> {
  const { subtle } = globalThis.crypto;
  const [own, common] = await agree(key);
  const shared = await expand(await mac(NO_SALT, VERSION, KEM, "eae_prk", common), KEM, "shared_secret", 32, own, unhex(key));
  const bound = await join(
    "\0",
    await mac(NO_SALT, VERSION, SUITE, "psk_id_hash"),
    await mac(NO_SALT, VERSION, SUITE, "info_hash", "dither sealed 1\n", campaign),
  );
  const secret = await mac(shared, VERSION, SUITE, "secret");
  const cipher = await subtle.importKey("raw", await expand(secret, SUITE, "key", 16, bound), "AES-GCM", false, ["encrypt"]);
  const iv = await expand(secret, SUITE, "base_nonce", 12, bound);

  const packed = typeof body !== "string";
  const inner = await join(body as BlobPart);
  // A power of two of bytes: the length tells neither the question nor, but for its magnitude, the number of reports.
  const plain = new Uint8Array(2 ** Math.max(10, Math.ceil(Math.log2(inner.length + 5))));
  plain.set([packed ? 2 : 1, ...asBytes(inner.length, 4)]);
  plain.set(inner, 5);
  return join(own, await subtle.encrypt({ name: "AES-GCM", iv }, cipher, plain));
}

/**
 * Return a `fetch` for `device.send` that seals every body: `device.send(question, address, { fetch: sealed(campaign) })`.
 *
 * `campaign` is what `fetchCampaign` returned: its signature covers the key. Throw `Malformed` ("key") if it has none. Nothing is ever sent unsealed.
 */
export function sealed({ id, terms }: { id: string; terms: Fields }, fetch = globalThis.fetch): typeof globalThis.fetch {
  const key = terms["sealing_key"] as string;
  need(KEY.test(key), "key");
  return async (address, options) => {
    const body = await seal(options!.body as string | Uint8Array, key, id);
    // Browsers refuse a request that may outlive its page and has a body beyond 64 KiB.
    const keepalive = !!options!.keepalive && body.length < 2 ** 16;
    return fetch(address, { ...options, body, keepalive, headers: { "content-type": "application/vnd.dither.sealed" } });
  };
}
