/** Certified bounds of e^ε in integers. */

export const BITS = 320n;
const HALVINGS = 8;

/**
 * Return a lower bound of e^ε·2^320, with a relative error below 2^−200.
 *
 * ε means the exact rational number of its double, and must be positive.
 */
export function expBelow(epsilon: number): bigint {
  let denominator = 256n;
  for (; epsilon % 1; denominator *= 2n) epsilon *= 2;
  const numerator = BigInt(epsilon);
  let term = 1n << BITS;
  let total = term;
  for (let count = 1n; term > 0n; count++) {
    term = (term * numerator) / (denominator * count); // partial sums of positive terms, each rounded down
    total += term;
  }
  for (let i = 0; i < HALVINGS; i++) total = (total * total) >> BITS;
  return total;
}
