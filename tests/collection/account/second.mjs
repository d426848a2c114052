// A second implementation of docs/account.md, written from that page, in the language of the next client.
import { isDeepStrictEqual } from "node:util";

const DAY = 86400;
const number = (text) => BigInt("0x" + text);
const text = (units) => units.toString(16);
const charge = (x, places) => BigInt(Math.ceil(x * 2 ** places));
const ahead = { day: DAY, week: 7 * DAY, year: 366 * DAY, lifetime: Infinity };
const same = (a, b) => a.asker === b.asker && a.question === b.question && a.fingerprint === b.fingerprint;
const named = ({ asker, question, fingerprint }) => ({ asker, question, fingerprint });
const order = (...keys) => (a, b) => {
  for (const key of keys) if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
  return 0;
};
const QUESTION = ["asker", "question", "fingerprint"];
const refuse = (reason) => [{ is: "refused", reason }];

function epoch(kind, second) {
  const day = Math.floor(second / DAY);
  if (kind === "day") return day;
  if (kind === "week") return Math.floor((day + 3) / 7);
  return kind === "year" ? new Date(day * DAY * 1000).getUTCFullYear() : 0;
}

function clockAfter(clock, at) {
  const elapsed = at.boot === clock.boot ? Math.max(at.elapsed, clock.elapsed) : at.elapsed;
  const proved = at.boot === clock.boot ? elapsed - clock.elapsed : 0;
  const wall = Math.max(clock.wall, at.wall);
  return { wall, boot: at.boot, elapsed, ahead: clock.ahead + wall - clock.wall - proved };
}

const DEFAULT = { epsilon: 1, delta: 0, assumptions: [], mechanisms: null };
const LENGTH = "how many locations a trajectory has, and when they were sent, is public";
const LINES = ["the value never changes", "the device's key stays on the device"];

/** What an entry says that was charged for: the charge, and all that is assumed. */
function charged(q) {
  const lines = [...q.assumes, ...((q.times ?? 1) > 1 ? [LENGTH] : []), ...(q.repeat === "per value" ? LINES : [])];
  const told = { epsilon: text(charge(q.epsilon, 64)), delta: text(charge(q.delta, 128)), assumes: [...new Set(lines)] };
  for (const name of ["data", "times"]) if ((q[name] ?? null) !== null) told[name] = q[name];
  if (q.limit) told.campaign = q.limit.campaign;
  return { ...named(q), ...told };
}

/** Whether an entry was charged for exactly this. */
function paid(entry, q) {
  if (!entry) return false;
  const { id, device, first, last, ...terms } = entry;
  return isDeepStrictEqual(terms, charged(q));
}

function accepted(policy, q) {
  return q.epsilon <= policy.epsilon && q.delta <= policy.delta && charged(q).assumes.every((line) => policy.assumptions.includes(line))
    && (policy.mechanisms === null || policy.mechanisms.includes(q.mechanism));
}

function below(bound, bytes) {
  const bits = (bound - 1).toString(2).length * (bound > 1), length = Math.ceil(bits / 8);
  for (;;) {
    let whole = 0n;
    for (let i = 0; i < length; i++) whole |= BigInt(bytes.shift()) << BigInt(8 * i);
    const drawn = Number(whole >> BigInt(8 * length - bits));
    if (drawn < bound) return drawn;
  }
}

const sum = (entries, field) => entries.reduce((total, one) => total + number(one[field]), 0n);

function short(state, q, first, last, spend) {
  const touching = (entries, index) => entries.filter((one) => one.first <= index && index <= one.last);
  const quota = Object.hasOwn(state.limits.quotas, q.asker) ? state.limits.quotas[q.asker] : state.limits.quota;
  for (let i = first; i <= last && quota !== null; i++)
    if (sum(touching(state.entries.filter((one) => one.asker === q.asker), i), "epsilon") + spend.epsilon > number(quota)) return "quota";
  for (const [entries, allowed] of [[state.entries.filter((one) => one.device === state.device), state.own], [state.entries, state.limits]]) {
    const exceeds = (some, limit) => ["epsilon", "delta"].some((field) => sum(some, field) + spend[field] > number(limit[field]));
    for (let i = first; i <= last; i++) if (exceeds(touching(entries, i), allowed)) return "budget";
    if (allowed.lifetime && exceeds(entries, allowed.lifetime)) return "lifetime";
  }
  return null;
}

function answer(state, event, policy, dry) {
  const q = event.question, kept = state.answers.find((one) => same(one, q) && one.permanent === q.repeat);
  const earlier = state.queue.find((one) => one.id === event.id);
  const entered = earlier ?? state.entries.find((one) => one.id === event.id);
  if (entered) {
    const own = state.entries.find((one) => one.id === event.id);
    if (!same(entered, q) || ((own || kept) && !paid(own ?? state.entries.find((one) => one.id === kept.id), q))) return refuse("id");
    return [earlier ? { is: "resent", report: earlier.report } : { is: "acknowledged", reports: 0 }];
  }
  if (!accepted(policy, q)) return refuse("policy");
  const next = structuredClone(state);
  next.clock = clockAfter(state.clock, event.at);
  if (next.clock.ahead > ahead[state.limits.epoch]) return refuse("clock");
  const now = next.clock.wall, [since, until] = q.data ?? [now, now + 1];
  if (!(since < until && until <= now + 1)) return refuse("data");
  const [first, last] = [since, until - 1].map((second) => epoch(state.limits.epoch, Math.max(second, state.born)));
  if (last - first >= 366) return refuse("data");
  if (!state.askers.includes(q.asker)) {
    if (state.openings === 0) return refuse("asker");
    next.askers = [...state.askers, q.asker].sort();
    if (state.openings !== null) next.openings--;
  }
  const queue = (report) => next.queue.push({ ...named(q), id: event.id, report, batch: null });
  const tell = () => {
    if (next.told?.includes(event.mark)) return again(event.report);
    next.told = [...(next.told ?? []), event.mark].sort();
    queue(event.report);
  };
  let drew = false;
  if (q.phase) {
    const { name, share, follows, campaign } = q.phase, coins = (next.coins ?? []).filter((one) => one.asker === q.asker);
    let coin = coins.find((one) => one.name === name);
    const keep = (campaign, heads) => {
      coin = { asker: q.asker, name, campaign, heads };
      next.coins = [...(next.coins ?? []), coin].sort(order("asker", "name"));
      drew = true;
    };
    if (follows) {
      if (coins.some((one) => one.heads && (one.name === name || one.campaign === follows))) return refuse("phase");
      if (!coin) keep(follows, false);
    } else {
      if (!coin && dry) return [{ is: "silent" }];
      if (!coin) keep(campaign, below(1000, [...Buffer.from(event.random ?? "", "hex")]) < share);
      if (!coin.heads) return [...refuse("phase"), drew ? next : undefined];
    }
  }
  const again = (report) => {
    for (const one of next.queue) if (one.batch === ASIDE && same(one, q) && one.report === report) one.batch = null;
  };
  if (kept) {
    const entry = state.entries.find((one) => one.id === kept.id);
    if (!paid(entry, q) || (q.repeat === "same" && kept.report === null)) return refuse("changed");
    if (q.repeat === "per value" && entry.device === state.device) tell();
    if (q.repeat === "same") again(kept.report);
    return [{ is: "repeated", charged: "0", report: q.repeat === "same" ? kept.report : event.report }, next];
  }
  let choice;
  if (q.repeat === "once") {
    const today = Math.floor(now / DAY), [period, days] = calendar(q, today);
    choice = next.choices.find((one) => same(one, q) && one.repeat === q.repeat && one.period === period);
    if (!choice && dry) return [{ is: "silent" }];
    if (!choice) {
      const day = period + below(days, [...Buffer.from(event.random ?? "", "hex")]);
      choice = { ...named(q), repeat: q.repeat, period, day, device: state.device, answer: null };
      next.choices = [...next.choices, choice].sort(order(...QUESTION, "repeat", "period"));
      drew = true;
    }
    if (choice.day !== today || choice.answer !== null) return [{ is: "silent" }, drew ? next : undefined];
  }
  const spend = { epsilon: charge(q.epsilon, 64), delta: charge(q.delta, 128) };
  const given = state.entries.filter((one) => same(one, q) && one.campaign === q.limit?.campaign).length;
  const reason = q.limit && given >= q.limit.answers ? "answers" : short(state, q, first, last, spend);
  if (reason) return [...refuse(reason), drew ? next : undefined];
  const entry = { ...charged(q), id: event.id, device: state.device, first, last };
  next.entries = [...next.entries, entry].sort(order("id"));
  if (choice) choice.answer = event.id;
  if (q.repeat === "same" || q.repeat === "per value") {
    const kept = { ...named(q), id: event.id, permanent: q.repeat, report: q.repeat === "same" ? event.report : null };
    next.answers = [...next.answers, kept].sort(order(...QUESTION, "permanent"));
  }
  if (q.repeat === "per value") tell();
  else queue(event.report);
  return [{ is: "drawn", charged: entry.epsilon, report: event.report }, next];
}

/** The first day of the period that a day is in, and its length. */
function calendar(q, today) {
  const mod = (a, b) => ((a % b) + b) % b;
  if (!q.every) return [today - mod(today - q.start, q.days), q.days];
  if (q.every === "day") return [today, 1];
  if (q.every === "week") return [today - mod(today + 3, 7), 7];
  const date = new Date(today * DAY * 1000), [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const [first, after] = [month, month + 1].map((one) => Date.UTC(year, one, 1) / DAY / 1000);
  return [first, after - first];
}

const ASIDE = "0".repeat(32);

/** Choices of version 2 do not say what they are of, and stand for both. */
const spread = (choices) => choices.flatMap((one) => ("repeat" in one ? [one] : ["once", "kept change"].map((repeat) => ({ ...one, repeat }))));

function drop(state, event) {
  const gone = state.queue.filter((one) => one.id === event.id || one.batch === event.id);
  if (!gone.length || event.id === ASIDE) return [{ is: "unknown" }];
  const permanent = (one) => state.answers.some((answer) => same(answer, one));
  const queue = state.queue.filter((one) => !gone.includes(one) || permanent(one));
  return [{ is: "dropped", reports: gone.length }, { ...state, queue: queue.map((one) => (gone.includes(one) ? { ...one, batch: ASIDE } : one)) }];
}

function batch(state, event) {
  const chosen = (one) => !event.questions || event.questions.some(([name, mark]) => one.question === name && one.fingerprint === mark);
  const queued = state.queue.filter((one) => one.asker === event.asker && chosen(one) && one.batch !== ASIDE), sent = queued.find((one) => one.batch !== null);
  if (sent) return [{ is: "resent", id: sent.batch, reports: state.queue.filter((one) => one.batch === sent.batch).map((one) => one.id) }];
  const first = queued.filter((one, at) => queued.findIndex((other) => other.fingerprint === one.fingerprint) === at);
  const reports = first.slice(0, event.most).map((one) => one.id);
  if (!reports.length) return [{ is: "empty" }];
  return [{ is: "batched", id: event.id, reports }, { ...state, queue: state.queue.map((one) => (reports.includes(one.id) ? { ...one, batch: event.id } : one)) }];
}

function split(state, event) {
  const [part, whole] = event.share.map(BigInt), own = structuredClone(state.own), gift = structuredClone(state.own);
  for (const [mine, theirs] of [[own, gift], [own.lifetime, gift.lifetime]])
    if (mine) for (const field of ["epsilon", "delta"]) {
      const given = (number(mine[field]) * part) / whole;
      [mine[field], theirs[field]] = [text(number(mine[field]) - given), text(given)];
    }
  const entries = state.entries.filter((one) => one.device === state.device);
  const over = (some, limit) => ["epsilon", "delta"].some((field) => sum(some, field) > number(limit[field]));
  for (const { first, last } of entries)
    for (let i = first; i <= last; i++) if (over(entries.filter((one) => one.first <= i && i <= one.last), own)) return refuse("spent");
  if (own.lifetime && over(entries, own.lifetime)) return refuse("spent");
  return [{ is: "split", device: event.device, own: gift }, { ...state, own }];
}

function merge(state, { from }) {
  if (from.person !== state.person) return refuse("person");
  if (!isDeepStrictEqual(from.limits, state.limits)) return refuse("limits");
  const next = structuredClone(state), before = state.entries.length;
  for (const entry of from.entries) {
    const known = state.entries.find((one) => one.id === entry.id);
    if (known && !isDeepStrictEqual(known, entry)) return refuse("conflict");
    if (!known && entry.device === state.device) return refuse("rolled back");
    if (!known) next.entries.push(entry);
  }
  const unite = (name, found, wins) => {
    for (const theirs of from[name] ?? []) {
      const place = next[name].findIndex((one) => found(one, theirs));
      if (place < 0) next[name].push(theirs);
      else if (wins(theirs, next[name][place])) next[name][place] = theirs;
    }
  };
  from = { ...from, answers: from.answers.filter((one) => one.permanent !== "present") };
  unite("answers", (a, b) => same(a, b) && a.permanent === b.permanent, (a, b) => a.id < b.id);
  const rank = (one) => (one.answer === null ? "1" : "0") + (one.answer ?? "") + one.device;
  from = { ...from, choices: spread(from.choices) };
  unite("choices", (a, b) => same(a, b) && a.repeat === b.repeat && a.period === b.period, (a, b) => rank(a) < rank(b));
  next.entries.sort(order("id"));
  next.answers.sort(order(...QUESTION, "permanent"));
  next.choices.sort(order(...QUESTION, "repeat", "period"));
  if (from.coins?.length) {
    next.coins ??= [];
    unite("coins", (a, b) => a.asker === b.asker && a.name === b.name, (a, b) => a.heads && !b.heads);
    next.coins.sort(order("asker", "name"));
  }
  return [{ is: "merged", entries: next.entries.length - before }, next];
}

function presence(state, event, policy) {
  const { asker, name, share } = event.presence, q = event.question;
  if (q && !accepted(policy, q)) return refuse("policy");
  const next = structuredClone(state);
  next.clock = clockAfter(state.clock, event.at);
  if (!state.askers.includes(asker)) {
    if (state.openings === 0) return refuse("asker");
    next.askers = [...state.askers, asker].sort();
    if (state.openings !== null) next.openings--;
  }
  next.present ??= [];
  let kept = next.present.find((one) => one.asker === asker && one.name === name);
  const [period] = calendar(event.presence, Math.floor(next.clock.wall / DAY));
  if (kept && period <= kept.period) return [{ is: "silent" }];
  const first = !kept;
  if (first) {
    kept = { asker, name, permanent: !!q && below(1000, [...Buffer.from(event.random ?? "", "hex")]) < share };
    next.present.push(kept);
    next.present.sort(order("asker", "name"));
  }
  Object.assign(kept, { period, batch: event.id });
  const known = (state) => state.answers.find((one) => same(one, q) && one.permanent === "present");
  if (first && kept.permanent && !known(state)) {
    const spend = { epsilon: charge(q.epsilon, 64), delta: charge(q.delta, 128) };
    const now = epoch(state.limits.epoch, Math.max(next.clock.wall, state.born));
    if (next.clock.ahead <= ahead[state.limits.epoch] && !short(state, q, now, now, spend)) {
      const entry = { ...charged(q), id: event.id, device: state.device, first: now, last: now };
      next.entries = [...next.entries, entry].sort(order("id"));
      next.answers = [...next.answers, { ...named(q), id: event.id, permanent: "present", report: event.report }].sort(order(...QUESTION, "permanent"));
      return [{ is: "drawn", charged: entry.epsilon, report: event.report }, next];
    }
  }
  return [{ is: "present" }, next];
}

function message(state, event) {
  const { asker, name } = event.presence, q = event.question;
  const kept = state.present?.find((one) => one.asker === asker && one.name === name);
  if (!kept?.batch) return [{ is: "empty" }];
  const clock = clockAfter(state.clock, event.at);
  if (calendar(event.presence, Math.floor(clock.wall / DAY))[0] !== kept.period) {
    return [{ is: "empty" }, { ...state, clock, present: state.present.map((one) => (one === kept ? { ...one, batch: null } : one)) }];
  }
  const label = kept.permanent && q && state.answers.find((one) => one.permanent === "present" && same(one, q));
  return [{ is: "message", id: kept.batch, public: !kept.permanent, reports: label ? [[label.fingerprint, label.report]] : [] }];
}

/** The state without a message of an identity, if there is one. */
function without(state, id) {
  if (!state.present?.some((one) => one.batch === id)) return [0];
  return [1, { ...state, present: state.present.map((one) => (one.batch === id ? { ...one, batch: null } : one)) }];
}

function step(state, event, policy) {
  if (event.do === "present") return presence(state, event, policy);
  if (event.do === "message") return message(state, event);
  const words = { acknowledge: "acknowledged", drop: "dropped", withdraw: "withdrawn" };
  const [waited, rest] = words[event.do] ? without(state, event.id) : [0];
  if (waited) {
    if (event.sent) {
      const { campaign, day, retry } = event.sent, { asker, name } = state.present.find((one) => one.batch === event.id);
      rest.sent = [...(state.sent ?? []).filter((one) => one.until >= day), { id: event.id, asker, campaign, until: day + retry, questions: [name] }];
    }
    return [{ is: words[event.do], reports: 1 }, rest];
  }
  if (event.do === "answer") return answer(state, event, policy, false);
  if (event.do === "dry run") {
    const [outcome] = answer(state, event, policy, true);
    delete outcome.report;
    return [outcome];
  }
  if (event.do === "act") return [{ is: "acted" }, { ...state, clock: { ...clockAfter(state.clock, event.at), ahead: 0 }, openings: state.limits.askers }];
  if (event.do === "acknowledge") {
    const queue = state.queue.filter((one) => one.id !== event.id && one.batch !== event.id), gone = state.queue.length - queue.length;
    if (!gone) return [{ is: "unknown" }];
    const left = state.queue.filter((one) => !queue.includes(one)), next = { ...state, queue };
    if (event.sent && left[0].batch === event.id) {
      const { campaign, day, retry } = event.sent, questions = left.map((one) => one.question);
      next.sent = [...(state.sent ?? []).filter((one) => one.until >= day), { id: event.id, asker: left[0].asker, campaign, until: day + retry, questions }];
    }
    return [{ is: "acknowledged", reports: gone }, next];
  }
  if (event.do === "withdraw") {
    const queue = state.queue.filter((one) => one.batch !== event.id || one.batch === ASIDE), found = state.sent?.find((one) => one.id === event.id);
    const reports = state.queue.length - queue.length + (found?.questions.length ?? 0), next = { ...state, queue };
    if (!reports) return [{ is: "unknown" }];
    if (state.sent) next.sent = state.sent.filter((one) => one !== found);
    if (!next.sent?.length) delete next.sent;
    return [{ is: "withdrawn", reports }, next];
  }
  return { batch, drop, split, merge }[event.do](state, event);
}

/** Return how many steps have the outcome and the state of the file, up to the first that does not. */
export function agreeing(scenarios) {
  let agreed = 0;
  for (const scenario of scenarios) {
    let state = { ...scenario.open, account: 3, choices: spread(scenario.open.choices).sort(order(...QUESTION, "repeat", "period")) };
    for (const { event, outcome, state: expected } of scenario.steps) {
      const [told, next] = step(structuredClone(state), event, scenario.policy ?? DEFAULT);
      const wanted = expected ?? state;
      state = next ?? state;
      if (!isDeepStrictEqual(told, outcome) || !isDeepStrictEqual(state, wanted)) return agreed;
      agreed++;
    }
  }
  return agreed;
}
