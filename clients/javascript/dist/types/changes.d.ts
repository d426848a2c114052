/** Answers about kept changes, by docs/account.md: `Device.open({ rules: allRules({ changes }), … })` keeps them. A value is the list of the values of all days of the period so far. */
import { type Changes, type Owed } from "./account.js";
import { type Question, type Source } from "./parts.js";
/** Draw the reports of the intervals that are over: rows of group, interval and cell. Return them with the number of changes that were in all so far. */
export declare function drawChange(question: Question, codes: number[], { group, changes, all, before, intervals }: Owed, reported: number, flips: Source, source: Source): [report: Uint8Array, reported: number];
/** What `allRules` takes: `allRules({ changes })`. */
export declare const changes: Changes;
