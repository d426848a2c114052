/** Stores: a browser's database, and memory for tests. */

import { copy } from "./account.js";
import { type Kept, type Store } from "./client.js";

/** Keep the account in memory: it is gone with the page, so the budget begins anew. For tests and dry runs. */
export function memoryStore(): Store {
  let kept: Kept | undefined;
  return {
    async update(change) {
      const [result, next] = change(kept && copy(kept));
      if (next) kept = copy(next);
      return result;
    },
  };
}

const TABLE = "account";

/** Keep the account in IndexedDB: read, draw and write are one transaction, which is on disk when it resolves. */
export function indexedStore(name = "dither"): Store {
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return {
    async update(change) {
      const database = await opened;
      return new Promise((resolve, reject) => {
        const transaction = database.transaction(TABLE, "readwrite", { durability: "strict" });
        const table = transaction.objectStore(TABLE);
        const request = table.get(1);
        let result: ReturnType<typeof change>[0];
        request.onsuccess = () => {
          try {
            const [told, next] = change(request.result as Kept | undefined);
            result = told;
            if (next) table.put(next, 1);
          } catch (error) {
            transaction.abort();
            reject(error);
          }
        };
        transaction.oncomplete = () => resolve(result);
        transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("the account was not written"));
      });
    },
  };
}
