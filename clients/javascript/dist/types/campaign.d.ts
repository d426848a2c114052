/** The text of a campaign: its terms, by docs/wire.md, also of each question. */
import { type Question, type Fields } from "./parts.js";
export declare const digits: (text: unknown, length: number) => text is string;
/** Return the number of a day that is written as 2026-05-01. */
export declare function dayOf(given: Fields, field?: string): number;
/**
 * Return the questions of a campaign's text by their names; undefined is a question with an unknown draw; it is not answered. Throw `Malformed` if the
 * terms are not as docs/wire.md says, or promise something else than the questions.
 */
export declare function checkTerms(text: string): Promise<Map<string, Question | undefined>>;
/** Return the function from a person's input to a value of a question: scales, dates, times and single places. It returns undefined for other inputs, and never throws. */
export declare function valueOf(stated: Fields, question: Question): (given: unknown) => unknown;
