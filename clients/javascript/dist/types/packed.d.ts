/** A batch as packed bytes, a third of the JSON: `device.send(question, address, { pack: packedBody })`. */
import { type Waiting } from "./batch.js";
/** Return a batch as packed bytes. */
export declare function packedBody(batch: string, label: string, reports: Waiting[]): Uint8Array<ArrayBuffer>;
