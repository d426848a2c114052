/** A device that answers: questions, one durable account, a queue of reports, and its promise. */

import { exchange, hex, Malformed, need, type Question, readQuestion, real, type Source, systemSource } from "./parts.js";
import { acknowledge, answer, assumed, batch, DEFAULT, drop, limit, PLAIN, plain, same, upgraded, waits, withoutMessages, type Asked, type Named, type Outcome, type Policy, type Rules, type State, type Step } from "./account.js";
import { jsonBody, judge, type Waiting } from "./batch.js";

/** Where the account is kept. `update` is one transaction: it resolves when the new state is on disk. */
export interface Store<Thing = Kept> {
  update<T>(change: (kept: Thing | undefined) => [result: T, next?: Thing | undefined]): Promise<T>;
}

/** The shown parts of a campaign: a digest of asker, purpose and repetition, a digest of each question with its words, and the days. */
export interface Shown {
  general: string;
  questions: string[];
  begins: string;
  ends: string;
}

/** A person's agreement: the shown parts, and the address of the collector, without the identity of the campaign, if it was given. */
export interface Agreed extends Shown {
  address?: string | undefined;
}

/** The kept data: the state of the account, the secret key of permanent answers, and the person's choice, if any: for campaigns by the digest of what was shown. */
export interface Kept {
  state: State;
  key: string;
  consent?: boolean;
  agreed?: { [general: string]: Agreed | null };
}

/** What `consent` needs of a campaign of `dither-ldp/signatures`. */
export interface Consented {
  shown: Shown;
  terms: { [name: string]: unknown };
  questions: { [name: string]: unknown };
}

export interface Options {
  /** The ε that all askers together may learn: for ever, or in one epoch of the rules. */
  epsilon: number;
  /** The δ that they may learn; none unless it is given, here and in the policy. */
  delta?: number;
  store: Store;
  source?: Source;
  policy?: Partial<Policy>;
  /** The rules of the account: one budget for all time, or the rules of `dither-ldp/rules`. */
  rules?: Rules;
}

/** An asker's terms of a question: its name, the asker, the repetition. */
export interface InquiryTerms {
  name: string;
  asker: string;
  repeat?: Asked["repeat"];
  days?: number;
  start?: number;
  assumes?: string[];
  data?: [number, number];
  /** The number of locations of a path: exactly this number is answered, and charged. */
  times?: number;
  /** The label for answers that are not in the list. */
  otherwise?: unknown;
  /** What the campaign shows to the person: consent to anything else does not cover this question. */
  shown?: Shown;
  /** The labels of batches that the campaign lists: `send` refuses any other one. */
  labels?: string[];
  /** Take an acknowledged batch off the queue, and note until when it can be taken back. */
  taken?: (state: State, id: string) => Step;
  /** The last day of the campaign, in days since 1970: `answer` refuses after it, and spends nothing. */
  ends?: number;
  /** Calendar periods, in place of `days`. */
  every?: "day" | "week" | "month";
  /** The most often that a value changes in a period, of a kept change: a value is the list of the values of all its days so far. */
  changes?: number;
  /** The most answers to a question over a campaign. */
  limit?: { campaign: string; answers: number };
  /** Whether this device answers is tossed once. */
  phase?: { campaign: string; name: string; share?: number; follows?: string };
  /** Return the value of a person's input: of a scale, a date or a time; undefined for other inputs. */
  value?: (given: unknown) => unknown;
  /** The languages of the words below, the first of which is the campaign's own. */
  languages?: string[];
  /** The question as people read it, by language. */
  text?: { [language: string]: string };
  /** The answers as people read them, by language, in the order of the labels. */
  names?: { [language: string]: string[] };
  unit?: string;
  step?: number;
  form?: "date" | "time" | "installed";
  /** The edges of a scale. */
  scale?: number[];
}

/** The words that a page can show before a question. */
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
  /** Return the promise to the person who answers, and the remaining budget. */
  promise(): Promise<Promised>;
  /** Return the question as people read it, in the best of some languages (those of the browser unless they are given); its name if the campaign has no words for it. */
  text(languages?: readonly string[]): string;
  /** Return the answers of a list, each with the value for `answer` and with its words in the best of some languages; empty if it has none. */
  labels(languages?: readonly string[]): { value: unknown; text: string }[];
}

/** Return the tag of the language that suits best: the same, or the same but for script and region, or the first of those that there are. */
export function pick(tags: readonly string[], wanted: readonly string[] = (globalThis as { navigator?: Navigator }).navigator?.languages ?? []): string {
  const main = (tag: string): string => tag.split("-")[0]!;
  for (const one of wanted) {
    const found = tags.find((tag) => tag === one) ?? tags.find((tag) => main(tag) === main(one));
    if (found) return found;
  }
  return tags[0] ?? "";
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
  /** The collector's word for it, as docs/wire.md lists them; otherwise the status, "unreachable", or "consent" if the person does not want to send. */
  reason: string;
  /** The collector's sentence, or this client's. */
  words: string;
  /** The number of dropped reports that no collector can ever take; 0 if they wait. */
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
   * Nothing is spent either if the campaign is over ("ended"), or without consent ("consent").
   */
  answer(inquiry: Inquiry, value: unknown, id?: string): Promise<Outcome>;
  /** Return what `answer` would do, without a value: nothing is drawn, spent or sent. */
  dryRun(inquiry: Inquiry): Promise<Outcome>;
  /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
  act(): Promise<Outcome>;
  /**
   * Return whether this device may answer and send; with a choice, keep what the person chose first. Nobody chose: it may, unless the browser has Global Privacy
   * Control or the process DO_NOT_TRACK. What a person chose counts more than these.
   *
   * A yes to a campaign holds for its shown parts, and for the collector at the `address` of the campaign, if it is given. As soon as the person was asked about anything,
   * every campaign needs a yes of its own: also a new version that asks more, says other words or lasts longer. `consent(false)` is a no to all.
   *
   * What waits while the person says no is kept, and is never sent: a later yes drops it from the queue. Permanent answers may be given again.
   */
  consent(choice?: boolean, campaign?: Consented, address?: string): Promise<boolean>;
  /** Return the person's choice, for a campaign if it is given; undefined without a choice about its shown parts. */
  chosen(campaign?: Consented): Promise<boolean | undefined>;
  /** Return the next batch of reports of some inquiries, the same until it is acknowledged; undefined if nothing waits, or without consent. */
  body(inquiries: Inquiry | Inquiry[], options?: Sending): Promise<Batch | undefined>;
  /** The collector has the batch: its reports leave the queue. */
  acknowledge(id: string): Promise<Outcome>;
  /**
   * Send what waits of some inquiries, batch by batch, until nothing waits or the collector cannot be reached or is busy. Never throw because of
   * an answer or of the network. A batch that the collector refuses for good is dropped, so that it does not hold up the others. Consent is looked at before
   * every batch. Throw `Malformed` ("label") for a label that the campaign does not list: nothing is then sent, and all reports are kept.
   *
   * Name the inquiries of one campaign: a collector refuses a batch with a report to another one.
   */
  send(inquiries: Inquiry | Inquiry[], url: string, options?: Sending): Promise<Sent>;
  /**
   * Return the account, or the result of a function on it: `device.account(view)` shows the answers, and `device.account(erase)` forgets it,
   * with the two functions of `dither-ldp/account`.
   */
  account<T = State>(look?: (state: State, rules: Rules, kept: Kept, policy: Policy, source: Source) => [result: T, next?: State | undefined, forgetKey?: true]): Promise<T>;
}

/** Return the name of the signal of this browser, or of this process, that the person does not want to be counted; undefined without such a signal. */
function signal(): string | undefined {
  const { navigator, process } = globalThis as { navigator?: { globalPrivacyControl?: boolean }; process?: { env?: { [name: string]: string | undefined } } };
  if (navigator?.globalPrivacyControl) return "Global Privacy Control";
  return ["DO_NOT_TRACK", "NO_TELEMETRY"].find((name) => !["", "0", "false", "no", undefined].includes(process?.env?.[name]?.toLowerCase()));
}

/** Return the person's choice about the shown parts; undefined without one. */
function choiceOf({ consent, agreed }: Kept, shown?: Shown, url = ""): boolean | undefined {
  const said = shown && agreed?.[shown.general];
  if (!said) return said === null || consent === false ? false : shown ? undefined : consent;
  const { questions, begins, ends, address = "" } = said;
  const covered = shown.questions.every((one) => questions.includes(one)) && begins <= shown.begins && shown.ends <= ends;
  return (covered && (!url || url.startsWith(address))) || undefined;
}

/** Return why nothing may be answered and sent, or undefined if it may. */
export function withheld(kept: Kept, shown?: Shown, url?: string): string | undefined {
  const choice = choiceOf(kept, shown, url);
  if (choice !== undefined) return choice ? undefined : "the person does not want to answer";
  const found = kept.consent || Object.keys(kept.agreed ?? {})[0] ? "the person was asked about something else" : signal()?.concat(" is set");
  return found && `${found}: ask the person, and call device.consent(true${shown ? ", campaign" : ""}) if they agree`;
}

/** Take what waits off the queue. Permanent answers may be given again, unless they are in a batch that may have arrived. */
const unqueued = (state: State, chosen: (one: Named) => boolean): State =>
  state.queue.filter((one) => waits(one) && chosen(one)).reduce((state, { id, batch }) => (batch ? acknowledge : drop)(state, id)[1] ?? state, state);

/** Return an inquiry; throw `Malformed` if it is something else. */
const checked = (inquiry: Inquiry): Inquiry => (need(inquiry?.asked, "asking", "expected an inquiry of device.asking"), inquiry);

/** Return what a question takes. */
function expected({ form, scale }: InquiryTerms, { device }: Question): string {
  return form ? `a ${form}, such as ${form === "time" ? "13:45" : "2026-05-01"}` : scale ? `a number from ${scale[0]} to ${scale.at(-1)}` : JSON.stringify((JSON.parse(device) as { domain: object }).domain).slice(0, 300);
}

export const refused = (reason: string, words: string): Outcome => ({ is: "refused", reason, words });

/** Send batch after batch, until the queue is empty or the collector cannot be reached or is busy. `settle` takes a batch off the queue, and returns how many reports it was. */
export async function deliver(
  next: () => Promise<Batch | string | undefined>,
  settle: (id: string, fate: "acknowledged" | "dropped") => Promise<Outcome>,
  url: string,
  { fetch = globalThis.fetch, pack }: Sending,
  source: Source,
): Promise<Sent> {
  const result: Sent = { sent: 0, waiting: 0, refused: [], retryAfter: 0 };
  const unsent = (refused: string, words: unknown): [Response, string] => [{} as Response, JSON.stringify({ refused, words: "" + words })];
  for (let found; (found = await next()); ) {
    const { id, body } = found as Batch; // a sentence has neither
    const form = "application/" + (pack ? "vnd.dither.batch" : "json");
    const [{ status, headers }, text] = body
      ? // Browsers refuse a request that may outlive its page and has a body beyond 64 KiB.
        await exchange(fetch, url, 2 ** 16, { method: "POST", body, headers: { "content-type": form }, keepalive: body.length < 6e4 })
          .then(async ([answer, content]): Promise<[Response, string]> => [answer, await content.text()])
          .catch((error: unknown) => unsent("unreachable", error))
      : unsent("consent", found);
    const { fate, reason, words } = judge(id, status, text);
    const { reports: dropped = 0 } = (fate !== "kept" && (await settle(id, fate))) as { reports?: number };
    if (fate === "acknowledged") result.sent += dropped;
    else result.refused.push({ reason: reason || "status " + status, words: words || "no collector at …/campaigns/<id>/batches; it may have moved", dropped });
    // Up to a quarter more, so that devices that were turned away together do not come back together.
    result.retryAfter = Math.min(Math.max(+headers?.get("retry-after")! || 0, 0), 86400) * (1 + source.take(1)[0]! / 1024);
    if (fate === "kept") break;
  }
  return result;
}

/** Open the account of a device; a missing one is created with these limits. */
async function open({ epsilon, delta = 0, store, source = systemSource(), policy, rules = plain }: Options = {} as Options): Promise<Device> {
  need(store?.update, "store", "expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests");
  need(rules?.open, "rules", "expected rules: allRules()");
  need(epsilon > 0 && epsilon < 2 ** 20 && delta >= 0 && delta < 1 && [epsilon, delta].every(Number.isFinite), "epsilon", "expected epsilon > 0, and delta < 1");
  const allowed = { ...DEFAULT, ...policy };
  const fresh = (): string => hex(source.take(16));
  const born = Math.floor(Date.now() / 1000);
  const own = { epsilon: limit(epsilon, 64), delta: limit(delta, 128), lifetime: null };
  const begun: State = {
    account: 3,
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
  await store.update((kept = { state: begun, key: fresh() + fresh() }) => {
    need(kept.state, "account");
    return [0, { ...kept, state: rules.open(upgraded(kept.state), kept.state === begun) }];
  });

  const happen = <T>(change: (state: State, kept: Kept) => [T, (State | undefined)?, true?]): Promise<T> =>
    store.update((kept) => {
      need(kept, "account");
      const [outcome, state, forgetKey] = change(kept.state, kept);
      return [outcome, state && { ...kept, state, ...(forgetKey && { key: fresh() + fresh() }) }];
    });

  /** Return an outcome with the limits in words, if it is over one. */
  const said = (outcome: Outcome, state: State, { epsilon, delta }: Asked): Outcome => {
    const { reason } = outcome as { reason?: string };
    const words = reason === "budget" ? `ε = ${epsilon}, δ = ${delta} is too much; ε = ${+rules.left(state).toPrecision(9)} is left` : reason === "policy" ? "policy of this device, for one answer: " + JSON.stringify(allowed) : "";
    return words ? { ...outcome, words } : outcome;
  };

  /** Return the next batch, or the reason without one. */
  const next = (inquiries: Inquiry | Inquiry[], { label = "", pack = jsonBody as never }: Sending, url?: string): Promise<Batch | string | undefined> => {
    for (const inquiry of [inquiries].flat()) {
      const { terms } = checked(inquiry);
      need(!label || (terms.labels?.includes(label) ?? true), "label", `${JSON.stringify(label)} is not in the campaign; it lists ${JSON.stringify(terms.labels)}`);
    }
    return happen<Batch | string | undefined>((state, kept) => {
      const [id, reports, changed] = batch(state, fresh(), 1000, among(inquiries));
      const words = reports[0] && [inquiries].flat().map(({ terms }) => withheld(kept, terms.shown, url)).find(Boolean);
      return words ? [words] : [reports[0] && { id, body: pack(id, label, reports) }, changed];
    });
  };

  /** Return the outcome of an answer to a campaign that is over, if it is. */
  const ended = ({ ends = Infinity }: InquiryTerms): Outcome | undefined =>
    Date.now() / 864e5 >= ends + 1 ? refused("ended", "the campaign ended on " + new Date(ends * 864e5).toISOString().slice(0, 10)) : undefined;

  const among =
    (inquiries: Inquiry | Inquiry[]) =>
    (one: Named): boolean =>
      [inquiries].flat().some(({ asked }) => same(one, asked));

  const device: Device = {
    asking(specification, terms) {
      need(Object(terms) === terms && typeof specification === "string", "asking", "expected the text of a question, and terms: { name, asker }");
      const read = readQuestion(specification, terms.name);
      const { name, asker, repeat = "fresh", assumes = [], data = null, days = null, start = null, times, every, limit, phase, changes } = terms;
      const question = changes ? rules.changes?.of(read, days!, changes) : read;
      if (!question) throw new Malformed("asking", "changes: see dither-ldp/changes", name);
      const { mechanism, epsilon, delta, fingerprint, spend } = question;
      (["name", "asker"] as const).forEach((field) => need(terms[field] && typeof terms[field] === "string", "asking", field + ": expected a text"));
      if (!spend !== !times) throw new Malformed("asking", "times", name);
      const [cost, lines] = spend?.(epsilon, times!) ?? [epsilon, []];
      const odds = Math.exp(cost);
      const facts = { question: name, asker, fingerprint, mechanism, epsilon: cost, delta, assumes: assumes.concat(lines), repeat, days, start, data, ...(times && { times }), ...(every && { every }), ...(limit && { limit }), ...(phase && { phase }), ...(changes && { changes }) };
      if (!rules.knows(facts)) throw new Malformed("asking", `repeat = ${repeat}: not with these rules, days, start and data; see dither-ldp/rules`, name);
      return {
        question,
        terms,
        asked: facts,
        text: (languages) => terms.text?.[pick(terms.languages ?? [], languages)] ?? name,
        labels(languages) {
          const { labels = [] } = (JSON.parse(question.device) as { domain: { labels?: unknown[] } }).domain;
          const names = terms.names?.[pick(terms.languages ?? [], languages)];
          const values = labels.map((label) => (Object(label) === label ? (label as { number: number }).number : label));
          return values.map((value, at) => ({ value, text: names?.[at] ?? String(value) }));
        },
        promise: () => happen((state) => [{ epsilon: cost, odds, reach: odds / (1 + odds), left: rules.left(state), assumes: assumed(facts, rules) }]),
      };
    },

    async answer(inquiry, value, id = fresh()) {
      const { question, terms, asked: facts } = checked(inquiry);
      const { otherwise, times, name } = terms;
      // The value is read only here: values that are moved to one place are one, and an error leaves the account unchanged.
      const input = [terms.value ? terms.value(value) : value, otherwise].map(question.inside).find((one) => one !== undefined && (!times || (one as []).length === times));
      if (input === undefined) return refused("value", `question "${name}": expected ${value === undefined ? "a value, got undefined" : expected(terms, question) + "; declare otherwise for all others"}`);
      return happen((state, kept) => {
        const keyed = (purpose: number): Source => rules.source?.(kept.key, facts, input, purpose) ?? source;
        const words = withheld(kept, terms.shown);
        const over = words ? refused("consent", words) : ended(terms);
        if (over) return [over];
        const [outcome, next] = answer(state, id, facts, allowed, rules, { report: () => hex(question.draw(input, keyed(0))), mark: () => hex(keyed(1).take(16)), source, change: (owed) => rules.changes!.draw(question, input as number[], facts, owed, kept.key, source) });
        const leftOut = question.leftOut?.(value);
        return [{ ...said(outcome, state, facts), ...(leftOut && { leftOut }) }, next];
      });
    },

    async dryRun(inquiry) {
      const { asked: facts, terms } = checked(inquiry);
      return happen((state, kept) => {
        const words = withheld(kept, terms.shown);
        return [words ? refused("consent", words) : (ended(terms) ?? said(answer(state, "", facts, allowed, rules)[0], state, facts))];
      });
    },

    consent: (choice, campaign, address) =>
      store.update((kept) => {
        need(kept, "account");
        need(!choice || (choice === true && (!campaign || campaign.shown)), "asking", "expected true or false, and a campaign of fetchCampaign");
        if (choice === undefined) return [!withheld(kept, campaign?.shown)];
        const { shown, terms, questions } = campaign ?? ({} as Partial<Consented>);
        const { agreed } = kept;
        const next: Kept = shown ? { ...kept, agreed: { ...agreed, [shown.general]: choice ? { ...shown, address: address?.replace(/campaigns\/\w+$/, "") } : null } } : { ...kept, consent: choice, agreed: choice ? (agreed ?? {}) : {} };
        // What was drawn before a no is not covered by a later yes.
        if (choice && choiceOf(kept, shown) === false) {
          const [state] = withoutMessages(kept.state, (one) => !shown || (one.asker === terms!["asker"] && one.name === terms!["name"]));
          next.state = unqueued(state, (one) => !shown || (one.asker === terms!["asker"] && one.question in questions!));
        }
        return [!withheld(next, shown), next];
      }),

    act: () => happen((state) => rules.act?.(state) ?? [{ is: "acted" }]),

    chosen: (campaign) => store.update((kept) => [kept && choiceOf(kept, campaign?.shown)]),

    async body(inquiries, options = {}) {
      const found = await next(inquiries, options);
      return typeof found === "string" ? undefined : found;
    },

    acknowledge: (id) => happen((state) => acknowledge(state, id)),

    async send(inquiries, url, options = {}) {
      const taken = [inquiries].flat()[0]?.terms?.taken ?? acknowledge;
      const result = await deliver(
        () => next(inquiries, options, url),
        (id, fate) => happen((state) => (fate === "dropped" ? drop : taken)(state, id)),
        url,
        options,
        source,
      );
      result.waiting = await happen(({ queue }) => [queue.filter((one) => waits(one) && among(inquiries)(one)).length]);
      return result;
    },

    account: (look = (state) => [state as never]) => happen((state, kept) => look(state, rules, kept, allowed, source)),
  };
  return device;
}

/** The account of one person on this device, its questions and its queue. */
export const Device = { open };
