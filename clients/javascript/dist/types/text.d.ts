/** Texts that travel: canonical JSON, SHA-256, hexadecimal numbers, and reading without coercion. */
/** What was given is not what the specification of dither allows; the message says what, never a value. */
export declare class Malformed extends Error {
}
export type Json = null | boolean | number | string | Json[] | {
    [key: string]: Json;
};
export type Fields = {
    [key: string]: Json;
};
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export declare function canonical(value: Json): string;
/** Return an object whose fields are exactly the named ones; others are refused. */
export declare function fields(value: Json | undefined, ...names: string[]): Fields;
/** Return a whole number within bounds; texts and fractions are not read as one. */
export declare function whole(value: Json | undefined, least: number, most: number): number;
/** Return a finite number. */
export declare function real(value: Json | undefined): number;
/** Return a whole number that is written as lower-case hexadecimal text without leading zeros. */
export declare function hexadecimal(value: Json | undefined, digits: number): bigint;
/** Return the SHA-256 of some bytes. Browsers offer it only asynchronously, and not on every page. */
export declare function sha256(bytes: Uint8Array): Uint8Array;
/** Return bytes as hexadecimal text. */
export declare function hex(bytes: Uint8Array): string;
/** Return the fingerprint of a device text: 32 hexadecimal digits of its SHA-256. */
export declare function fingerprint(device: string): string;
