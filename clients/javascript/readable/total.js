/** What all answers of one person to a campaign reveal, as people read it. The vectors are `totals` of consent.json. */
/** Return the ε of all answers of one person to a campaign, by docs/wire.md; undefined if only the account limits it. */
export function totalOf(terms) {
    const { repeat, begins, ends, days, every, answers, promise } = terms;
    const all = (Date.parse(ends) - Date.parse(begins)) / 864e5 + 1;
    const months = (text) => 12 * +text.slice(0, 4) + +text.slice(5, 7);
    const week = (text) => Math.floor((Date.parse(text) / 864e5 + 3) / 7);
    const periods = days ? Math.ceil(all / days) : every === "month" ? months(ends) - months(begins) + 1 : every === "week" ? week(ends) - week(begins) + 1 : all;
    const times = repeat === "same" || repeat === "present" ? 1 : repeat === "once" || repeat === "kept change" ? periods : repeat === "fresh" ? answers : undefined;
    return times && times * promise.epsilon;
}
/**
 * Return how sure anybody can be at most who guessed 50 % before, in per cent: never less than it is, and with more decimals where fewer would say 100.
 */
export function share(epsilon) {
    const percent = (100 / (1 + Math.exp(-epsilon))) * (1 + 2 ** -52);
    const shown = [1, 10, 100].map((places) => (Math.ceil(percent * places) / places).toFixed(Math.log10(places)));
    return `${shown.find((text) => +text < 100) ?? "100"} %`;
}
