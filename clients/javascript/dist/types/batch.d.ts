/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */
import { type Json } from "./parts.js";
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export declare const canonical: (value: Json) => string;
/** A report that waits: hexadecimal text, and the fingerprint of its question. */
export interface Waiting {
    fingerprint: string;
    report: string;
}
/** Return a batch as canonical JSON. */
export declare function jsonBody(batch: string, label: string, reports: Waiting[]): string;
/** Return a batch as packed bytes. */
export declare function packedBody(batch: string, label: string, reports: Waiting[]): Uint8Array<ArrayBuffer>;
