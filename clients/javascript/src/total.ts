/** What all answers of one person to a campaign reveal, as people read it. The vectors are `totals` of consent.json. */

import { type Fields } from "./parts.js";

/** Return the ε of all answers of one person to a campaign, by docs/wire.md; undefined if only the account limits it. */
export function totalOf(terms: Fields): number | undefined {
  const { repeat, begins, ends, days, every, answers, promise } = terms;
  const all = (Date.parse(ends as string) - Date.parse(begins as string)) / 864e5 + 1;
  const months = (text: string): number => 12 * +text.slice(0, 4) + +text.slice(5, 7);
  const week = (text: string): number => Math.floor((Date.parse(text) / 864e5 + 3) / 7);
  const periods = days ? Math.ceil(all / (days as number)) : every === "month" ? months(ends as string) - months(begins as string) + 1 : every === "week" ? week(ends as string) - week(begins as string) + 1 : all;
  const times = repeat === "same" || repeat === "present" ? 1 : repeat === "once" || repeat === "kept change" ? periods : repeat === "fresh" ? (answers as number | undefined) : undefined;
  return times && times * (promise.epsilon as number);
}

/**
 * Return how sure anybody can be at most who guessed 50 % before, in per cent: never less than it is, and with more decimals where fewer would say 100.
 */
export function share(epsilon: number): string {
  const percent = (100 / (1 + Math.exp(-epsilon))) * (1 + 2 ** -52);
  const shown = [1, 10, 100].map((places) => (Math.ceil(percent * places) / places).toFixed(Math.log10(places)));
  return `${shown.find((text) => +text < 100) ?? "100"} %`;
}
