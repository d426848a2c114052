/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */
/** A report that waits: hexadecimal text, and the fingerprint of its question. */
export interface Waiting {
    fingerprint: string;
    report: string;
}
/** Return a batch as canonical JSON. */
export declare function jsonBody(batch: string, label: string, reports: Waiting[]): string;
/** Return a batch as packed bytes. */
export declare function packedBody(batch: string, label: string, reports: Waiting[]): Uint8Array;
