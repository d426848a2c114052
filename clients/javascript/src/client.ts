/** A device that answers: questions, one durable account, a queue of reports, and what is promised. */

import { below, hex, need, type Question, readQuestion, sha256, type Source, systemSource, utf8 } from "./parts.js";
import { acknowledge, act, answer, batch, epoch, limit, total, type Asked, type Drawing, type Entry, type Moment, type Outcome, type Policy, type State, type Step, type Units } from "./account.js";
import { packedBody } from "./batch.js";

/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store {
  update<T>(change: (kept: Kept | undefined) => [result: T, next?: Kept]): Promise<T>;
}

/** What is kept: the state of the account, and the secret key of permanent answers. */
export interface Kept {
  state: State;
  key: string;
}

export interface Options {
  /** The ε that all askers together may learn in one epoch. */
  epsilon: number;
  /** The δ that they may learn in one epoch; none unless it is given, here and in the policy. */
  delta?: number;
  epoch?: State["limits"]["epoch"];
  /** The ε of all epochs together. */
  lifetime?: number;
  /** The ε that one asker may take of an epoch. */
  quota?: number;
  /** How many new askers an act of the person admits. */
  askers?: number;
  store: Store;
  source?: Source;
  policy?: Partial<Policy>;
  now?: () => Moment;
}

/** How a question is asked. */
export interface Asking {
  name: string;
  asker: string;
  repeat?: Asked["repeat"];
  days?: number;
  start?: number;
  assumes?: string[];
  data?: [number, number];
  /** The number of locations of a path: exactly as many are answered, and charged. */
  times?: number;
  /** The label that stands for answers that are not in the list. */
  otherwise?: unknown;
}

const REPEATS = ["fresh", "same", "per value", "once"];
const NOBODY: Policy = { epsilon: 50, delta: 0, assumptions: [], mechanisms: null };

/** The present: the system's time, and a steady clock that counts since this page was loaded. */
export function systemNow(): Moment {
  const { timeOrigin, now } = globalThis.performance;
  return {
    wall: Math.floor(Date.now() / 1000),
    boot: String(Math.round(timeOrigin)),
    elapsed: Math.floor(now.call(globalThis.performance) / 1000),
  };
}

/** What a page can show before it asks. */
export interface Promised {
  epsilon: number;
  /** No report is more than this many times likelier under one value than under another. */
  odds: number;
  /** Whoever guessed 50 % before can reach at most this much. */
  reach: number;
  /** The ε that is left for all askers in this epoch, before this answer. */
  left: number;
}

/** A question as this device is asked it. */
export interface Asks {
  readonly question: Question;
  readonly asking: Asking;
  /** What the account sees of it: no value. */
  readonly asked: Asked;
  /** Return what is promised to the person who answers, and what is left. */
  promise(): Promise<Promised>;
}

/** A batch: its identity, and the bytes that are sent until the collector has it. */
export interface Batch {
  id: string;
  body: Uint8Array<ArrayBuffer>;
}

export interface Device {
  /** Read and verify a question. Throw `Malformed` with the reason if this device cannot answer it. */
  question(specification: string, asking: Asking): Asks;
  /**
   * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a
   * value that is not in the domain is refused for the reason "value" and nothing is spent: declare `otherwise`.
   */
  answer(asks: Asks, value: unknown, id?: string): Promise<Outcome>;
  /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
  dryRun(asks: Asks): Promise<Outcome>;
  /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
  act(): Promise<Outcome>;
  /** Return the next batch of an asker, which is the same until it is acknowledged; undefined if nothing waits. */
  body(asker: string, label?: string, most?: number): Promise<Batch | undefined>;
  /** The collector has the batch: its reports leave the queue. */
  acknowledge(id: string): Promise<Outcome>;
  /** Send what waits for an asker, batch by batch. Return how many reports were acknowledged. */
  send(asker: string, url: string, options?: { fetch?: typeof globalThis.fetch; label?: string }): Promise<number>;
}

/** Open the account of a device; it is created with these limits if there is none. */
async function open({ epsilon, delta = 0, epoch = "lifetime", lifetime, quota, askers = null as never, store, source = systemSource(), policy, now = systemNow }: Options): Promise<Device> {
  need(epsilon > 0 && epsilon < 2 ** 20, "epsilon");
  const allowed = { ...NOBODY, ...policy };
  const fresh = (): string => hex(source.take(16));
  const units = (most: number): Units => ({ epsilon: limit(most, 64), delta: limit(delta, 128) });
  await store.update((kept) => {
    if (kept) return [0];
    const at = now();
    const own = { ...units(epsilon), lifetime: lifetime === undefined ? null : units(lifetime) };
    const state: State = {
      account: 2,
      person: fresh(),
      device: fresh(),
      limits: { ...own, epoch, quota: quota === undefined ? null : limit(quota, 64), quotas: {}, askers },
      own,
      born: at.wall,
      clock: { ...at, ahead: 0 },
      openings: askers,
      askers: [],
      entries: [],
      answers: [],
      choices: [],
      queue: [],
    };
    return [0, { state, key: fresh() + fresh() }];
  });

  const happen = (change: (state: State, key: string) => Step): Promise<Outcome> =>
    store.update((kept) => {
      need(kept, "account");
      const [outcome, state] = change(kept.state, kept.key);
      return state ? [outcome, { ...kept, state }] : [outcome];
    });

  const device: Device = {
    question: (specification, asking) => {
      const question = readQuestion(specification);
      const { name, asker, repeat = "fresh", assumes = [], data = null, days = null, start = null, times } = asking;
      const { mechanism, epsilon, delta, fingerprint, spend } = question;
      const once = Number.isInteger(days) && days! > 0 && Number.isInteger(start);
      need(name && asker && REPEATS.includes(repeat) && !spend === !times, "asking");
      need(repeat === "once" ? once : days === start && days === null, "asking");
      const cost = spend ? spend(epsilon, times!) : epsilon;
      return {
        question,
        asking,
        asked: { question: name, asker, fingerprint, mechanism, epsilon: cost, delta, assumes, repeat, days, start, data },
        promise: async () => {
          const odds = Math.exp(cost);
          const left = await store.update((kept) => [kept ? remaining(kept.state, now().wall) : 0]);
          return { epsilon: cost, odds, reach: odds / (1 + odds), left };
        },
      };
    },

    async answer({ question, asking, asked }, value, id = fresh()) {
      const { otherwise, times } = asking;
      const fits = (one: unknown): boolean => question.inside(one) !== undefined && (!times || (one as []).length === times);
      if (!fits(value)) value = otherwise;
      if (!fits(value)) return { is: "refused", reason: "value" };
      return happen((state, key) =>
        answer(state, id, asked, now(), allowed, {
          report: () => hex(question.report(value, asked.repeat === "per value" ? keyed(key, asked, question, value) : source)!),
          below: (bound) => below(source, bound),
        }),
      );
    },

    dryRun: ({ asked }) => happen((state) => [answer(state, "", asked, now(), allowed, {} as Drawing, true)[0]]),

    act: () => happen((state) => act(state, now())),

    async body(asker, label = "", most = 1000) {
      let found: Batch | undefined;
      const id = fresh();
      await happen((state) => {
        const step = batch(state, id, asker, most);
        const [outcome, next = state] = step;
        const own = outcome["id"] as string;
        if (own) found = { id: own, body: packedBody(own, label, next.queue.filter((one) => one.batch === own)) };
        return step;
      });
      return found;
    },

    acknowledge: (id) => happen((state) => acknowledge(state, id)),

    async send(asker, url, { fetch = globalThis.fetch, label } = {}) {
      for (let sent = 0; ; ) {
        const next = await device.body(asker, label);
        if (!next) return sent;
        const { ok, status } = await fetch(url, {
          method: "POST",
          body: next.body,
          headers: { "content-type": "application/vnd.dither.batch" },
          credentials: "omit",
          referrerPolicy: "no-referrer",
          keepalive: true,
        });
        // A conflict: these reports are stored, sent before under another label. Nobody else knows the identity.
        if (!ok && status !== 409) return sent;
        sent += ((await device.acknowledge(next.id))["reports"] as number) ?? 0;
      }
    },
  };
  return device;
}

/** The account of one person on this device, its questions and its queue. */
export const Device = { open };

/** Return the ε that is left in the epoch of a second, and in all. */
function remaining({ entries, own, limits, device, clock }: State, wall: number): number {
  const now = epoch(limits.epoch, Math.max(wall, clock.wall));
  const mine = entries.filter((one) => one.device === device);
  const left = (some: Entry[], most: Units): number => Math.max(0, Number(BigInt(`0x${most.epsilon}`) - total(some, "epsilon")) / 2 ** 64);
  const today = left(mine.filter((one) => one.first <= now && now <= one.last), own);
  return own.lifetime ? Math.min(today, left(mine, own.lifetime)) : today;
}

/** A source that repeats for one value: SHA-256 of the key, the question and the value, in counter mode. */
function keyed(key: string, asked: Asked, question: Question, value: unknown): Source {
  const text = JSON.stringify([key, asked.question, question.device, typeof value, value]);
  let count = 0;
  const left: number[] = [];
  return {
    take(size) {
      while (left.length < size) left.push(...sha256(utf8(`${count++} ${text} ${key}`)));
      return Uint8Array.from(left.splice(0, size));
    },
  };
}
