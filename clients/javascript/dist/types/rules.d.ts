/** All rules of docs/account.md: epochs, a lifetime, quotas, new askers, drawn days, a clock that may be turned, an answer for each value. */
import { type Source } from "./parts.js";
import { type Asked, type Changes, type Entry, type Limits, type Moment, type Rules, type State } from "./account.js";
export interface Terms {
    /** When the budget of the device begins anew, in UTC. */
    epoch?: Limits["epoch"];
    /** The ε of all epochs together. */
    lifetime?: number;
    /** The ε that one asker may take of an epoch. */
    quota?: number;
    /** How many new askers an act of the person admits. */
    askers?: number;
    now?: () => Moment;
    /** Kept changes, `changes` of `dither-ldp/changes`; without it they are not asked. */
    changes?: Changes;
}
/** Seconds of a day. */
export declare const DAY = 86400;
/** How far ahead a clock may be, in seconds, by the epoch of the budget. */
export declare const AHEAD: {
    day: number;
    week: number;
    year: number;
    lifetime: number;
};
/** The present: the system's time, and a steady clock that counts since this page was loaded. */
export declare function systemNow(): Moment;
/** Return the number of the epoch that holds a second. */
export declare function epochOf(kind: Limits["epoch"], second: number): number;
/** Return the clock of a state at a moment: it never goes back. */
export declare function clockAfter(clock: State["clock"], { wall, boot, elapsed }: Moment): State["clock"];
/** Return why a spend does not fit, or undefined if it does. */
export declare function short({ entries, device, own, limits }: State, entry: Entry): string | undefined;
/** A source that repeats for one input: SHA-256 of the key, the purpose, the question and the input, in counter mode. */
export declare function keyed(key: string, { asker, question, fingerprint }: Asked, input: unknown, purpose: number): Source;
/** Return the first day of the present period of a question (its name), and its length. */
export declare function periodOf({ start, days, every }: Pick<Asked, "start" | "days" | "every">, today: number): [period: number, days: number];
/** Return all rules of an account: `Device.open({ epsilon: 2, rules: allRules({ epoch: "week" }), store })`. */
export declare function allRules({ epoch, lifetime, quota, askers, now, changes }?: Terms): Rules;
