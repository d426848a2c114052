/** What all answers of one person to a campaign reveal, as people read it. The vectors are `totals` of consent.json. */
import { type Fields } from "./parts.js";
/** Return the ε of all answers of one person to a campaign, by docs/wire.md; undefined if only the account limits it. */
export declare function totalOf(terms: Fields): number | undefined;
/**
 * Return how sure anybody can be at most who guessed 50 % before, in per cent: never less than it is, and with more decimals where fewer would say 100.
 */
export declare function share(epsilon: number): string;
