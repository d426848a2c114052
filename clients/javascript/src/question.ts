/** A question as it travels: read, verified in whole numbers, and ready to be answered. */

import { type Inside, type Reader } from "./draw.js";
import { BITS, expBelow } from "./exact.js";
import { hadamard, hashed, subset, unary } from "./sets.js";
import { type Source } from "./source.js";
import { digest, Malformed, need, real, utf8, watched, type Fields } from "./text.js";
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

/** What a question is, once it was verified. */
export interface Question {
  readonly mechanism: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly fingerprint: string;
  readonly device: string;
  /** For paths: return the ε of so many locations. */
  readonly spend: ((epsilon: number, times: number) => number) | undefined;
  /** Return the input of a value, or undefined if the value has no report. */
  readonly inside: Inside<unknown>;
  /** Return the report of an input as bytes. */
  draw(input: unknown, source: Source): Uint8Array;
  /** Return the report of a value as bytes, or undefined if the value is not in the domain. */
  report(value: unknown, source: Source): Uint8Array | undefined;
}

/** Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise. */
export function readQuestion(text: string): Question {
  try {
    need(typeof text === "string" && text.length <= 1 << 22, "text");
    const { dither, device, mechanism, parameters, fingerprint: mark } = JSON.parse(text) as Fields;
    need(dither === 2, "version");
    need(typeof mechanism === "string", "text");
    need(mark === digest(utf8(device as string)), "fingerprint");
    const epsilon = real(parameters.epsilon);
    need(epsilon >= 1e-6 && epsilon <= 50, "epsilon");
    const [given, finish] = watched(device);
    const reader = draws[given["draw"]];
    need(reader, "draw");
    const { ratio, inside, draw, delta, spend } = reader(given);
    finish();
    const bound = expBelow(epsilon);
    // This comparison in whole numbers is the proof of privacy.
    need(delta || (ratio[1] > 0n && ratio[0] << BITS <= bound * ratio[1]), "privacy");
    return {
      mechanism,
      epsilon,
      delta: delta ? delta(bound, parameters.delta) : 0,
      fingerprint: mark,
      device,
      spend,
      inside,
      draw,
      report(value, source) {
        const input = inside(value);
        return input === undefined ? input : draw(input, source);
      },
    };
  } catch (error) {
    // An engine's own message may hold the text.
    throw error instanceof Malformed ? error : new Malformed("text");
  }
}
