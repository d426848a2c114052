/** How many are active, and how many come back, without an identifier: one message on the first use in a calendar period. */

import { accepts, charge, drop, named, refuse, same, type Asked, type Drawing, type Kept, type Moment, type Outcome, type Policy, type Presence, type State, type Step } from "./account.js";
import { jsonBody } from "./batch.js";
import { deliver, refused, withheld, type Batch, type Device, type Sending, type Sent } from "./client.js";
import { dayOf } from "./campaign.js";
import { below, hex, need, readQuestion, type Question } from "./parts.js";
import { AHEAD, clockAfter, DAY, epochOf, periodOf, short, systemNow } from "./rules.js";
import type { Campaign } from "./signatures.js";
import { noted } from "./withdraw.js";

/** The account's data about a campaign with `repeat = "present"`. */
export interface Present {
  asker: string;
  name: string;
  every: "day" | "week" | "month";
  /** Thousandths of the devices that carry the permanent label. */
  share?: number;
}

const kept = (state: State, { asker, name }: Present): Presence | undefined => state.present?.find((one) => one.asker === asker && one.name === name);
const labelOf = (state: State, facts: Asked | null): Kept | undefined => state.answers.find((one) => facts && one.permanent === "present" && same(one, facts));
const periodAt = ({ every }: Present, { wall }: { wall: number }): number => periodOf({ every, days: null, start: null }, Math.floor(wall / DAY))[0];
const withPresence = (state: State, next: Presence): State => ({
  ...state,
  present: [...(state.present ?? []).filter(({ asker, name }) => asker !== next.asker || name !== next.name), next],
});

/** The program is used: make the message of this period, unless there is one. The permanent label is drawn and charged with the first message, or never. */
export function decidePresent(before: State, id: string, at: Moment, terms: Present, facts: Asked | null, policy: Policy, { report, source }: Drawing): Step {
  const { asker, name, share } = terms;
  if (facts && !accepts(policy, facts, facts.assumes)) return refuse("policy");
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
  const permanent = known ? known.permanent : !!facts && below(source, 1000) < share!;
  const next = withPresence(state, { asker, name, permanent, period, batch: id });
  if (permanent && facts && (known?.period ?? null) === null && !labelOf(state, facts)) {
    const epoch = epochOf(state.limits.epoch, Math.max(clock.wall, state.born));
    const entry = { ...named(facts), id, device: state.device, epsilon: charge(facts.epsilon, 64), delta: charge(facts.delta, 128), assumes: facts.assumes, first: epoch, last: epoch };
    if (clock.ahead <= AHEAD[state.limits.epoch] && !short(state, entry)) {
      const drawn = report();
      const label: Kept = { ...named(facts), id, permanent: "present", report: drawn };
      return [{ is: "drawn", charged: entry.epsilon, report: drawn }, { ...next, entries: [...state.entries, entry], answers: [...state.answers, label] }];
    }
  }
  return [{ is: "present" }, next];
}

/** Return the message that waits; one whose period is over is dropped. */
export function decideMessage(state: State, at: Moment, terms: Present, facts: Asked | null): Step {
  const known = kept(state, terms);
  if (!known?.batch) return [{ is: "empty" }];
  const clock = clockAfter(state.clock, at);
  if (periodAt(terms, clock) !== known.period) return [{ is: "empty" }, withPresence({ ...state, clock }, { ...known, batch: null })];
  const label = known.permanent && labelOf(state, facts);
  return [{ is: "message", id: known.batch, public: !known.permanent, reports: label ? [[label.fingerprint, label.report]] : [] }];
}

/** What a campaign says about presence: the terms, and the question of the permanent label, if it has one. */
function presenceOf({ terms, questions, unanswered }: Campaign): [terms: Present, label?: { facts: Asked; question: Question; value(given: unknown): unknown; installed: boolean }] {
  const { asker, name, every, repeat, label_share: share } = terms as { asker: string; name: string; every: Present["every"]; repeat: string; label_share?: number };
  need(repeat === "present", "asking", "expected a campaign with repeat = present");
  const [without] = unanswered; // a device without the draw would carry public labels for life: this throws
  need(!without || questions[without], "draw", without);
  const given = Object.values(questions)[0];
  if (!given) return [{ asker, name, every }];
  const [specification, inquiry] = given;
  const question = readQuestion(specification, inquiry.name);
  const { mechanism, epsilon, delta, fingerprint } = question;
  const facts: Asked = { question: inquiry.name, asker, fingerprint, mechanism, epsilon, delta, assumes: [], repeat: "present", days: null, start: null, data: null, every };
  return [{ asker, name, every, share: share! }, { facts, question, value: inquiry.value!, installed: inquiry.form === "installed" }];
}

const dayText = (day: number): string => new Date(day * 864e5).toISOString().slice(0, 10);

/**
 * Report each use of the program or page: the first use in a period makes a message, which `sendPresent` sends. The outcome is "drawn" if the
 * permanent label was drawn with it, "present", "silent" if the period has a message, or "refused". `value` is what the label is about; without one it is the
 * present day, the day of installation.
 */
export async function present(device: Device, campaign: Campaign, value?: unknown, now: () => Moment = systemNow): Promise<Outcome> {
  const [terms, label] = presenceOf(campaign);
  const { begins, ends } = campaign.terms as { begins: string; ends: string };
  return device.account((state, _, all, policy, source) => {
    const words = withheld(all, campaign.shown);
    if (words) return [refused("consent", words)];
    const at = now();
    const today = Math.floor(at.wall / DAY);
    const last = Math.min(dayOf({ day: ends }), campaign.retired ? dayOf({ day: campaign.retired }) - 1 : Infinity);
    if (today > last) return [refused("ended", "the campaign ended on " + dayText(last))];
    if (today < dayOf({ day: begins })) return [refused("early", "the campaign begins on " + begins)];
    const given = value ?? (label?.installed ? dayText(Math.max(today, Math.floor(state.clock.wall / DAY))) : undefined);
    const input = label && label.question.inside(label.value(given));
    // Before the coin is tossed: whether a value is refused says nothing about the coin.
    if (label && input === undefined && !kept(state, terms)) return [refused("value", `question "${label.facts.question}": expected a value of its domain`)];
    return decidePresent(state, hex(source.take(16)), at, terms, label?.facts ?? null, policy, { report: () => hex(label!.question.draw(input, source)), mark: () => "", source });
  });
}

/**
 * Send the message that waits, in its period; afterwards it is dropped. `label` is a public label that the campaign lists, such as a version: it is sent only
 * by devices that carry no permanent label. The other options and the result are as for `device.send`.
 */
export async function sendPresent(device: Device, campaign: Campaign, url: string, options: Sending = {}, now: () => Moment = systemNow): Promise<Sent> {
  const [terms, label] = presenceOf(campaign);
  const { labels, retry } = campaign.terms as { labels: string[]; retry: number };
  const { label: version = "", pack = jsonBody as never } = options;
  need(!version || labels.includes(version), "label", `${JSON.stringify(version)} is not in the campaign; it lists ${JSON.stringify(labels)}`);
  const next = (): Promise<Batch | string | undefined> =>
    device.account<Batch | string | undefined>((state, _, all) => {
      const [{ is, id, public: open, reports }, changed] = decideMessage(state, now(), terms, label?.facts ?? null);
      if (is === "empty") return [undefined, changed];
      const waiting = (reports as [string, string][]).map(([fingerprint, report]) => ({ fingerprint, report }));
      return [withheld(all, campaign.shown, url) ?? { id: id as string, body: pack(id as string, open ? version : "", waiting) }];
    });
  const settle = (id: string, fate: string): Promise<Outcome> =>
    device.account((state) => (fate === "dropped" ? drop(state, id) : noted(state, id, { campaign: campaign.id, day: Math.floor(now().wall / DAY), retry })) as [Outcome, State?]);
  const result = await deliver(next, settle, url, options, await device.account((...[, , , , source]) => [source]));
  return { ...result, waiting: await device.account((state) => [+(decideMessage(state, now(), terms, label?.facts ?? null)[0].is === "message")]) };
}
