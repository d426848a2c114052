/** Parts that tests of any implementation need; not for pages. */
import { acknowledge, act, answer, batch } from "./account.js";
import { canonical, jsonBody } from "./batch.js";
import { below, expBelow, sha256 } from "./parts.js";
import { merge, split } from "./sharing.js";
export declare const accounts: {
    answer: typeof answer;
    act: typeof act;
    batch: typeof batch;
    acknowledge: typeof acknowledge;
    split: typeof split;
    merge: typeof merge;
    below: typeof below;
};
export { canonical, expBelow, jsonBody, sha256 };
