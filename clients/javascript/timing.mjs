// Whether the time of a draw tells the value, or whether its window was drawn: Welch's t over many calls in random order.
// node timing.mjs [calls] [twin]      with the word twin, a draw that branches on the value: its times must differ
import { readFileSync } from "node:fs";
import { readQuestion, systemSource } from "./dist/core.js";

const file = new URL("../conformance/2/draws.json", import.meta.url);
const { questions } = JSON.parse(readFileSync(file, "utf8"));
const calls = Number(process.argv[2] ?? 1e6);

/** Return the mean, the variance and the number of times below a limit. */
function moments(times, limit) {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const time of times) {
    if (time > limit) continue; // interrupted
    const away = time - mean;
    mean += away / ++count;
    squares += away * (time - mean);
  }
  return { count, mean, variance: squares / (count - 1) };
}

/** A source of which every byte is `byte`: a small one draws the window, a large one does not. */
const constant = { byte: 0, take: (size) => new Uint8Array(size).fill(constant.byte) };

/**
 * Return Welch's t of the times of two values, or of two bytes of a constant source, and their mean times in nanoseconds.
 *
 * Both kinds of calls use the same objects: two objects in other places of memory differ by 1 to 3 ns whatever is in them.
 */
function welch(question, values, source, bytes = [0, 0]) {
  const order = new Uint8Array(calls);
  for (let at = 0; at < calls; at += 65536) crypto.getRandomValues(order.subarray(at, at + 65536));
  const times = [new Float64Array(calls), new Float64Array(calls)];
  const sizes = [0, 0];
  const given = Float64Array.from(values);
  for (let i = -2e5; i < calls; i++) {
    const which = (order[i < 0 ? i + calls : i] ?? 0) & 1;
    constant.byte = bytes[which];
    const value = given[which];
    const begin = process.hrtime.bigint();
    question.report(value, source);
    const end = process.hrtime.bigint();
    if (i >= 0) times[which][sizes[which]++] = Number(end - begin);
  }
  const measured = times.map((some, which) => some.subarray(0, sizes[which]));
  const all = Float64Array.from([...measured[0], ...measured[1]]).sort();
  const limit = all[Math.floor(all.length * 0.99)];
  const [one, two] = measured.map((some) => moments(some, limit));
  const t = (one.mean - two.mean) / Math.sqrt(one.variance / one.count + two.variance / two.count);
  return { t, means: [one.mean, two.mean] };
}

/** Return a question whose draw does some more for large values, and for large random bytes, as a draw with branches would. */
function branching(question) {
  let sum = 0;
  const work = () => {
    for (let i = 0; i < 5; i++) sum += Math.sqrt(i + sum);
  };
  const report = (value, source) => {
    if (value > 2) work();
    if (source.take(1)[0] > 0x7f) work();
    return question.report(value, source);
  };
  return { report };
}

for (const name of ["Podium", "SW", "OGPM"]) {
  const read = readQuestion(questions.find((one) => one.name === name).specification);
  const question = process.argv[3] === "twin" ? branching(read) : read;
  const system = systemSource();
  for (const values of [[-2.9, 7.4], [-2.9, 2.1], [2.25, 2.25]]) {
    console.log(JSON.stringify({ name, values, calls, ...welch(question, values, system) }));
  }
  // 0x11 draws the window and 0xe1 does not; between 0x7f and 0x81 is 2^31, where JavaScript's numbers change their form.
  for (const bytes of [[0x11, 0xe1], [0x7f, 0x81], [0x11, 0x11]]) {
    const found = welch(question, [2.25, 2.25], constant, bytes);
    console.log(JSON.stringify({ name, values: [2.25, 2.25], bytes, calls, ...found }));
  }
}
