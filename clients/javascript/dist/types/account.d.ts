/**
 * The account of one person: spent and remaining budgets.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed functions that draw, and its new state has the spend and the report together.
 */
import { type Question, type Source } from "./parts.js";
/** One event ends with an outcome, and with a new state unless it changed nothing. */
export type Step = [outcome: Outcome, next?: State | undefined];
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
    data?: [number, number];
    times?: number;
    /** The campaign that limits the number of answers. */
    campaign?: string;
}
export interface Kept extends Named {
    id: string;
    permanent: "same" | "per value" | "present";
    report: string | null;
}
export interface Choice extends Named {
    /** A choice of version 2 has none, and means both. */
    repeat?: "once" | "kept change";
    period: number;
    day: number;
    device: string;
    answer: string | null;
}
/** Whether a person answers the first phase of a campaign. */
export interface Coin {
    asker: string;
    name: string;
    campaign: string;
    heads: boolean;
}
/** What is kept of a campaign that counts who is present. */
export interface Presence {
    asker: string;
    name: string;
    /** Whether this device carries the permanent label; otherwise it carries public ones. */
    permanent: boolean;
    /** The first day of the last period with a message. */
    period: number | null;
    /** The identity of the message that waits. */
    batch: string | null;
}
/** What was reported of a kept change: how many intervals, and under a pad how many changes were in them. */
export interface Tree extends Named {
    period: number;
    intervals: number;
    mark: number;
}
/** The intervals of a kept change that are over and not reported. */
export interface Owed {
    period: number;
    group: number;
    changes: number;
    /** The number of intervals of the group. */
    all: number;
    /** The number of days of the period so far. */
    days: number;
    /** The number of intervals that were reported before, and the number under a pad. */
    before: number;
    mark: number | null;
    intervals: number;
}
export interface Queued extends Named {
    id: string;
    report: string;
    batch: string | null;
}
/** A batch that a collector has, and that can be taken back until a day, in days since 1970. */
export interface SentBatch {
    id: string;
    asker: string;
    campaign: string;
    until: number;
    questions: string[];
}
export interface Moment {
    wall: number;
    boot: string;
    elapsed: number;
}
export interface State {
    account: 2 | 3;
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
    coins?: Coin[];
    /** Marks of the values of which a report was queued. */
    told?: string[];
    trees?: Tree[];
    present?: Presence[];
    queue: Queued[];
    /** Batches that can be taken back. */
    sent?: SentBatch[];
}
/** A question as the account sees it: no value. */
export interface Asked extends Named {
    mechanism: string;
    epsilon: number;
    delta: number;
    assumes: string[];
    repeat: "fresh" | "same" | "per value" | "once" | "kept change" | "present";
    days: number | null;
    start: number | null;
    data: [number, number] | null;
    /** The number of locations of a path. */
    times?: number;
    /** Calendar periods, in place of `days` and `start`. */
    every?: "day" | "week" | "month";
    /** The most often that a value changes in a period. */
    changes?: number;
    /** The most answers over a campaign. */
    limit?: {
        campaign: string;
        answers: number;
    };
    phase?: {
        campaign: string;
        name: string;
        share?: number;
        follows?: string;
    };
}
export interface Policy {
    epsilon: number;
    delta: number;
    assumptions: string[];
    mechanisms: string[] | null;
}
/** What is drawn if the answer is allowed: the report as hexadecimal text, the mark of the value; and the source of random days. */
export interface Drawing {
    report(): string;
    mark(): string;
    /** Draw the intervals that are over of a kept change: the report, and the number to keep; undefined if the value has not all days. */
    change?(owed: Owed): [report: string, mark: number] | undefined;
    source: Source;
}
/** The rules of a state. `plain` is for one budget for all time; rules.ts has all. */
export interface Rules {
    /** Return the state that an account begins with, or that it goes on with; throw `Malformed` if it needs other rules. */
    open(state: State, isNew: boolean): State;
    /** Return the assumptions of a question, by its repetition. */
    assumes?(facts: Asked): string[];
    /** Return whether a question is allowed in this form. */
    knows(facts: Asked): boolean;
    /** What kept changes need, of rules that keep them. */
    changes?: Changes | undefined;
    /**
     * Return how an answer ends without a report, and the state that is kept nevertheless; or no outcome, the state to
     * which the report is added, and whether it is queued: a permanent answer is not, unless it is said. `charged` is the entry of
     * the permanent answer, if there is one. Without a drawing (a dry run) no day is drawn.
     */
    decide(state: State, facts: Asked, entry: Entry, charged: Entry | undefined, drawing: Drawing | undefined): [ended?: Outcome | undefined, next?: State | undefined, queued?: boolean | undefined];
    /** Return the source of an answer that is the same for the same input, by the device's secret key; another one for each purpose. */
    source?(key: string, facts: Asked, input: unknown, purpose: number): Source | undefined;
    /** Return the ε that is left for all askers. */
    left(state: State): number;
    /** The person did something themselves. */
    act?(state: State): Step;
}
/** Kept changes, of `dither-ldp/changes`: when they are reported, and how they are drawn. */
export interface Changes {
    knows(facts: Asked): boolean;
    /** Return the question about a kept change that belongs to a question: a value is a list, and the fingerprint is another one. Undefined if it has not two answers. */
    of(question: Question, days: number, changes: number): Question | undefined;
    /** Return how an answer ends, and the new state. `kept` is the state that stays whatever follows; `short` returns why a charge is refused. */
    decide(state: State, kept: State | undefined, facts: Asked, entry: Entry, short: (state: State) => string | undefined, drawing?: Drawing): Step;
    draw(question: Question, codes: number[], facts: Asked, owed: Owed, key: string, source: Source): [report: string, mark: number] | undefined;
}
/** The policy of a device that is given none. */
export declare const DEFAULT: Policy;
export declare const number: (text: string) => bigint;
export declare const refuse: (reason: string) => Step;
export declare const named: ({ asker, question, fingerprint }: Named) => Named;
export declare const same: (a: Named, b: Named) => boolean;
/** Return whether a policy accepts a question that assumes some lines. */
export declare const accepts: (policy: Policy, { epsilon, delta, mechanism }: Asked, assumes: string[]) => boolean;
export declare const charge: (x: number, places: number) => string;
/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export declare function limit(x: number, places: number): string;
/** Return the rest of a limit after some entries, in units: below 0 if they exceed it. */
export declare const remaining: (entries: Units[], most: Units, field: keyof Units) => bigint;
/** Return whether entries fit into a limit, ε and δ. */
export declare const fits: (entries: Units[], most: Units) => boolean;
/** The limits of an account by the plain rules, in addition to ε and δ. */
export declare const PLAIN: {
    readonly epoch: "lifetime";
    readonly lifetime: null;
    readonly quota: null;
    readonly quotas: {};
    readonly askers: null;
};
/** Return the rest of a limit as a number. The slack of the limit does not count: it is there so that sums of doubles fit. */
export declare const leftOf: (units: bigint, most: Units) => number;
/** One budget for all time and no other limit, answers that are drawn anew or stay the same. Whatever these allow, all rules allow. */
export declare const plain: Rules;
/** Return whether a question has all the answers that its campaign allows. */
export declare const isAnswered: (entries: Entry[], facts: Asked) => boolean;
/** Return all that an answer assumes, each line once: what the question says, and what its kind always assumes. */
export declare const assumed: (facts: Asked, rules: Rules) => string[];
/** Return the assumptions of a path of this number of locations. */
export declare const pathAssumes: (times?: number) => string[];
/** Return whether a report waits to be sent. */
export declare const waits: ({ batch }: Queued) => boolean;
/** Return whether an entry was charged for exactly what another one would be. */
export declare const isPaid: (one: Entry | undefined, due: Entry) => unknown;
/** Answer a question: check, spend, draw. Without a drawing it is a dry run, without a report, and its state is not kept. */
export declare function answer(state: State, id: string, facts: Asked, policy: Policy, rules: Rules, drawing?: Drawing): Step;
/**
 * Put chosen reports that wait into a batch, at most one to a question, or return the batch of them that was sent and not acknowledged: its identity, its
 * reports (none if nothing waits), and the state if it changed.
 */
export declare function batch(state: State, id: string, most: number, chosen: (one: Queued) => boolean): [id: string, reports: Queued[], next?: State | undefined];
/** Return a state without the messages of presence that are chosen, and their number. */
export declare function withoutMessages(state: State, chosen: (one: Presence) => boolean): [State, number];
/** The collector has a report, or a batch: it leaves the queue. */
export declare function acknowledge(state: State, id: string): Step;
/** The collector refused a batch for good: its reports leave the queue. Permanent answers are set aside, and wait again after the next request. */
export declare function drop(state: State, id: string): Step;
/** Return a state of version 3: a choice of version 2 means both ways of keeping one. */
export declare function upgraded(state: State): State;
