/** A store for Node: a folder with the account in one file. */
import { type Kept, type Store } from "./client.js";
/**
 * Keep the account in a folder of its own, which only its owner may read: `Device.open({ epsilon: 2, store: fileStore("/home/ann/.mytool/dither") })`.
 *
 * The account is the file with the largest number. A change is on disk when it resolves; it becomes the file with the next number by `link`, which
 * fails if another process was faster: then it is made again, of what that one wrote. So a process may be killed at any time, and no lock is left.
 * The files before it are emptied, and the last of them stay: their numbers are taken, and a listing that misses what changes meanwhile finds them.
 * A file names the last changes that it holds: who was stopped for a while finds out whether others went on from its change, or without it.
 */
export declare function fileStore<Thing = Kept>(folder: string): Store<Thing>;
