/**
 * The account of one person: spent and remaining budgets.
 *
 * A state and events that change it, by the rules of docs/account.md. Nothing here draws, stores or sends: `answer`
 * is handed functions that draw, and its new state has the spend and the report together.
 */
import { need } from "./parts.js";
/** The policy of a device that is given none. */
export const DEFAULT = { epsilon: 1, delta: 0, assumptions: [], mechanisms: null };
export const number = (text) => BigInt("0x" + text);
export const refuse = (reason) => [{ is: "refused", reason }];
export const named = ({ asker, question, fingerprint }) => ({ asker, question, fingerprint });
export const same = (a, b) => JSON.stringify(named(a)) === JSON.stringify(named(b));
/** Return whether a policy accepts a question that assumes some lines. */
export const accepts = (policy, { epsilon, delta, mechanism }, assumes) => epsilon <= policy.epsilon && delta <= policy.delta && assumes.every((line) => policy.assumptions.includes(line)) && (policy.mechanisms?.includes(mechanism) ?? true);
export const charge = (x, places) => BigInt(Math.ceil(x * 2 ** places)).toString(16);
/** Return the units of a limit from a number: docs/account.md says why it is a little more. */
export function limit(x, places) {
    const units = BigInt(Math.floor(x * 2 ** places));
    return (units && units + (units >> 52n) + 1n).toString(16);
}
/** Return the rest of a limit after some entries, in units: below 0 if they exceed it. */
export const remaining = (entries, most, field) => entries.reduce((left, one) => left - number(one[field]), number(most[field]));
/** Return whether entries fit into a limit, ε and δ. */
export const fits = (entries, most) => ["epsilon", "delta"].every((field) => remaining(entries, most, field) >= 0n);
/** The limits of an account by the plain rules, in addition to ε and δ. */
export const PLAIN = { epoch: "lifetime", lifetime: null, quota: null, quotas: {}, askers: null };
/** Return the rest of a limit as a number. The slack of the limit does not count: it is there so that sums of doubles fit. */
export const leftOf = (units, most) => (units << 50n > number(most.epsilon) ? Number(units) / 2 ** 64 : 0);
/** One budget for all time and no other limit, answers that are drawn anew or stay the same. Whatever these allow, all rules allow. */
export const plain = {
    open(state) {
        const [plainly, limits] = [{ ...state.own, ...PLAIN }, state.limits].map((some) => JSON.stringify(Object.entries(some).sort()));
        need(plainly === limits, "rules", "the account has more limits: see allRules of dither-ldp/rules");
        return state;
    },
    knows: ({ repeat, days, start, data, every, phase, changes }) => ["fresh", "same"].includes(repeat) && "" + [days, start, data, every, phase, changes] === ",,,,,",
    decide: ({ entries, own }, facts, entry, charged) => (charged ? [] : isAnswered(entries, facts) ? refuse("answers") : fits([...entries, entry], own) ? [] : refuse("budget")),
    left: ({ entries, own }) => leftOf(remaining(entries, own, "epsilon"), own),
};
/** Return whether a question has all the answers that its campaign allows. */
export const isAnswered = (entries, facts) => entries.filter((one) => same(one, facts) && one.campaign === facts.limit?.campaign).length >= (facts.limit?.answers ?? Infinity);
/** Return all that an answer assumes, each line once: what the question says, and what its kind always assumes. */
export const assumed = (facts, rules) => [...new Set(facts.assumes.concat(rules.assumes?.(facts) ?? []))];
/** Return the assumptions of a path of this number of locations. */
export const pathAssumes = (times = 1) => (times > 1 ? ["how many locations a trajectory has, and when they were sent, is public"] : []);
/** The batch of permanent answers that a collector refused for good. They are not sent before the next request. */
const ASIDE = "0".repeat(32);
/** Return whether a report waits to be sent. */
export const waits = ({ batch }) => batch !== ASIDE;
/** Return a queue in which a report to a question that was set aside waits again. */
const again = (queue, facts, report) => queue.map((one) => (waits(one) || one.report !== report || !same(one, facts) ? one : { ...one, batch: null }));
/** Return what an entry was charged for: two entries of a question with the same are one charge. */
const terms = ({ epsilon, delta, assumes, data, times, campaign }) => JSON.stringify([epsilon, delta, assumes, data, times, campaign]);
/** Return whether an entry was charged for exactly what another one would be. */
export const isPaid = (one, due) => one && same(one, due) && terms(one) === terms(due);
/** Answer a question: check, spend, draw. Without a drawing it is a dry run, without a report, and its state is not kept. */
export function answer(state, id, facts, policy, rules, drawing) {
    const { epsilon, delta, repeat, data, times, limit } = facts;
    const assumes = assumed(facts, rules);
    const question = named(facts);
    const entry = { ...question, id, device: state.device, epsilon: charge(epsilon, 64), delta: charge(delta, 128), assumes, first: 0, last: 0, ...(data && { data }), ...(times && { times }), ...(limit && { campaign: limit.campaign }) };
    const find = (list, id) => list.find((one) => one.id === id);
    // Only a charged report is given again: the same question, and the same terms.
    const paid = (one) => isPaid(one, entry);
    const kept = state.answers.find((one) => same(one, facts) && one.permanent === repeat);
    const charged = find(state.entries, kept?.id);
    const waiting = find(state.queue, id);
    const own = find(state.entries, id);
    if (waiting || own) {
        const periodic = repeat === "kept change"; // it is about its own period, and charged once for all its reports
        if (periodic && own?.data)
            entry.data = own.data;
        if (!same(waiting ?? own, facts) || !(periodic && !own ? true : paid(own ?? charged)))
            return refuse("id");
        if (!waiting)
            return [{ is: "acknowledged", reports: 0 }];
        return [{ is: "resent", report: waiting.report }, waits(waiting) ? undefined : { ...state, queue: again(state.queue, facts, waiting.report) }];
    }
    if (!accepts(policy, facts, assumes))
        return refuse("policy");
    const [ended, next, queued = !kept] = rules.decide(state, facts, entry, kept && (charged ?? entry), drawing);
    if (ended)
        return [ended, next];
    const stays = kept && repeat === "same";
    if (kept && (!paid(charged) || (stays && kept.report === null)))
        return refuse("changed");
    const report = drawing && (stays ? kept.report : drawing.report());
    const changed = { ...(next ?? state) };
    changed.queue = queued ? [...state.queue, { ...question, id, report: report, batch: null }] : again(state.queue, facts, report);
    if (kept)
        return [{ is: "repeated", charged: "0", report }, changed];
    changed.entries = [...state.entries, entry];
    if (repeat === "same" || repeat === "per value") {
        changed.answers = [...state.answers, { ...question, id, permanent: repeat, report: repeat === "same" ? report : null }];
    }
    return [{ is: "drawn", charged: entry.epsilon, report }, changed];
}
/**
 * Put chosen reports that wait into a batch, at most one to a question, or return the batch of them that was sent and not acknowledged: its identity, its
 * reports (none if nothing waits), and the state if it changed.
 */
export function batch(state, id, most, chosen) {
    const queued = state.queue.filter((one) => waits(one) && chosen(one));
    const sent = queued.find((one) => one.batch)?.batch;
    if (sent)
        return [sent, state.queue.filter((one) => one.batch === sent)];
    const first = (one) => queued.find(({ fingerprint }) => fingerprint === one.fingerprint) === one;
    const reports = queued.filter(first).slice(0, most);
    return [id, reports, reports[0] && { ...state, queue: state.queue.map((one) => (reports.includes(one) ? { ...one, batch: id } : one)) }];
}
/** Return a state without the messages of presence that are chosen, and their number. */
export function withoutMessages(state, chosen) {
    const gone = state.present?.filter((one) => one.batch && chosen(one)).length ?? 0;
    return gone ? [{ ...state, present: state.present.map((one) => (chosen(one) ? { ...one, batch: null } : one)) }, gone] : [state, 0];
}
/** The collector has a report, or a batch: it leaves the queue. */
export function acknowledge(state, id) {
    const queue = state.queue.filter((one) => one.id !== id && one.batch !== id);
    const [rest, messages] = withoutMessages(state, (one) => one.batch === id);
    const reports = state.queue.length - queue.length + messages;
    return reports ? [{ is: "acknowledged", reports }, { ...rest, queue }] : [{ is: "unknown" }];
}
/** The collector refused a batch for good: its reports leave the queue. Permanent answers are set aside, and wait again after the next request. */
export function drop(state, id) {
    const gone = (one) => waits(one) && id !== ASIDE && (one.batch === id || one.id === id);
    const reports = state.queue.filter(gone).length;
    const permanent = (one) => state.answers.some((kept) => same(kept, one));
    const queue = state.queue.flatMap((one) => (!gone(one) ? one : permanent(one) ? { ...one, batch: ASIDE } : []));
    const [rest, messages] = withoutMessages(state, (one) => one.batch === id);
    if (messages)
        return [{ is: "dropped", reports: messages }, rest];
    return reports ? [{ is: "dropped", reports }, { ...state, queue }] : [{ is: "unknown" }];
}
/** Return a state of version 3: a choice of version 2 means both ways of keeping one. */
export function upgraded(state) {
    if (state.account === 3)
        return state;
    const choices = state.choices.flatMap((one) => [{ ...one, repeat: "kept change" }, { ...one, repeat: "once" }]);
    return { ...state, account: 3, choices };
}
