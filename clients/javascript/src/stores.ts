/** Stores: a browser's database, and memory for tests. */

import { type Kept, type Store } from "./client.js";
import { need } from "./parts.js";

/** Keep the account in memory: it is gone with the page, so the budget begins anew. For tests and dry runs. */
export function memoryStore<Thing = Kept>(): Store<Thing> {
  let kept: string | undefined;
  return {
    async update(change) {
      const [result, next] = change(kept && JSON.parse(kept));
      if (next) kept = JSON.stringify(next);
      return result;
    },
  };
}

/** What is kept, numbered: each change has the next turn. */
type Copy<Thing> = Thing & { turn: number };

/**
 * Keep the account in IndexedDB: read, draw and write are one transaction. It is on disk when it resolves.
 *
 * Two copies are kept in the cache of the origin, written in turns, after the transaction and before it resolves. Chromium deletes
 * a database if it was killed within a write and has written again since; the account then goes on from the newer complete copy.
 */
export function indexedStore<Thing = Kept>(name = "dither"): Store<Thing> {
  const { caches, indexedDB, navigator } = globalThis;
  need(indexedDB, "store", "IndexedDB is missing here: use fileStore(folder) of dither-ldp/node, or memoryStore() in tests");
  let copies: Cache | undefined;
  let copy: Copy<Thing> | undefined;
  /** Return what a request results in, or nothing of a transaction, when an event says so. */
  const result = <T>(request: { result?: T; error: unknown; [event: string]: unknown }, event = "onsuccess"): Promise<T> =>
    new Promise((resolve, reject) => {
      request[event] = () => resolve(request.result!);
      request.onerror = request.onabort = () => reject(request.error);
    });
  const opened = (async () => {
    copies = (await caches?.open(name).catch(() => {})) as Cache | undefined; // it may be missing in a private window
    for (const place of ["/0", "/1"]) {
      const read = (await (await copies?.match(place))?.json().catch(() => ({ turn: 0 }))) as Copy<Thing> | undefined; // turn 0: killed while it was written
      if (read?.turn! >= (copy?.turn ?? 0)) copy = read;
    }
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(name);
    return result<IDBDatabase>(request as never);
  })();
  const update: Store<Thing>["update"] = async (change) => {
    const transaction = (await opened).transaction(name, "readwrite", { durability: "strict" });
    const table = transaction.objectStore(name);
    const kept = (await result<Copy<Thing> | undefined>(table.get(1) as never)) ?? copy; // the transaction is open until the code after it waits
    const [outcome, next] = change(kept);
    const written = next && { ...next, turn: (kept?.turn ?? 0) + 1 };
    if (written) table.put(written, 1);
    await result(transaction as never, "oncomplete");
    if (written) await copies?.put("/" + (written.turn % 2), new Response(JSON.stringify(written)));
    return outcome;
  };
  // Pages and workers take turns, so that the copy is never an older one than another page has used.
  return { update: (change) => (caches ? navigator.locks.request(name, () => update(change)) : update(change)) as never };
}
