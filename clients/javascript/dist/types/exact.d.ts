/** Certified bounds of e^ε in integers. */
export declare const BITS = 320n;
/**
 * Return a lower bound of e^ε·2^320, with a relative error below 2^−200.
 *
 * ε means the exact rational number of its double, and must be positive.
 */
export declare function expBelow(epsilon: number): bigint;
