/** Parts that tests of any implementation need; not for pages. */
import { acknowledge, act, answer, batch } from "./account.js";
import { merge, split } from "./sharing.js";
import { below } from "./source.js";
export declare const accounts: {
    answer: typeof answer;
    act: typeof act;
    batch: typeof batch;
    acknowledge: typeof acknowledge;
    split: typeof split;
    merge: typeof merge;
    below: typeof below;
};
