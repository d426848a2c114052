/** A store for Node: a folder with the account in one file. */

import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Kept, type Store } from "./client.js";
import { need } from "./parts.js";

const BEHIND = 20; // files that stay empty, and changes that a file names
const UNREADABLE = "its file is damaged. Restore it; if the folder is removed, the budget begins anew";
const TRIES = 99; // to read an account while others change it

const code = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Return what a promise resolves to, or undefined if it fails with one of some codes. */
const unless = <T>(work: Promise<T>, ...codes: string[]): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (!codes.includes(code(error) as string)) throw error;
    return undefined;
  });

/** Write an open file to the disk. A folder cannot be opened everywhere. */
async function flush(path: string, text?: string): Promise<void> {
  const file = await open(path, text === undefined ? "r" : "wx", 0o600);
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throw `Malformed` ("folder") if others can write to a folder: they could put back an earlier account, or read the next one. Windows has no such bits. */
async function checkFolder(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  const user = process.geteuid?.();
  need(user === undefined || (!(mode & 0o022) && [user, 0].includes(uid)), "folder", "others can write to it: expected a folder for the account alone");
}

/**
 * Keep the account in a folder of its own, which only its owner may read: `Device.open({ epsilon: 2, store: fileStore("/home/ann/.mytool/dither") })`.
 *
 * The account is the file with the largest number. A change is on disk when it resolves; it becomes the file with the next number by `link`, which
 * fails if another process was faster: then it is made again, of what that one wrote. So a process may be killed at any time, and no lock is left.
 * The files before it are emptied, and the last of them stay: their numbers are taken, and a listing that misses what changes meanwhile finds them.
 * A file names the last changes that it holds: who was stopped for a while finds out whether others went on from its change, or without it.
 */
export function fileStore<Thing = Kept>(folder: string): Store<Thing> {
  const place = (turn: number): string => join(folder, `${turn}.json`);
  const turns = async (): Promise<number[]> =>
    (await readdir(folder)).flatMap((name) => (/^\d+\.json$/.test(name) ? [parseInt(name)] : [])).sort((a, b) => a - b);

  /** Return the number of the last file, the changes that it names, and the account. */
  async function read(): Promise<[number, string[], Thing?]> {
    for (let tries = 0; ; tries++) {
      need(tries < TRIES, "account", UNREADABLE);
      const listed = (await turns()).at(-1) ?? 0;
      let turn = Math.max(listed - 1, 0);
      let text = "";
      for (let next; (next = await unless(readFile(place(turn + 1), "utf8"), "ENOENT")) !== undefined; turn++) text = next;
      if (!turn && !listed) return [0, []];
      if (!text) continue; // another process was faster: the listed file is gone
      let made: unknown, kept: unknown;
      try {
        [made, kept] = JSON.parse(text) as unknown[];
      } catch {
        // an engine's own message may hold the text: it is refused below
      }
      need(Array.isArray(made) && Object(kept) === kept, "account", UNREADABLE);
      return [turn, made as string[], kept as Thing];
    }
  }

  /** Change the file; return undefined if another process was faster. */
  async function attempt<T>(change: (kept: Thing | undefined) => [T, (Thing | undefined)?]): Promise<[T] | undefined> {
    const [turn, made, kept] = await read();
    const [result, next] = change(kept);
    if (!next) return [result];
    const id = randomUUID();
    const draft = join(folder, `${id}.new`);
    try {
      await flush(draft, JSON.stringify([[...made, id].slice(-BEHIND), next]));
      const linked = await unless(link(draft, place(turn + 1)).then(() => true), "EEXIST");
      if (!linked) return undefined;
    } finally {
      await unless(unlink(draft), "ENOENT"); // it may not have been made, and that error is the one to report
    }
    if (!(await read())[1].includes(id)) {
      await unless(unlink(place(turn + 1)), "ENOENT"); // it came so late that the number was free again
      return undefined;
    }
    await flush(folder).catch(() => undefined);
    for (const old of await turns()) {
      if (old <= turn - BEHIND) await unless(unlink(place(old)), "ENOENT");
      else if (old <= turn && (await unless(stat(place(old)), "ENOENT"))?.size) {
        await writeFile(draft, "", { mode: 0o600 });
        await rename(draft, place(old)); // readers of the old one have read it completely
      }
    }
    return [result];
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    update(change) {
      const done = last.then(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await checkFolder(folder);
        for (;;) {
          const made = await attempt(change);
          if (made) return made[0];
        }
      });
      last = done.catch(() => undefined);
      return done;
    },
  };
}
