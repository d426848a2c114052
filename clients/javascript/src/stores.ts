/** Stores: a browser's database, and memory for tests. */

import { type Kept, type Store } from "./client.js";

/** Keep the account in memory: it is gone with the page, so the budget begins anew. For tests and dry runs. */
export function memoryStore<Thing = Kept>(): Store<Thing> {
  let kept = "";
  return {
    async update(change) {
      const [result, next] = change(kept ? (JSON.parse(kept) as Thing) : undefined);
      if (next) kept = JSON.stringify(next);
      return result;
    },
  };
}

/** What is kept, numbered: each change has the next turn. */
type Copy<Thing> = Thing & { turn: number };

/**
 * Keep the account in IndexedDB: read, draw and write are one transaction, which is on disk when it resolves.
 *
 * Two copies are kept in the cache of the origin, written in turns, after the transaction and before it resolves. Chromium deletes
 * a database if it was killed within a write and has written again since; the account then goes on from the newer whole copy.
 */
export function indexedStore<Thing = Kept>(name = "dither"): Store<Thing> {
  const { caches, indexedDB, navigator } = globalThis;
  let copies: Cache | undefined;
  let copy: Copy<Thing> | undefined;
  const opened = (async () => {
    copies = await caches?.open(name).catch(() => undefined); // a private window may have none
    for (const place of ["/0", "/1"]) {
      const found = await copies?.match(place);
      const read = (await found?.json().catch(() => ({ turn: 0 }))) as Copy<Thing> | undefined; // turn 0: killed while it was written
      if (read && !(copy && copy.turn > read.turn)) copy = read;
    }
    return new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  })();
  const update: Store<Thing>["update"] = async (change) => {
    const database = await opened;
    let written: Copy<Thing> | undefined;
    const result = await new Promise<ReturnType<typeof change>[0]>((resolve, reject) => {
      const transaction = database.transaction(name, "readwrite", { durability: "strict" });
      const table = transaction.objectStore(name);
      const request = table.get(1);
      let told: ReturnType<typeof change>[0];
      request.onsuccess = () => {
        try {
          const kept = (request.result as Copy<Thing> | undefined) ?? copy;
          const [outcome, next] = change(kept);
          told = outcome;
          if (next) table.put((written = { ...next, turn: (kept?.turn ?? 0) + 1 }), 1);
        } catch (error) {
          reject(error);
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(told);
      transaction.onabort = () => reject(transaction.error);
    });
    if (written) await copies?.put("/" + (written.turn % 2), new Response(JSON.stringify(written)));
    return result;
  };
  // Pages and workers take turns, so that the copy is never an older one than another page has used.
  return { update: (change) => (caches ? navigator.locks.request(name, () => update(change)) : update(change)) as never };
}
