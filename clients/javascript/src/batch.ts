/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */

import { asBytes, digest, type Fields, hex, type Json, utf8 } from "./parts.js";

/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export const canonical = (value: Json): string =>
  Array.isArray(value)
    ? `[${value.map(canonical)}]`
    : Object(value) === value
      ? `{${Object.keys(value as Fields)
          .sort()
          .map((key) => JSON.stringify(key) + ":" + canonical((value as Fields)[key]))}}`
      : JSON.stringify(value);

/** A report that waits: hexadecimal text, and the fingerprint of its question. */
export interface Waiting {
  fingerprint: string;
  report: string;
}

/** Return the reports of each fingerprint, sorted: the order in which they were drawn is nobody's business. */
function groups(reports: Waiting[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { fingerprint } of reports) found.set(fingerprint, []);
  for (const { fingerprint, report } of reports) found.get(fingerprint)!.push(report);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, list]) => [name, list.sort()]));
}

/** Return a batch as canonical JSON. */
export function jsonBody(batch: string, label: string, reports: Waiting[]): string {
  return canonical({ dither: 2, batch, label, reports: Object.fromEntries(groups(reports)) });
}

const unhex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Return a batch as packed bytes. */
export function packedBody(batch: string, label: string, reports: Waiting[]): Uint8Array<ArrayBuffer> {
  const name = utf8(label);
  const found = groups(reports);
  const parts = [utf8("dither\0\x02"), unhex(batch), asBytes(name.length, 1), name, asBytes(found.size, 2)];
  for (const [fingerprint, list] of found) {
    parts.push(unhex(fingerprint), asBytes(list[0]!.length / 2, 4), asBytes(list.length, 4), unhex(list.join("")));
  }
  const body = parts.map(hex).join("");
  return unhex(body + digest(unhex(body)));
}
