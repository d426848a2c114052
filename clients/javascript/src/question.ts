/** A question as it travels: read, verified in whole numbers, and ready to be answered. */

import { type Draw } from "./draw.js";
import { expBelow } from "./exact.js";
import { hadamard, hashed, projective, subset, unary } from "./sets.js";
import { type Source } from "./source.js";
import { canonical, fingerprint, Malformed, real, whole, type Fields, type Json } from "./text.js";
import { mixture, response, sectors, sliding } from "./windows.js";

/** The reader of a kind of draw. `extra` are the fields that every device text has; `count` is that of categories. */
export type Reader = (device: Fields, extra: string[], count: number) => Draw;

/** The draws that the core knows. Other entry points add theirs. */
export const draws: { [kind: string]: Reader } = Object.assign(Object.create(null) as object, {
  sliding,
  mixture,
  sectors,
  response,
  bits: unary,
  subset,
  hadamard,
  hashed,
  projective,
});

/** Return the input of a value, or undefined if nobody may answer with it. It never throws. */
type Inside = (value: unknown) => number | undefined;

const EXTRA = ["domain", "outside"];

/** A domain: its reading of values, and its number of categories (0 where there are none). */
function readDomain(device: Fields): [Inside, number] {
  const domain = device["domain"] as Fields | undefined;
  const outside = device["outside"];
  const kind = domain?.["kind"];
  if (kind === "interval" && outside === "clip") {
    const low = real(domain!["low"]);
    const high = real(domain!["high"]);
    if (!(low < high)) throw new Malformed("an interval has two ends");
    return [(value) => (typeof value === "number" && value === value ? Math.min(Math.max(value, low), high) : undefined), 0];
  }
  if (kind === "circle" && outside === "wrap") {
    const period = real(domain!["period"]);
    if (!(period > 0)) throw new Malformed("a period is positive");
    return [
      (value) => {
        if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
        const turned = value % period;
        return turned < 0 ? turned + period : turned;
      },
      0,
    ];
  }
  if (kind === "categories" && outside === "refuse") {
    const labels = domain!["labels"];
    if (labels === undefined) {
      const count = whole(domain!["count"], 2, 2 ** 32);
      return [(value) => (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count ? value : undefined), count];
    }
    if (!Array.isArray(labels) || labels.length < 2) throw new Malformed("a list of labels is missing");
    const codes = new Map(labels.map((label, code) => [typeof label === "object" ? canonical(label) : label, code] as const));
    if (codes.size !== labels.length) throw new Malformed("labels are different");
    return [(value) => codes.get(value as string), labels.length];
  }
  throw new Malformed("the domain is not known to this client");
}

/** What a question is, once it was verified. */
export interface Question {
  readonly mechanism: string;
  readonly epsilon: number;
  readonly fingerprint: string;
  readonly device: string;
  /** Return whether a value has a report. */
  admits(value: unknown): boolean;
  /** Return the report of a value as bytes, or undefined if the value is not in the domain. */
  report(value: unknown, source: Source): Uint8Array | undefined;
}

const MOST = 1 << 22; // characters of a specification

/** Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise. */
export function readQuestion(text: string): Question {
  if (typeof text !== "string" || text.length > MOST) throw new Malformed("a specification is a text of at most 4 MB");
  let given: Json;
  try {
    given = JSON.parse(text) as Json;
  } catch {
    throw new Malformed("a specification is JSON");
  }
  const top = given as Fields | null;
  if (typeof top !== "object" || top === null || top["dither"] !== 2) throw new Malformed("this is not a specification of version 2");
  const { device, mechanism } = top;
  const parameters = top["parameters"];
  if (typeof device !== "string" || typeof mechanism !== "string") throw new Malformed("the device text is missing");
  if (top["fingerprint"] !== fingerprint(device)) throw new Malformed("the fingerprint is not that of the device text");
  const data = parse(device);
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters)) throw new Malformed("parameters are missing");
  const epsilon = real(parameters["epsilon"]);
  if (!(epsilon >= 1e-6 && epsilon <= 50)) throw new Malformed("ε is a number from 1e-6 to 50");
  const [inside, count] = readDomain(data);
  const kind = data["draw"];
  const reader = typeof kind === "string" ? draws[kind] : undefined;
  if (reader === undefined) throw new Malformed("this client does not know the draw");
  const isCode = count > 0;
  if (isCode === (kind === "sliding" || kind === "mixture" || kind === "sectors")) throw new Malformed("the draw is for another domain");
  const draw = reader(data, EXTRA, count);
  const [numerator, denominator] = expBelow(epsilon);
  // This comparison in whole numbers is the proof of privacy.
  if (draw.ratio[1] < 1n || draw.ratio[0] * denominator > numerator * draw.ratio[1]) {
    throw new Malformed("the integers of the device text spend more than ε");
  }
  return {
    mechanism,
    epsilon,
    fingerprint: top["fingerprint"] as string,
    device,
    admits: (value) => inside(value) !== undefined,
    report(value, source) {
      const input = inside(value);
      return input === undefined ? undefined : draw.draw(input, source);
    },
  };
}

function parse(device: string): Fields {
  let data: Json;
  try {
    data = JSON.parse(device) as Json;
  } catch {
    throw new Malformed("the device text is JSON");
  }
  if (typeof data !== "object" || data === null || Array.isArray(data) || canonical(data) !== device) {
    throw new Malformed("the device text is not canonical");
  }
  return data;
}
