/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */

/** A report that waits: hexadecimal text, and the fingerprint of its question. */
export interface Waiting {
  fingerprint: string;
  report: string;
}

/** Return the reports of each fingerprint, all sorted: the order in which they were drawn is nobody's business. */
export function groups(reports: Waiting[]): { [fingerprint: string]: string[] } {
  const found: { [fingerprint: string]: string[] } = {};
  const texts = reports.map(({ fingerprint, report }) => fingerprint + report).sort(); // fingerprints are equally long
  for (const text of texts) (found[text.slice(0, 32)] ??= []).push(text.slice(32));
  return found;
}

/** Return the bytes of hexadecimal text. */
export const unhex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Return a batch as canonical JSON: its keys are sorted here. */
export const jsonBody = (batch: string, label: string, reports: Waiting[]): string =>
  JSON.stringify({ batch, dither: 2, label, reports: groups(reports) });
