/**
 * The account of one person: what was given so far, and what may still be asked.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed functions that draw, and its new state has the spend and the report together.
 */

import { need, type Source } from "./parts.js";

/** One event ends with an outcome, and with a new state unless it changed nothing. */
export type Step = [outcome: Outcome, next?: State | undefined];
export type Outcome = { is: string } & Record<string, unknown>;

export interface Units {
  epsilon: string;
  delta: string;
}
export interface Own extends Units {
  lifetime: Units | null;
}
export interface Limits extends Own {
  epoch: "day" | "week" | "year" | "lifetime";
  quota: string | null;
  quotas: Record<string, string>;
  askers: number | null;
}
export interface Named {
  asker: string;
  question: string;
  fingerprint: string;
}
export interface Entry extends Named, Units {
  id: string;
  device: string;
  assumes: string[];
  first: number;
  last: number;
}
export interface Kept extends Named {
  id: string;
  permanent: "same" | "per value";
  report: string | null;
}
export interface Choice extends Named {
  period: number;
  day: number;
  device: string;
  answer: string | null;
}
export interface Queued extends Named {
  id: string;
  report: string;
  batch: string | null;
}
export interface Moment {
  wall: number;
  boot: string;
  elapsed: number;
}
export interface State {
  account: 2;
  person: string;
  device: string;
  limits: Limits;
  own: Own;
  born: number;
  clock: Moment & { ahead: number };
  openings: number | null;
  askers: string[];
  entries: Entry[];
  answers: Kept[];
  choices: Choice[];
  queue: Queued[];
}
/** A question as the account sees it: no value. */
export interface Asked extends Named {
  mechanism: string;
  epsilon: number;
  delta: number;
  assumes: string[];
  repeat: "fresh" | "same" | "per value" | "once";
  days: number | null;
  start: number | null;
  data: [number, number] | null;
}
export interface Policy {
  epsilon: number;
  delta: number;
  assumptions: string[];
  mechanisms: string[] | null;
}
/** What is drawn if the answer is allowed: the report as hexadecimal text; and the source of random days. */
export interface Drawing {
  report(): string;
  source: Source;
}
/** By which rules a state is kept. `plain` are those of one budget for all time; rules.ts has all. */
export interface Rules {
  /** Return the state that an account begins with, or that it goes on with; throw `Malformed` if it needs other rules. */
  open(state: State, isNew: boolean): State;
  /** Return whether a question may be asked so. */
  knows(asked: Asked): boolean;
  /**
   * Return how an answer ends without a report, and the state that is kept nevertheless; or no outcome, and the state to
   * which the report is added. `kept` is the permanent answer. Without a drawing (a dry run) no day is drawn.
   */
  decide(state: State, asked: Asked, entry: Entry, kept: Kept | undefined, drawing: Drawing | undefined): [ended?: Outcome | undefined, next?: State | undefined];
  /** Return the source of an answer that is the same for the same value, by the device's secret key. */
  source?(key: string, asked: Asked, device: string, value: unknown): Source | undefined;
  /** Return the ε that is left for all askers. */
  left(state: State): number;
  /** The person did something themselves. */
  act?(state: State): Step;
}


const FIELDS = ["epsilon", "delta"] as const;

export const number = (text: string): bigint => BigInt("0x" + text);
export const refuse = (reason: string): Step => [{ is: "refused", reason }];
export const same = (a: Named, b: Named): boolean => a.asker === b.asker && a.question === b.question && a.fingerprint === b.fingerprint;
export const named = ({ asker, question, fingerprint }: Named): Named => ({ asker, question, fingerprint });
const charge = (x: number, places: number): string => BigInt(Math.ceil(x * 2 ** places)).toString(16);

/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export function limit(x: number, places: number): string {
  const units = BigInt(Math.floor(x * 2 ** places));
  return (units && units + (units >> 52n) + 1n).toString(16);
}

/** Return what is left of a limit after some entries, in units: below 0 if they exceed it. */
export const remaining = (entries: Units[], most: Units, field: keyof Units): bigint =>
  entries.reduce((left, one) => left - number(one[field]), number(most[field]));

/** Return whether entries fit into a limit, ε and δ. */
export const fits = (entries: Units[], most: Units): boolean => FIELDS.every((field) => remaining(entries, most, field) >= 0n);

/** The limits of an account by the plain rules, beside ε and δ. */
export const PLAIN = { epoch: "lifetime", lifetime: null, quota: null, quotas: {}, askers: null } as const;

/** One budget for all time and no other limit, answers that are drawn anew or stay the same. Whatever these allow, all rules allow. */
export const plain: Rules = {
  open(state) {
    const plainly = Object.entries({ ...state.own, ...PLAIN }) as [keyof Limits, unknown][];
    need(plainly.every(([name, most]) => JSON.stringify(most) === JSON.stringify(state.limits[name])), "rules");
    return state;
  },
  knows: ({ repeat, days, start, data }) => ["fresh", "same"].includes(repeat) && `${[days, start, data]}` === ",,",
  decide: ({ entries, own }, _, entry, kept) => (kept || fits([...entries, entry], own) ? [] : refuse("budget")),
  left: ({ entries, own }) => Number(remaining(entries, own, "epsilon")) / 2 ** 64,
};

/** Answer a question: check, spend, draw. Without a drawing it is a dry run, which has no report and whose state is not kept. */
export function answer(state: State, id: string, asked: Asked, policy: Policy, rules: Rules, drawing?: Drawing): Step {
  const waiting = state.queue.find((one) => one.id === id);
  const known = waiting ?? state.entries.find((one) => one.id === id);
  if (known) {
    if (!same(known, asked)) return refuse("id");
    return [waiting ? { is: "resent", report: waiting.report } : { is: "acknowledged", reports: 0 }];
  }
  const { epsilon, delta, assumes, repeat } = asked;
  const listed = assumes.every((line) => policy.assumptions.includes(line)) && (policy.mechanisms?.includes(asked.mechanism) ?? true);
  if (!(epsilon <= policy.epsilon && delta <= policy.delta && listed)) return refuse("policy");
  const question = named(asked);
  const entry = { ...question, id, device: state.device, epsilon: charge(epsilon, 64), delta: charge(delta, 128), assumes, first: 0, last: 0 };
  const kept = state.answers.find((one) => same(one, asked) && one.permanent === repeat);
  const [ended, next] = rules.decide(state, asked, entry, kept, drawing);
  if (ended) return [ended, next];
  const report = (kept?.report ?? drawing?.report())!;
  const changed = { ...(next ?? state) };
  changed.queue = [...state.queue, { ...question, id, report, batch: null }];
  if (kept) return [{ is: "repeated", charged: "0", report }, changed];
  changed.entries = [...state.entries, entry];
  if (repeat === "same" || repeat === "per value") {
    changed.answers = [...state.answers, { ...question, id, permanent: repeat, report: repeat === "same" ? report : null }];
  }
  return [{ is: "drawn", charged: entry.epsilon, report }, changed];
}

/**
 * Put chosen reports that wait into a batch, or return the batch of them that was sent and not acknowledged: its identity, its
 * reports (none if nothing waits), and the state if it changed.
 */
export function batch(state: State, id: string, most: number, chosen: (one: Queued) => boolean): [id: string, reports: Queued[], next?: State | undefined] {
  const queued = state.queue.filter(chosen);
  const sent = queued.find((one) => one.batch)?.batch;
  if (sent) return [sent, state.queue.filter((one) => one.batch === sent)];
  const reports = queued.slice(0, most);
  return [id, reports, reports[0] && { ...state, queue: state.queue.map((one) => (reports.includes(one) ? { ...one, batch: id } : one)) }];
}

/** The collector has a report, or a batch: it leaves the queue. */
export function acknowledge(state: State, id: string): Step {
  const queue = state.queue.filter((one) => one.id !== id && one.batch !== id);
  const reports = state.queue.length - queue.length;
  return reports ? [{ is: "acknowledged", reports }, { ...state, queue }] : [{ is: "unknown" }];
}
