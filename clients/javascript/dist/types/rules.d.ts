/** All rules of docs/account.md: epochs, a lifetime, quotas, new askers, drawn days, a clock that may be turned, an answer for each value. */
import { type Limits, type Moment, type Rules } from "./account.js";
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
}
/** The present: the system's time, and a steady clock that counts since this page was loaded. */
export declare function systemNow(): Moment;
/** Return all rules of an account: `Device.open({ epsilon: 2, rules: allRules({ epoch: "week" }), store })`. */
export declare function allRules({ epoch, lifetime, quota, askers, now }?: Terms): Rules;
