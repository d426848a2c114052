/** A device that answers: questions, one durable account, a queue of reports, and what is promised. */

import { exchange, hex, need, type Question, readQuestion, real, type Source, systemSource } from "./parts.js";
import { acknowledge, answer, assumed, batch, DEFAULT, limit, PLAIN, plain, same, type Asked, type Named, type Outcome, type Policy, type Rules, type State } from "./account.js";
import { jsonBody, judge, type Waiting } from "./batch.js";

/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store<Thing = Kept> {
  update<T>(change: (kept: Thing | undefined) => [result: T, next?: Thing | undefined]): Promise<T>;
}

/** What is kept: the state of the account, and the secret key of permanent answers. */
export interface Kept {
  state: State;
  key: string;
}

export interface Options {
  /** The ε that all askers together may learn: for ever, or in one epoch of the rules. */
  epsilon: number;
  /** The δ that they may learn; none unless it is given, here and in the policy. */
  delta?: number;
  store: Store;
  source?: Source;
  policy?: Partial<Policy>;
  /** The rules of the account: one budget for all time, unless they are those of `dither-ldp/rules`. */
  rules?: Rules;
}

/** What an asker adds to a question: its name, who asks, how often. */
export interface InquiryTerms {
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

/** What a page can show before it asks. */
export interface Promised {
  epsilon: number;
  /** No report is more than this many times likelier under one value than under another. */
  odds: number;
  /** Whoever guessed 50 % before can reach at most this much. */
  reach: number;
  /** The ε that is left for all askers, before this answer. */
  left: number;
  /** What this holds under; the policy must accept each line. */
  assumes: string[];
}

/** An inquiry: a question with what its asker added, as `answer` and `send` take it. */
export interface Inquiry {
  readonly question: Question;
  readonly terms: InquiryTerms;
  /** What the account sees of it: no value. */
  readonly asked: Asked;
  /** Return what is promised to the person who answers, and what is left. */
  promise(): Promise<Promised>;
}

/** A batch: its identity, and the bytes that are sent until the collector has it. */
export interface Batch {
  id: string;
  body: string | Uint8Array<ArrayBuffer>;
}

/** How a batch is sent. */
export interface Sending {
  /** A public label of all reports of a batch, such as a version. */
  label?: string;
  /** `packedBody` of `dither-ldp/packed`; without it a batch is JSON. */
  pack?: (batch: string, label: string, reports: Waiting[]) => Uint8Array<ArrayBuffer>;
  fetch?: typeof globalThis.fetch;
}

/** A batch that a collector did not take. */
export interface Refusal {
  /** The collector's word for it, as docs/wire.md lists them; otherwise the status, or "unreachable". */
  reason: string;
  /** The collector's sentence. */
  words: string;
  /** How many reports were dropped, for no collector can ever take them; 0 if they wait. */
  dropped: number;
}

/** What became of the reports that waited. */
export interface Sent {
  /** How many reports were acknowledged. */
  sent: number;
  /** How many reports to these questions wait still. */
  waiting: number;
  refused: Refusal[];
  /** The seconds after which to send again; 0 if the collector did not say so. */
  retryAfter: number;
}

export interface Device {
  /** Read and verify a question. Throw `Malformed` with the reason if this device cannot answer it. */
  asking(specification: string, terms: InquiryTerms): Inquiry;
  /**
   * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a
   * value that is not in the domain is refused for the reason "value" and nothing is spent: declare `otherwise`.
   */
  answer(inquiry: Inquiry, value: unknown, id?: string): Promise<Outcome>;
  /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
  dryRun(inquiry: Inquiry): Promise<Outcome>;
  /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
  act(): Promise<Outcome>;
  /** Return the next batch of reports of some inquiries, the same until it is acknowledged; undefined if nothing waits. */
  body(inquiries: Inquiry | Inquiry[], options?: Sending): Promise<Batch | undefined>;
  /** The collector has the batch: its reports leave the queue. */
  acknowledge(id: string): Promise<Outcome>;
  /**
   * Send what waits of some inquiries, batch by batch, until nothing waits or the collector cannot be reached or is busy. Never throw because of
   * an answer or of the network. A batch that the collector refuses for good is dropped, so that it does not hold up the others.
   *
   * Name the inquiries of one campaign: a collector refuses a batch with a report to another one.
   */
  send(inquiries: Inquiry | Inquiry[], url: string, options?: Sending): Promise<Sent>;
  /**
   * Return the account, or what a function makes of it and keeps: `device.account(view)` shows what was given, and `device.account(erase)` forgets it,
   * with the two functions of `dither-ldp/account`.
   */
  account<T = State>(look?: (state: State, rules: Rules) => [result: T, next?: State | undefined]): Promise<T>;
}

/** Open the account of a device; it is created with these limits if there is none. */
async function open({ epsilon, delta = 0, store, source = systemSource(), policy, rules = plain }: Options): Promise<Device> {
  need(real({ epsilon }, "epsilon") > 0 && epsilon < 2 ** 20 && real({ delta }, "delta") >= 0 && delta < 1, "epsilon");
  const allowed = { ...DEFAULT, ...policy };
  const fresh = (): string => hex(source.take(16));
  const born = Math.floor(Date.now() / 1000);
  const own = { epsilon: limit(epsilon, 64), delta: limit(delta, 128), lifetime: null };
  const begun: State = {
    account: 2,
    person: fresh(),
    device: fresh(),
    limits: { ...own, ...PLAIN },
    own,
    born,
    clock: { wall: born, boot: "", elapsed: 0, ahead: 0 },
    openings: null,
    askers: [],
    entries: [],
    answers: [],
    choices: [],
    queue: [],
  };
  // What is there is written again, so that a store that keeps a copy has the present one.
  await store.update(({ state, key } = { state: begun, key: fresh() + fresh() }) => {
    need(state, "account");
    return [0, { state: rules.open(state, state === begun), key }];
  });

  const happen = <T>(change: (state: State, key: string) => [T, (State | undefined)?]): Promise<T> =>
    store.update((kept) => {
      need(kept, "account");
      const [outcome, state] = change(kept.state, kept.key);
      return [outcome, state && { ...kept, state }];
    });

  const among =
    (inquiries: Inquiry | Inquiry[]) =>
    (one: Named): boolean =>
      [inquiries].flat().some(({ asked }) => same(one, asked));

  const device: Device = {
    asking(specification, terms) {
      const question = readQuestion(specification, terms.name);
      const { name, asker, repeat = "fresh", assumes = [], data = null, days = null, start = null, times } = terms;
      const { mechanism, epsilon, delta, fingerprint, spend } = question;
      (["name", "asker"] as const).forEach((field) => need(terms[field] && typeof terms[field] === "string", "asking", field));
      need(!spend === !times, "asking", "times");
      const [cost, lines] = spend?.(epsilon, times!) ?? [epsilon, []];
      const odds = Math.exp(cost);
      const asked = { question: name, asker, fingerprint, mechanism, epsilon: cost, delta, assumes: assumes.concat(lines), repeat, days, start, data, ...(times && { times }) };
      need(rules.knows(asked), "asking", "repeat");
      return {
        question,
        terms,
        asked,
        promise: () => happen((state) => [{ epsilon: cost, odds, reach: odds / (1 + odds), left: rules.left(state), assumes: assumed(asked, rules) }]),
      };
    },

    async answer({ question, terms, asked }, value, id = fresh()) {
      const { otherwise, times } = terms;
      // The value is read here, and not again: values that are moved to one place are one, and what fails leaves the account alone.
      const input = [value, otherwise].map(question.inside).find((one) => one !== undefined && (!times || (one as []).length === times));
      if (input === undefined) return { is: "refused", reason: "value" };
      return happen((state, key) => {
        const keyed = (purpose: number): Source => rules.source?.(key, asked, input, purpose) ?? source;
        return answer(state, id, asked, allowed, rules, { report: () => hex(question.draw(input, keyed(0))), mark: () => hex(keyed(1).take(16)), source });
      });
    },

    dryRun: ({ asked }) => happen((state) => [answer(state, "", asked, allowed, rules)[0]]),

    act: () => happen((state) => rules.act?.(state) ?? [{ is: "acted" }]),

    body: (inquiries, { label = "", pack = jsonBody as never } = {}) =>
      happen((state) => {
        const [id, reports, next] = batch(state, fresh(), 1000, among(inquiries));
        return [reports[0] && { id, body: pack(id, label, reports) }, next];
      }),

    acknowledge: (id) => happen((state) => acknowledge(state, id)),

    async send(inquiries, url, options = {}) {
      const { fetch = globalThis.fetch, pack } = options;
      const told: Sent = { sent: 0, waiting: 0, refused: [], retryAfter: 0 };
      for (let next; (next = await device.body(inquiries, options)); ) {
        const { id, body } = next;
        const form = "application/" + (pack ? "vnd.dither.batch" : "json");
        // Browsers refuse a request that may outlive its page and has a body beyond 64 KiB.
        const options = { method: "POST", body, headers: { "content-type": form }, keepalive: body.length < 6e4 };
        const [{ status, headers }, text] = await exchange(fetch, url, 2 ** 16, options)
          .then(async ([answer, content]) => [answer, await content.text()] as const)
          .catch((error: unknown) => [{} as Response, JSON.stringify({ refused: "unreachable", words: "" + error })] as const);
        const { fate, reason, words } = judge(id, status, text);
        const gone = fate !== "kept";
        const { reports: dropped = 0 } = (gone && (await device.acknowledge(id))) as { reports?: number };
        if (fate === "acknowledged") told.sent += dropped;
        else told.refused.push({ reason: reason || "status " + status, words, dropped });
        told.retryAfter = Math.min(Math.max(+headers?.get("retry-after")! || 0, 0), 86400);
        if (!gone) break;
      }
      told.waiting = await happen(({ queue }) => [queue.filter(among(inquiries)).length]);
      return told;
    },

    account: (look = (state) => [state as never]) => happen((state) => look(state, rules)),
  };
  return device;
}

/** The account of one person on this device, its questions and its queue. */
export const Device = { open };
