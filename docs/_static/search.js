/* Ranks the pages of the site for a query, and shows them on the search page. No framework, no server.
   A phrase of search_words.toml or a title that is the query comes first; then titles weigh most, headings next,
   the text least. Names of the API and measured tables come last, unless the query is the name. */
"use strict";

const SMALL = new Set(
  `a an and are as at be been but by can could did do does for from get had has have how i if in into is it its me
  may my no of on one or our per so such than that the their them then there these they this to us use using via vs
  want was we were what when where which who why will with within without would you your dither page pages
  please`.split(/\s+/),
);
const WEIGHTS = { guide: 1, notebooks: 0.55, mechanisms: 0.6, verb: 0.5, api: 0.3, benchmarks: 0.2, project: 0.2 };
const SOUNDS = [
  [/ε/g, " epsilon "],
  [/δ/g, " delta "],
  [/\bk-?rr\b/g, " krr "],
  [/\b([a-z])\s*\/\s*([a-z])\b/g, "$1$2"],
  [/\b(dt|dither\.results|dither)\./g, ""],
  [/±/g, " error "],
  [/\b(e-?mail)s?\b/g, " email "],
  [/colour/g, "color"],
];

const STEMS = new Map();

/** The stem of an English word, a few endings shorter; each word is cut once. */
function stem(word) {
  let found = STEMS.get(word);
  if (found === undefined) STEMS.set(word, (found = cutEndings(word)));
  return found;
}

function cutEndings(word) {
  if (word.length < 4) return word;
  const short = word
    .replace(/(ss)es$|ies$|([^su])s$/, (end, kept, letter) => kept ?? (letter ? letter : "y"))
    .replace(/(?:ization|isation)$/, "ize")
    .replace(/ised?$|ized?$|ising$|izing$/, "ize");
  const cut = short.replace(/(?<=...)(?:ations?|ing|ed|er|ment|ly)$/, "");
  return cut.replace(/([b-df-hj-np-tv-z])\1$/, "$1").replace(/e$/, "").replace(/y$/, "i");
}

/** The stems of a text, without the words that say nothing, unless there is nothing else. */
function stems(text) {
  let plain = text.toLowerCase();
  for (const [pattern, written] of SOUNDS) plain = plain.replace(pattern, written);
  const words = plain.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").match(/[a-z0-9]+/g) ?? [];
  const kept = words.filter((word) => !SMALL.has(word));
  return (kept.length ? kept : words).map(stem);
}

/** Whether a sequence of words is inside another. */
function within(part, all) {
  return part.length > 0 && all.some((_, start) => part.every((word, at) => all[start + at] === word));
}

/** The words of phrases, each with the largest share that it has in one of them. */
function shares(phrases) {
  const found = new Map();
  for (const phrase of phrases) {
    for (const word of phrase) found.set(word, Math.max(found.get(word) ?? 0, 1 / phrase.length));
  }
  return found;
}

/** The index with its words as stems, counted: done once. */
function prepare(pages) {
  const frequency = new Map();
  const prepared = pages.map((page) => {
    const counts = new Map();
    const sections = page.sections.map(([anchor, title, text]) => {
      const inside = new Map();
      for (const item of text.split(" ")) {
        const [word, times] = item.split("*");
        if (SMALL.has(word)) continue;
        const key = stem(word);
        inside.set(key, (inside.get(key) ?? 0) + Number(times ?? 1));
      }
      for (const [key, times] of inside) counts.set(key, (counts.get(key) ?? 0) + times);
      return { anchor, title, stems: stems(title), inside };
    });
    const phrases = (page.words ?? []).map(stems);
    const prepared = {
      ...page, sections, counts, phrases, texts: phrases.map((phrase) => phrase.join(" ")), titled: stems(page.title),
      headed: new Set(sections.flatMap((section) => section.stems)),
      known: shares(phrases), size: [...counts.values()].reduce((sum, times) => sum + times, 1),
    };
    for (const key of new Set([...counts.keys(), ...prepared.known.keys()])) {
      frequency.set(key, (frequency.get(key) ?? 0) + 1);
    }
    return prepared;
  });
  return { pages: prepared, frequency, all: [...frequency.keys()].sort() };
}

/** Whether two words differ by one letter that is missing, added, changed or swapped. */
function near(first, second) {
  if (Math.abs(first.length - second.length) > 1) return false;
  let start = 0;
  while (start < first.length && first[start] === second[start]) start += 1;
  const [one, other] = [first.slice(start), second.slice(start)];
  return one.slice(1) === other.slice(1) || one.slice(1) === other || one === other.slice(1)
    || (one[0] === other[1] && one[1] === other[0] && one.slice(2) === other.slice(2));
}

/** The index of the first word that is not before another, in a sorted list. */
function firstFrom(sorted, word) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The words of the index that a word of the query stands for, each with how well it fits. */
function readings(index, word, last) {
  if (index.frequency.has(word) && !last) return new Map([[word, 1]]);
  const found = new Map(index.frequency.has(word) ? [[word, 1]] : []);
  if (word.length > 2) {
    for (let at = firstFrom(index.all, word); index.all[at]?.startsWith(word); at += 1) {
      if (index.all[at] !== word) found.set(index.all[at], 0.5);
    }
  }
  if (!found.size && word.length > 3) {
    for (const other of index.all) if (near(word, other)) found.set(other, 0.6);
  }
  return found;
}

/** Whether a word of the index begins with what was typed. */
function starts(index, word) {
  return index.all[firstFrom(index.all, word)]?.startsWith(word) ?? false;
}

/** The word, or the most frequent word of the index that differs from it by one letter. */
function spelled(index, word) {
  if (index.frequency.has(word) || word.length < 5) return word;
  let best = word;
  for (const other of index.all) {
    if (near(word, other) && index.frequency.get(other) > (index.frequency.get(best) ?? 0)) best = other;
  }
  return best;
}

/** The best place of a page for one word: title, words of readers, headings, text. */
function weigh(page, key) {
  let weight = page.titled.includes(key) ? 10 : 0;
  if (page.known.has(key)) weight = Math.max(weight, 4 + 3 * page.known.get(key));
  if (page.headed.has(key)) weight += 3;
  const times = page.counts.get(key) ?? 0;
  return weight + (3 * times) / (times + 1.5 + page.size / 500);
}

/** The pages for a query, best first: page, title, section, score. */
function search(index, query) {
  const typed = stems(query);
  if (!typed.length) return [];
  const words = typed.map((word, at) => (at === typed.length - 1 && starts(index, word) ? word : spelled(index, word)));
  const said = query.trim().toLowerCase().replace(/^(dt|dither)\.|\(\)$/g, "");
  const asName = /^dt\.|[_.]|\(\)$/.test(query.trim()) || /[a-z][A-Z]|^[A-Z]{2,}[a-z]?/.test(query.trim());
  const options = words.map((word, at) => readings(index, word, at === words.length - 1));
  const rarity = words.map((word, at) => {
    const seen = Math.max(1, ...[...options[at].keys()].map((key) => index.frequency.get(key)));
    return Math.log(1 + index.pages.length / seen);
  });
  const text = words.join(" ");
  const whole = rarity.reduce((sum, each) => sum + each, 0);
  const found = [];
  for (const page of index.pages) {
    let score = 0;
    let covered = 0;
    words.forEach((_, at) => {
      let best = 0;
      let fit = 0;
      for (const [key, quality] of options[at]) {
        const weight = weigh(page, key) * quality;
        if (weight > best) [best, fit] = [weight, quality];
      }
      score += best * rarity[at];
      covered += best > 0 ? rarity[at] * Math.min(1, fit + 0.3) : 0;
    });
    if (!score) continue;
    score = (score / whole) * (covered / whole) ** 2;
    page.phrases.forEach((phrase, at) => {
      if (page.texts[at] === text) score += 30;
      else if (phrase.length > 1 && phrase.length <= words.length && within(phrase, words)) {
        score += (18 * phrase.length) / words.length;
      } else if (words.length > 1 && words.length <= phrase.length && within(words, phrase)) {
        score += (12 * words.length) / phrase.length;
      }
    });
    if (page.titled.join(" ") === text) score += 25;
    else if (words.length > 1 && within(words, page.titled)) score += 12;
    score *= WEIGHTS[page.kind] ?? 0.3;
    if (page.name && page.name.toLowerCase() === said) score += asName ? 60 : page.kind === "mechanisms" ? 25 : 2;
    found.push({ page, score, section: sectionOf(page, words) });
  }
  found.sort((first, second) => second.score - first.score || first.page.page.length - second.page.page.length);
  return found;
}

/** The section that a query means: the one with the words in its heading, else none. */
function sectionOf(page, words) {
  const rest = words.filter((word) => !page.titled.includes(word));
  const sections = page.sections.slice(1);
  const headed = sections.find((section) => rest.length && rest.every((word) => section.stems.includes(word)));
  return headed ?? (page.anchor ? page.sections[0] : null);
}

/** The address of a result. */
function address({ page, section }) {
  return `${page.page}.html${section?.anchor ? `#${section.anchor}` : ""}`;
}

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function show(box, query) {
  const index = prepare(globalThis.ditherSearch);
  const found = search(index, query).slice(0, 30);
  const summary = found.length
    ? `${found.length === 30 ? "The first 30 pages" : `${found.length} matching pages`} found for “${query}”.`
    : `Nothing matches “${query}”. The list of questions and answers, or the contents, may help.`;
  box.append(element("p", summary, { class: "search-summary", role: "status" }));
  const list = element("ul", "", { class: "search" });
  for (const result of found) {
    const item = element("li", "");
    item.append(element("a", result.page.title, { href: address(result) }));
    const where = [result.page.part, result.section?.title].filter(Boolean).join(" · ");
    if (where) item.append(element("span", ` ${where}`, { class: "search-where" }));
    if (result.page.about) item.append(element("p", result.page.about.slice(0, 220)));
    list.append(item);
  }
  if (!found.length) {
    for (const [name, title] of [["faq", "Questions and answers"], ["index", "The first page"]]) {
      const item = element("li", "");
      item.append(element("a", title, { href: `${name}.html` }));
      list.append(item);
    }
  }
  box.append(list);
}

if (typeof document === "undefined") {
  module.exports = { address, prepare, search, stem };
} else {
  addEventListener("DOMContentLoaded", () => {
    const query = new URLSearchParams(location.search).get("q") ?? "";
    const box = document.getElementById("search-results");
    for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
    if (box && query.trim()) show(box, query);
  });
}
