/** A question as it travels: read, verified in whole numbers, and ready to be answered. */
import { type Draw } from "./draw.js";
import { type Source } from "./source.js";
import { type Fields } from "./text.js";
/** The reader of a kind of draw. `extra` are the fields that every device text has; `count` is that of categories. */
export type Reader = (device: Fields, extra: string[], count: number) => Draw;
/** The draws that the core knows. Other entry points add theirs. */
export declare const draws: {
    [kind: string]: Reader;
};
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
/** Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise. */
export declare function readQuestion(text: string): Question;
