/** The text of a campaign: its terms, by docs/wire.md, also of each question. */

import { need, type Question, readQuestion, real, draws, watched, integer, type Fields } from "./parts.js";
import { agree } from "./relay.js";
import { checkWords } from "./words.js";

/** Terms that are integers from 1 on, and the largest. */
const NUMBERS = { version: 2 ** 31 - 1, people: 2 ** 53 - 1, retry: 365, answers: 1e6, days: 36600, changes: 1000, label_share: 999, expects: 2 ** 53 - 1, reports_a_batch: 2 ** 31 - 1 };
/** By the repetition of a question: the required terms, and the optional ones. Other ways do not have them. */
const REPEATS: { [repeat: string]: [needed: string[], own: string[]] } = {
  // @ts-expect-error: without a prototype, "constructor" is not a way
  __proto__: null,
  fresh: [[], ["answers"]],
  same: [[], []],
  "per value": [[], []],
  once: [[], ["days", "every"]],
  "kept change": [["days", "changes"], []],
  present: [["every", "expects"], ["label_share"]],
};
const PERIODIC = ["days", "changes", "every", "expects", "answers", "label_share"];
/** The length of a path is not known, texts are not counted, and the others are not answers of one device. */
const UNASKED = ["walk", "two copies", "divided", "prefix", "joint response", "joint bits", "joint hashed", "each", "sampled", "indicator", "kept change", "kept changes"];
const TAG = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/;
const PEOPLE = { characters: 500 };

const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
const isObject = (given: unknown): given is Fields => Object(given) === given && !Array.isArray(given);
const distinct = (list: unknown, least: number, most: number): list is unknown[] => Array.isArray(list) && list.length >= least && list.length <= most && new Set(list).size === list.length;

export const digits = (text: unknown, length: number): text is string => typeof text === "string" && text.length === length && /^[0-9a-f]*$/.test(text);

/** Return the number of a day that is written as 2026-05-01. */
export function dayOf(given: Fields, field = "day"): number {
  const text = given[field];
  need(typeof text === "string" && /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && Date.parse(text) === Date.parse(text) && new Date(text).toISOString().startsWith(text), "terms", field);
  return Date.parse(text) / 864e5;
}

function checkRepeat(given: Fields): void {
  const { repeat, phase, every } = given;
  need(typeof repeat === "string" && REPEATS[repeat], "terms", "repeat");
  const [needed, own] = REPEATS[repeat];
  for (const name of PERIODIC) need(name in given ? needed.concat(own).includes(name) : !needed.includes(name), "terms", name);
  if ("every" in given) need(["day", "week", "month"].includes(every as string), "terms", "every");
  need(repeat !== "once" || "days" in given !== "every" in given, "terms", "days");
  need(repeat !== "kept change" || given["changes"] < given["days"], "terms", "changes");
  if ("phase" in given) {
    need(isObject(phase) && Object.keys(phase).length === 1 && repeat !== "present", "terms", "phase");
    if ("share" in phase) integer(phase, "share", 1, 999);
    else need(digits(phase["follows"], 64), "terms", "phase");
  }
  need(repeat !== "present" || !("reports_a_batch" in given), "terms", "reports_a_batch");
}

/** Return the words in each language; refuse them unless exactly these languages have words. */
function byTag(given: unknown, tags: string[], field: string): unknown[] {
  need(isObject(given) && tags.length && Object.keys(given).sort() + "" === [...tags].sort() + "", "terms", field);
  return tags.map((tag) => given[tag] as unknown);
}

function checkLanguages(given: Fields): string[] {
  const { languages, purposes } = given;
  if (!("languages" in given)) need(!("purposes" in given), "terms", "purposes");
  else need(distinct(languages, 1, 40) && languages.every((tag) => typeof tag === "string" && TAG.test(tag)), "terms", "languages");
  const tags = (languages ?? []) as string[];
  if ("purposes" in given) for (const words of byTag(purposes, tags.slice(1), "purposes")) checkWords(words, "purposes", { size: 4000, lines: true });
  return tags;
}

/** Return the texts of a domain that people are shown: labels, names of attributes and of sides. */
function shownTexts({ labels = [], attributes = [], sides = [] }: Fields): unknown[] {
  const named = (attributes as [string, Fields][]).flatMap(([name, list]) => [name, ...shownTexts(list)]);
  return [...(labels as unknown[]).filter((label) => typeof label === "string"), ...named, ...(sides as unknown[][]).map(([name]) => name)];
}

/** Refuse terms of a question that do not fit it: units, steps, scales, dates and words. */
function checkDeclared(stated: Fields, domain: Fields, tags: string[], present: boolean): void {
  for (const text of shownTexts(domain)) checkWords(text, "labels", PEOPLE);
  const has = (name: string): boolean => name in stated;
  const { kind, low = 0, high, period } = (domain.kind === "optional" ? domain.of : domain) as Fields;
  const [interval, circle] = [kind === "interval", kind === "circle"];
  if (has("unit")) {
    need((interval || circle) && !has("form"), "terms", "unit");
    checkWords(stated["unit"], "unit", { characters: 40 });
  }
  if (has("step")) {
    const count = (circle ? period : high - low) / real(stated, "step");
    need((interval || circle) && !has("scale") && count >= 1 - 1e-12 && count <= 500 && (interval || Math.abs(count - Math.round(count)) <= 1e-9), "terms", "step");
  }
  if (has("scale")) {
    const edges = stated["scale"] as number[];
    need(interval && !has("form") && Array.isArray(edges) && edges.length >= 3 && edges.length <= 257, "terms", "scale");
    const fine = [...edges].every((edge, at) => Math.abs(real({ edge }, "edge")) <= 1e30 && (!at || edges[at - 1]! < edge));
    need(fine && low === 0 && high === edges.length - 1, "terms", "scale");
  }
  if (has("form")) {
    const { form } = stated;
    const days = domain.labels as unknown[];
    if (form === "time") need(circle && period === 1440, "terms", "form");
    else if (form === "date") need(interval && [low, high].every((end) => Number.isInteger(end) && end >= -719162 && end <= 2932896), "terms", "form");
    else {
      need(form === "installed" && present && domain.kind === "categories" && Array.isArray(days), "terms", "form");
      days.forEach((day, at) => need(dayOf({ day }) > (at ? dayOf({ day: days[at - 1] }) : -Infinity), "terms", "form"));
    }
  }
  if (has("clipped")) need(stated["clipped"] === true && interval && !has("scale"), "terms", "clipped");
  if (has("outside")) {
    const { outside } = stated;
    need(has("clipped") && Array.isArray(outside) && outside.length === 3, "terms", "outside");
    const [share, least, most] = [...(outside as number[])].map((outside) => real({ outside }, "outside")) as [number, number, number];
    need(0 <= least && least <= share && share <= most && most <= 1, "terms", "outside");
  }
  if (has("text")) for (const words of byTag(stated["text"], tags, "text")) checkWords(words, "text", PEOPLE);
  if (has("names")) {
    need(["categories", "several"].includes(domain.kind as string), "terms", "names");
    const count = (domain.count ?? domain.labels.length) as number;
    for (const names of byTag(stated["names"], tags, "names")) {
      need(distinct(names, count, count), "terms", "names");
      for (const name of names) checkWords(name, "names", PEOPLE);
    }
  }
}

/** Return how many different reports a draw has; 0 if presence does not use it. */
function presentValues({ draw, cells, order, dimension }: Fields): number {
  if (draw === "projective") return (order ** dimension - 1) / (order - 1);
  return draw === "response" ? cells : draw === "hadamard" ? order : 0;
}

/** Return a question of a campaign, verified; undefined if its draw is not known here. */
function readOf(stated: Fields, name: string, repeat: unknown): Question | undefined {
  const specification = stated["specification"] as string;
  let question: Question;
  try {
    question = readQuestion(specification, name);
  } catch (error) {
    if ((error as Fields)["reason"] !== "draw") throw error;
    const kind = (JSON.parse(JSON.parse(specification).device as string) as Fields)["draw"] as unknown;
    if (typeof kind !== "string" || draws[kind]) throw error;
    need(!UNASKED.includes(kind), "terms", "questions");
    JSON.stringify(stated); // every field of it is read
    return undefined;
  }
  need(!UNASKED.includes(question.kind), "terms", "questions");
  const [top, bottom] = question.ratio;
  const spent = question.delta ? question.epsilon : Math.log1p(Number(((top - bottom) << 64n) / bottom) / 2 ** 64);
  need(near(real(stated, "epsilon"), spent) && !question.delta === !("delta" in stated), "promise", name);
  if (question.delta) need(near(real(stated, "delta"), question.delta), "promise", name);
  const { domain, cells } = JSON.parse(question.device) as Fields;
  if (repeat === "kept change") need(question.kind === "response" && domain.kind === "categories" && cells === 2, "terms", name);
  return question;
}

/**
 * Return the questions of a campaign's text by their names; undefined is a question with an unknown draw; it is not answered. Throw `Malformed` if the
 * terms are not as docs/wire.md says, or promise something else than the questions.
 */
export async function checkTerms(text: string): Promise<Map<string, Question | undefined>> {
  const [given, finish] = watched(text);
  need(given["dither-campaign"] === 2, "version");
  for (const [name, size, lines] of [["name", 64, true], ["asker", 253, false], ["contact", 500, true], ["purpose", 4000, true]] as const) {
    checkWords(given[name], name, { size, lines, ...(name === "asker" && { characters: 200 }) });
  }
  for (const [name, most] of Object.entries(NUMBERS)) if (name in given || ["version", "people", "retry"].includes(name)) integer(given, name, 1, most);
  need(dayOf(given, "begins") <= dayOf(given, "ends"), "terms", "ends");
  const { labels, questions, promise, repeat } = given;
  need(distinct(labels, 0, 1000), "terms", "labels");
  for (const label of labels) checkWords(label, "labels", { size: 64, lines: true });
  checkRepeat(given);
  const tags = checkLanguages(given);
  if ("sealing_key" in given) await agree(given["sealing_key"]);

  const present = repeat === "present";
  const read = new Map<string, Question | undefined>();
  const marks = new Set<string>();
  let [epsilon, delta] = [0, 0];
  need(Array.isArray(questions) && questions.length <= (present ? 1 : 1024) && (present || questions.length), "terms", "questions");
  for (const stated of questions as Fields[]) {
    need(isObject(stated), "terms", "questions");
    const { name } = stated;
    checkWords(name, "questions", { size: 64 });
    const question = readOf(stated, name, repeat);
    // Of a question that is not known here these are believed: below 0 they would hide another question's.
    need(real(stated, "epsilon") > 0, "promise", name);
    epsilon += stated["epsilon"] as number;
    if ("delta" in stated) {
      need(real(stated, "delta") > 0, "promise", name);
      delta += stated["delta"] as number;
    }
    const device = JSON.parse((question ?? (JSON.parse(stated["specification"] as string) as Fields)).device as string) as Fields;
    if (question) checkDeclared(stated, device["domain"] as Fields, tags, present);
    if (present && question) {
      const values = presentValues(device);
      need(given["expects"] >= 100 && device["domain"].kind === "categories" && values > 0 && values <= Math.min(128, Math.floor((given["expects"] * given["label_share"]) / 20000)), "terms", name);
    }
    read.set(name, question);
    marks.add(question?.fingerprint ?? ((JSON.parse(stated["specification"] as string) as Fields)["fingerprint"] as string));
  }
  need(!present || questions.length === +("label_share" in given), "terms", "label_share");
  // A name that is there twice would be one question to some readers; reports to one fingerprint would be indistinguishable.
  need(read.size === questions.length && read.size === marks.size, "terms", "questions");
  // The last digits of a promise may be another version's. No mechanism that this client knows assumes anything.
  need(near(real(promise, "epsilon"), epsilon), "promise", "epsilon");
  need(delta ? near(real(promise, "delta"), delta) : promise.delta === null, "promise", "delta");
  need(Array.isArray(promise.assumptions) && !promise.assumptions.length, "promise", "assumptions");
  finish();
  return read;
}

/** Return the number of the part of a scale in which a value lies, and the share of the way through it. No device takes a logarithm. */
function onScale(edges: number[], value: number): number {
  const inside = Math.min(Math.max(value, edges[0]!), edges.at(-1)!);
  let at = edges.length - 2;
  while (at && edges[at]! > inside) at--;
  return at + (inside - edges[at]!) / (edges[at + 1]! - edges[at]!);
}

/** Return the function from a person's input to a value of a question: scales, dates, times and single places. It returns undefined for other inputs, and never throws. */
export function valueOf(stated: Fields, question: Question): (given: unknown) => unknown {
  const { scale, form } = stated as { scale?: number[]; form?: string };
  if (question.spend) return (given) => [given];
  if (scale) return (given) => (typeof given === "number" && given === given ? onScale(scale, given) : given === null ? null : undefined);
  const day = (text: string): number | undefined => {
    try {
      return dayOf({ text }, "text");
    } catch {
      return undefined;
    }
  };
  const { labels } = (JSON.parse(question.device) as Fields)["domain"] as { labels?: string[] };
  return (given) => {
    if (!form || typeof given !== "string") return given;
    if (form === "date") return day(given);
    if (form === "time") return /^([01]\d|2[0-3]):[0-5]\d$/.test(given) ? 60 * +given.slice(0, 2) + +given.slice(3) : undefined;
    return day(given) === undefined ? undefined : (labels!.findLast((label) => label <= given) ?? labels![0]);
  };
}
