/** What the account of a person shows and forgets, and an element that does so on a page: `<dither-account>`. */
import { number, waits } from "./account.js";
import { share } from "./total.js";
export { takeBack } from "./withdraw.js";
/** Return a number without its last digits: a limit is a little above the requested one, so that sums of doubles fit. */
const rounded = (value) => Number(value.toPrecision(12));
const units = (text, places) => rounded(Number(number(text)) / 2 ** places);
/** Return what an account shows: `device.account(view)`. */
export function view(state, rules) {
    const given = state.entries.map(({ asker, question, epsilon, delta, assumes }) => {
        return { asker, question, epsilon: units(epsilon, 64), delta: units(delta, 128), assumes };
    });
    const waiting = [...state.queue.filter(waits), ...(state.present ?? []).filter(({ batch }) => batch)];
    const sent = state.entries.filter(({ id }) => !state.queue.some((one) => one.id === id)).length;
    const withdrawable = (state.sent ?? []).flatMap(({ asker, questions, until }) => until < Math.floor(Date.now() / 864e5) ? [] : { asker, questions, until: new Date(until * 864e5).toISOString().slice(0, 10) });
    return [{ epsilon: units(state.own.epsilon, 64), left: rounded(rules.left(state)), given, waiting: waiting.length, sent, withdrawable }];
}
/**
 * Forget what was given: names of askers and questions, permanent answers and their key, drawn days, reports that wait. Return what is left, and how many
 * answers had been sent: `device.account(erase)`.
 *
 * The spent budget stays, because askers keep their knowledge: with a new start there would be no limit.
 */
export function erase({ told: _, coins: __, trees: ___, sent: ____, present: _____, ...state }, rules) {
    const { sent } = view(state, rules)[0]; // batches of before cannot be taken back any more: `takeBack` first
    const entries = state.entries.map(({ data: _, times: __, campaign: ___, ...entry }) => ({ ...entry, asker: "", question: "", fingerprint: "" }));
    const next = { ...state, entries, askers: [], answers: [], choices: [], queue: [] };
    return [{ ...view(next, rules)[0], sent }, next, true];
}
const short = (epsilon) => String(Number(epsilon.toPrecision(3)));
/**
 * An element that shows a person's answers on this device by asker, the remaining budget, and a button that forgets the answers: `<dither-account>`.
 *
 * Set its `device`. It has no style of its own but parts: `text`, `table`, `button`.
 */
export class DitherAccount extends (globalThis.HTMLElement ?? Object) {
    #device;
    get device() {
        return this.#device;
    }
    set device(device) {
        this.#device = device;
        void this.refresh();
    }
    /** Show what the account has now. */
    async refresh() {
        if (this.#device)
            this.#show(await this.#device.account(view));
    }
    #show({ epsilon, left, given, waiting }, note = "How much was given stays counted: the askers keep what they received.") {
        const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
        const make = (tag, text = "", ...children) => {
            const made = document.createElement(tag);
            made.textContent = text; // what askers wrote is text
            made.append(...children);
            return made;
        };
        const part = (name, made) => {
            made.setAttribute("part", name);
            return made;
        };
        const lines = new Map();
        for (const { asker, question, epsilon } of given) {
            const [, , count, sum] = lines.get(JSON.stringify([asker, question])) ?? ["", "", 0, 0];
            lines.set(JSON.stringify([asker, question]), [asker || "forgotten", question || "forgotten", count + 1, sum + epsilon]);
        }
        const spent = given.reduce((sum, one) => sum + one.epsilon, 0);
        const words = given.length
            ? `You have given ${given.length} ${given.length === 1 ? "answer" : "answers"} with noise, ε = ${short(spent)} together. Whoever guessed 50 % about you before can know at most ${share(spent)} by them.`
            : "You have given nothing.";
        const rest = `Of ε = ${short(epsilon)}, ${short(left)} is left. Reports that wait to be sent: ${waiting}.`;
        const head = make("tr", "", ...["Who asked", "What", "Answers", "ε"].map((text) => make("th", text)));
        for (const cell of Array.from(head.children))
            cell.setAttribute("scope", "col");
        const rows = [...lines.values()].map((line) => make("tr", "", ...line.map((cell, at) => make("td", at === 3 ? short(cell) : String(cell)))));
        const button = make("button", "Forget");
        let sure = false;
        button.addEventListener("click", () => {
            if (sure)
                return void this.#forget();
            sure = true;
            button.textContent = "Forget names, kept answers and waiting reports? Press again.";
        });
        root.replaceChildren(part("text", make("p", words)), ...(rows.length ? [part("table", make("table", "", make("caption", "What you have given"), make("thead", "", head), make("tbody", "", ...rows)))] : []), part("text", make("p", rest)), part("button", button), part("text", make("p", note)));
    }
    async #forget() {
        const erased = await this.#device.account(erase);
        this.#show(erased, `Forgotten. ${erased.sent} ${erased.sent === 1 ? "answer" : "answers"} had been sent before.`);
        this.dispatchEvent(new Event("erase"));
    }
}
const { customElements } = globalThis;
if (customElements && !customElements.get("dither-account"))
    customElements.define("dither-account", DitherAccount); // two scripts may have it
