/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */
/** A report that waits: hexadecimal text, and the fingerprint of its question. */
export interface Waiting {
    fingerprint: string;
    report: string;
}
/** Return the reports of each fingerprint, all sorted: the order in which they were drawn is nobody's business. */
export declare function groups(reports: Waiting[]): {
    [fingerprint: string]: string[];
};
/** Return the bytes of hexadecimal text. */
export declare const unhex: (text: string) => Uint8Array<ArrayBuffer>;
/** Return a batch as canonical JSON: its keys are sorted here. */
export declare const jsonBody: (batch: string, label: string, reports: Waiting[]) => string;
/** What becomes of a batch after an answer to it, and the collector's word and sentence if it was refused. */
export interface Verdict {
    fate: "acknowledged" | "dropped" | "kept";
    reason: string;
    words: string;
}
/**
 * Return the fate of a batch. It is acknowledged only by an answer that names it, or by a conflict: these reports are stored, sent before under another
 * label. It is dropped only if the collector has a word for it: what a proxy, a portal or another page says is not an answer of the collector. A wrong label is a
 * mistake of the page, which has no report wrong: the batch is kept.
 */
export declare function judge(batch: string, status: number, text: string): Verdict;
