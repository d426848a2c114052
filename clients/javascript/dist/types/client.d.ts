/** A device that answers: questions, one durable account, a queue of reports, and what is promised. */
import { type Question, type Source } from "./parts.js";
import { type Asked, type Outcome, type Policy, type Rules, type State } from "./account.js";
import { type Waiting } from "./batch.js";
/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store<Thing = Kept> {
    update<T>(change: (kept: Thing | undefined) => [result: T, next?: Thing | undefined]): Promise<T>;
}
/** What is kept: the state of the account, and the secret key of permanent answers. */
export interface Kept {
    state: State;
    key: string;
}
export interface Options {
    /** The ε that all askers together may learn: for ever, or in one epoch of the rules. */
    epsilon: number;
    /** The δ that they may learn; none unless it is given, here and in the policy. */
    delta?: number;
    store: Store;
    source?: Source;
    policy?: Partial<Policy>;
    /** The rules of the account: one budget for all time, unless they are those of `dither-ldp/rules`. */
    rules?: Rules;
}
/** What an asker adds to a question: its name, who asks, how often. */
export interface InquiryTerms {
    name: string;
    asker: string;
    repeat?: Asked["repeat"];
    days?: number;
    start?: number;
    assumes?: string[];
    data?: [number, number];
    /** The number of locations of a path: exactly as many are answered, and charged. */
    times?: number;
    /** The label that stands for answers that are not in the list. */
    otherwise?: unknown;
}
/** What a page can show before it asks. */
export interface Promised {
    epsilon: number;
    /** No report is more than this many times likelier under one value than under another. */
    odds: number;
    /** Whoever guessed 50 % before can reach at most this much. */
    reach: number;
    /** The ε that is left for all askers, before this answer. */
    left: number;
    /** What this holds under; the policy must accept each line. */
    assumes: string[];
}
/** An inquiry: a question with what its asker added, as `answer` and `send` take it. */
export interface Inquiry {
    readonly question: Question;
    readonly terms: InquiryTerms;
    /** What the account sees of it: no value. */
    readonly asked: Asked;
    /** Return what is promised to the person who answers, and what is left. */
    promise(): Promise<Promised>;
}
/** A batch: its identity, and the bytes that are sent until the collector has it. */
export interface Batch {
    id: string;
    body: string | Uint8Array<ArrayBuffer>;
}
/** How a batch is sent. */
export interface Sending {
    /** A public label of all reports of a batch, such as a version. */
    label?: string;
    /** `packedBody` of `dither-ldp/packed`; without it a batch is JSON. */
    pack?: (batch: string, label: string, reports: Waiting[]) => Uint8Array<ArrayBuffer>;
    fetch?: typeof globalThis.fetch;
}
/** A batch that a collector did not take. */
export interface Refusal {
    /** The collector's word for it, as docs/wire.md lists them; otherwise the status, or "unreachable". */
    reason: string;
    /** The collector's sentence. */
    words: string;
    /** How many reports were dropped, for no collector can ever take them; 0 if they wait. */
    dropped: number;
}
/** What became of the reports that waited. */
export interface Sent {
    /** How many reports were acknowledged. */
    sent: number;
    /** How many reports to these questions wait still. */
    waiting: number;
    refused: Refusal[];
    /** The seconds after which to send again; 0 if the collector did not say so. */
    retryAfter: number;
}
export interface Device {
    /** Read and verify a question. Throw `Malformed` with the reason if this device cannot answer it. */
    asking(specification: string, terms: InquiryTerms): Inquiry;
    /**
     * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a
     * value that is not in the domain is refused for the reason "value" and nothing is spent: declare `otherwise`.
     */
    answer(inquiry: Inquiry, value: unknown, id?: string): Promise<Outcome>;
    /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
    dryRun(inquiry: Inquiry): Promise<Outcome>;
    /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
    act(): Promise<Outcome>;
    /** Return the next batch of reports of some inquiries, the same until it is acknowledged; undefined if nothing waits. */
    body(inquiries: Inquiry | Inquiry[], options?: Sending): Promise<Batch | undefined>;
    /** The collector has the batch: its reports leave the queue. */
    acknowledge(id: string): Promise<Outcome>;
    /**
     * Send what waits of some inquiries, batch by batch, until nothing waits or the collector cannot be reached or is busy. Never throw because of
     * an answer or of the network. A batch that the collector refuses for good is dropped, so that it does not hold up the others.
     *
     * Name the inquiries of one campaign: a collector refuses a batch with a report to another one.
     */
    send(inquiries: Inquiry | Inquiry[], url: string, options?: Sending): Promise<Sent>;
    /**
     * Return the account, or what a function makes of it and keeps: `device.account(view)` shows what was given, and `device.account(erase)` forgets it,
     * with the two functions of `dither-ldp/account`.
     */
    account<T = State>(look?: (state: State, rules: Rules) => [result: T, next?: State | undefined]): Promise<T>;
}
/** Open the account of a device; it is created with these limits if there is none. */
declare function open({ epsilon, delta, store, source, policy, rules }: Options): Promise<Device>;
/** The account of one person on this device, its questions and its queue. */
export declare const Device: {
    open: typeof open;
};
export {};
