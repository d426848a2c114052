/** A device that answers: questions, one durable account, a queue of reports, and what is promised. */

import { acknowledge, act, answer, batch, epoch, limit, total, type Asked, type Entry, type Moment, type Outcome, type Policy, type State, type Step, type Units } from "./account.js";
import { jsonBody, packedBody } from "./batch.js";
import { readQuestion, type Question } from "./question.js";
import { below, concatenate, systemSource, type Source } from "./source.js";
import { hex, need, sha256, utf8 } from "./text.js";

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

export class Device {
  readonly #store: Store;
  readonly #source: Source;
  readonly #policy: Policy;
  readonly #now: () => Moment;

  private constructor(options: Options) {
    this.#store = options.store;
    this.#source = options.source ?? systemSource();
    this.#policy = { ...NOBODY, ...options.policy };
    this.#now = options.now ?? systemNow;
  }

  /** Open the account of a device; it is created with these limits if there is none. */
  static async open(options: Options): Promise<Device> {
    need(options.epsilon > 0 && options.epsilon < 2 ** 20, "epsilon");
    const device = new Device(options);
    const fresh = (): string => hex(device.#source.take(16));
    await options.store.update((kept) => {
      if (kept) return [undefined];
      const units = { epsilon: limit(options.epsilon, 64), delta: "0" };
      const lifetime = options.lifetime === undefined ? null : { epsilon: limit(options.lifetime, 64), delta: "0" };
      const at = device.#now();
      const state: State = {
        account: 2,
        person: fresh(),
        device: fresh(),
        limits: {
          ...units,
          epoch: options.epoch ?? "lifetime",
          lifetime,
          quota: options.quota === undefined ? null : limit(options.quota, 64),
          quotas: {},
          askers: options.askers ?? null,
        },
        own: { ...units, lifetime },
        born: at.wall,
        clock: { ...at, ahead: 0 },
        openings: options.askers ?? null,
        askers: [],
        entries: [],
        answers: [],
        choices: [],
        queue: [],
      };
      return [undefined, { state, key: fresh() + fresh() }];
    });
    return device;
  }

  /** Read and verify a question. Throw `Malformed` with the reason if this device cannot answer it. */
  question(specification: string, asking: Asking): Asks {
    const asks: Asks = new Asks(readQuestion(specification), asking, () => this.promise(asks));
    return asks;
  }

  #happen(change: (state: State, key: string) => Step): Promise<Outcome> {
    return this.#store.update((kept) => {
      need(kept, "account");
      const [outcome, state] = change(kept.state, kept.key);
      return state ? [outcome, { ...kept, state }] : [outcome];
    });
  }

  /**
   * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a
   * value that is not in the domain is refused for the reason "value" and nothing is spent: declare `otherwise`.
   */
  answer(asks: Asks, value: unknown, id = hex(this.#source.take(16))): Promise<Outcome> {
    const fits = asks.fits(value) ? value : asks.asking.otherwise;
    if (!asks.fits(fits)) return Promise.resolve({ is: "refused", reason: "value" });
    return this.#happen((state, key) => {
      const source = asks.asked.repeat === "per value" ? keyed(key, asks, fits) : this.#source;
      const drawing = {
        report: () => hex(asks.question.report(fits, source)!),
        below: (bound: number) => below(this.#source, bound),
      };
      return answer(state, id, asks.asked, this.#now(), this.#policy, drawing);
    });
  }

  /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
  dryRun(asks: Asks): Promise<Outcome> {
    const drawing = { report: () => "", below: () => 0 };
    return this.#happen((state) => [answer(state, "", asks.asked, this.#now(), this.#policy, drawing, true)[0]]);
  }

  /** Return what is promised to the person who answers, and what is left. */
  async promise(asks: Asks): Promise<Promised> {
    const { epsilon } = asks.question;
    const odds = Math.exp(epsilon);
    const left = await this.#store.update((kept) => [kept ? remaining(kept.state, this.#now().wall) : 0]);
    return { epsilon, odds, reach: odds / (1 + odds), left };
  }

  /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
  act(): Promise<Outcome> {
    return this.#happen((state) => act(state, this.#now()));
  }

  /** Return the next batch of an asker as a body that is the same until it is acknowledged; undefined if nothing waits. */
  async body(asker: string, form: "packed" | "json" = "packed", label = "", most = 1000): Promise<{ id: string; body: Uint8Array | string } | undefined> {
    const fresh = hex(this.#source.take(16));
    let found: { id: string; body: Uint8Array | string } | undefined;
    await this.#happen((state) => {
      const step = batch(state, fresh, asker, most);
      const [outcome, next] = step;
      if (outcome.is !== "empty") {
        const id = outcome["id"] as string;
        const reports = (next ?? state).queue.filter((one) => one.batch === id);
        found = { id, body: form === "json" ? jsonBody(id, label, reports) : packedBody(id, label, reports) };
      }
      return step;
    });
    return found;
  }

  /** The collector has the batch: its reports leave the queue. */
  acknowledge(id: string): Promise<Outcome> {
    return this.#happen((state) => acknowledge(state, id));
  }

  /** Send what waits for an asker, batch by batch. Return how many reports were acknowledged. */
  async send(asker: string, url: string, options: { fetch?: typeof globalThis.fetch; label?: string } = {}): Promise<number> {
    const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    let sent = 0;
    for (;;) {
      const next = await this.body(asker, "packed", options.label);
      if (!next) return sent;
      const response = await fetch(url, {
        method: "POST",
        body: next.body as Uint8Array<ArrayBuffer>,
        headers: { "content-type": "application/vnd.dither.batch" },
        credentials: "omit",
        referrerPolicy: "no-referrer",
        keepalive: true,
      });
      if (!response.ok) return sent;
      sent += Number((await this.acknowledge(next.id))["reports"] ?? 0);
    }
  }
}

/** A question as this device is asked it. */
export class Asks {
  readonly question: Question;
  readonly asking: Asking;
  readonly asked: Asked;
  /** Return what is promised to the person who answers, and what is left. */
  readonly promise: () => Promise<Promised>;

  constructor(question: Question, asking: Asking, promise: () => Promise<Promised>) {
    const { name, asker, repeat = "fresh", assumes = [], data = null, days = null, start = null } = asking;
    need(name && asker && REPEATS.includes(repeat), "asking");
    const once = Number.isInteger(days) && days! > 0 && Number.isInteger(start);
    need(repeat === "once" ? once : days === null && start === null, "asking");
    this.question = question;
    this.promise = promise;
    this.asking = asking;
    const { mechanism, epsilon, fingerprint } = question;
    this.asked = { question: name, asker, fingerprint, mechanism, epsilon, delta: 0, assumes, repeat, days, start, data };
  }

  /** Return whether a value has a report. */
  fits(value: unknown): boolean {
    return this.question.admits(value);
  }
}

/** Return the ε that is left in the epoch of a second, and in all. */
function remaining({ entries, own, limits, device, clock }: State, wall: number): number {
  const now = epoch(limits.epoch, Math.max(wall, clock.wall));
  const mine = entries.filter((one) => one.device === device);
  const left = (some: Entry[], most: Units): number => Math.max(0, Number(BigInt(`0x${most.epsilon}`) - total(some, "epsilon")) / 2 ** 64);
  const today = left(mine.filter((one) => one.first <= now && now <= one.last), own);
  return own.lifetime ? Math.min(today, left(mine, own.lifetime)) : today;
}

/** A source that repeats for one value: SHA-256 of the key, the question and the value, in counter mode. */
function keyed(key: string, asks: Asks, value: unknown): Source {
  const text = JSON.stringify([key, asks.asked.question, asks.question.device, typeof value, value]);
  let count = 0;
  let left = new Uint8Array(0);
  return {
    take(size) {
      while (left.length < size) {
        left = concatenate([left, sha256(utf8(`${count++} ${text} ${key}`))]);
      }
      const taken = left.slice(0, size);
      left = left.slice(size);
      return taken;
    },
  };
}
