/** A device that answers: questions, one durable account, a queue of reports, and its promise. */
import { type Question, type Source } from "./parts.js";
import { type Asked, type Outcome, type Policy, type Rules, type State, type Step } from "./account.js";
import { type Waiting } from "./batch.js";
/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store<Thing = Kept> {
    update<T>(change: (kept: Thing | undefined) => [result: T, next?: Thing | undefined]): Promise<T>;
}
/** The shown parts of a campaign: a digest of asker, purpose and repetition, a digest of each question with its words, and the days. */
export interface Shown {
    general: string;
    questions: string[];
    begins: string;
    ends: string;
}
/** A person's agreement: the shown parts, and the address of the collector, without the identity of the campaign, if it was given. */
export interface Agreed extends Shown {
    address?: string | undefined;
}
/** The kept data: the state of the account, the secret key of permanent answers, and the person's choice, if any: for campaigns by the digest of what was shown. */
export interface Kept {
    state: State;
    key: string;
    consent?: boolean;
    agreed?: {
        [general: string]: Agreed | null;
    };
}
/** What `consent` needs of a campaign of `dither-ldp/signatures`. */
export interface Consented {
    shown: Shown;
    terms: {
        [name: string]: unknown;
    };
    questions: {
        [name: string]: unknown;
    };
}
export interface Options {
    /** The ε that all askers together may learn: for ever, or in one epoch of the rules. */
    epsilon: number;
    /** The δ that they may learn; none unless it is given, here and in the policy. */
    delta?: number;
    store: Store;
    source?: Source;
    policy?: Partial<Policy>;
    /** The rules of the account: one budget for all time, or the rules of `dither-ldp/rules`. */
    rules?: Rules;
}
/** An asker's terms of a question: its name, the asker, the repetition. */
export interface InquiryTerms {
    name: string;
    asker: string;
    repeat?: Asked["repeat"];
    days?: number;
    start?: number;
    assumes?: string[];
    data?: [number, number];
    /** The number of locations of a path: exactly this number is answered, and charged. */
    times?: number;
    /** The label for answers that are not in the list. */
    otherwise?: unknown;
    /** What the campaign shows to the person: consent to anything else does not cover this question. */
    shown?: Shown;
    /** The labels of batches that the campaign lists: `send` refuses any other one. */
    labels?: string[];
    /** Take an acknowledged batch off the queue, and note until when it can be taken back. */
    taken?: (state: State, id: string) => Step;
    /** The last day of the campaign, in days since 1970: `answer` refuses after it, and spends nothing. */
    ends?: number;
    /** Calendar periods, in place of `days`. */
    every?: "day" | "week" | "month";
    /** The most often that a value changes in a period, of a kept change: a value is the list of the values of all its days so far. */
    changes?: number;
    /** The most answers to a question over a campaign. */
    limit?: {
        campaign: string;
        answers: number;
    };
    /** Whether this device answers is tossed once. */
    phase?: {
        campaign: string;
        name: string;
        share?: number;
        follows?: string;
    };
    /** Return the value of a person's input: of a scale, a date or a time; undefined for other inputs. */
    value?: (given: unknown) => unknown;
    /** The languages of the words below, the first of which is the campaign's own. */
    languages?: string[];
    /** The question as people read it, by language. */
    text?: {
        [language: string]: string;
    };
    /** The answers as people read them, by language, in the order of the labels. */
    names?: {
        [language: string]: string[];
    };
    unit?: string;
    step?: number;
    form?: "date" | "time" | "installed";
    /** The edges of a scale. */
    scale?: number[];
}
/** The words that a page can show before a question. */
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
    /** Return the promise to the person who answers, and the remaining budget. */
    promise(): Promise<Promised>;
    /** Return the question as people read it, in the best of some languages (those of the browser unless they are given); its name if the campaign has no words for it. */
    text(languages?: readonly string[]): string;
    /** Return the answers of a list, each with the value for `answer` and with its words in the best of some languages; empty if it has none. */
    labels(languages?: readonly string[]): {
        value: unknown;
        text: string;
    }[];
}
/** Return the tag of the language that suits best: the same, or the same but for script and region, or the first of those that there are. */
export declare function pick(tags: readonly string[], wanted?: readonly string[]): string;
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
    /** The collector's word for it, as docs/wire.md lists them; otherwise the status, "unreachable", or "consent" if the person does not want to send. */
    reason: string;
    /** The collector's sentence, or this client's. */
    words: string;
    /** The number of dropped reports that no collector can ever take; 0 if they wait. */
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
     * Nothing is spent either if the campaign is over ("ended"), or without consent ("consent").
     */
    answer(inquiry: Inquiry, value: unknown, id?: string): Promise<Outcome>;
    /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
    dryRun(inquiry: Inquiry): Promise<Outcome>;
    /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
    act(): Promise<Outcome>;
    /**
     * Return whether this device may answer and send; with a choice, keep what the person chose first. Nobody chose: it may, unless the browser has Global Privacy
     * Control or the process DO_NOT_TRACK. What a person chose counts more than these.
     *
     * A yes to a campaign holds for its shown parts, and for the collector at the `address` of the campaign, if it is given. As soon as the person was asked about anything,
     * every campaign needs a yes of its own: also a new version that asks more, says other words or lasts longer. `consent(false)` is a no to all.
     *
     * What waits while the person says no is kept, and is never sent: a later yes drops it from the queue. Permanent answers may be given again.
     */
    consent(choice?: boolean, campaign?: Consented, address?: string): Promise<boolean>;
    /** Return the person's choice, for a campaign if it is given; undefined without a choice about its shown parts. */
    chosen(campaign?: Consented): Promise<boolean | undefined>;
    /** Return the next batch of reports of some inquiries, the same until it is acknowledged; undefined if nothing waits, or without consent. */
    body(inquiries: Inquiry | Inquiry[], options?: Sending): Promise<Batch | undefined>;
    /** The collector has the batch: its reports leave the queue. */
    acknowledge(id: string): Promise<Outcome>;
    /**
     * Send what waits of some inquiries, batch by batch, until nothing waits or the collector cannot be reached or is busy. Never throw because of
     * an answer or of the network. A batch that the collector refuses for good is dropped, so that it does not hold up the others. Consent is looked at before
     * every batch. Throw `Malformed` ("label") for a label that the campaign does not list: nothing is then sent, and all reports are kept.
     *
     * Name the inquiries of one campaign: a collector refuses a batch with a report to another one.
     */
    send(inquiries: Inquiry | Inquiry[], url: string, options?: Sending): Promise<Sent>;
    /**
     * Return the account, or the result of a function on it: `device.account(view)` shows the answers, and `device.account(erase)` forgets it,
     * with the two functions of `dither-ldp/account`.
     */
    account<T = State>(look?: (state: State, rules: Rules, kept: Kept, policy: Policy, source: Source) => [result: T, next?: State | undefined, forgetKey?: true]): Promise<T>;
}
/** Return why nothing may be answered and sent, or undefined if it may. */
export declare function withheld(kept: Kept, shown?: Shown, url?: string): string | undefined;
export declare const refused: (reason: string, words: string) => Outcome;
/** Send batch after batch, until the queue is empty or the collector cannot be reached or is busy. `settle` takes a batch off the queue, and returns how many reports it was. */
export declare function deliver(next: () => Promise<Batch | string | undefined>, settle: (id: string, fate: "acknowledged" | "dropped") => Promise<Outcome>, url: string, { fetch, pack }: Sending, source: Source): Promise<Sent>;
/** Open the account of a device; a missing one is created with these limits. */
declare function open({ epsilon, delta, store, source, policy, rules }?: Options): Promise<Device>;
/** The account of one person on this device, its questions and its queue. */
export declare const Device: {
    open: typeof open;
};
export {};
