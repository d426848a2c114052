/** dither for pages and applications: the core, a durable account and a queue. */

export * from "./core.js";
export { Device, type Inquiry, type InquiryTerms, type Batch, type Kept, type Options, type Promised, type Refusal, type Sending, type Sent, type Store } from "./client.js";
export { indexedStore, memoryStore } from "./stores.js";
export type { Moment, Outcome, Policy, Rules, State } from "./account.js";
