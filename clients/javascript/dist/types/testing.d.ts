/** Parts that tests of any implementation need; not for pages. */
import { acknowledge, answer, batch, drop, upgraded } from "./account.js";
import { jsonBody, judge } from "./batch.js";
import { decideMessage, decidePresent } from "./presence.js";
import { allRules } from "./rules.js";
import { below, checkAddress, expBelow, sha256 } from "./parts.js";
import { canonical, merge, ordered, split } from "./sharing.js";
export declare const accounts: {
    answer: typeof answer;
    batch: typeof batch;
    acknowledge: typeof acknowledge;
    decideMessage: typeof decideMessage;
    decidePresent: typeof decidePresent;
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
export { canonical, checkAddress, expBelow, jsonBody, judge, sha256 };
