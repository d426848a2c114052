/** A question as it travels: read, verified in integers, and ready to be answered. */
import { type Draw, type Reader } from "./draw.js";
import { type Source } from "./source.js";
/** The draws that the core knows, by kind. Other entry points add further ones here. */
export declare const draws: {
    [kind: string]: Reader;
};
/** A verified question: its draw, and its own description. */
export interface Question extends Omit<Draw, "delta"> {
    /** The mechanism that the specification names, and the kind of draw that it has. */
    readonly mechanism: string;
    readonly kind: string;
    readonly epsilon: number;
    readonly delta: number;
    readonly fingerprint: string;
    readonly device: string;
    /** Return the report of a value as bytes, or undefined if the value is not in the domain. */
    report(value: unknown, source: Source): Uint8Array | undefined;
}
/**
 * Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise.
 *
 * An error has the `name` of the question, if it is given, and names the entry point to add if there is one for its mechanism.
 */
export declare function readQuestion(text: string, name?: string): Question;
