/** Random bytes: their sources, and integers made of them. */
/** A source of random bytes. Bytes must be uniform and unpredictable: `Math.random` is not a source. */
export interface Source {
    /** Return `size` new bytes. */
    take(size: number): Uint8Array;
}
/** Return the system's cryptographic source. Throw `Malformed` without one: nothing is drawn then. */
export declare function systemSource(): Source;
/**
 * Return the little-endian integer of some bytes, as a number: at most 6 bytes.
 *
 * Engines keep numbers from 2^31 on in another form, with another time. With `sum` = 1, 256^length is added: four bytes always have that form.
 */
export declare function little(bytes: Uint8Array, begin?: number, end?: number, sum?: number): number;
/** Return the little-endian integer of eight bytes. */
export declare const word: (bytes: Uint8Array) => bigint;
/** Return the highest bits of some bytes, from `begin` on. */
export declare const highest: (bytes: Uint8Array, size: number, begin?: number) => number;
/** Return a uniform number below 2^size, size ≤ 48: the highest bits of ⌈size/8⌉ bytes. */
export declare const bits: (source: Source, size: number) => number;
/** Return a uniform number below `bound` ≤ 2^32, by rejection. */
export declare function below(source: Source, bound: number): number;
