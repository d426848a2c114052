/** A question as it travels: read, verified in whole numbers, and ready to be answered. */
import { type Inside, type Reader } from "./draw.js";
import { type Source } from "./source.js";
/** The draws that the core knows, by kind. Other entry points hold further ones, which are added here. */
export declare const draws: {
    [kind: string]: Reader;
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
export declare function readQuestion(text: string): Question;
