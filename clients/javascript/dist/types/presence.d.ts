/** How many are active, and how many come back, without an identifier: one message on the first use in a calendar period. */
import { type Asked, type Drawing, type Moment, type Outcome, type Policy, type State, type Step } from "./account.js";
import { type Device, type Sending, type Sent } from "./client.js";
import type { Campaign } from "./signatures.js";
/** The account's data about a campaign with `repeat = "present"`. */
export interface Present {
    asker: string;
    name: string;
    every: "day" | "week" | "month";
    /** Thousandths of the devices that carry the permanent label. */
    share?: number;
}
/** The program is used: make the message of this period, unless there is one. The permanent label is drawn and charged with the first message, or never. */
export declare function decidePresent(before: State, id: string, at: Moment, terms: Present, facts: Asked | null, policy: Policy, { report, source }: Drawing): Step;
/** Return the message that waits; one whose period is over is dropped. */
export declare function decideMessage(state: State, at: Moment, terms: Present, facts: Asked | null): Step;
/**
 * Report each use of the program or page: the first use in a period makes a message, which `sendPresent` sends. The outcome is "drawn" if the
 * permanent label was drawn with it, "present", "silent" if the period has a message, or "refused". `value` is what the label is about; without one it is the
 * present day, the day of installation.
 */
export declare function present(device: Device, campaign: Campaign, value?: unknown, now?: () => Moment): Promise<Outcome>;
/**
 * Send the message that waits, in its period; afterwards it is dropped. `label` is a public label that the campaign lists, such as a version: it is sent only
 * by devices that carry no permanent label. The other options and the result are as for `device.send`.
 */
export declare function sendPresent(device: Device, campaign: Campaign, url: string, options?: Sending, now?: () => Moment): Promise<Sent>;
