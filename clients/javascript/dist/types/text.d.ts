/** The texts of the protocol: canonical JSON, SHA-256, hexadecimal numbers, and strict readers. */
/**
 * An input is not allowed. `reason` is one word from docs/devices.md; `field` is the name of the field that is wrong, or a sentence;
 * `question` is the name of the question, if it was about one. None of them holds a person's value.
 */
export declare class Malformed extends Error {
    readonly reason: string;
    readonly field: string;
    readonly question: string;
    constructor(reason: string, field?: string, question?: string);
}
/** Throw `Malformed` for a reason unless something is as it must be. */
export declare function need(fine: unknown, reason: string, field?: string): asserts fine;
export type Json = null | boolean | number | string | Json[] | {
    [key: string]: Json;
};
/** An object as it was parsed. Whatever is read of it is checked where it is used; a wrong type is refused there. */
export type Fields = {
    [key: string]: any;
};
/** Return the data of a JSON text; refuse repeated keys in one object, because languages keep different ones. */
export declare function parse(text: string): Fields;
/**
 * Return the object that a text in canonical JSON holds, and a function that refuses it if it has a field or an entry, at any depth,
 * that nobody has read. Numbers and texts are canonical if they are written again as they were; keys are if they are sorted.
 */
export declare function watched(text: string): [given: Fields, finish: () => void];
/** Return a field that is a finite number; texts are not read as one. */
export declare function real(given: Fields, field: string, value?: unknown): number;
/** Return a field, or a value of it, that is an integer within bounds; texts and fractions are refused. */
export declare function integer(given: Fields, field: string, least: number, most: number, value?: unknown): number;
/** Return a field that is an integer, written as lower-case hexadecimal text without leading zeros. */
export declare function hexadecimal(given: Fields, field: string, digits: number, value?: any, read?: bigint): bigint;
/** Return a text as UTF-8. */
export declare const utf8: (text: string) => Uint8Array;
/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export declare function sha256(bytes: Uint8Array): Uint8Array;
/** Return bytes as hexadecimal text. */
export declare const hex: (bytes: Uint8Array) => string;
/** Return the first digits of the SHA-256 of some bytes, as hexadecimal text. */
export declare const digest: (bytes: Uint8Array, digits?: number) => string;
