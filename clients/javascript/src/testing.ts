/** Parts that tests of any implementation need; not for pages. */

import { acknowledge, act, answer, batch } from "./account.js";
import { merge, split } from "./sharing.js";
import { below } from "./source.js";

export const accounts = { answer, act, batch, acknowledge, split, merge, below };
