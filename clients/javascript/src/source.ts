/** Random bytes: where they come from, and how whole numbers are made of them. */

/** A source of random bytes. Bytes must be uniform and unpredictable: `Math.random` is not a source. */
export interface Source {
  /** Return `size` new bytes. */
  take(size: number): Uint8Array;
}

/** No secure source of randomness was found; nothing is drawn without one. */
export class NoRandomness extends Error {}

const POOL = 1024;

/** Return the system's cryptographic source. Throw `NoRandomness` where there is none. */
export function systemSource(): Source {
  const crypto = (globalThis as { crypto?: { getRandomValues?(bytes: Uint8Array): unknown } }).crypto;
  if (!crypto?.getRandomValues) throw new NoRandomness("source");
  const pool = new Uint8Array(POOL);
  let next = POOL;
  return {
    take(size) {
      if (size > POOL) return concatenate([this.take(size >> 1), this.take(size - (size >> 1))]);
      if (next + size > POOL) {
        crypto.getRandomValues!(pool);
        next = 0;
      }
      const taken = pool.slice(next, next + size);
      pool.fill(0, next, (next += size)); // what was used is not kept
      return taken;
    },
  };
}

/** Return bytes one after the other. */
export function concatenate(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Return the little-endian whole number of some bytes, as a number: at most 6 bytes. */
export function little(bytes: Uint8Array, begin: number, end: number): number {
  let whole = 0;
  while (end-- > begin) whole = whole * 256 + bytes[end]!;
  return whole;
}

/** Return the little-endian whole number of eight bytes. */
export const word = (bytes: Uint8Array): bigint => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);

/** Return a uniform number below 2^size, size ≤ 48: ⌈size/8⌉ bytes, of which the highest bits are kept. */
export function bits(source: Source, size: number): number {
  const length = (size + 7) >> 3;
  return Math.floor(little(source.take(length), 0, length) / 2 ** (8 * length - size));
}

/** Return a uniform number below `bound` ≤ 2^32, by rejection. */
export function below(source: Source, bound: number): number {
  for (;;) {
    const drawn = bits(source, 32 - Math.clz32(bound - 1));
    if (drawn < bound) return drawn;
  }
}
