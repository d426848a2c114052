/** Texts that travel: canonical JSON, SHA-256, hexadecimal numbers, and reading without coercion. */
/** What was given is not allowed. The message is one word, which docs/devices.md explains; it never holds a value. */
export declare class Malformed extends Error {
}
/** Throw `Malformed` for a reason unless something is as it must be. */
export declare function need(fine: unknown, reason: string): asserts fine;
export type Json = null | boolean | number | string | Json[] | {
    [key: string]: Json;
};
export type Fields = {
    [key: string]: Json;
};
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export declare function canonical(value: Json): string;
/** Return an object as it is. */
export declare function object(value: Json | undefined): Fields;
/** Return an object whose fields are exactly the named ones; others are refused. */
export declare function fields(value: Json | undefined, names: string): Fields;
/** Return a list as it is. */
export declare function list(value: Json | undefined): Json[];
/** Return a finite number; texts are not read as one. */
export declare function real(value: Json | undefined): number;
/** Return a whole number within bounds; texts and fractions are not read as one. */
export declare function whole(value: Json | undefined, least: number, most: number): number;
/** Return a whole number that is written as lower-case hexadecimal text without leading zeros. */
export declare function hexadecimal(value: Json | undefined, digits: number): bigint;
/** Return a text as UTF-8. */
export declare const utf8: (text: string) => Uint8Array;
/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export declare function sha256(bytes: Uint8Array): Uint8Array;
/** Return bytes as hexadecimal text. */
export declare const hex: (bytes: Uint8Array) => string;
/** Return the fingerprint of a device text: 32 hexadecimal digits of its SHA-256. */
export declare const fingerprint: (device: string) => string;
