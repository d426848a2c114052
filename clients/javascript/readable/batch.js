/** The bytes of a batch: reports of several questions, without names, order or time. docs/wire.md has the format. */
import { parse } from "./parts.js";
/** Return the reports of each fingerprint, all sorted: the order in which they were drawn is nobody's business. */
export function groups(reports) {
    const found = {};
    const texts = reports.map(({ fingerprint, report }) => fingerprint + report).sort(); // fingerprints are equally long
    for (const text of texts)
        (found[text.slice(0, 32)] ??= []).push(text.slice(32));
    return found;
}
/** Return the bytes of hexadecimal text. */
export const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** Return a batch as canonical JSON: its keys are sorted here. */
export const jsonBody = (batch, label, reports) => JSON.stringify({ batch, dither: 2, label, reports: groups(reports) });
/**
 * Return the fate of a batch. It is acknowledged only by an answer that names it, or by a conflict: these reports are stored, sent before under another
 * label. It is dropped only if the collector has a word for it: what a proxy, a portal or another page says is not an answer of the collector. A wrong label is a
 * mistake of the page, which has no report wrong: the batch is kept.
 */
export function judge(batch, status, text) {
    let said = {};
    try {
        said = Object(parse(text));
    }
    catch {
        // not an answer of a collector
    }
    const [reason, words] = [said["refused"], said["words"]].map((one) => (typeof one === "string" ? one : ""));
    const taken = status === 409 ? reason === "conflict" : status >= 200 && status < 300 && said["batch"] === batch;
    const never = reason && reason !== "sealed" && reason !== "label" && [400, 410, 413, 415, 422].includes(status);
    return { fate: taken ? "acknowledged" : never ? "dropped" : "kept", reason, words };
}
