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
  if (typeof crypto?.getRandomValues !== "function") {
    throw new NoRandomness("no cryptographic source: pass one as `source`");
  }
  let pool = new Uint8Array(POOL);
  let next = POOL;
  return {
    take(size) {
      if (size > POOL) {
        const large = new Uint8Array(size);
        for (let begin = 0; begin < size; begin += 65536) crypto.getRandomValues!(large.subarray(begin, begin + 65536));
        return large;
      }
      if (next + size > POOL) {
        crypto.getRandomValues!(pool);
        next = 0;
      }
      const taken = pool.slice(next, next + size);
      pool.fill(0, next, next + size); // what was used is not kept
      next += size;
      return taken;
    },
  };
}

/** Return the little-endian whole number of some bytes, as a number: at most 6 bytes. */
export function little(bytes: Uint8Array, begin: number, end: number): number {
  let whole = 0;
  for (let at = end; at-- > begin; ) whole = whole * 256 + bytes[at]!;
  return whole;
}

/** Return the little-endian whole number of some bytes. */
export function littleBig(bytes: Uint8Array, begin = 0, end = bytes.length): bigint {
  let whole = 0n;
  for (let at = end; at-- > begin; ) whole = (whole << 8n) | BigInt(bytes[at]!);
  return whole;
}

/** Return a uniform number below 2^size, size ≤ 48: ⌈size/8⌉ bytes, of which the highest bits are kept. */
export function bits(source: Source, size: number): number {
  const length = (size + 7) >> 3;
  return Math.floor(little(source.take(length), 0, length) / 2 ** (8 * length - size));
}

/** Return a uniform whole number below 2^size, of any size. */
export function bitsBig(source: Source, size: number): bigint {
  const length = (size + 7) >> 3;
  return littleBig(source.take(length)) >> BigInt(8 * length - size);
}

/** Return a uniform number below `bound` ≤ 2^32, by rejection. */
export function below(source: Source, bound: number): number {
  const size = 32 - Math.clz32(bound - 1);
  for (;;) {
    const drawn = bits(source, size);
    if (drawn < bound) return drawn;
  }
}
