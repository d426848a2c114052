// Oblivious HTTP made of two libraries that are not ours, hpke-js and bhttp-js: a device, and a gateway. RFC 9458 says what is done here.
import { BHttpDecoder, BHttpEncoder } from "bhttp-js";
import { AeadId, CipherSuite, KdfId, KemId } from "hpke-js";
import { bytes } from "./test/events.mjs";

const suite = new CipherSuite({ kem: KemId.DhkemX25519HkdfSha256, kdf: KdfId.HkdfSha256, aead: AeadId.Aes128Gcm });
const text = new TextEncoder();
const join = (...parts) => new Uint8Array(parts.flatMap((part) => [...new Uint8Array(part)]));
const info = (header) => join(text.encode("message/bhttp request\0"), header);
const key = (data, isPublic) => suite.kem.importKey("raw", new Uint8Array(data).buffer, isPublic);

/** The cipher of an answer: the secret that both ends export, and the nonce that the gateway draws. */
async function answerCipher(context, encapsulated, nonce) {
  const { subtle } = globalThis.crypto;
  const secret = await context.export(text.encode("message/bhttp response").buffer, 16);
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const derived = (label, bits) =>
    subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: join(encapsulated, nonce), info: text.encode(label) }, base, bits);
  const opened = await subtle.importKey("raw", await derived("key", 128), "AES-GCM", false, ["encrypt", "decrypt"]);
  return [{ name: "AES-GCM", iv: await derived("nonce", 96) }, opened];
}

/** Send a request to a gateway, encrypted to its key configuration; return the answer. */
export async function ask(gateway, configuration, request) {
  const config = bytes(configuration);
  const header = join([config[0]], bytes("002000010001"));
  const context = await suite.createSenderContext({ recipientPublicKey: await key(config.slice(3, 35), true), info: info(header) });
  const plain = await new BHttpEncoder().encodeRequest(request);
  const body = join(header, context.enc, await context.seal(new Uint8Array(plain).buffer));
  const response = await fetch(gateway, { method: "POST", body, headers: { "content-type": "message/ohttp-req" } });
  if (response.headers.get("content-type") !== "message/ohttp-res") return response;
  const sealed = new Uint8Array(await response.arrayBuffer());
  const cipher = await answerCipher(context, context.enc, sealed.slice(0, 16));
  return new BHttpDecoder().decodeResponse(await globalThis.crypto.subtle.decrypt(...cipher, sealed.slice(16)));
}

/** Open a request with a private key; return it, and a function that encrypts the answer. */
export async function open(sealed, privateKey) {
  const [header, enc, rest] = [sealed.slice(0, 7), sealed.slice(7, 39), sealed.slice(39)];
  const context = await suite.createRecipientContext({ recipientKey: await key(privateKey, false), enc: enc.buffer, info: info(header) });
  const request = new BHttpDecoder().decodeRequest(await context.open(rest.buffer));
  const answer = async (response) => {
    const nonce = globalThis.crypto.getRandomValues(new Uint8Array(16));
    const plain = await new BHttpEncoder().encodeResponse(response);
    return join(nonce, await globalThis.crypto.subtle.encrypt(...(await answerCipher(context, enc, nonce)), new Uint8Array(plain)));
  };
  return [request, answer];
}

// node independent.mjs GATEWAY CONFIGURATION < requests, a JSON object a line: method, address, form, body (hexadecimal). Prints statuses and bodies.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , gateway, configuration] = process.argv;
  const lines = (await new Response(process.stdin).text()).trim().split("\n").map((line) => JSON.parse(line));
  for (const { method, address, form, body } of lines) {
    const more = method === "GET" ? {} : { body: bytes(body), headers: { "content-type": form } };
    const answer = await ask(gateway, configuration, new Request(address, { method, ...more }));
    console.log(JSON.stringify([answer.status, await answer.text()]));
  }
}
