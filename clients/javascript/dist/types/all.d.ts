/** What pages load as one script: the client, all its draws, the rules of an account, signed campaigns, requests through a relay, packed batches, sending without a call. */
export * from "./index.js";
export { autoSend } from "./auto.js";
export { changes } from "./changes.js";
export { packedBody } from "./packed.js";
export { present, sendPresent } from "./presence.js";
export { encapsulate, relayed } from "./relay.js";
export { allRules } from "./rules.js";
export { fetchCampaign, readCampaign, readList, verify } from "./signatures.js";
export { erase, takeBack, view } from "./view.js";
export { connect, words } from "./elements.js";
