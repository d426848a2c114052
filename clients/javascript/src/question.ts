/** A question as it travels: read, verified in whole numbers, and ready to be answered. */

import { type Reader } from "./draw.js";
import { expBelow } from "./exact.js";
import { hadamard, hashed, subset, unary } from "./sets.js";
import { type Source } from "./source.js";
import { canonical, fields, fingerprint, list, Malformed, need, object, real, whole, type Fields, type Json } from "./text.js";
import { mixture, response, sliding } from "./windows.js";

/** The draws that the core knows, by kind. Other entry points hold further ones, which are added here. */
export const draws: { [kind: string]: Reader } = {
  // @ts-expect-error: without a prototype, "constructor" is not a kind
  __proto__: null,
  sliding,
  mixture,
  response,
  bits: unary,
  subset,
  hadamard,
  hashed,
};

const CODES = ["response", "bits", "subset", "hadamard", "hashed", "projective"];

/** Return the input of a value, or undefined if nobody may answer with it. It never throws. */
type Inside = (value: unknown) => number | undefined;

/** A domain: its reading of values, its two ends (or 0 and the number of categories), and whether it has categories. */
function readDomain(domain: Fields, outside: Json | undefined): [Inside, [number, number], boolean] {
  const kind = domain["kind"];
  const line = (low: Json | undefined, high: Json | undefined): [number, number] => {
    need(Math.abs(real(low)) <= 1e30 && Math.abs(real(high)) <= 1e30 && (high as number) - (low as number) >= 1e-30, "domain");
    return [low as number, high as number];
  };
  if (kind === "interval" && outside === "clip") {
    fields(domain, "high kind low");
    const ends = line(domain["low"], domain["high"]);
    const inside: Inside = (value) =>
      typeof value === "number" && value === value ? Math.min(Math.max(value, ends[0]), ends[1]) : undefined;
    return [inside, ends, false];
  }
  if (kind === "circle" && outside === "wrap") {
    fields(domain, "kind period");
    const ends = line(0, domain["period"]);
    const inside: Inside = (value) => {
      if (!Number.isFinite(value)) return undefined;
      const turned = (value as number) % ends[1];
      return turned < 0 ? turned + ends[1] : turned;
    };
    return [inside, ends, false];
  }
  need(kind === "categories" && outside === "refuse", "domain");
  if (Object.hasOwn(domain, "count")) {
    fields(domain, "count kind");
    const count = whole(domain["count"], 2, 2 ** 32);
    const inside: Inside = (value) =>
      Number.isInteger(value) && (value as number) >= 0 && (value as number) < count ? (value as number) : undefined;
    return [inside, [0, count], true];
  }
  fields(domain, "kind labels");
  const labels = list(domain["labels"]);
  const codes = new Map<unknown, number>(labels.map((label, code) => [label && typeof label === "object" ? real(object(label)["number"]) : label, code]));
  need(codes.size > 1 && codes.size === labels.length, "domain");
  return [(value) => codes.get(value), [0, codes.size], true];
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

/** Return the object that a text holds. */
function parse(text: unknown): Fields {
  need(typeof text === "string" && text.length <= 1 << 22, "text");
  return object(JSON.parse(text) as Json);
}

/** Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise. */
export function readQuestion(text: string): Question {
  try {
    return read(text);
  } catch (error) {
    // A parser's own message may hold the text, and readers of other entry points have an error of their own.
    const { message } = error as Error;
    throw new Malformed(/^\w+$/.test(message) ? message : "text");
  }
}

function read(text: string): Question {
  const { dither, device, mechanism, parameters, fingerprint: mark } = parse(text);
  need(dither === 2, "version");
  const { domain, outside, ...rest } = parse(device);
  need(canonical({ domain, outside, ...rest } as Fields) === device && typeof mechanism === "string", "text");
  need(mark === fingerprint(device as string), "fingerprint");
  const epsilon = real(object(parameters)["epsilon"]);
  need(epsilon >= 1e-6 && epsilon <= 50, "epsilon");
  const [inside, ends, isCode] = readDomain(object(domain), outside);
  const kind = rest["draw"] as string;
  const reader = draws[kind];
  need(reader && isCode === CODES.includes(kind), "draw");
  const { ratio, draw } = reader(rest, ends);
  const [numerator, denominator] = expBelow(epsilon);
  // This comparison in whole numbers is the proof of privacy.
  need(ratio[1] > 0n && ratio[0] * denominator <= numerator * ratio[1], "privacy");
  return {
    mechanism,
    epsilon,
    fingerprint: mark as string,
    device: device as string,
    admits: (value) => inside(value) !== undefined,
    report(value, source) {
      const input = inside(value);
      return input === undefined ? undefined : draw(input, source);
    },
  };
}
