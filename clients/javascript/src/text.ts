/** Texts that travel: canonical JSON, SHA-256, hexadecimal numbers, and reading without coercion. */

/** What was given is not what the specification of dither allows; the message says what, never a value. */
export class Malformed extends Error {}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join(",")}}`;
}

/** Return an object whose fields are exactly the named ones; others are refused. */
export function fields(value: Json | undefined, ...names: string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Malformed("an object is missing");
  const there = Object.keys(value);
  if (there.length !== names.length || !names.every((name) => Object.hasOwn(value, name))) {
    throw new Malformed(`the fields must be ${names.join(", ")}`);
  }
  return value;
}

/** Return a whole number within bounds; texts and fractions are not read as one. */
export function whole(value: Json | undefined, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most) {
    throw new Malformed(`a whole number from ${least} to ${most} is missing`);
  }
  return value;
}

/** Return a finite number. */
export function real(value: Json | undefined): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Malformed("a finite number is missing");
  return value;
}

/** Return a whole number that is written as lower-case hexadecimal text without leading zeros. */
export function hexadecimal(value: Json | undefined, digits: number): bigint {
  if (typeof value !== "string" || value.length > digits || !/^(0|[1-9a-f][0-9a-f]*)$/.test(value)) {
    throw new Malformed("a hexadecimal number is missing");
  }
  return BigInt(`0x${value}`);
}

const K = /* @__PURE__ */ (() => {
  const words = new Uint32Array(64);
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) words[found++] = (Math.cbrt(n) % 1) * 2 ** 32;
  }
  return words;
})();

/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const length = ((bytes.length + 72) >> 6) << 6;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, bytes.length << 3);
  const state = new Uint32Array([
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  ]);
  const w = new Uint32Array(64);
  const turn = (x: number, by: number): number => (x >>> by) | (x << (32 - by));
  for (let at = 0; at < length; at += 64) {
    for (let i = 0; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      w[i] =
        i < 16
          ? view.getUint32(at + 4 * i)
          : w[i - 16]! + w[i - 7]! + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((part, i) => (state[i] = state[i]! + part));
  }
  const out = new Uint8Array(32);
  state.forEach((part, i) => new DataView(out.buffer).setUint32(4 * i, part));
  return out;
}

/** Return bytes as hexadecimal text. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the fingerprint of a device text: 32 hexadecimal digits of its SHA-256. */
export function fingerprint(device: string): string {
  return hex(sha256(new TextEncoder().encode(device))).slice(0, 32);
}
