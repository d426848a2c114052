// The playground: the client draws every report; this file asks, counts, estimates and draws pictures.
"use strict";
(() => {
  const { epsilons, questions, curve, goals } = JSON.parse(document.getElementById("data").textContent);
  const PEOPLE = [100, 300, 1000, 3000, 10000, 30000, 100000];
  const COLOURS = ["#2f7fc1", "#c77c11", "#2e9e6b", "#b0538f", "#8a8f2a", "#7b6fd0"];
  const at = (id) => document.getElementById(id);
  const source = dither.systemSource();
  const spaced = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const minus = (text) => text.replace(/^-(?=[0.]*$)/, "").replace("-", "\u2212"); // there is no \u22120
  const percent = (share, digits = 0) => `${minus((100 * share).toFixed(digits))}\u202f%`;
  const rounded = (x) => minus(Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 10 ? x.toFixed(1) : x.toPrecision(2));
  const state = { question: 0, epsilon: 4, people: 4, answers: [40, "no", "Firefox", ["Mail", "Chat"], "4 stars"], drawn: [], goal: 0, at: 6 };

  // --- a question: the client reads it, and the page knows what its reports stand for ---

  function read(number, epsilon) {
    const asked = questions[number];
    const text = asked.specifications[epsilon];
    const specification = JSON.parse(text);
    const device = JSON.parse(specification.device);
    const question = dither.readQuestion(text); // verifies the promise in whole numbers
    const cell = (bytes) => bytes.reduce((sum, byte, place) => sum + byte * 256 ** place, 0);
    if (asked.sets) {
      // A report of one byte names an item, or a place of a set that is not filled.
      const [own, other] = asked.rates[epsilon];
      return { asked, question, cell, own, other, count: asked.labels.length };
    }
    const all = 2 ** device.bits;
    const step = Number(BigInt(`0x${device.step}`));
    if (asked.labels) {
      const other = step / all; // each other answer
      const own = 1 - (device.cells - 1) * other;
      return { asked, question, cell, own, other, count: device.cells };
    }
    const { offset, step: width } = specification.codebook;
    const { start } = device;
    const begin = (value) => Math.max(0, Math.min(start.last, Math.trunc((value - start.origin) * start.scale))) / 2 ** start.fraction;
    const inside = step / all + (1 - (device.width * step) / all) / device.cells; // probability of a cell of the window
    const outside = (1 - (device.width * step) / all) / device.cells;
    return { asked, question, cell, begin, inside, outside, cells: device.cells, window: device.width, number: (c) => offset + width * c, reading: reading(asked.readings[epsilon]) };
  }

  // The numbers that dt.mean averages: linear between the given cells.
  function reading(knots) {
    return (cell) => {
      const above = Math.max(1, knots.findIndex(([at]) => at >= cell));
      const [[low, first], [high, second]] = [knots[above - 1], knots[above]];
      return first + ((cell - low) / (high - low)) * (second - first);
    };
  }

  // --- everybody: people whose values follow a fixed distribution, each with a device ---

  function values(asked, n) {
    if (!asked.labels) {
      const q = asked.quantiles;
      return Array.from({ length: n }, (_, i) => {
        const place = ((i + 0.5) / n) * (q.length - 1);
        const low = Math.floor(place);
        return q[low] + (place - low) * (q[Math.min(low + 1, q.length - 1)] - q[low]);
      });
    }
    let sum = 0;
    const ends = asked.shares.map((share) => (sum += share) * n), given = asked.sets ?? asked.labels;
    return Array.from({ length: n }, (_, i) => given[ends.findIndex((end) => i + 0.5 <= end + 1e-9)] ?? given.at(-1));
  }

  // Whether an answer is a label, or a set that has it.
  const holds = (answer, label) => (Array.isArray(answer) ? answer.includes(label) : answer === label);

  // The names of the reports, and how likely each is. Of a set's places that are not filled there is one name.
  const NOTHING = "(none)";
  function chances(one, answer) {
    const own = Array.isArray(answer) && answer.length > one.asked.most ? (one.own * one.asked.most + one.other * (answer.length - one.asked.most)) / answer.length : one.own;
    const found = one.asked.labels.map((name) => [name, holds(answer, name) ? own : one.other]);
    return one.asked.sets ? [...found, [NOTHING, 1 - found.reduce((sum, [, share]) => sum + share, 0)]] : found;
  }

  // The quantile of the normal distribution, with the first term of Student's t.
  const reach = (n) => 1.959964 + (1.959964 ** 3 + 1.959964) / (4 * (n - 1));

  function ask(one, n) {
    const people = values(one.asked, n);
    const cells = people.map((value) => one.cell(one.question.report(value, source)));
    if (one.asked.labels) {
      const counts = new Array(one.count).fill(0);
      for (const cell of cells) if (cell < one.count) counts[cell]++;
      const lead = one.own - one.other;
      const estimates = counts.map((count) => {
        const share = count / n;
        return { value: (share - one.other) / lead, half: (reach(n) * Math.sqrt((share * (1 - share)) / n)) / lead };
      });
      const truth = one.asked.labels.map((label) => people.filter((value) => holds(value, label)).length / n);
      return { cells, counts, estimates, truth };
    }
    const numbers = cells.map(one.number), read = cells.map(one.reading);
    const mean = read.reduce((a, b) => a + b, 0) / n;
    const spread = read.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1);
    const truth = people.reduce((a, b) => a + b, 0) / n;
    return { cells, numbers, people, truth: [truth], estimates: [{ value: mean, half: reach(n) * Math.sqrt(spread / n) }] };
  }

  // --- pictures: SVG, drawn as wide as the place is ---

  function picture(place, height, label, draw) {
    const width = Math.max(200, Math.floor(at(place).clientWidth || 600));
    const NS = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(NS, "svg");
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label })) {
      svg.setAttribute(name, value);
    }
    const put = (kind, attributes, text) => {
      const element = document.createElementNS(NS, kind);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      if (text !== undefined) element.textContent = text;
      svg.append(element);
      return element;
    };
    draw(put, width, height);
    at(place).replaceChildren(svg);
  }

  const write = (put, x, y, text, anchor = "middle", kind = "") => put("text", { x, y, "text-anchor": anchor, class: kind }, text);

  function ticks(low, high, count) {
    const raw = (high - low) / count;
    const ten = 10 ** Math.floor(Math.log10(raw));
    const steps = [10, 5, 2, 1, 0.5, 0.2].map((m) => m * ten);
    const marks = (step) => Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, i) => Number(((Math.ceil(low / step) + i) * step).toFixed(6)));
    const first = steps.findLastIndex((step) => step >= raw);
    return steps.slice(first).map(marks).find((found) => found.length >= 3);
  }

  // The numbers of an axis, at least two, and below them what they are; those at the ends stay inside.
  function axis(put, x, low, high, width, y, title, show = (tick) => minus(String(tick))) {
    for (const tick of ticks(low, high, Math.max(3, width / 110))) {
      const place = x(tick);
      write(put, place, y, show(tick), place < 24 ? "start" : place > width - 24 ? "end" : "middle", "soft");
    }
    write(put, (x(low) + x(high)) / 2, y + 20, title, "middle", "soft");
  }

  function drawLaw(one, answer, drawn) {
    if (one.asked.labels) {
      const shares = chances(one, answer);
      const label = `Probability of each report if the answer is ${Array.isArray(answer) ? answer.join(", ") || NOTHING : answer}: ${shares.map(([name, share]) => `${percent(share)} for ${name}`).join(", ")}.`;
      picture("law", 14 + 34 * shares.length, label, (put, width) => {
        const left = 76, room = width - left - 56;
        shares.forEach(([name, share], code) => {
          const y = 8 + 34 * code;
          write(put, left - 8, y + 17, name, "end");
          put("rect", { x: left, y, width: Math.max(1, share * room), height: 24, class: holds(answer, name) ? "mine" : "bar" });
          write(put, left + share * room + 6, y + 17, percent(share), "start");
          const own = (cell) => Math.min(cell, shares.length - 1) === code;
          const times = drawn.filter(own).length;
          if (drawn.length && own(drawn.at(-1))) put("rect", { x: left - 2, y: y - 2, width: Math.max(1, share * room) + 4, height: 28, class: "truth" });
          if (times > 1) write(put, left + 6, y + 17, `drawn ${times} times`, "start");
        });
      });
      return;
    }
    const from = one.number(0), to = one.number(one.cells);
    const first = one.begin(answer), chance = one.window * one.inside;
    const [a, b] = [one.number(first), one.number(first + one.window)];
    const label = `Reports lie between ${from.toFixed(0)} and ${to.toFixed(0)} minutes. With probability ${percent(chance)} a report lies in the likelier window from ${a.toFixed(0)} to ${b.toFixed(0)}.`;
    picture("law", 182, label, (put, width) => {
      const x = (v) => 10 + ((v - from) / (to - from)) * (width - 20);
      const base = 120, high = 85, low = (high * one.outside) / one.inside;
      put("rect", { x: x(from), y: base - low, width: x(to) - x(from), height: low, class: "bar" });
      put("rect", { x: x(a), y: base - high, width: x(b) - x(a), height: high, class: "bar" });
      put("line", { x1: x(answer), x2: x(answer), y1: 24, y2: base, class: "truth" });
      write(put, Math.min(Math.max(x(answer), 46), width - 46), 16, "your answer");
      put("line", { x1: x(from), x2: x(to), y1: base, y2: base, class: "axis" });
      axis(put, x, from, to, width, base + 34, `report, in ${one.asked.unit}`);
      drawn.forEach((cell, place) => {
        const last = place === drawn.length - 1;
        put("circle", { cx: x(one.number(cell)), cy: base + 9, r: last ? 7 : 3.5, class: "mine", opacity: last ? 1 : 0.45 });
      });
    });
  }

  const shareOf = (value) => Math.min(1, Math.max(0, value));

  // How many people would give an interval of ± `aim`, to two digits.
  const peopleFor = (n, half, aim) => {
    const needed = n * (half / aim) ** 2, ten = 10 ** Math.max(0, Math.floor(Math.log10(needed)) - 1);
    return spaced(Math.ceil(needed / ten) * ten);
  };

  function drawCrowd(one, found, n) {
    if (one.asked.labels) {
      const names = one.asked.labels;
      const label = names.map((name, code) => `${name}: truth ${percent(found.truth[code], 1)}, estimate ${percent(shareOf(found.estimates[code].value), 1)} ± ${percent(found.estimates[code].half, 1)}`).join("; ");
      picture("crowd", 68 + 52 * names.length, label, (put, width) => {
        const top = Math.min(1, Math.max(0.1, ...found.estimates.map((e) => e.value + e.half), ...found.truth));
        const least = 0; // a share is not below 0, nor above 1: intervals end there
        const inside = (share) => Math.min(top, Math.max(least, share));
        const left = 76, x = (share) => left + ((share - least) / (top - least)) * (width - left - 16);
        names.forEach((name, code) => {
          const y = 24 + 52 * code, { value, half } = found.estimates[code];
          write(put, left - 8, y + 19, name, "end");
          put("rect", { x: x(0), y, width: Math.max(0.5, Math.abs(x(Math.max(0, found.counts[code] / n)) - x(0))), height: 28, class: "bar" });
          put("line", { x1: x(inside(value - half)), x2: x(inside(value + half)), y1: y + 14, y2: y + 14, class: "whisker" });
          put("circle", { cx: x(inside(value)), cy: y + 14, r: 5, class: "mine" });
          put("line", { x1: x(found.truth[code]), x2: x(found.truth[code]), y1: y - 4, y2: y + 32, class: "truth" });
        });
        put("line", { x1: x(0), x2: x(0), y1: 16, y2: 20 + 52 * names.length, class: "axis" });
        axis(put, x, least, top, width, 40 + 52 * names.length, "share of people", percent);
      });
      return;
    }
    const from = one.number(0), to = one.number(one.cells), bins = 36;
    const count = (numbers) => {
      const found = new Array(bins).fill(0);
      for (const v of numbers) found[Math.min(bins - 1, Math.floor(((v - from) / (to - from)) * bins))]++;
      return found.map((c) => c / n);
    };
    const reports = count(found.numbers), truth = count(found.people);
    const { value, half } = found.estimates[0];
    const label = `Histogram of ${n} reports between ${from.toFixed(0)} and ${to.toFixed(0)} minutes, far wider than the true values. Mean of the reports ${rounded(value)} ± ${rounded(half)}, true mean ${rounded(found.truth[0])}.`;
    picture("crowd", 226, label, (put, width) => {
      const x = (v) => 10 + ((v - from) / (to - from)) * (width - 20);
      const base = 165, scale = (base - 24) / Math.max(...reports, ...truth);
      reports.forEach((share, bin) => {
        put("rect", { x: x(from + (bin * (to - from)) / bins), y: base - share * scale, width: (width - 20) / bins - 1, height: share * scale, class: "bar" });
      });
      let path = "";
      truth.forEach((share, bin) => {
        const [a, b] = [x(from + (bin * (to - from)) / bins), x(from + ((bin + 1) * (to - from)) / bins)];
        path += `${path ? "L" : "M"}${a} ${base - share * scale}L${b} ${base - share * scale}`;
      });
      put("path", { d: path, class: "truth" });
      put("line", { x1: x(from), x2: x(to), y1: base, y2: base, class: "axis" });
      axis(put, x, from, to, width, base + 34, one.asked.unit);
      put("line", { x1: x(value - half), x2: x(value + half), y1: base + 10, y2: base + 10, class: "whisker" });
      put("circle", { cx: x(value), cy: base + 10, r: 5, class: "mine" });
    });
  }

  // --- the first part ---

  function answerControl() {
    const { asked } = current;
    const place = at("answer-place");
    const label = document.createElement("label");
    label.htmlFor = "answer";
    label.textContent = "Your answer";
    if (asked.sets) {
      const group = Object.assign(document.createElement("fieldset"), { id: "answer", className: "choices" });
      const legend = Object.assign(document.createElement("legend"), { textContent: `Your answer: any of them; of more than ${asked.most}, ${asked.most} drawn at random count` });
      group.append(legend);
      for (const name of asked.labels) {
        const own = document.createElement("label");
        const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name, checked: state.answers[state.question].includes(name) });
        box.addEventListener("change", () => answered([...group.querySelectorAll("input:checked")].map((found) => found.value)));
        own.append(box, ` ${name}`);
        group.append(own);
      }
      place.replaceChildren(group);
    } else if (asked.labels) {
      const select = document.createElement("select");
      select.id = "answer";
      for (const name of asked.labels) select.append(new Option(name, name));
      select.value = state.answers[state.question];
      select.addEventListener("change", () => answered(select.value));
      place.replaceChildren(label, " ", select);
    } else {
      const shown = document.createElement("output");
      shown.htmlFor = "answer";
      const range = Object.assign(document.createElement("input"), { type: "range", id: "answer", min: 0, max: 180 });
      range.value = state.answers[state.question];
      const say = () => (shown.value = `${range.value} ${asked.unit}`);
      range.addEventListener("input", () => (say(), answered(range.valueAsNumber)));
      say();
      place.replaceChildren(label, shown, range);
    }
  }

  function answered(value) {
    state.answers[state.question] = value;
    state.drawn = [];
    drawOne();
  }

  function drawOne() {
    const { asked, question, cell } = current;
    const answer = state.answers[state.question];
    const report = question.report(answer, source);
    const number = cell(report);
    state.drawn = [...state.drawn, number].slice(-40);
    const told = asked.labels ? asked.labels[number] ?? NOTHING : `${minus(current.number(number).toFixed(0))} ${asked.unit}`;
    const size = report.length === 1 ? "1 byte" : `${report.length} bytes`;
    at("sent").textContent = `Your device sends: ${told} (${size}: ${dither.hex(report)}).`;
    drawLaw(current, answer, state.drawn);
  }

  function drawAll() {
    const n = PEOPLE[state.people];
    const found = ask(current, n);
    last = found;
    drawCrowd(current, found, n);
    const few = (what, e, aim, shown) => `Too few people to say ${what}: ± ${shown(e.half)}. ${peopleFor(n, e.half, aim)} people would give ± ${shown(aim)}.`;
    const say = (name, e, truth, show) => `${name}${show(e.value)} ± ${show(e.half)}; the truth is ${show(truth)}${Math.abs(e.value - truth) <= e.half ? "" : " (outside of the interval, as 1 in 20 is)"}`;
    if (current.asked.labels) {
      const code = current.asked.labels.length === 2 ? 1 : found.truth.indexOf(Math.max(...found.truth));
      const label = current.asked.labels[code], estimate = found.estimates[code];
      const stars = current.asked.points ? ` ${score(found, n)}` : "";
      at("estimate").textContent = estimate.half > 0.2
        ? few(`how many say “${label}”`, estimate, 0.1, (x) => percent(x))
        : `${say(`Estimated share of “${label}”: `, { ...estimate, value: shareOf(estimate.value) }, found.truth[code], (x) => percent(x, 1))}.${stars}`;
    } else {
      at("estimate").textContent = found.estimates[0].half > 36
        ? few("what the mean is", found.estimates[0], 10, (x) => `${rounded(x)} ${current.asked.unit}`)
        : `${say("Estimated mean: ", found.estimates[0], found.truth[0], rounded)}, in ${current.asked.unit}.`;
    }
    showCode();
  }

  // The mean of points, from the counts of the reports: what dt.frequencies(reports).score(points) says.
  function score(found, n) {
    const { points } = current.asked, lead = current.own - current.other;
    const mean = found.estimates.reduce((sum, e, code) => sum + points[code] * e.value, 0);
    const reported = found.counts.reduce((sum, count, code) => sum + (points[code] * count) / n, 0);
    const squares = found.counts.reduce((sum, count, code) => sum + (points[code] ** 2 * count) / n, 0);
    const half = (reach(n) * Math.sqrt((squares - reported ** 2) / n)) / lead;
    const truth = found.truth.reduce((sum, share, code) => sum + points[code] * share, 0);
    return `Mean: ${mean.toFixed(2)} ± ${half.toFixed(2)}; the truth is ${truth.toFixed(2)}.`;
  }

  // The same question in Python, in a campaign and in a web page.
  function showCode() {
    const { asked } = current, epsilon = epsilons[state.epsilon];
    const list = asked.labels && `[${asked.labels.map((label) => JSON.stringify(label)).join(", ")}]`;
    const made = asked.sets ? `dt.SetResponse(dt.Several(${list}, most=${asked.most}), epsilon=${epsilon})`
      : asked.labels ? `dt.KRR(dt.Categories(${list}), epsilon=${epsilon})` : `dt.Podium(dt.Interval(0, 180, unit="minutes"), epsilon=${epsilon})`;
    const answer = JSON.stringify(state.answers[state.question]);
    const domain = asked.sets ? `several = ${list}\nmost = ${asked.most}` : asked.labels ? `categories = ${list}` : 'interval = [0, 180]\nunit = "minutes"';
    const points = asked.points && `{${asked.labels.map((label, code) => `${JSON.stringify(label)}: ${asked.points[code]}`).join(", ")}}`;
    const read = asked.labels ? `dt.frequencies(reports)${points ? `.score(${points})` : ""}` : "dt.mean(reports)";
    at("code-python").textContent = `import dither as dt\n\nquestion = ${made}\nreports = question.perturb([${answer}])  # on a device\nprint(${read})  # of many people\n`;
    at("code-toml").textContent = `[questions.answer]\n${domain}\nepsilon = ${epsilon}\nmechanism = "${asked.sets ? "SetResponse" : asked.labels ? "KRR" : "Podium"}"\n`;
    at("code-javascript").textContent = `// specification: question.to_json() of Python\nconst question = dither.readQuestion(specification);\nconst report = question.report(${answer}, dither.systemSource());\n`;
    remember();
  }

  // The address has the state of the page, so that it can be sent on; the answer is not in it.
  function remember() {
    const tab = at("compare").hidden ? "" : "&tab=compare";
    history.replaceState(null, "", `#question=${state.question}&epsilon=${epsilons[state.epsilon]}&people=${PEOPLE[state.people]}&goal=${state.goal}&at=${curve[state.at]}${tab}`);
  }

  function recall() {
    const given = new URLSearchParams(location.hash.slice(1));
    const found = (name, among) => {
      const index = among.map(String).indexOf(given.get(name) ?? "");
      return index < 0 ? undefined : index;
    };
    state.question = found("question", questions.map((_, number) => number)) ?? state.question;
    state.epsilon = found("epsilon", epsilons) ?? state.epsilon;
    state.people = found("people", PEOPLE) ?? state.people;
    state.goal = found("goal", goals.map((_, number) => number)) ?? state.goal;
    state.at = found("at", curve) ?? state.at;
    return given.get("tab") === "compare";
  }

  async function drawOdds() {
    const device = await dither.Device.open({ epsilon: 50, store: dither.memoryStore() });
    const promise = await device.asking(current.asked.specifications[state.epsilon], { name: "playground", asker: "this page" }).promise();
    at("odds").textContent = `No report is more than ${promise.odds < 10 ? promise.odds.toFixed(2) : spaced(Math.round(promise.odds))} times likelier under your answer than under any other. An attacker who gave it 50\u202f% before can be at most ${percent(promise.reach, promise.reach > 0.99 ? 2 : 0)} sure afterwards.`;
    at("odds-rows").replaceChildren(
      ...[0.01, 0.1, 0.5, 0.9].map((prior) => {
        const after = (prior * promise.odds) / (prior * promise.odds + 1 - prior);
        const row = document.createElement("tr");
        row.innerHTML = "<td></td><td></td>";
        row.cells[0].textContent = percent(prior);
        row.cells[1].textContent = percent(after, after > 0.99 ? 2 : 0);
        return row;
      }),
    );
  }

  let current;
  let last;

  function refresh({ control = true } = {}) {
    current = read(state.question, state.epsilon);
    at("epsilon-shown").value = epsilons[state.epsilon];
    at("epsilon").setAttribute("aria-valuetext", `ε = ${epsilons[state.epsilon]}`);
    at("people-shown").value = spaced(PEOPLE[state.people]);
    at("people").setAttribute("aria-valuetext", `${PEOPLE[state.people]} people`);
    at("people-title").textContent = `${spaced(PEOPLE[state.people])} people`;
    at("law-note").textContent = current.asked.sets
      ? "Bars: the probability of each report, which names one thing, whatever is ticked; (none) stands for what the set has room for. The frame: the report that was drawn."
      : current.asked.labels
      ? "Bars: the probability of each report. The frame: the report that was drawn."
      : "Shaded: how likely each report is, in minutes. Dots: reports that were drawn; the large one was the last.";
    at("crowd-note").textContent = current.asked.labels
      ? "Bars: shares of the reports as they were sent. Dots: estimates with 95 % intervals. Red lines: the truth."
      : "Bars: reports, in minutes. Red line: the true values. Dot: the mean with its 95 % interval, as dt.mean reads it.";
    state.drawn = [];
    if (control) answerControl();
    drawOne();
    drawAll();
    return drawOdds();
  }

  function radios(place, name, titles, chosen, changed) {
    titles.forEach((title, number) => {
      const label = document.createElement("label");
      const radio = Object.assign(document.createElement("input"), { type: "radio", name, value: number, checked: number === chosen });
      radio.addEventListener("change", () => changed(number));
      label.append(radio, ` ${title}`);
      at(place).append(label);
    });
  }

  // --- the second part: mechanisms beside the best possible ---

  function drawCurves() {
    const goal = goals[state.goal];
    const names = Object.keys(goal.mechanisms);
    const label = `Error against ε for ${names.join(", ")}. No mechanism can lie in the shaded area below the best possible. The table below has the numbers.`;
    picture("curves", 400, label, (put, width, height) => {
      const left = 64, right = 12, bottom = 48, top = 12 + 20 * Math.ceil((names.length + 1) / (width < 560 ? 2 : 4));
      const all = [...goal.best, ...names.flatMap((name) => goal.mechanisms[name])];
      const [low, high] = [Math.log(Math.min(...all) * 0.7), Math.log(Math.max(...all) * 1.15)];
      const [from, to] = [Math.log(curve[0]), Math.log(curve.at(-1))];
      const x = (e) => left + ((Math.log(e) - from) / (to - from)) * (width - left - right);
      const y = (v) => top + (1 - (Math.log(v) - low) / (high - low)) * (height - top - bottom);
      const line = (errors) => errors.map((v, i) => `${i ? "L" : "M"}${x(curve[i]).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      put("path", { d: `${line(goal.best)}L${x(curve.at(-1))} ${height - bottom}L${left} ${height - bottom}Z`, class: "impossible" });
      put("line", { x1: x(curve[state.at]), x2: x(curve[state.at]), y1: top, y2: height - bottom, class: "axis", "stroke-dasharray": "3 3" });
      const columns = width < 560 ? 2 : 4;
      [...names, "impossible"].forEach((name, number) => {
        const [lx, ly] = [left + ((number % columns) * (width - left)) / columns, 16 + 20 * Math.floor(number / columns)];
        if (name === "impossible") put("rect", { x: lx, y: ly - 10, width: 18, height: 12, class: "impossible" });
        else {
          const dash = ["", "7 3", "2 3", "9 3 2 3", "4 4", "1 2"][number];
          put("path", { d: line(goal.mechanisms[name]), class: "curve", stroke: COLOURS[number], "stroke-dasharray": dash });
          put("line", { x1: lx, x2: lx + 18, y1: ly - 4, y2: ly - 4, stroke: COLOURS[number], "stroke-width": 2.5, "stroke-dasharray": dash });
        }
        write(put, lx + 24, ly, name, "start");
      });
      put("path", { d: `M${left} ${top}V${height - bottom}H${width - right}`, class: "axis" });
      for (const e of [0.1, 0.25, 0.5, 1, 2, 4, 8]) write(put, Math.min(x(e), width - 14), height - bottom + 18, e, "middle", "soft");
      for (let ten = Math.ceil(low / Math.LN10 - 1); ten <= high / Math.LN10; ten++) {
        for (const m of [1, 2, 5]) {
          const v = m * 10 ** ten;
          if (Math.log(v) > low && Math.log(v) < high) write(put, left - 6, y(v) + 4, Number(v.toPrecision(1)), "end", "soft");
        }
      }
      write(put, (left + width) / 2, height - 8, "ε, privacy loss of one answer", "middle", "soft");
      write(put, 14, (top + height - bottom) / 2, "error", "middle", "soft").setAttribute("transform", `rotate(-90 14 ${(top + height - bottom) / 2})`);
    });
    at("goal-note").textContent = `Error: ${goal.error}. ${goal.note} Shaded: errors that no mechanism with this ε can have; for numbers the bound is certified.`;
    const e = curve[state.at];
    at("at-shown").value = e;
    at("at").setAttribute("aria-valuetext", `ε = ${e}`);
    at("ranking-title").textContent = `Errors at ε = ${e}; the best possible is ${goal.best[state.at]}`;
    const rows = names.map((name) => [name, goal.mechanisms[name][state.at]]).sort((a, b) => a[1] - b[1]);
    at("ranking").replaceChildren(
      ...rows.map(([name, error]) => {
        const row = document.createElement("tr");
        row.innerHTML = '<th scope="row"></th><td></td><td></td>';
        [name, String(error), (error / goal.best[state.at]).toFixed(3)].forEach((text, i) => (row.cells[i].textContent = text));
        return row;
      }),
    );
  }

  // --- tabs, as the ARIA pattern has them ---

  const tabs = [...document.querySelectorAll('[role="tab"]')];
  function choose(tab, focus) {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      at(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
    if (focus) tab.focus();
    if (tab.id === "tab-compare") drawCurves();
    else drawPictures();
    remember();
  }
  tabs.forEach((tab, number) => {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1, Home: -number, End: tabs.length - 1 - number }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      choose(tabs[(number + move + tabs.length) % tabs.length], true);
    });
  });

  function drawPictures() {
    drawLaw(current, state.answers[state.question], state.drawn);
    drawCrowd(current, last, PEOPLE[state.people]);
  }

  const compared = recall();
  radios("questions", "question", questions.map((one) => one.title), state.question, (number) => {
    state.question = number;
    refresh();
  });
  radios("goals", "goal", goals.map((one) => one.name), state.goal, (number) => {
    state.goal = number;
    drawCurves();
    remember();
  });
  const slider = (id, count, changed) => {
    at(id).max = count - 1;
    at(id).value = state[id];
    at(id).addEventListener("input", () => {
      state[id] = at(id).valueAsNumber;
      changed();
    });
  };
  slider("epsilon", epsilons.length, () => refresh({ control: false }));
  slider("people", PEOPLE.length, () => refresh({ control: false }));
  slider("at", curve.length, () => (drawCurves(), remember()));
  at("again").addEventListener("click", drawOne);
  at("redraw").addEventListener("click", drawAll);
  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.addEventListener("click", async () => {
      const code = at(button.dataset.copies);
      try {
        await navigator.clipboard.writeText(code.textContent);
        at("copied").textContent = `${button.textContent}: copied.`;
      } catch {
        getSelection().selectAllChildren(code);
        at("copied").textContent = "Selected: press Ctrl+C, or ⌘C.";
      }
    });
  }
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (event) => event.preventDefault());
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => (at("try").hidden ? drawCurves() : drawPictures()), 100);
  });
  // What a test reads: the reports that were drawn, and what the page made of them.
  globalThis.playground = { shown: { minus, percent, rounded }, crowd: () => ({ question: state.question, epsilon: epsilons[state.epsilon], cells: last.cells, estimates: last.estimates }) };
  refresh().then(() => compared && choose(at("tab-compare"), false)).then(() => (document.documentElement.dataset.ready = "yes"));
})();
