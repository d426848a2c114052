/** dither for pages and applications: the core, a durable account and a queue. */
export * from "./core.js";
export { Device } from "./client.js";
export { indexedStore, memoryStore } from "./stores.js";
