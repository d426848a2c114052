/** A store for Node: a folder with one file, the account. */

import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { type Kept, type Store } from "./client.js";
import { need } from "./parts.js";

const code = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Return what a promise resolves to, or undefined if it fails with one of some codes. */
const unless = <T>(work: Promise<T>, ...codes: string[]): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (!codes.includes(code(error) as string)) throw error;
    return undefined;
  });

/** Write what is open to the disk. A folder cannot be opened everywhere. */
async function flush(path: string, text?: string): Promise<void> {
  const file = await open(path, text === undefined ? "r" : "wx", 0o600);
  try {
    if (text !== undefined) await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Keep the account in a folder of its own, which only its owner may read: `Device.open({ epsilon: 2, store: fileStore("/home/ann/.mytool/dither") })`.
 *
 * The account is the file with the largest number. A change is on disk when it resolves; it becomes the file with the next number by `link`, which
 * fails if another process was faster: then it is made again, of what that one wrote. So a process may be killed at any time, and no lock is left.
 */
export function fileStore<Thing = Kept>(folder: string): Store<Thing> {
  const place = (turn: number): string => join(folder, `${turn}.json`);
  const turns = async (): Promise<number[]> =>
    (await readdir(folder)).flatMap((name) => (/^\d+\.json$/.test(name) ? [parseInt(name)] : [])).sort((a, b) => a - b);

  /** Change what is there; return undefined if another process was faster. */
  async function attempt<T>(change: (kept: Thing | undefined) => [T, (Thing | undefined)?]): Promise<[T] | undefined> {
    const before = await turns();
    const turn = before.at(-1) ?? 0;
    const text = turn ? await unless(readFile(place(turn), "utf8"), "ENOENT") : "";
    if (text === undefined) return undefined;
    let kept: Thing | undefined;
    try {
      kept = text ? (JSON.parse(text) as Thing) : undefined;
    } catch {
      need(0, "account"); // an engine's own message may hold the text
    }
    need(!turn || Object(kept) === kept, "account");
    const [result, next] = change(kept);
    if (!next) return [result];
    const draft = join(folder, `${randomUUID()}.new`);
    try {
      await flush(draft, JSON.stringify(next));
      const linked = await unless(link(draft, place(turn + 1)).then(() => true), "EEXIST");
      if (!linked) return undefined;
    } finally {
      await unless(unlink(draft), "ENOENT"); // it may not have been made, and that error is the one to tell
    }
    // Files go in the order of their numbers. If the one before is gone, the next one was there and gone, too: this one came too late.
    if (turn && !(await turns()).includes(turn)) {
      await unless(unlink(place(turn + 1)), "ENOENT");
      return undefined;
    }
    await flush(folder).catch(() => undefined);
    for (const old of before) await unless(unlink(place(old)), "ENOENT");
    return [result];
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    update(change) {
      const done = last.then(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
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
