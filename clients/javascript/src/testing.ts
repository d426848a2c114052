/** Parts that tests of any implementation need; not for pages. */

import { acknowledge, act, answer, batch } from "./account.js";
import { canonical, jsonBody } from "./batch.js";
import { below, expBelow, sha256 } from "./parts.js";
import { merge, split } from "./sharing.js";

export const accounts = { answer, act, batch, acknowledge, split, merge, below };
export { canonical, expBelow, jsonBody, sha256 };
