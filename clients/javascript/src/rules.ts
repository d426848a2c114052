/** All rules of docs/account.md: epochs, a lifetime, quotas, new askers, drawn days, a clock that may be turned, an answer for each value. */

import { below, need, real, sha256, type Source, utf8, integer } from "./parts.js";
import { fits, isAnswered, leftOf, limit, named, remaining, refuse, same, pathAssumes, type Asked, type Changes, type Choice, type Entry, type Limits, type Moment, type Rules, type State } from "./account.js";

export interface Terms {
  /** When the budget of the device begins anew, in UTC. */
  epoch?: Limits["epoch"];
  /** The ε of all epochs together. */
  lifetime?: number;
  /** The ε that one asker may take of an epoch. */
  quota?: number;
  /** How many new askers an act of the person admits. */
  askers?: number;
  now?: () => Moment;
  /** Kept changes, `changes` of `dither-ldp/changes`; without it they are not asked. */
  changes?: Changes;
}

/** Seconds of a day. */
export const DAY = 86400;
/** How far ahead a clock may be, in seconds, by the epoch of the budget. */
export const AHEAD = { day: DAY, week: 7 * DAY, year: 366 * DAY, lifetime: Infinity };

/** The present: the system's time, and a steady clock that counts since this page was loaded. */
export function systemNow(): Moment {
  const { performance } = globalThis;
  return { wall: Math.floor(Date.now() / 1000), boot: String(Math.round(performance.timeOrigin)), elapsed: Math.floor(performance.now() / 1000) };
}

/** Return the number of the epoch that holds a second. */
export function epochOf(kind: Limits["epoch"], second: number): number {
  const day = Math.floor(second / DAY);
  if (kind === "day") return day;
  if (kind === "week") return Math.floor((day + 3) / 7);
  return kind === "year" ? new Date(day * DAY * 1000).getUTCFullYear() : 0;
}

/** Return the clock of a state at a moment: it never goes back. */
export function clockAfter(clock: State["clock"], { wall, boot, elapsed }: Moment): State["clock"] {
  const proves = boot === clock.boot;
  if (proves) elapsed = Math.max(elapsed, clock.elapsed); // an older time would let the same time be proved again
  const proved = proves ? elapsed - clock.elapsed : 0;
  const latest = Math.max(clock.wall, wall);
  return { wall: latest, boot, elapsed, ahead: clock.ahead + latest - clock.wall - proved };
}

const touching = (entries: Entry[], index: number): Entry[] => entries.filter((one) => one.first <= index && index <= one.last);

/** Return why a spend does not fit, or undefined if it does. */
export function short({ entries, device, own, limits }: State, entry: Entry): string | undefined {
  const { asker, first, last } = entry;
  const all = [...entries, entry];
  const mine = all.filter((one) => one.device === device);
  const quota = Object.hasOwn(limits.quotas, asker) ? limits.quotas[asker]! : limits.quota;
  const epochs = (some: Entry[], fine: (some: Entry[]) => boolean): boolean => {
    for (let i = first; i <= last; i++) if (!fine(touching(some, i))) return false;
    return true;
  };
  const theirs = all.filter((one) => one.asker === asker);
  if (quota !== null && !epochs(theirs, (some) => remaining(some, { epsilon: quota, delta: "0" }, "epsilon") >= 0n)) return "quota";
  for (const [some, most] of [[mine, own], [all, limits]] as const) {
    if (!epochs(some, (those) => fits(those, most))) return "budget";
    if (most.lifetime && !fits(some, most.lifetime)) return "lifetime";
  }
  return undefined;
}

/** A source that repeats for one input: SHA-256 of the key, the purpose, the question and the input, in counter mode. */
export function keyed(key: string, { asker, question, fingerprint }: Asked, input: unknown, purpose: number): Source {
  // Two askers may use one name, and two values be moved to one place. Quoted texts mark the end of each.
  const text = JSON.stringify([key, purpose, asker, question, fingerprint, input]);
  let count = 0;
  const left: number[] = [];
  return {
    take(size) {
      while (left.length < size) left.push(...sha256(utf8(`${count++} ${text} ${key}`)));
      return Uint8Array.from(left.splice(0, size));
    },
  };
}

/** Return the first day of the present period of a question (its name), and its length. */
export function periodOf({ start, days, every }: Pick<Asked, "start" | "days" | "every">, today: number): [period: number, days: number] {
  if (!every) return [start! + Math.floor((today - start!) / days!) * days!, days!];
  if (every === "day") return [today, 1];
  if (every === "week") return [today - ((today + 3) % 7), 7];
  const date = new Date(today * DAY * 1000);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000 / DAY;
  return [first, Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000 / DAY - first];
}

/** Return all rules of an account: `Device.open({ epsilon: 2, rules: allRules({ epoch: "week" }), store })`. */
export function allRules({ epoch = "lifetime", lifetime, quota, askers, now = systemNow, changes }: Terms = {}): Rules {
  need(Object.hasOwn(AHEAD, epoch), "rules", "epoch: expected one of " + Object.keys(AHEAD));
  for (const [field, most] of Object.entries({ lifetime, quota })) need(most === undefined || real({ [field]: most }, field) >= 0, "epsilon", field);
  if (askers !== undefined) integer({ askers }, "askers", 0, 2 ** 52);

  /** Return the drawn day of the present period of a question, and the state with it. */
  function choose(state: State, request: Asked, today: number, source: Source | undefined): [choice?: Choice | undefined, state?: State] {
    const [period, days] = periodOf(request, today);
    const known = state.choices.find((one) => same(one, request) && (one.repeat ?? "once") === "once" && one.period === period);
    if (known || !source) return [known];
    const choice: Choice = { ...named(request), repeat: "once", period, day: period + below(source, days), device: state.device, answer: null };
    return [choice, { ...state, choices: [...state.choices, choice] }];
  }

  return {
    changes,

    assumes: ({ repeat, times }) => pathAssumes(times).concat(repeat === "per value" ? ["the value never changes", "the device's key stays on the device"] : []),

    open(state, isNew) {
      if (!isNew) return state;
      const at = now();
      const own = { ...state.own, lifetime: lifetime === undefined ? null : { epsilon: limit(lifetime, 64), delta: state.own.delta } };
      const limits = { ...own, epoch, quota: quota === undefined ? null : limit(quota, 64), quotas: {}, askers: askers ?? null };
      return { ...state, own, limits, born: at.wall, clock: { ...at, ahead: 0 }, openings: limits.askers };
    },

    knows(request) {
      const { repeat, days, start, data, every } = request;
      if (repeat === "kept change") return !!changes?.knows(request) && data === null && !every;
      if (request.changes) return false;
      const integers = (...some: unknown[]): boolean => some.every(Number.isInteger);
      const known = repeat === "once" ? (every ? ["day", "week", "month"].includes(every) && days === start && days === null : integers(days, start) && days! > 0) : ["fresh", "same", "per value"].includes(repeat) && days === start && days === null;
      return known && (data === null || (Array.isArray(data) && data.length === 2 && integers(...data)));
    },

    decide(before, request, entry, charged, drawing) {
      const { limits, born } = before;
      const clock = clockAfter(before.clock, now());
      if (clock.ahead > AHEAD[limits.epoch]) return refuse("clock");
      const change = request.repeat === "kept change" && periodOf(request, Math.floor(clock.wall / DAY))[0];
      const [since, until] = change ? [change * DAY, (change + request.days!) * DAY] : (request.data ?? [clock.wall, clock.wall + 1]);
      if (change) entry.data = [since, until]; // of all days of the period, also those to come
      else if (!(since < until && until <= clock.wall + 1)) return refuse("data");
      entry.first = epochOf(limits.epoch, Math.max(since, born));
      entry.last = epochOf(limits.epoch, Math.max(until - 1, born));
      if (entry.last - entry.first >= 366) return refuse("data");
      let state = { ...before, clock };
      if (!state.askers.includes(request.asker)) {
        if (state.openings === 0) return refuse("asker");
        state.askers = [...state.askers, request.asker].sort();
        if (state.openings !== null) state.openings--;
      }
      let kept: State | undefined; // with a coin or a day; these stay in any case
      const { phase, asker } = request;
      if (phase) {
        const coins = state.coins ?? [];
        const coin = coins.find((one) => one.asker === asker && one.name === phase.name);
        const toss = (heads: boolean, campaign: string): State => ({ ...state, coins: [...coins, { asker, name: phase.name, campaign, heads }] });
        if (phase.follows === undefined) {
          if (!coin && !drawing) return [{ is: "silent" }];
          if (!coin) state = kept = toss(below(drawing!.source, 1000) < phase.share!, phase.campaign);
          if (!(coin ?? state.coins!.at(-1)!).heads) return [refuse("phase")[0], kept];
        } else {
          if (coins.some((one) => one.heads && one.asker === asker && (one.name === phase.name || one.campaign === phase.follows))) return refuse("phase");
          if (!coin) state = toss(false, phase.follows);
        }
      }
      if (change) return changes!.decide(state, kept, request, entry, (state) => (isAnswered(state.entries, request) ? "answers" : short(state, entry)), drawing);
      // Of each value one report is queued, by the device that was charged.
      const mark = request.repeat === "per value" && drawing && (charged ?? entry).device === state.device && drawing.mark();
      const queued = mark ? !state.told?.includes(mark) : undefined;
      if (queued) state.told = [...(state.told ?? []), mark as string];
      if (charged) return [undefined, state, queued];
      let choice: Choice | undefined;
      if (request.repeat === "once") {
        const today = Math.floor(clock.wall / DAY);
        let next: State | undefined;
        [choice, next] = choose(state, request, today, drawing?.source);
        state = kept = next ?? kept ?? state;
        if (!next && state === kept && !state.coins && state.choices === before.choices) kept = undefined;
        if (choice?.day !== today || choice.answer !== null) return [{ is: "silent" }, kept];
      }
      const reason = isAnswered(state.entries, request) ? "answers" : short(state, entry);
      if (reason) return [refuse(reason)[0], kept];
      return [undefined, choice ? { ...state, choices: state.choices.map((one) => (one === choice ? { ...one, answer: entry.id } : one)) } : state, queued];
    },

    source: (key, request, input, purpose) => (request.repeat === "per value" ? keyed(key, request, input, purpose) : undefined),

    left({ entries, own, limits, device, clock }) {
      const index = epochOf(limits.epoch, Math.max(now().wall, clock.wall));
      const mine = entries.filter((one) => one.device === device);
      const today = remaining(touching(mine, index), own, "epsilon");
      const ever = own.lifetime ? remaining(mine, own.lifetime, "epsilon") : today;
      return leftOf(ever < today ? ever : today, own);
    },

    act: (state) => [{ is: "acted" }, { ...state, clock: { ...clockAfter(state.clock, now()), ahead: 0 }, openings: state.limits.askers }],
  };
}
