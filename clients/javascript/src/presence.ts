/** How many are active, and how many come back, without an identifier: one message on the first use in a calendar period. */

import { accepts, charge, named, refuse, same, type Asked, type Drawing, type Kept, type Moment, type Policy, type Presence, type State, type Step } from "./account.js";
import { AHEAD, clockAfter, DAY, epochOf, periodOf, short } from "./rules.js";
import { below } from "./parts.js";

/** What the account is told about a campaign with `repeat = "present"`. */
export interface Present {
  asker: string;
  name: string;
  every: "day" | "week" | "month";
  /** Thousandths of the devices that carry the permanent label. */
  share?: number;
}

const kept = (state: State, { asker, name }: Present): Presence | undefined => state.present?.find((one) => one.asker === asker && one.name === name);
const labelOf = (state: State, asked: Asked | null): Kept | undefined => state.answers.find((one) => asked && one.permanent === "present" && same(one, asked));
const periodAt = ({ every }: Present, { wall }: { wall: number }): number => periodOf({ every, days: null, start: null }, Math.floor(wall / DAY))[0];
const withPresence = (state: State, next: Presence): State => ({
  ...state,
  present: [...(state.present ?? []).filter(({ asker, name }) => asker !== next.asker || name !== next.name), next],
});

/** The program is used: make the message of this period, unless there is one. The permanent label is drawn and charged with the first message, or never. */
export function decidePresent(before: State, id: string, at: Moment, terms: Present, asked: Asked | null, policy: Policy, { report, source }: Drawing): Step {
  const { asker, name, share } = terms;
  if (asked && !accepts(policy, asked, asked.assumes)) return refuse("policy");
  const clock = clockAfter(before.clock, at);
  const state = { ...before, clock };
  if (!state.askers.includes(asker)) {
    if (state.openings === 0) return refuse("asker");
    state.askers = [...state.askers, asker].sort();
    if (state.openings !== null) state.openings--;
  }
  const period = periodAt(terms, clock);
  const known = kept(state, terms);
  if (known && known.period !== null && period <= known.period) return [{ is: "silent" }];
  // The coin for life: no device carries both kinds of labels, in no two messages.
  const permanent = known ? known.permanent : !!asked && below(source, 1000) < share!;
  const next = withPresence(state, { asker, name, permanent, period, batch: id });
  if (permanent && asked && (known?.period ?? null) === null && !labelOf(state, asked)) {
    const epoch = epochOf(state.limits.epoch, Math.max(clock.wall, state.born));
    const entry = { ...named(asked), id, device: state.device, epsilon: charge(asked.epsilon, 64), delta: charge(asked.delta, 128), assumes: asked.assumes, first: epoch, last: epoch };
    if (clock.ahead <= AHEAD[state.limits.epoch] && !short(state, entry)) {
      const drawn = report();
      const label: Kept = { ...named(asked), id, permanent: "present", report: drawn };
      return [{ is: "drawn", charged: entry.epsilon, report: drawn }, { ...next, entries: [...state.entries, entry], answers: [...state.answers, label] }];
    }
  }
  return [{ is: "present" }, next];
}

/** Return the message that waits; one whose period is over is dropped. */
export function decideMessage(state: State, at: Moment, terms: Present, asked: Asked | null): Step {
  const known = kept(state, terms);
  if (!known?.batch) return [{ is: "empty" }];
  const clock = clockAfter(state.clock, at);
  if (periodAt(terms, clock) !== known.period) return [{ is: "empty" }, withPresence({ ...state, clock }, { ...known, batch: null })];
  const label = known.permanent && labelOf(state, asked);
  return [{ is: "message", id: known.batch, public: !known.permanent, reports: label ? [[label.fingerprint, label.report]] : [] }];
}
