/** How many are active, and how many come back, without an identifier: one message on the first use in a calendar period. */
import { type Asked, type Drawing, type Moment, type Policy, type State, type Step } from "./account.js";
/** What the account is told about a campaign with `repeat = "present"`. */
export interface Present {
    asker: string;
    name: string;
    every: "day" | "week" | "month";
    /** Thousandths of the devices that carry the permanent label. */
    share?: number;
}
/** The program is used: make the message of this period, unless there is one. The permanent label is drawn and charged with the first message, or never. */
export declare function decidePresent(before: State, id: string, at: Moment, terms: Present, asked: Asked | null, policy: Policy, { report, source }: Drawing): Step;
/** Return the message that waits; one whose period is over is dropped. */
export declare function decideMessage(state: State, at: Moment, terms: Present, asked: Asked | null): Step;
