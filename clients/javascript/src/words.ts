/** Words: texts that are shown to people. docs/wire.md has the rule for all readers. */

import { need, utf8 } from "./parts.js";

/** Controls, separators of lines, invisible characters, no characters, half a pair of UTF-16. */
const NEVER = /[\0-\x1f\x7f-\x9f\u2028\u2029\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}\ud800-\udfff]/u;
const VISIBLE = /[^ \n\xa0\xad\u061c\u1680\u2000-\u200f\u202a-\u202f\u205f\u2066-\u2069\u3000\ufe00-\ufe0f]/u;
/** Marks that change the direction of a text, and those that close them. */
const MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
const [POP, END] = [0x202c, 0x2069];

/** Return whether every direction mark of a line is closed, the last one first. */
function paired(line: string): boolean {
  const open: number[] = [];
  for (const mark of line.match(MARKS) ?? []) {
    const code = mark.charCodeAt(0);
    if (code !== POP && code !== END) open.push(code < 0x2066 ? POP : END);
    else if (open.pop() !== code) return false;
  }
  return !open.length;
}

/** Throw `Malformed` ("terms", and the field) unless a value is words within the limits of characters and bytes, on one line unless `lines`. */
export function checkWords(text: unknown, field: string, { characters = Infinity, size = Infinity, lines = false }): asserts text is string {
  need(typeof text === "string" && text.length <= 4 * Math.min(size, characters), "terms", field); // a long one takes long to read
  const shown = lines ? text.replaceAll("\n", "") : text;
  need(VISIBLE.test(text) && !NEVER.test(shown) && text.split("\n").every(paired), "terms", field);
  need([...text].length <= characters && utf8(text).length <= size, "terms", field);
}
