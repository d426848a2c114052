/**
 * The account of one person: what was given so far, and what may still be asked.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed a function that draws, and calls it after the spend is part of the new state.
 */
/** One event ends with an outcome, and with a new state unless it changed nothing. */
export type Step = [outcome: Outcome, next?: State];
export type Outcome = {
    is: string;
} & Record<string, unknown>;
export interface Units {
    epsilon: string;
    delta: string;
}
export interface Own extends Units {
    lifetime: Units | null;
}
export interface Limits extends Own {
    epoch: "day" | "week" | "year" | "lifetime";
    quota: string | null;
    quotas: Record<string, string>;
    askers: number | null;
}
export interface Named {
    asker: string;
    question: string;
    fingerprint: string;
}
export interface Entry extends Named, Units {
    id: string;
    device: string;
    assumes: string[];
    first: number;
    last: number;
}
export interface Kept extends Named {
    id: string;
    permanent: "same" | "per value";
    report: string | null;
}
export interface Choice extends Named {
    period: number;
    day: number;
    device: string;
    answer: string | null;
}
export interface Queued extends Named {
    id: string;
    report: string;
    batch: string | null;
}
export interface Moment {
    wall: number;
    boot: string;
    elapsed: number;
}
export interface State {
    account: 2;
    person: string;
    device: string;
    limits: Limits;
    own: Own;
    born: number;
    clock: Moment & {
        ahead: number;
    };
    openings: number | null;
    askers: string[];
    entries: Entry[];
    answers: Kept[];
    choices: Choice[];
    queue: Queued[];
}
/** A question as the account sees it: no value. */
export interface Asked extends Named {
    mechanism: string;
    epsilon: number;
    delta: number;
    assumes: string[];
    repeat: "fresh" | "same" | "per value" | "once";
    days: number | null;
    start: number | null;
    data: [number, number] | null;
}
export interface Policy {
    epsilon: number;
    delta: number;
    assumptions: string[];
    mechanisms: string[] | null;
}
/** What is drawn once the spend is recorded: the report as hexadecimal text, and a number below a bound. */
export interface Drawing {
    report(): string;
    below(bound: number): number;
}
/** Return a copy of plain data. (Some phones have no structuredClone.) */
export declare const copy: <T>(data: T) => T;
/** Sort by fields, one after the other: texts by their UTF-16 code units. */
export declare function sorted<T>(list: T[], ...keys: (keyof T)[]): T[];
/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export declare function limit(x: number, places: 64 | 128): string;
/** Return the sum of a field of some entries. */
export declare const total: (entries: Units[], field: keyof Units) => bigint;
/** Return the number of the epoch that holds a second. */
export declare function epoch(kind: Limits["epoch"], second: number): number;
/** Answer a question: check, spend, then draw. With `dry`, nothing is drawn and no state is returned. */
export declare function answer(state: State, id: string, asked: Asked, at: Moment, policy: Policy, drawing: Drawing, dry?: boolean): Step;
/** The person did something themselves: the clock is believed, and new askers may come. */
export declare function act(state: State, at: Moment): Step;
/** Put waiting reports of an asker into a batch, or return the batch that was sent and not acknowledged. */
export declare function batch(state: State, id: string, asker: string, most: number): Step;
/** The collector has a report, or a batch: it leaves the queue. */
export declare function acknowledge(state: State, id: string): Step;
