/** A device that answers: questions, one durable account, a queue of reports, and what is promised. */
import { type Question, type Source } from "./parts.js";
import { type Asked, type Moment, type Outcome, type Policy, type State } from "./account.js";
/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store {
    update<T>(change: (kept: Kept | undefined) => [result: T, next?: Kept]): Promise<T>;
}
/** What is kept: the state of the account, and the secret key of permanent answers. */
export interface Kept {
    state: State;
    key: string;
}
export interface Options {
    /** The ε that all askers together may learn in one epoch. */
    epsilon: number;
    /** The δ that they may learn in one epoch; none unless it is given, here and in the policy. */
    delta?: number;
    epoch?: State["limits"]["epoch"];
    /** The ε of all epochs together. */
    lifetime?: number;
    /** The ε that one asker may take of an epoch. */
    quota?: number;
    /** How many new askers an act of the person admits. */
    askers?: number;
    store: Store;
    source?: Source;
    policy?: Partial<Policy>;
    now?: () => Moment;
}
/** How a question is asked. */
export interface Asking {
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
/** The present: the system's time, and a steady clock that counts since this page was loaded. */
export declare function systemNow(): Moment;
/** What a page can show before it asks. */
export interface Promised {
    epsilon: number;
    /** No report is more than this many times likelier under one value than under another. */
    odds: number;
    /** Whoever guessed 50 % before can reach at most this much. */
    reach: number;
    /** The ε that is left for all askers in this epoch, before this answer. */
    left: number;
}
/** A question as this device is asked it. */
export interface Asks {
    readonly question: Question;
    readonly asking: Asking;
    /** What the account sees of it: no value. */
    readonly asked: Asked;
    /** Return what is promised to the person who answers, and what is left. */
    promise(): Promise<Promised>;
}
/** A batch: its identity, and the bytes that are sent until the collector has it. */
export interface Batch {
    id: string;
    body: Uint8Array<ArrayBuffer>;
}
export interface Device {
    /** Read and verify a question. Throw `Malformed` with the reason if this device cannot answer it. */
    question(specification: string, asking: Asking): Asks;
    /**
     * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a
     * value that is not in the domain is refused for the reason "value" and nothing is spent: declare `otherwise`.
     */
    answer(asks: Asks, value: unknown, id?: string): Promise<Outcome>;
    /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
    dryRun(asks: Asks): Promise<Outcome>;
    /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
    act(): Promise<Outcome>;
    /** Return the next batch of an asker, which is the same until it is acknowledged; undefined if nothing waits. */
    body(asker: string, label?: string, most?: number): Promise<Batch | undefined>;
    /** The collector has the batch: its reports leave the queue. */
    acknowledge(id: string): Promise<Outcome>;
    /** Send what waits for an asker, batch by batch. Return how many reports were acknowledged. */
    send(asker: string, url: string, options?: {
        fetch?: typeof globalThis.fetch;
        label?: string;
    }): Promise<number>;
}
/** Open the account of a device; it is created with these limits if there is none. */
declare function open({ epsilon, delta, epoch, lifetime, quota, askers, store, source, policy, now }: Options): Promise<Device>;
/** The account of one person on this device, its questions and its queue. */
export declare const Device: {
    open: typeof open;
};
export {};
