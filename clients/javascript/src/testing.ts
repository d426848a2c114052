/** Parts that tests of any implementation need; not for pages. */

import { acknowledge, answer, batch, DEFAULT, drop, pathAssumes, plain, upgraded } from "./account.js";
import { jsonBody, judge } from "./batch.js";
import { decideMessage, decidePresent } from "./presence.js";
import { allRules } from "./rules.js";
import { below, checkAddress, expBelow, sha256 } from "./parts.js";
import { canonical, merge, ordered, split } from "./sharing.js";

export const accounts = { answer, batch, acknowledge, decideMessage, decidePresent, drop, upgraded, split, merge, ordered, below, allRules, plain, pathAssumes, DEFAULT };
export { canonical, checkAddress, expBelow, jsonBody, judge, sha256 };
