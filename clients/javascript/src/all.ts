/** What pages load as one script: the client, the rules of an account, signed campaigns, requests through a relay, packed batches, sending without a call. */

import { hashed } from "./hashed.js";
import { draws } from "./parts.js";
import { projective } from "./projective.js";

Object.assign(draws, hashed, { projective }); // with the core's, every draw that a list has by default

export * from "./index.js";
export { autoSend } from "./auto.js";
export { packedBody } from "./packed.js";
export { encapsulate, relayed } from "./relay.js";
export { allRules } from "./rules.js";
export { fetchCampaign, readCampaign, readLog, verify } from "./signatures.js";
export { erase, view } from "./view.js";
