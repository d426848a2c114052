/** The texts of the protocol: canonical JSON, SHA-256, hexadecimal numbers, and strict readers. */

/**
 * An input is not allowed. `reason` is one word from docs/devices.md; `field` is the name of the field that is wrong, or a sentence;
 * `question` is the name of the question, if it was about one. None of them holds a person's value.
 */
export class Malformed extends Error {
  declare readonly reason: string;
  declare readonly field: string;
  declare readonly question: string;

  constructor(reason: string, field = "", question = "") {
    super((question && `question "${question}": `) + reason + (field && ": " + field));
    this.name = "Malformed";
    this.reason = reason;
    this.field = field;
    this.question = question;
  }
}

/** Throw `Malformed` for a reason unless something is as it must be. */
export function need(fine: unknown, reason: string, field?: string): asserts fine {
  if (!fine) throw new Malformed(reason, field);
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** An object as it was parsed. Whatever is read of it is checked where it is used; a wrong type is refused there. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Fields = { [key: string]: any };

/** Return the number of members of all objects in a JSON text, and 1: outside of texts each has a colon. */
const members = (text: string): number => text.replace(/\\./g, "").replace(/"[^"]*"/g, "").split(":").length;

/** Return the data of a JSON text; refuse repeated keys in one object, because languages keep different ones. */
export function parse(text: string): Fields {
  const given = JSON.parse(text) as Fields;
  need(members(JSON.stringify(given)) === members(text), "text");
  return given;
}

/**
 * Return the object that a text in canonical JSON holds, and a function that refuses it if it has a field or an entry, at any depth,
 * that nobody has read. Numbers and texts are canonical if they are written again as they were; keys are if they are sorted.
 */
export function watched(text: string): [given: Fields, finish: () => void] {
  const unread: Set<string>[] = [];
  need(JSON.stringify(JSON.parse(text)) === text, "text");
  const given = JSON.parse(text, (_, value: Json) => {
    if (Object(value) !== value) return encodeURI(value as string), value; // throws at half a pair of UTF-16, because it has no UTF-8
    const keys = Object.keys(value as Fields);
    const left = new Set(keys);
    unread.push(left);
    need(Array.isArray(value) || keys + "" === keys.sort() + "", "text");
    return new Proxy(value as Fields, { get: (fields, key) => (left.delete(key as string), fields[key as string] as Json) });
  }) as Fields;
  return [given, () => unread.forEach((left) => left.forEach((field) => need(0, "fields", field)))];
}

/** Return a field that is a finite number; texts are not read as one. */
export function real(given: Fields, field: string, value: unknown = given[field]): number {
  need(Number.isFinite(value), "number", field);
  return value as number;
}

/** Return a field, or a value of it, that is an integer within bounds; texts and fractions are refused. */
export function integer(given: Fields, field: string, least: number, most: number, value: unknown = given[field]): number {
  need(Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most, "number", field);
  return value as number;
}

/** Return a field that is an integer, written as lower-case hexadecimal text without leading zeros. */
export function hexadecimal(given: Fields, field: string, digits: number, value = given[field], read = 0n): bigint {
  // The length comes first: a long text takes long to read.
  need(value?.length <= digits && (read = BigInt("0x" + value)).toString(16) === value, "number", field);
  return read;
}

/** Return a text as UTF-8. */
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const length = ((bytes.length + 72) >> 6) << 6;
  const all = new Uint8Array(length);
  const view = new DataView(all.buffer);
  all.set(bytes);
  all[bytes.length] = 128;
  view.setUint32(length - 4, bytes.length * 8); // texts are below 2^29 bytes
  const sums = new Uint32Array(8);
  const cubes = new Uint32Array(64);
  const w = new Uint32Array(64);
  // The words of SHA-256 are of the square roots of the first primes, and of the cube roots.
  for (let n = 2, found = 0; found < 64; n++) {
    let d = 2;
    while (n % d) d++;
    if (d < n) continue;
    sums[found] = n ** 0.5 * 2 ** 32; // only eight indices exist
    cubes[found++] = n ** (1 / 3) * 2 ** 32;
  }
  const turn = (x: number, ...by: number[]): number => by.reduce((sum, n) => sum ^ ((x >>> n) | (x << -n)), 0);
  for (let at = 0; at < length; at += 64) {
    let state = [...sums];
    for (let i = 0; i < 64; i++) {
      const [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      w[i] = i < 16 ? view.getUint32(at + 4 * i) : w[i - 16]! + w[i - 7]! + (turn(x, 7, 18) ^ (x >>> 3)) + (turn(y, 17, 19) ^ (y >>> 10));
      const one = h + turn(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + cubes[i]! + w[i]!;
      state = [(one + turn(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    state.forEach((part, i) => (sums[i]! += part));
  }
  sums.forEach((part, i) => view.setUint32(4 * i, part));
  return all.slice(0, 32);
}

/** Return bytes as hexadecimal text. */
export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => (byte + 256).toString(16).slice(1)).join("");

/** Return the first digits of the SHA-256 of some bytes, as hexadecimal text. */
export const digest = (bytes: Uint8Array, digits = 32): string => hex(sha256(bytes)).slice(0, digits);
