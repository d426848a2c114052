/** One person with several devices: budgets that are divided beforehand, and accounts that are merged. */

import { type Fields, type Json } from "./parts.js";
import { fits, type Limits, type Own, type State, type Step, type Units } from "./account.js";

const FIELDS = ["epsilon", "delta"] as const;
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export const canonical = (value: Json): string =>
  Array.isArray(value)
    ? `[${value.map(canonical)}]`
    : Object(value) === value
      ? `{${Object.keys(value as Fields)
          .sort()
          .map((key) => JSON.stringify(key) + ":" + canonical((value as Fields)[key]))}}`
      : JSON.stringify(value);

const copy = <T>(data: T): T => JSON.parse(JSON.stringify(data)) as T;

/** Sort by fields, one after the other: texts by their UTF-16 code units. */
function sorted<T>(list: T[], ...keys: (keyof T)[]): T[] {
  return [...list].sort((a, b) => {
    for (const key of keys) if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
    return 0;
  });
}

/** Return a state with its lists in the order of docs/account.md, as it is compared and exported. A store keeps them as they came. */
export function ordered(state: State): State {
  return {
    ...state,
    entries: sorted(state.entries, "id"),
    answers: sorted(state.answers, "asker", "question", "fingerprint", "permanent"),
    choices: sorted(state.choices, "asker", "question", "fingerprint", "repeat", "period"),
    ...(state.coins && { coins: sorted(state.coins, "asker", "name") }),
    ...(state.told && { told: [...state.told].sort() }),
    ...(state.trees && { trees: sorted(state.trees, "asker", "question", "fingerprint", "period") }),
    ...(state.present && { present: sorted(state.present, "asker", "name") }),
  };
}

const equal = (a: unknown, b: unknown): boolean => canonical(a as Json) === canonical(b as Json);

/** Give part/whole of this device's budget to another device. */
export function split(state: State, device: string, [part, total]: [number, number]): Step {
  const own = copy(state.own);
  const gift = copy(state.own);
  for (const [mine, theirs] of [[own, gift], [own.lifetime, gift.lifetime]] as [Units | null, Units | null][]) {
    for (const field of mine && theirs ? FIELDS : []) {
      const all = BigInt(`0x${mine![field]}`);
      const given = (all * BigInt(part)) / BigInt(total);
      mine![field] = (all - given).toString(16);
      theirs![field] = given.toString(16);
    }
  }
  const entries = state.entries.filter((one) => one.device === state.device);
  const over = (some: Units[], most: Units): boolean => !fits(some, most);
  const spent = entries.some(({ first, last }) => {
    for (let i = first; i <= last; i++) if (over(entries.filter((one) => one.first <= i && i <= one.last), own)) return true;
    return false;
  });
  if (spent || (own.lifetime && over(entries, own.lifetime))) return [{ is: "refused", reason: "spent" }];
  return [{ is: "split", device, own: gift satisfies Own }, { ...state, own }];
}

/** What another device exports: everything but its queue and its clock. */
export type Export = Pick<State, "account" | "person" | "device" | "entries" | "answers" | "choices" | "coins"> & { limits: Limits };

/** Take over what another device of the same person has given. */
export function merge(state: State, from: Export): Step {
  const refuse = (reason: string): Step => [{ is: "refused", reason }];
  if (from.person !== state.person) return refuse("person");
  if (!equal(from.limits, state.limits)) return refuse("limits");
  const next = copy(state);
  for (const entry of from.entries) {
    const known = state.entries.find((one) => one.id === entry.id);
    if (known && !equal(known, entry)) return refuse("conflict");
    if (!known && entry.device === state.device) return refuse("rolled back");
    if (!known) next.entries.push(entry);
  }
  const unite = <T>(mine: T[], theirs: T[], same: (a: T, b: T) => boolean, wins: (a: T, b: T) => boolean): void => {
    for (const one of theirs) {
      const place = mine.findIndex((other) => same(other, one));
      if (place < 0) mine.push(one);
      else if (wins(one, mine[place]!)) mine[place] = one;
    }
  };
  const named = (a: State["queue"][0] | State["answers"][0] | State["choices"][0]): string => canonical([a.asker, a.question, a.fingerprint]);
  unite(next.answers, from.answers.filter((one) => one.permanent !== "present"), (a, b) => named(a) === named(b) && a.permanent === b.permanent, (a, b) => a.id < b.id);
  const rank = (one: State["choices"][0]): string => (one.answer === null ? "1" : "0") + (one.answer ?? "") + one.device;
  unite(next.choices, from.choices, (a, b) => named(a) === named(b) && a.repeat === b.repeat && a.period === b.period, (a, b) => rank(a) < rank(b));
  if (from.coins) unite((next.coins ??= []), from.coins, (a, b) => a.asker === b.asker && a.name === b.name, (a, b) => a.heads && !b.heads);
  return [{ is: "merged", entries: next.entries.length - state.entries.length }, next];
}
