/**
 * The account of one person: what was given so far, and what may still be asked.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed a function that draws, and calls it after the spend is part of the new state.
 */

/** One event ends with an outcome, and with a new state unless it changed nothing. */
export type Step = [outcome: Outcome, next?: State];
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
/** What is drawn once the spend is recorded: the report as hexadecimal text, and a number below a bound. */
export interface Drawing {
  report(): string;
  below(bound: number): number;
}

const DAY = 86400;
const AHEAD = { day: DAY, week: 7 * DAY, year: 366 * DAY, lifetime: Infinity };
const FIELDS = ["epsilon", "delta"] as const;

const number = (text: string): bigint => BigInt(`0x${text}`);
const refuse = (reason: string): Step => [{ is: "refused", reason }];
const same = (a: Named, b: Named): boolean =>
  a.asker === b.asker && a.question === b.question && a.fingerprint === b.fingerprint;
const named = ({ asker, question, fingerprint }: Named): Named => ({ asker, question, fingerprint });

/** Return a copy of plain data. (Some phones have no structuredClone.) */
export const copy = <T>(data: T): T => JSON.parse(JSON.stringify(data)) as T;

/** Sort by fields, one after the other: texts by their UTF-16 code units. */
export function sorted<T>(list: T[], ...keys: (keyof T)[]): T[] {
  return list.sort((a, b) => {
    for (const key of keys) if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
    return 0;
  });
}

/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export function limit(x: number, places: 64 | 128): string {
  const units = BigInt(Math.floor(x * 2 ** places));
  return (units && units + (units >> 52n) + 1n).toString(16);
}

/** Return the sum of a field of some entries. */
export const total = (entries: Units[], field: keyof Units): bigint =>
  entries.reduce((sum, one) => sum + number(one[field]), 0n);

/** Return the number of the epoch that holds a second. */
export function epoch(kind: Limits["epoch"], second: number): number {
  const day = Math.floor(second / DAY);
  if (kind === "day") return day;
  if (kind === "week") return Math.floor((day + 3) / 7);
  return kind === "year" ? new Date(day * DAY * 1000).getUTCFullYear() : 0;
}

function clockAfter(clock: State["clock"], { wall, boot, elapsed }: Moment): State["clock"] {
  const proved = boot === clock.boot ? Math.max(0, elapsed - clock.elapsed) : 0;
  const latest = Math.max(clock.wall, wall);
  return { wall: latest, boot, elapsed, ahead: clock.ahead + latest - clock.wall - proved };
}

/** Return why a spend does not fit, or undefined if it does. */
function short(state: State, asked: Asked, first: number, last: number, spend: Record<keyof Units, bigint>): string | undefined {
  const touching = (entries: Entry[], index: number): Entry[] => entries.filter((one) => one.first <= index && index <= one.last);
  const exceeds = (some: Entry[], most: Units): boolean => FIELDS.some((field) => total(some, field) + spend[field] > number(most[field]));
  const { quotas, quota: common } = state.limits;
  const quota = Object.hasOwn(quotas, asked.asker) ? quotas[asked.asker]! : common;
  const theirs = state.entries.filter((one) => one.asker === asked.asker);
  for (let i = first; i <= last && quota !== null; i++) {
    if (total(touching(theirs, i), "epsilon") + spend.epsilon > number(quota)) return "quota";
  }
  const mine = state.entries.filter((one) => one.device === state.device);
  for (const [entries, most] of [[mine, state.own], [state.entries, state.limits]] as const) {
    for (let i = first; i <= last; i++) if (exceeds(touching(entries, i), most)) return "budget";
    if (most.lifetime && exceeds(entries, most.lifetime)) return "lifetime";
  }
  return undefined;
}

/** Answer a question: check, spend, then draw. With `dry`, nothing is drawn and no state is returned. */
export function answer(state: State, id: string, asked: Asked, at: Moment, policy: Policy, drawing: Drawing, dry = false): Step {
  const waiting = state.queue.find((one) => one.id === id);
  const known = waiting ?? state.entries.find((one) => one.id === id);
  if (known) {
    if (!same(known, asked)) return refuse("id");
    if (!waiting) return [{ is: "acknowledged", reports: 0 }];
    return [dry ? { is: "resent" } : { is: "resent", report: waiting.report }];
  }
  const allowed =
    asked.epsilon <= policy.epsilon &&
    asked.delta <= policy.delta &&
    asked.assumes.every((line) => policy.assumptions.includes(line)) &&
    (policy.mechanisms === null || policy.mechanisms.includes(asked.mechanism));
  if (!allowed) return refuse("policy");
  const next = copy(state);
  next.clock = clockAfter(state.clock, at);
  if (next.clock.ahead > AHEAD[state.limits.epoch]) return refuse("clock");
  const now = next.clock.wall;
  const [since, until] = asked.data ?? [now, now + 1];
  if (!(since < until && until <= now + 1)) return refuse("data");
  const first = epoch(state.limits.epoch, Math.max(since, state.born));
  const last = epoch(state.limits.epoch, Math.max(until - 1, state.born));
  if (last - first >= 366) return refuse("data");
  if (!state.askers.includes(asked.asker)) {
    if (state.openings === 0) return refuse("asker");
    next.askers = [...state.askers, asked.asker].sort();
    if (next.openings !== null) next.openings--;
  }
  const queue = (report: string): string => {
    next.queue.push({ ...named(asked), id, report, batch: null });
    return report;
  };
  const permanent = asked.repeat === "same" || asked.repeat === "per value" ? asked.repeat : undefined;
  const kept = permanent && state.answers.find((one) => same(one, asked) && one.permanent === permanent);
  if (kept) {
    if (dry) return [{ is: "repeated", charged: "0" }];
    return [{ is: "repeated", charged: "0", report: queue(kept.report ?? drawing.report()) }, next];
  }
  let choice: Choice | undefined;
  let drew = false;
  if (asked.repeat === "once") {
    const today = Math.floor(now / DAY);
    const period = Math.floor((today - asked.start!) / asked.days!);
    choice = next.choices.find((one) => same(one, asked) && one.period === period);
    if (!choice) {
      if (dry) return [{ is: "silent" }];
      const day = asked.start! + period * asked.days! + drawing.below(asked.days!);
      choice = { ...named(asked), period, day, device: state.device, answer: null };
      next.choices = sorted([...next.choices, choice], "asker", "question", "fingerprint", "period");
      drew = true;
    }
    if (choice.day !== today || choice.answer !== null) return drew ? [{ is: "silent" }, next] : [{ is: "silent" }];
  }
  const spend = { epsilon: BigInt(Math.ceil(asked.epsilon * 2 ** 64)), delta: BigInt(Math.ceil(asked.delta * 2 ** 128)) };
  const reason = short(state, asked, first, last, spend);
  if (reason) return drew ? [refuse(reason)[0], next] : refuse(reason);
  const charged = spend.epsilon.toString(16);
  if (dry) return [{ is: "drawn", charged }];
  const entry = { ...named(asked), id, device: state.device, epsilon: charged, delta: spend.delta.toString(16), assumes: asked.assumes, first, last };
  next.entries = sorted([...next.entries, entry], "id");
  if (choice) choice.answer = id;
  const report = queue(drawing.report());
  if (permanent) {
    const one = { ...named(asked), id, permanent, report: permanent === "same" ? report : null };
    next.answers = sorted([...next.answers, one], "asker", "question", "fingerprint", "permanent");
  }
  return [{ is: "drawn", charged, report }, next];
}

/** The person did something themselves: the clock is believed, and new askers may come. */
export function act(state: State, at: Moment): Step {
  return [{ is: "acted" }, { ...state, clock: { ...clockAfter(state.clock, at), ahead: 0 }, openings: state.limits.askers }];
}

/** Put waiting reports of an asker into a batch, or return the batch that was sent and not acknowledged. */
export function batch(state: State, id: string, asker: string, most: number): Step {
  const queued = state.queue.filter((one) => one.asker === asker);
  const sent = queued.find((one) => one.batch !== null);
  if (sent) return [{ is: "resent", id: sent.batch, reports: queued.filter((one) => one.batch === sent.batch).map((one) => one.id) }];
  const reports = queued.slice(0, most).map((one) => one.id);
  if (!reports.length) return [{ is: "empty" }];
  const queue = state.queue.map((one) => (reports.includes(one.id) ? { ...one, batch: id } : one));
  return [{ is: "batched", id, reports }, { ...state, queue }];
}

/** The collector has a report, or a batch: it leaves the queue. */
export function acknowledge(state: State, id: string): Step {
  const queue = state.queue.filter((one) => one.id !== id && one.batch !== id);
  const reports = state.queue.length - queue.length;
  return reports ? [{ is: "acknowledged", reports }, { ...state, queue }] : [{ is: "unknown" }];
}
