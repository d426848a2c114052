/**
 * The account of one person: spent and remaining budgets.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed functions that draw, and its new state has the spend and the report together.
 */

import { need, type Question, type Source } from "./parts.js";

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
  data?: [number, number];
  times?: number;
  /** The campaign that limits the number of answers. */
  campaign?: string;
}
export interface Kept extends Named {
  id: string;
  permanent: "same" | "per value" | "present";
  report: string | null;
}
export interface Choice extends Named {
  /** A choice of version 2 has none, and means both. */
  repeat?: "once" | "kept change";
  period: number;
  day: number;
  device: string;
  answer: string | null;
}
/** Whether a person answers the first phase of a campaign. */
export interface Coin {
  asker: string;
  name: string;
  campaign: string;
  heads: boolean;
}
/** What is kept of a campaign that counts who is present. */
export interface Presence {
  asker: string;
  name: string;
  /** Whether this device carries the permanent label; otherwise it carries public ones. */
  permanent: boolean;
  /** The first day of the last period with a message. */
  period: number | null;
  /** The identity of the message that waits. */
  batch: string | null;
}
/** What was reported of a kept change: how many intervals, and under a pad how many changes were in them. */
export interface Tree extends Named {
  period: number;
  intervals: number;
  mark: number;
}
/** The intervals of a kept change that are over and not reported. */
export interface Owed {
  period: number;
  group: number;
  changes: number;
  /** The number of intervals of the group. */
  all: number;
  /** The number of days of the period so far. */
  days: number;
  /** The number of intervals that were reported before, and the number under a pad. */
  before: number;
  mark: number | null;
  intervals: number;
}
export interface Queued extends Named {
  id: string;
  report: string;
  batch: string | null;
}
/** A batch that a collector has, and that can be taken back until a day, in days since 1970. */
export interface SentBatch {
  id: string;
  asker: string;
  campaign: string;
  until: number;
  questions: string[];
}
export interface Moment {
  wall: number;
  boot: string;
  elapsed: number;
}
export interface State {
  account: 2 | 3;
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
  coins?: Coin[];
  /** Marks of the values of which a report was queued. */
  told?: string[];
  trees?: Tree[];
  present?: Presence[];
  queue: Queued[];
  /** Batches that can be taken back. */
  sent?: SentBatch[];
}
/** A question as the account sees it: no value. */
export interface Asked extends Named {
  mechanism: string;
  epsilon: number;
  delta: number;
  assumes: string[];
  repeat: "fresh" | "same" | "per value" | "once" | "kept change" | "present";
  days: number | null;
  start: number | null;
  data: [number, number] | null;
  /** The number of locations of a path. */
  times?: number;
  /** Calendar periods, in place of `days` and `start`. */
  every?: "day" | "week" | "month";
  /** The most often that a value changes in a period. */
  changes?: number;
  /** The most answers over a campaign. */
  limit?: { campaign: string; answers: number };
  phase?: { campaign: string; name: string; share?: number; follows?: string };
}
export interface Policy {
  epsilon: number;
  delta: number;
  assumptions: string[];
  mechanisms: string[] | null;
}
/** What is drawn if the answer is allowed: the report as hexadecimal text, the mark of the value; and the source of random days. */
export interface Drawing {
  report(): string;
  mark(): string;
  /** Draw the intervals that are over of a kept change: the report, and the number to keep; undefined if the value has not all days. */
  change?(owed: Owed): [report: string, mark: number] | undefined;
  source: Source;
}
/** The rules of a state. `plain` is for one budget for all time; rules.ts has all. */
export interface Rules {
  /** Return the state that an account begins with, or that it goes on with; throw `Malformed` if it needs other rules. */
  open(state: State, isNew: boolean): State;
  /** Return the assumptions of a question, by its repetition. */
  assumes?(facts: Asked): string[];
  /** Return whether a question is allowed in this form. */
  knows(facts: Asked): boolean;
  /** What kept changes need, of rules that keep them. */
  changes?: Changes | undefined;
  /**
   * Return how an answer ends without a report, and the state that is kept nevertheless; or no outcome, the state to
   * which the report is added, and whether it is queued: a permanent answer is not, unless it is said. `charged` is the entry of
   * the permanent answer, if there is one. Without a drawing (a dry run) no day is drawn.
   */
  decide(
    state: State,
    facts: Asked,
    entry: Entry,
    charged: Entry | undefined,
    drawing: Drawing | undefined,
  ): [ended?: Outcome | undefined, next?: State | undefined, queued?: boolean | undefined];
  /** Return the source of an answer that is the same for the same input, by the device's secret key; another one for each purpose. */
  source?(key: string, facts: Asked, input: unknown, purpose: number): Source | undefined;
  /** Return the ε that is left for all askers. */
  left(state: State): number;
  /** The person did something themselves. */
  act?(state: State): Step;
}

/** Kept changes, of `dither-ldp/changes`: when they are reported, and how they are drawn. */
export interface Changes {
  knows(facts: Asked): boolean;
  /** Return the question about a kept change that belongs to a question: a value is a list, and the fingerprint is another one. Undefined if it has not two answers. */
  of(question: Question, days: number, changes: number): Question | undefined;
  /** Return how an answer ends, and the new state. `kept` is the state that stays whatever follows; `short` returns why a charge is refused. */
  decide(state: State, kept: State | undefined, facts: Asked, entry: Entry, short: (state: State) => string | undefined, drawing?: Drawing): Step;
  draw(question: Question, codes: number[], facts: Asked, owed: Owed, key: string, source: Source): [report: string, mark: number] | undefined;
}

/** The policy of a device that is given none. */
export const DEFAULT: Policy = { epsilon: 1, delta: 0, assumptions: [], mechanisms: null };

export const number = (text: string): bigint => BigInt("0x" + text);
export const refuse = (reason: string): Step => [{ is: "refused", reason }];
export const named = ({ asker, question, fingerprint }: Named): Named => ({ asker, question, fingerprint });
export const same = (a: Named, b: Named): boolean => JSON.stringify(named(a)) === JSON.stringify(named(b));
/** Return whether a policy accepts a question that assumes some lines. */
export const accepts = (policy: Policy, { epsilon, delta, mechanism }: Asked, assumes: string[]): boolean =>
  epsilon <= policy.epsilon && delta <= policy.delta && assumes.every((line) => policy.assumptions.includes(line)) && (policy.mechanisms?.includes(mechanism) ?? true);
export const charge = (x: number, places: number): string => BigInt(Math.ceil(x * 2 ** places)).toString(16);

/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export function limit(x: number, places: number): string {
  const units = BigInt(Math.floor(x * 2 ** places));
  return (units && units + (units >> 52n) + 1n).toString(16);
}

/** Return the rest of a limit after some entries, in units: below 0 if they exceed it. */
export const remaining = (entries: Units[], most: Units, field: keyof Units): bigint =>
  entries.reduce((left, one) => left - number(one[field]), number(most[field]));

/** Return whether entries fit into a limit, ε and δ. */
export const fits = (entries: Units[], most: Units): boolean => (["epsilon", "delta"] as const).every((field) => remaining(entries, most, field) >= 0n);

/** The limits of an account by the plain rules, in addition to ε and δ. */
export const PLAIN = { epoch: "lifetime", lifetime: null, quota: null, quotas: {}, askers: null } as const;

/** Return the rest of a limit as a number. The slack of the limit does not count: it is there so that sums of doubles fit. */
export const leftOf = (units: bigint, most: Units): number => (units << 50n > number(most.epsilon) ? Number(units) / 2 ** 64 : 0);

/** One budget for all time and no other limit, answers that are drawn anew or stay the same. Whatever these allow, all rules allow. */
export const plain: Rules = {
  open(state) {
    const [plainly, limits] = [{ ...state.own, ...PLAIN }, state.limits].map((some) => JSON.stringify(Object.entries(some).sort()));
    need(plainly === limits, "rules", "the account has more limits: see allRules of dither-ldp/rules");
    return state;
  },
  knows: ({ repeat, days, start, data, every, phase, changes }) => ["fresh", "same"].includes(repeat) && "" + [days, start, data, every, phase, changes] === ",,,,,",
  decide: ({ entries, own }, facts, entry, charged) => (charged ? [] : isAnswered(entries, facts) ? refuse("answers") : fits([...entries, entry], own) ? [] : refuse("budget")),
  left: ({ entries, own }) => leftOf(remaining(entries, own, "epsilon"), own),
};

/** Return whether a question has all the answers that its campaign allows. */
export const isAnswered = (entries: Entry[], facts: Asked): boolean =>
  entries.filter((one) => same(one, facts) && one.campaign === facts.limit?.campaign).length >= (facts.limit?.answers ?? Infinity);

/** Return all that an answer assumes, each line once: what the question says, and what its kind always assumes. */
export const assumed = (facts: Asked, rules: Rules): string[] => [...new Set(facts.assumes.concat(rules.assumes?.(facts) ?? []))];

/** Return the assumptions of a path of this number of locations. */
export const pathAssumes = (times = 1): string[] => (times > 1 ? ["how many locations a trajectory has, and when they were sent, is public"] : []);

/** The batch of permanent answers that a collector refused for good. They are not sent before the next request. */
const ASIDE = "0".repeat(32);

/** Return whether a report waits to be sent. */
export const waits = ({ batch }: Queued): boolean => batch !== ASIDE;

/** Return a queue in which a report to a question that was set aside waits again. */
const again = (queue: Queued[], facts: Asked, report: string | undefined): Queued[] =>
  queue.map((one) => (waits(one) || one.report !== report || !same(one, facts) ? one : { ...one, batch: null }));

/** Return what an entry was charged for: two entries of a question with the same are one charge. */
const terms = ({ epsilon, delta, assumes, data, times, campaign }: Entry): string => JSON.stringify([epsilon, delta, assumes, data, times, campaign]);

/** Return whether an entry was charged for exactly what another one would be. */
export const isPaid = (one: Entry | undefined, due: Entry): unknown => one && same(one, due) && terms(one) === terms(due);

/** Answer a question: check, spend, draw. Without a drawing it is a dry run, without a report, and its state is not kept. */
export function answer(state: State, id: string, facts: Asked, policy: Policy, rules: Rules, drawing?: Drawing): Step {
  const { epsilon, delta, repeat, data, times, limit } = facts;
  const assumes = assumed(facts, rules);
  const question = named(facts);
  const entry: Entry = { ...question, id, device: state.device, epsilon: charge(epsilon, 64), delta: charge(delta, 128), assumes, first: 0, last: 0, ...(data && { data }), ...(times && { times }), ...(limit && { campaign: limit.campaign }) };
  const find = <T extends { id: string }>(list: T[], id: string | undefined): T | undefined => list.find((one) => one.id === id);
  // Only a charged report is given again: the same question, and the same terms.
  const paid = (one: Entry | undefined): unknown => isPaid(one, entry);
  const kept = state.answers.find((one) => same(one, facts) && one.permanent === repeat);
  const charged = find(state.entries, kept?.id);
  const waiting = find(state.queue, id);
  const own = find(state.entries, id);
  if (waiting || own) {
    const periodic = repeat === "kept change"; // it is about its own period, and charged once for all its reports
    if (periodic && own?.data) entry.data = own.data;
    if (!same(waiting ?? own!, facts) || !(periodic && !own ? true : paid(own ?? charged))) return refuse("id");
    if (!waiting) return [{ is: "acknowledged", reports: 0 }];
    return [{ is: "resent", report: waiting.report }, waits(waiting) ? undefined : { ...state, queue: again(state.queue, facts, waiting.report) }];
  }
  if (!accepts(policy, facts, assumes)) return refuse("policy");
  const [ended, next, queued = !kept] = rules.decide(state, facts, entry, kept && (charged ?? entry), drawing);
  if (ended) return [ended, next];
  const stays = kept && repeat === "same";
  if (kept && (!paid(charged) || (stays && kept.report === null))) return refuse("changed");
  const report = drawing && (stays ? kept.report! : drawing.report());
  const changed = { ...(next ?? state) };
  changed.queue = queued ? [...state.queue, { ...question, id, report: report!, batch: null }] : again(state.queue, facts, report);
  if (kept) return [{ is: "repeated", charged: "0", report }, changed];
  changed.entries = [...state.entries, entry];
  if (repeat === "same" || repeat === "per value") {
    changed.answers = [...state.answers, { ...question, id, permanent: repeat, report: repeat === "same" ? report! : null }];
  }
  return [{ is: "drawn", charged: entry.epsilon, report }, changed];
}

/**
 * Put chosen reports that wait into a batch, at most one to a question, or return the batch of them that was sent and not acknowledged: its identity, its
 * reports (none if nothing waits), and the state if it changed.
 */
export function batch(state: State, id: string, most: number, chosen: (one: Queued) => boolean): [id: string, reports: Queued[], next?: State | undefined] {
  const queued = state.queue.filter((one) => waits(one) && chosen(one));
  const sent = queued.find((one) => one.batch)?.batch;
  if (sent) return [sent, state.queue.filter((one) => one.batch === sent)];
  const first = (one: Queued): boolean => queued.find(({ fingerprint }) => fingerprint === one.fingerprint) === one;
  const reports = queued.filter(first).slice(0, most);
  return [id, reports, reports[0] && { ...state, queue: state.queue.map((one) => (reports.includes(one) ? { ...one, batch: id } : one)) }];
}

/** Return a state without the messages of presence that are chosen, and their number. */
export function withoutMessages(state: State, chosen: (one: Presence) => boolean): [State, number] {
  const gone = state.present?.filter((one) => one.batch && chosen(one)).length ?? 0;
  return gone ? [{ ...state, present: state.present!.map((one) => (chosen(one) ? { ...one, batch: null } : one)) }, gone] : [state, 0];
}

/** The collector has a report, or a batch: it leaves the queue. */
export function acknowledge(state: State, id: string): Step {
  const queue = state.queue.filter((one) => one.id !== id && one.batch !== id);
  const [rest, messages] = withoutMessages(state, (one) => one.batch === id);
  const reports = state.queue.length - queue.length + messages;
  return reports ? [{ is: "acknowledged", reports }, { ...rest, queue }] : [{ is: "unknown" }];
}

/** The collector refused a batch for good: its reports leave the queue. Permanent answers are set aside, and wait again after the next request. */
export function drop(state: State, id: string): Step {
  const gone = (one: Queued): boolean => waits(one) && id !== ASIDE && (one.batch === id || one.id === id);
  const reports = state.queue.filter(gone).length;
  const permanent = (one: Queued): boolean => state.answers.some((kept) => same(kept, one));
  const queue = state.queue.flatMap((one) => (!gone(one) ? one : permanent(one) ? { ...one, batch: ASIDE } : []));
  const [rest, messages] = withoutMessages(state, (one) => one.batch === id);
  if (messages) return [{ is: "dropped", reports: messages }, rest];
  return reports ? [{ is: "dropped", reports }, { ...state, queue }] : [{ is: "unknown" }];
}

/** Return a state of version 3: a choice of version 2 means both ways of keeping one. */
export function upgraded(state: State): State {
  if (state.account === 3) return state;
  const choices = state.choices.flatMap((one): Choice[] => [{ ...one, repeat: "kept change" }, { ...one, repeat: "once" }]);
  return { ...state, account: 3, choices };
}
