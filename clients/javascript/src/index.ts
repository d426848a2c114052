/** dither for pages and applications: the core, a durable account and a queue. */

export * from "./core.js";
export { Device, systemNow, type Asking, type Asks, type Batch, type Kept, type Options, type Promised, type Store } from "./client.js";
export { indexedStore, memoryStore } from "./stores.js";
export { packedBody } from "./batch.js";
export type { Moment, Outcome, Policy, State } from "./account.js";
