/** A device that answers: questions, one durable account, a queue of reports, and its promise. */
import { exchange, hex, Malformed, need, readQuestion, systemSource } from "./parts.js";
import { acknowledge, answer, assumed, batch, DEFAULT, drop, limit, PLAIN, plain, same, upgraded, waits, withoutMessages } from "./account.js";
import { jsonBody, judge } from "./batch.js";
/** Return the tag of the language that suits best: the same, or the same but for script and region, or the first of those that there are. */
export function pick(tags, wanted = globalThis.navigator?.languages ?? []) {
    const main = (tag) => tag.split("-")[0];
    for (const one of wanted) {
        const found = tags.find((tag) => tag === one) ?? tags.find((tag) => main(tag) === main(one));
        if (found)
            return found;
    }
    return tags[0] ?? "";
}
/** Return the name of the signal of this browser, or of this process, that the person does not want to be counted; undefined without such a signal. */
function signal() {
    const { navigator, process } = globalThis;
    if (navigator?.globalPrivacyControl)
        return "Global Privacy Control";
    return ["DO_NOT_TRACK", "NO_TELEMETRY"].find((name) => !["", "0", "false", "no", undefined].includes(process?.env?.[name]?.toLowerCase()));
}
/** Return the person's choice about the shown parts; undefined without one. */
function choiceOf({ consent, agreed }, shown, url = "") {
    const said = shown && agreed?.[shown.general];
    if (!said)
        return said === null || consent === false ? false : shown ? undefined : consent;
    const { questions, begins, ends, address = "" } = said;
    const covered = shown.questions.every((one) => questions.includes(one)) && begins <= shown.begins && shown.ends <= ends;
    return (covered && (!url || url.startsWith(address))) || undefined;
}
/** Return why nothing may be answered and sent, or undefined if it may. */
export function withheld(kept, shown, url) {
    const choice = choiceOf(kept, shown, url);
    if (choice !== undefined)
        return choice ? undefined : "the person does not want to answer";
    const found = kept.consent || Object.keys(kept.agreed ?? {})[0] ? "the person was asked about something else" : signal()?.concat(" is set");
    return found && `${found}: ask the person, and call device.consent(true${shown ? ", campaign" : ""}) if they agree`;
}
/** Take what waits off the queue. Permanent answers may be given again, unless they are in a batch that may have arrived. */
const unqueued = (state, chosen) => state.queue.filter((one) => waits(one) && chosen(one)).reduce((state, { id, batch }) => (batch ? acknowledge : drop)(state, id)[1] ?? state, state);
/** Return an inquiry; throw `Malformed` if it is something else. */
const checked = (inquiry) => (need(inquiry?.asked, "asking", "expected an inquiry of device.asking"), inquiry);
/** Return what a question takes. */
function expected({ form, scale }, { device }) {
    return form ? `a ${form}, such as ${form === "time" ? "13:45" : "2026-05-01"}` : scale ? `a number from ${scale[0]} to ${scale.at(-1)}` : JSON.stringify(JSON.parse(device).domain).slice(0, 300);
}
export const refused = (reason, words) => ({ is: "refused", reason, words });
/** Send batch after batch, until the queue is empty or the collector cannot be reached or is busy. `settle` takes a batch off the queue, and returns how many reports it was. */
export async function deliver(next, settle, url, { fetch = globalThis.fetch, pack }, source) {
    const result = { sent: 0, waiting: 0, refused: [], retryAfter: 0 };
    const unsent = (refused, words) => [{}, JSON.stringify({ refused, words: "" + words })];
    for (let found; (found = await next());) {
        const { id, body } = found; // a sentence has neither
        const form = "application/" + (pack ? "vnd.dither.batch" : "json");
        const [{ status, headers }, text] = body
            ? // Browsers refuse a request that may outlive its page and has a body beyond 64 KiB.
                await exchange(fetch, url, 2 ** 16, { method: "POST", body, headers: { "content-type": form }, keepalive: body.length < 6e4 })
                    .then(async ([answer, content]) => [answer, await content.text()])
                    .catch((error) => unsent("unreachable", error))
            : unsent("consent", found);
        const { fate, reason, words } = judge(id, status, text);
        const { reports: dropped = 0 } = (fate !== "kept" && (await settle(id, fate)));
        if (fate === "acknowledged")
            result.sent += dropped;
        else
            result.refused.push({ reason: reason || "status " + status, words: words || "no collector at …/campaigns/<id>/batches; it may have moved", dropped });
        // Up to a quarter more, so that devices that were turned away together do not come back together.
        result.retryAfter = Math.min(Math.max(+headers?.get("retry-after") || 0, 0), 86400) * (1 + source.take(1)[0] / 1024);
        if (fate === "kept")
            break;
    }
    return result;
}
/** Open the account of a device; a missing one is created with these limits. */
async function open({ epsilon, delta = 0, store, source = systemSource(), policy, rules = plain } = {}) {
    need(store?.update, "store", "expected store: indexedStore() in a browser, fileStore(folder) of dither-ldp/node, memoryStore() in tests");
    need(rules?.open, "rules", "expected rules: allRules()");
    need(epsilon > 0 && epsilon < 2 ** 20 && delta >= 0 && delta < 1 && [epsilon, delta].every(Number.isFinite), "epsilon", "expected epsilon > 0, and delta < 1");
    const allowed = { ...DEFAULT, ...policy };
    const fresh = () => hex(source.take(16));
    const born = Math.floor(Date.now() / 1000);
    const own = { epsilon: limit(epsilon, 64), delta: limit(delta, 128), lifetime: null };
    const begun = {
        account: 3,
        person: fresh(),
        device: fresh(),
        limits: { ...own, ...PLAIN },
        own,
        born,
        clock: { wall: born, boot: "", elapsed: 0, ahead: 0 },
        openings: null,
        askers: [],
        entries: [],
        answers: [],
        choices: [],
        queue: [],
    };
    // What is there is written again, so that a store that keeps a copy has the present one.
    await store.update((kept = { state: begun, key: fresh() + fresh() }) => {
        need(kept.state, "account");
        return [0, { ...kept, state: rules.open(upgraded(kept.state), kept.state === begun) }];
    });
    const happen = (change) => store.update((kept) => {
        need(kept, "account");
        const [outcome, state, forgetKey] = change(kept.state, kept);
        return [outcome, state && { ...kept, state, ...(forgetKey && { key: fresh() + fresh() }) }];
    });
    /** Return an outcome with the limits in words, if it is over one. */
    const said = (outcome, state, { epsilon, delta }) => {
        const { reason } = outcome;
        const words = reason === "budget" ? `ε = ${epsilon}, δ = ${delta} is too much; ε = ${+rules.left(state).toPrecision(9)} is left` : reason === "policy" ? "policy of this device, for one answer: " + JSON.stringify(allowed) : "";
        return words ? { ...outcome, words } : outcome;
    };
    /** Return the next batch, or the reason without one. */
    const next = (inquiries, { label = "", pack = jsonBody }, url) => {
        for (const inquiry of [inquiries].flat()) {
            const { terms } = checked(inquiry);
            need(!label || (terms.labels?.includes(label) ?? true), "label", `${JSON.stringify(label)} is not in the campaign; it lists ${JSON.stringify(terms.labels)}`);
        }
        return happen((state, kept) => {
            const [id, reports, changed] = batch(state, fresh(), 1000, among(inquiries));
            const words = reports[0] && [inquiries].flat().map(({ terms }) => withheld(kept, terms.shown, url)).find(Boolean);
            return words ? [words] : [reports[0] && { id, body: pack(id, label, reports) }, changed];
        });
    };
    /** Return the outcome of an answer to a campaign that is over, if it is. */
    const ended = ({ ends = Infinity }) => Date.now() / 864e5 >= ends + 1 ? refused("ended", "the campaign ended on " + new Date(ends * 864e5).toISOString().slice(0, 10)) : undefined;
    const among = (inquiries) => (one) => [inquiries].flat().some(({ asked }) => same(one, asked));
    const device = {
        asking(specification, terms) {
            need(Object(terms) === terms && typeof specification === "string", "asking", "expected the text of a question, and terms: { name, asker }");
            const read = readQuestion(specification, terms.name);
            const { name, asker, repeat = "fresh", assumes = [], data = null, days = null, start = null, times, every, limit, phase, changes } = terms;
            const question = changes ? rules.changes?.of(read, days, changes) : read;
            if (!question)
                throw new Malformed("asking", "changes: see dither-ldp/changes", name);
            const { mechanism, epsilon, delta, fingerprint, spend } = question;
            ["name", "asker"].forEach((field) => need(terms[field] && typeof terms[field] === "string", "asking", field + ": expected a text"));
            if (!spend !== !times)
                throw new Malformed("asking", "times", name);
            const [cost, lines] = spend?.(epsilon, times) ?? [epsilon, []];
            const odds = Math.exp(cost);
            const facts = { question: name, asker, fingerprint, mechanism, epsilon: cost, delta, assumes: assumes.concat(lines), repeat, days, start, data, ...(times && { times }), ...(every && { every }), ...(limit && { limit }), ...(phase && { phase }), ...(changes && { changes }) };
            if (!rules.knows(facts))
                throw new Malformed("asking", `repeat = ${repeat}: not with these rules, days, start and data; see dither-ldp/rules`, name);
            return {
                question,
                terms,
                asked: facts,
                text: (languages) => terms.text?.[pick(terms.languages ?? [], languages)] ?? name,
                labels(languages) {
                    const { labels = [] } = JSON.parse(question.device).domain;
                    const names = terms.names?.[pick(terms.languages ?? [], languages)];
                    const values = labels.map((label) => (Object(label) === label ? label.number : label));
                    return values.map((value, at) => ({ value, text: names?.[at] ?? String(value) }));
                },
                promise: () => happen((state) => [{ epsilon: cost, odds, reach: odds / (1 + odds), left: rules.left(state), assumes: assumed(facts, rules) }]),
            };
        },
        async answer(inquiry, value, id = fresh()) {
            const { question, terms, asked: facts } = checked(inquiry);
            const { otherwise, times, name } = terms;
            // The value is read only here: values that are moved to one place are one, and an error leaves the account unchanged.
            const input = [terms.value ? terms.value(value) : value, otherwise].map(question.inside).find((one) => one !== undefined && (!times || one.length === times));
            if (input === undefined)
                return refused("value", `question "${name}": expected ${value === undefined ? "a value, got undefined" : expected(terms, question) + "; declare otherwise for all others"}`);
            return happen((state, kept) => {
                const keyed = (purpose) => rules.source?.(kept.key, facts, input, purpose) ?? source;
                const words = withheld(kept, terms.shown);
                const over = words ? refused("consent", words) : ended(terms);
                if (over)
                    return [over];
                const [outcome, next] = answer(state, id, facts, allowed, rules, { report: () => hex(question.draw(input, keyed(0))), mark: () => hex(keyed(1).take(16)), source, change: (owed) => rules.changes.draw(question, input, facts, owed, kept.key, source) });
                const leftOut = question.leftOut?.(value);
                return [{ ...said(outcome, state, facts), ...(leftOut && { leftOut }) }, next];
            });
        },
        async dryRun(inquiry) {
            const { asked: facts, terms } = checked(inquiry);
            return happen((state, kept) => {
                const words = withheld(kept, terms.shown);
                return [words ? refused("consent", words) : (ended(terms) ?? said(answer(state, "", facts, allowed, rules)[0], state, facts))];
            });
        },
        consent: (choice, campaign, address) => store.update((kept) => {
            need(kept, "account");
            need(!choice || (choice === true && (!campaign || campaign.shown)), "asking", "expected true or false, and a campaign of fetchCampaign");
            if (choice === undefined)
                return [!withheld(kept, campaign?.shown)];
            const { shown, terms, questions } = campaign ?? {};
            const { agreed } = kept;
            const next = shown ? { ...kept, agreed: { ...agreed, [shown.general]: choice ? { ...shown, address: address?.replace(/campaigns\/\w+$/, "") } : null } } : { ...kept, consent: choice, agreed: choice ? (agreed ?? {}) : {} };
            // What was drawn before a no is not covered by a later yes.
            if (choice && choiceOf(kept, shown) === false) {
                const [state] = withoutMessages(kept.state, (one) => !shown || (one.asker === terms["asker"] && one.name === terms["name"]));
                next.state = unqueued(state, (one) => !shown || (one.asker === terms["asker"] && one.question in questions));
            }
            return [!withheld(next, shown), next];
        }),
        act: () => happen((state) => rules.act?.(state) ?? [{ is: "acted" }]),
        chosen: (campaign) => store.update((kept) => [kept && choiceOf(kept, campaign?.shown)]),
        async body(inquiries, options = {}) {
            const found = await next(inquiries, options);
            return typeof found === "string" ? undefined : found;
        },
        acknowledge: (id) => happen((state) => acknowledge(state, id)),
        async send(inquiries, url, options = {}) {
            const taken = [inquiries].flat()[0]?.terms?.taken ?? acknowledge;
            const result = await deliver(() => next(inquiries, options, url), (id, fate) => happen((state) => (fate === "dropped" ? drop : taken)(state, id)), url, options, source);
            result.waiting = await happen(({ queue }) => [queue.filter((one) => waits(one) && among(inquiries)(one)).length]);
            return result;
        },
        account: (look = (state) => [state]) => happen((state, kept) => look(state, rules, kept, allowed, source)),
    };
    return device;
}
/** The account of one person on this device, its questions and its queue. */
export const Device = { open };
