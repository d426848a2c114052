/** Certified bounds of e^ε in whole numbers. */
/**
 * Return a rational lower bound of e^ε as [numerator, denominator], with a relative error below 2^−200.
 *
 * ε stands for the exact rational number of its double, and must be positive.
 */
export declare function expBelow(epsilon: number): [bigint, bigint];
