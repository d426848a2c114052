/** Stores: a browser's database, and memory for tests. */

import { type Kept, type Store } from "./client.js";

/** Keep the account in memory: it is gone with the page, so the budget begins anew. For tests and dry runs. */
export function memoryStore(): Store {
  let kept = "";
  return {
    async update(change) {
      const [result, next] = change(kept ? (JSON.parse(kept) as Kept) : undefined);
      if (next) kept = JSON.stringify(next);
      return result;
    },
  };
}

/**
 * Keep the account in IndexedDB: read, draw and write are one transaction, which is on disk when it resolves.
 *
 * A copy is kept in the cache of the origin, written after the transaction and before it resolves. Chromium deletes a
 * database if it was killed within a write and has written again since; the account then goes on from the copy.
 */
export function indexedStore(name = "dither"): Store {
  const { caches, indexedDB, navigator } = globalThis;
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const update: Store["update"] = async (change) => {
    const database = await opened;
    const copies = await caches?.open(name);
    const copy = (await (await copies?.match("/"))?.json()) as Kept | undefined;
    let written: Kept | undefined;
    const result = await new Promise<ReturnType<typeof change>[0]>((resolve, reject) => {
      const transaction = database.transaction(name, "readwrite", { durability: "strict" });
      const table = transaction.objectStore(name);
      const request = table.get(1);
      let told: ReturnType<typeof change>[0];
      request.onsuccess = () => {
        try {
          [told, written] = change((request.result as Kept | undefined) ?? copy);
          if (written) table.put(written, 1);
        } catch (error) {
          reject(error);
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(told);
      transaction.onabort = () => reject(transaction.error);
    });
    if (written) await copies?.put("/", new Response(JSON.stringify(written)));
    return result;
  };
  // Pages and workers take turns, so that the copy is never an older one than another page has used.
  return { update: (change) => (caches ? navigator.locks.request(name, () => update(change)) : update(change)) as never };
}
