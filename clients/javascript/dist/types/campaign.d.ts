/** The text of a campaign: its terms, by docs/wire.md, and what they say about a question. */
import { type Question, type Fields } from "./parts.js";
export declare const digits: (text: unknown, length: number) => text is string;
/** Return the number of a day that is written as 2026-05-01. */
export declare function dayOf(given: Fields, field?: string): number;
/**
 * Return the questions of a campaign's text by their names; undefined is one whose draw is not known here, and which is not answered. Throw `Malformed` if the
 * terms are not as docs/wire.md says, or promise something else than the questions.
 */
export declare function checkTerms(text: string): Promise<Map<string, Question | undefined>>;
/** Return what makes a value of a question of what a person gives: scales, dates, times and single places. It returns undefined for what is none, and never throws. */
export declare function valueOf(stated: Fields, question: Question): (given: unknown) => unknown;
