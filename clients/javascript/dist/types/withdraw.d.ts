/** Withdrawal: batches that a collector can still delete. docs/wire.md and docs/account.md have the rules. */
import { type State, type Step } from "./account.js";
import type { Device, Inquiry } from "./client.js";
import type { Campaign } from "./signatures.js";
/** What is noted of a batch when it is acknowledged: its campaign, the present day (since 1970), and the days of its window. */
export interface Noted {
    campaign: string;
    day: number;
    retry: number;
}
/** The collector has a report, or a batch: it leaves the queue. What is noted of a batch says until when it can be taken back. */
export declare function noted(state: State, id: string, sent?: Noted): Step;
/** A batch is withdrawn: it leaves the queue, or the list of what can be taken back. What was spent stays spent, and nothing is set aside. */
export declare function withdraw(state: State, id: string): Step;
/** Return the body of a request to delete a batch. */
export declare const withdrawalBody: (id: string) => string;
/** Return whether an answer says that a batch is withdrawn, and the collector's word for a refusal. */
export declare function judgeWithdrawal(id: string, status: number, text: string): [withdrawn: boolean, word: string];
/** An inquiry of `device.asking`, or a campaign of `dither-ldp/signatures`. */
type Asker = Pick<Inquiry, "terms"> | Pick<Campaign, "terms">;
/** What became of the batches that were taken back. */
export interface TakenBack {
    /** The number of answers whose deletion the collector has confirmed. */
    withdrawn: number;
    /** How many answers had not been sent, and are not sent any more. */
    unsent: number;
    /** How many batches are left, because the collector did not confirm; ask again. */
    left: number;
    /** Why they are left: the collector's words, the status, or "unreachable". */
    refused: string[];
}
/**
 * Take back what this device gave to the askers of some inquiries or campaigns, as long as the collector can delete it: each batch by a request of its own, to the address that
 * `send` was given and by the same `fetch`. What was not sent leaves the queue. What was spent stays spent, and permanent answers are not sent again.
 */
export declare function takeBack(device: Device, inquiries: Asker | Asker[], url: string, { fetch }?: {
    fetch?: typeof globalThis.fetch;
}): Promise<TakenBack>;
export {};
