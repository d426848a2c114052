// Whether the time of a draw tells the value, or whether its window was drawn: Welch's t over many calls in random order.
// node timing.mjs [calls] [twin]      with the word twin, a draw that branches on the value: its times must differ
import { readFileSync } from "node:fs";
import { readQuestion, systemSource } from "./dist/core.js";

const file = new URL("../../conformance/2/draws.json", import.meta.url);
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

/** Return a source of which every byte is the same: a small one draws the window, a large one does not. */
const constant = (byte) => ({ take: (size) => new Uint8Array(size).fill(byte) });

/** Return Welch's t of the times of two values, or of two sources, and their mean times in nanoseconds. */
function welch(question, values, sources) {
  const order = new Uint8Array(calls);
  for (let at = 0; at < calls; at += 65536) crypto.getRandomValues(order.subarray(at, at + 65536));
  const times = [new Float64Array(calls), new Float64Array(calls)];
  const sizes = [0, 0];
  const given = [...values, "numbers are kept as objects here, so that none is made within the time"];
  for (let i = -2e5; i < calls; i++) {
    const which = (order[i < 0 ? i + calls : i] ?? 0) & 1;
    const value = given[which];
    const source = sources[which];
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

/** Return a question whose draw does some more for large values, as a draw with a branch would. */
function branching(question) {
  let sum = 0;
  const report = (value, source) => {
    if (value > 2) for (let i = 0; i < 5; i++) sum += Math.sqrt(i + sum);
    return question.report(value, source);
  };
  return { report };
}

for (const name of ["Podium", "SW", "OGPM"]) {
  const read = readQuestion(questions.find((one) => one.name === name).specification);
  const question = process.argv[3] === "twin" ? branching(read) : read;
  const system = systemSource();
  for (const values of [[-2.9, 7.4], [-2.9, 2.1], [2.25, 2.25]]) {
    console.log(JSON.stringify({ name, values, calls, ...welch(question, values, [system, system]) }));
  }
  const bytes = [0x11, 0xe1];
  console.log(JSON.stringify({ name, values: [2.25, 2.25], bytes, calls, ...welch(question, [2.25, 2.25], bytes.map(constant)) }));
}
