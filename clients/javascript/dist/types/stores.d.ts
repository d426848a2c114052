/** Stores: a browser's database, and memory for tests. */
import { type Kept, type Store } from "./client.js";
/** Keep the account in memory: it is gone with the page, so the budget begins anew. For tests and dry runs. */
export declare function memoryStore<Thing = Kept>(): Store<Thing>;
/**
 * Keep the account in IndexedDB: read, draw and write are one transaction. It is on disk when it resolves.
 *
 * Two copies are kept in the cache of the origin, written in turns, after the transaction and before it resolves. Chromium deletes
 * a database if it was killed within a write and has written again since; the account then goes on from the newer complete copy.
 */
export declare function indexedStore<Thing = Kept>(name?: string): Store<Thing>;
