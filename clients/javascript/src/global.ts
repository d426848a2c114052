/** What pages that are opened from disk load as one script: the client, all rules of an account, packed batches. */

export * from "./index.js";
export { allRules } from "./rules.js";
export { packedBody } from "./packed.js";
