/** Texts that travel: canonical JSON, SHA-256, hexadecimal numbers, and reading without coercion. */

/** What was given is not allowed. The message is one word, which docs/devices.md explains; it never holds a value. */
export class Malformed extends Error {}

/** Throw `Malformed` for a reason unless something is as it must be. */
export function need(fine: unknown, reason: string): asserts fine {
  if (!fine) throw new Malformed(reason);
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (!value || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => JSON.stringify(key) + ":" + canonical(value[key]!))}}`;
}

/** Return an object as it is. */
export function object(value: Json | undefined): Fields {
  need(value && typeof value === "object" && !Array.isArray(value), "object");
  return value;
}

/** Return an object whose fields are exactly the named ones; others are refused. */
export function fields(value: Json | undefined, names: string): Fields {
  const given = object(value);
  need(Object.keys(given).sort().join(" ") === names, "fields");
  return given;
}

/** Return a list as it is. */
export function list(value: Json | undefined): Json[] {
  need(Array.isArray(value), "list");
  return value;
}

/** Return a finite number; texts are not read as one. */
export function real(value: Json | undefined): number {
  need(Number.isFinite(value), "number");
  return value as number;
}

/** Return a whole number within bounds; texts and fractions are not read as one. */
export function whole(value: Json | undefined, least: number, most: number): number {
  need(Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most, "number");
  return value as number;
}

/** Return a whole number that is written as lower-case hexadecimal text without leading zeros. */
export function hexadecimal(value: Json | undefined, digits: number): bigint {
  need(typeof value === "string" && value.length <= digits && /^(0|[1-9a-f][0-9a-f]*)$/.test(value), "number");
  return BigInt(`0x${value}`);
}

/** Return a text as UTF-8. */
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

// The words of SHA-256: of the square roots of the first primes, and of the cube roots.
const roots = new Uint32Array(8);
const cubes = new Uint32Array(64);

/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export function sha256(bytes: Uint8Array): Uint8Array {
  for (let n = 2, found = 0; found < 64 && !cubes[63]; n++) {
    let d = 2;
    while (n % d) d++;
    if (d < n) continue;
    roots[found] = (Math.sqrt(n) % 1) * 2 ** 32; // beyond the eighth there is no place
    cubes[found++] = (Math.cbrt(n) % 1) * 2 ** 32;
  }
  const state = roots.slice();
  const length = ((bytes.length + 72) >> 6) << 6;
  const view = new DataView(new ArrayBuffer(length));
  bytes.forEach((byte, i) => view.setUint8(i, byte));
  view.setUint8(bytes.length, 128);
  view.setUint32(length - 4, bytes.length * 8); // texts are below 2^29 bytes
  const w = new Uint32Array(64);
  const rotate = (x: number, by: number): number => (x >>> by) | (x << (32 - by));
  for (let at = 0; at < length; at += 64) {
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      w[i] =
        i < 16
          ? view.getUint32(at + 4 * i)
          : w[i - 16]! + w[i - 7]! + (rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)) + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10));
      const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + cubes[i]! + w[i]!) | 0;
      const two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((part, i) => (state[i]! += part));
  }
  state.forEach((part, i) => view.setUint32(4 * i, part));
  return new Uint8Array(view.buffer, 0, 32);
}

/** Return bytes as hexadecimal text. */
export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Return the fingerprint of a device text: 32 hexadecimal digits of its SHA-256. */
export const fingerprint = (device: string): string => hex(sha256(utf8(device))).slice(0, 32);
