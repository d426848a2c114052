/** A batch as packed bytes, a third of the JSON: `device.send(question, address, { pack: packedBody })`. */
import { groups, unhex } from "./batch.js";
import { asBytes, digest, hex, utf8 } from "./parts.js";
/** Return a batch as packed bytes. */
export function packedBody(batch, label, reports) {
    const name = utf8(label);
    const found = Object.entries(groups(reports));
    const parts = [utf8("dither\0\x02"), unhex(batch), asBytes(name.length, 1), name, asBytes(found.length, 2)];
    for (const [fingerprint, list] of found) {
        parts.push(unhex(fingerprint), asBytes(list[0].length / 2, 4), asBytes(list.length, 4), unhex(list.join("")));
    }
    const body = parts.map(hex).join("");
    return unhex(body + digest(unhex(body)));
}
