/** Parts that tests of any implementation need; not for pages. */

import { answer, batch, DEFAULT, drop, pathAssumes, plain, upgraded } from "./account.js";
import { jsonBody, judge } from "./batch.js";
import { decideMessage, decidePresent } from "./presence.js";
import { allRules } from "./rules.js";
import { below, checkAddress, expBelow, sha256 } from "./parts.js";
import { judgeWithdrawal, noted, withdraw, withdrawalBody } from "./withdraw.js";
import { share, totalOf } from "./total.js";
import { canonical, merge, ordered, split } from "./sharing.js";

export const accounts = { answer, batch, acknowledge: noted, decideMessage, decidePresent, withdraw, drop, upgraded, split, merge, ordered, below, allRules, plain, pathAssumes, DEFAULT };
export { canonical, checkAddress, expBelow, jsonBody, judge, judgeWithdrawal, sha256, share, totalOf, withdrawalBody };
