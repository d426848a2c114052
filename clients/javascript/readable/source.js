/** Random bytes: their sources, and integers made of them. */
import { need } from "./text.js";
/** Return the system's cryptographic source. Throw `Malformed` without one: nothing is drawn then. */
export function systemSource() {
    const { crypto } = globalThis;
    need(crypto?.getRandomValues, "source");
    let pool = new Uint8Array();
    let next = 0;
    return {
        take(size) {
            if (next + size > pool.length) {
                pool = crypto.getRandomValues(new Uint8Array(size + 1024));
                next = 0;
            }
            const taken = pool.slice(next, next + size);
            pool.fill(0, next, (next += size)); // used bytes are not kept
            return taken;
        },
    };
}
/**
 * Return the little-endian integer of some bytes, as a number: at most 6 bytes.
 *
 * Engines keep numbers from 2^31 on in another form, with another time. With `sum` = 1, 256^length is added: four bytes always have that form.
 */
export function little(bytes, begin = 0, end = bytes.length, sum = 0) {
    while (end-- > begin)
        sum = sum * 256 + bytes[end];
    return sum;
}
/** Return the little-endian integer of eight bytes. */
export const word = (bytes) => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
/** Return the highest bits of some bytes, from `begin` on. */
export const highest = (bytes, size, begin = 0) => Math.floor(little(bytes, begin) * 2 ** (size - 8 * (bytes.length - begin)));
/** Return a uniform number below 2^size, size ≤ 48: the highest bits of ⌈size/8⌉ bytes. */
export const bits = (source, size) => highest(source.take((size + 7) >> 3), size);
/** Return a uniform number below `bound` ≤ 2^32, by rejection. */
export function below(source, bound) {
    let drawn;
    do
        drawn = bits(source, 32 - Math.clz32(bound - 1));
    while (drawn >= bound);
    return drawn;
}
