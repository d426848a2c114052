/** Parts that tests of any implementation need; not for pages. */
import { answer, batch, drop, upgraded } from "./account.js";
import { jsonBody, judge } from "./batch.js";
import { decideMessage, decidePresent } from "./presence.js";
import { allRules } from "./rules.js";
import { below, checkAddress, expBelow, sha256 } from "./parts.js";
import { judgeWithdrawal, noted, withdraw, withdrawalBody } from "./withdraw.js";
import { share, totalOf } from "./total.js";
import { canonical, merge, ordered, split } from "./sharing.js";
export declare const accounts: {
    answer: typeof answer;
    batch: typeof batch;
    acknowledge: typeof noted;
    decideMessage: typeof decideMessage;
    decidePresent: typeof decidePresent;
    withdraw: typeof withdraw;
    drop: typeof drop;
    upgraded: typeof upgraded;
    split: typeof split;
    merge: typeof merge;
    ordered: typeof ordered;
    below: typeof below;
    allRules: typeof allRules;
    plain: import("./account.js").Rules;
    pathAssumes: (times?: number) => string[];
    DEFAULT: import("./account.js").Policy;
};
export { canonical, checkAddress, expBelow, jsonBody, judge, judgeWithdrawal, sha256, share, totalOf, withdrawalBody };
