/**
 * Elements of a page: `<dither-consent>` shows asker and purpose and keeps the person's choice, `<dither-question name="minutes">` is a labelled form control.
 * `connect(device, campaign, address)` connects them.
 */
import { autoSend } from "./auto.js";
import { pick, refused } from "./client.js";
import { hex, need, systemSource } from "./parts.js";
import { share, totalOf } from "./total.js";
/** The words of the elements, by language. A page may add its own. */
export const words = {
    en: {
        agree: "I agree",
        decline: "No, thank you",
        agreed: "You agreed. You can change this at any time.",
        declined: "You declined. Nothing is answered or sent.",
        asks: "{asker} asks:",
        until: "From {begins} to {ends}.",
        contact: "Contact: {contact}",
        signal: "Your browser says that you do not want to be tracked. Nothing is sent unless you agree here.",
        answer: "Answer",
        none: "I prefer not to say",
        thanks: "Thank you. Your answer was randomised on this device; only the random report is sent.",
        over: "This survey is over.",
        spent: "Your privacy budget does not allow this answer. Nothing was sent.",
        refused: "Agree above to answer.",
        failed: "This device could not keep your answer. Nothing was sent.",
        missing: "Please give an answer first.",
        unknown: "This page cannot show this question.",
        choose: "Please choose",
        several: "Choose all that apply.",
        one: "Your answer is randomised on this device before it is sent. Anyone who guessed 50 % before reaches at most {reach}.",
        total: "Your answers are randomised on this device before they are sent. Anyone who guessed 50 % about you before reaches at most {total} by all of them together.",
        round: "By one answer to each question: at most {reach}.",
        unlimited: "Your answers are randomised on this device before they are sent. Over time, only the limit of your device applies.",
        first: "Nothing is answered or sent unless you agree here.",
    },
    de: {
        agree: "Ich bin einverstanden",
        decline: "Nein, danke",
        agreed: "Sie sind einverstanden. Sie können das jederzeit ändern.",
        declined: "Sie haben abgelehnt. Nichts wird beantwortet oder gesendet.",
        asks: "{asker} fragt:",
        until: "Vom {begins} bis {ends}.",
        contact: "Kontakt: {contact}",
        signal: "Ihr Browser meldet, dass Sie nicht verfolgt werden möchten. Nichts wird gesendet, wenn Sie hier nicht zustimmen.",
        answer: "Antworten",
        none: "Keine Angabe",
        thanks: "Danke. Ihre Antwort wurde auf diesem Gerät verrauscht; nur die zufällige Meldung wird gesendet.",
        over: "Diese Umfrage ist vorbei.",
        spent: "Ihr Budget lässt diese Antwort nicht zu. Nichts wurde gesendet.",
        refused: "Stimmen Sie oben zu, um zu antworten.",
        failed: "Dieses Gerät konnte Ihre Antwort nicht speichern. Nichts wurde gesendet.",
        missing: "Bitte geben Sie zuerst eine Antwort.",
        unknown: "Diese Seite kann diese Frage nicht zeigen.",
        choose: "Bitte wählen",
        several: "Wählen Sie alles Zutreffende.",
        one: "Ihre Antwort wird auf diesem Gerät verrauscht, bevor sie gesendet wird. Wer vorher 50 % sicher war, erreicht höchstens {reach}.",
        total: "Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Wer vorher 50 % sicher war, erreicht durch alle zusammen höchstens {total}.",
        round: "Durch eine Antwort auf jede Frage: höchstens {reach}.",
        unlimited: "Ihre Antworten werden auf diesem Gerät verrauscht, bevor sie gesendet werden. Auf Dauer gibt es keine Grenze außer der Ihres Geräts.",
        first: "Nichts wird beantwortet oder gesendet, wenn Sie hier nicht zustimmen.",
    },
};
const FEW = 7; // answers that are shown one below the other; more are a list to open
const STYLE = `
:host { display: block; margin: 1rem 0; max-width: 40rem; font: inherit; line-height: 1.5; }
fieldset, form { border: 0; margin: 0; padding: 0; min-width: 0; }
legend, .label { display: block; padding: 0; margin: 0 0 .5rem; font-weight: 600; overflow-wrap: anywhere; }
p, ul { margin: .5rem 0; overflow-wrap: anywhere; }
ul { padding-inline-start: 1.25rem; }
.choice { display: flex; gap: .6rem; align-items: center; min-height: 2.75rem; cursor: pointer; overflow-wrap: anywhere; }
.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0; }
.field { display: flex; gap: .6rem; align-items: center; }
input[type=number], input[type=date], input[type=time], select { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem .7rem; min-height: 2.75rem; box-sizing: border-box; max-width: 100%; }
option { color: CanvasText; background: Canvas; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; }
button { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: .4rem; padding: .55rem 1.1rem; min-height: 2.75rem; cursor: pointer; }
button:hover { text-decoration: underline; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
.note { font-size: .9em; }
[role=status]:empty { display: none; }
`;
/** Return words with the names in braces replaced. */
const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name] ?? "");
/** Make an element with attributes and children. Texts become text: whatever an asker wrote is not read as HTML. */
function make(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, value);
    made.append(...children);
    return made;
}
const Base = globalThis.HTMLElement ?? Object;
/** The campaigns for which a page asks for consent, by device: their questions wait for a choice. */
const withConsent = new WeakMap();
/** What both elements share: a shadow root, a language, and words in it. */
class DitherElement extends Base {
    static observedAttributes = ["lang", "name"];
    #root;
    /** The wanted languages: of the element, of the page, of the browser. */
    get wanted() {
        const own = this.closest?.("[lang]")?.getAttribute("lang");
        return [...(own ? [own] : []), ...(globalThis.navigator?.languages ?? [])];
    }
    get words() {
        return words[pick(Object.keys(words), this.wanted)];
    }
    /** Show these children, and their language to programs that read aloud. */
    show(language, ...children) {
        this.#root ??= this.attachShadow({ mode: "open" });
        this.#root.replaceChildren(make("style", {}, STYLE), make("div", { part: "box", ...(language && { lang: language }) }, ...children));
    }
    connectedCallback() {
        void this.refresh();
    }
    attributeChangedCallback() {
        if (this.#root)
            void this.refresh();
    }
    tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
    }
}
/**
 * `<dither-consent>`: the asker, the questions, the purpose, the information in the answers, and two buttons. Set `device`, `campaign` and its `address`, or call `connect`. It sends the
 * event `consent`. A yes holds for the shown campaign.
 */
export class DitherConsent extends DitherElement {
    device;
    campaign;
    address;
    async refresh() {
        const { device, campaign, words: said } = this;
        if (!device || !campaign)
            return;
        const { terms } = campaign;
        const language = pick((terms["languages"] ?? []), this.wanted);
        const purpose = (terms["purposes"]?.[language] ?? terms["purpose"]);
        withConsent.set(device, (withConsent.get(device) ?? new Set()).add(campaign.shown.general));
        const chosen = await device.chosen(campaign);
        const total = totalOf(terms);
        const status = make("p", { role: "status", part: "status" }, chosen === undefined ? (navigator.globalPrivacyControl ? said.signal : said.first) : chosen ? said.agreed : said.declined);
        const button = (text, choice) => {
            const made = make("button", { type: "button", part: "button", "aria-pressed": String(chosen === choice) }, text);
            made.addEventListener("click", () => void this.#choose(choice));
            return made;
        };
        const parts = { asker: terms["asker"], begins: terms["begins"], ends: terms["ends"], contact: terms["contact"] };
        const once = terms["promise"].epsilon;
        // The total comes first: it is what a person agrees to.
        const promises = [total === undefined ? said.unlimited : fill(said.total, { total: share(total) }), ...(total === once ? [] : [fill(said.round, { reach: share(once) })])];
        this.show(language, make("p", { part: "asker", class: "label" }, fill(said.asks, parts)), ...purpose.split("\n").map((line) => make("p", { part: "purpose" }, line)), make("ul", { part: "questions" }, ...terms["questions"].map(({ text, name }) => make("li", {}, (text?.[language] ?? name)))), make("p", { part: "promise", class: "note" }, promises.join(" ")), make("p", { part: "note", class: "note" }, `${fill(said.until, parts)} ${fill(said.contact, parts)}`), make("div", { class: "buttons" }, button(said.agree, true), button(said.decline, false)), status);
    }
    async #choose(choice) {
        await this.device.consent(choice, this.campaign, this.address);
        await this.refresh();
        this.tell("consent", choice);
    }
}
/** `<dither-question>`: a question of a list, a scale, a number, a date, a time, or of several answers. Set `device` and `inquiry`, or call `connect`. It sends the event `answer` with the outcome. */
export class DitherQuestion extends DitherElement {
    device;
    inquiry;
    /** However often the button is pressed, one answer is drawn, charged and sent. */
    #identity;
    #status;
    async refresh() {
        const { device, inquiry, words: said } = this;
        if (!device)
            return;
        if (!inquiry)
            return this.show("", make("p", { part: "status" }, said.unknown));
        this.#identity ??= hex(systemSource().take(16));
        const [control, value] = this.#control(inquiry);
        const { epsilon } = await inquiry.promise();
        const optional = domainOf(inquiry).kind === "optional" || inquiry.labels().some((label) => label.value === null);
        const language = pick(inquiry.terms.languages ?? [], this.wanted);
        this.#status = make("p", { role: "status", part: "status" });
        const buttons = make("div", { class: "buttons" }, make("button", { type: "submit", part: "button" }, said.answer));
        if (optional) {
            const none = make("button", { type: "button", part: "button" }, said.none);
            none.addEventListener("click", () => void this.#answer(null));
            buttons.append(none);
        }
        const form = make("form", { part: "form", novalidate: "" }, control, make("p", { part: "promise", class: "note", id: "promise" }, fill(said.one, { reach: share(epsilon) })), buttons);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            void this.#answer(value());
        });
        this.show(language, ...(value === nothing ? [make("p", { part: "status" }, said.unknown)] : [form, this.#status]));
    }
    /** Return the control of a question, and a function that returns what the person gives; undefined if that is nothing yet. */
    #control(inquiry) {
        const said = this.words;
        const text = inquiry.text(this.wanted);
        const labels = inquiry.labels(this.wanted).filter(({ value }) => value !== null);
        const { kind } = domainOf(inquiry);
        if (kind === "several" && labels.length)
            return this.#choices("checkbox", text, labels, said.several);
        if (kind === "categories" && labels.length && labels.length <= FEW)
            return this.#choices("radio", text, labels);
        const label = make("label", { class: "label", for: "control", part: "question" }, text);
        if (kind === "categories" && labels.length) {
            const options = [make("option", { value: "" }, said.choose), ...labels.map((one, at) => make("option", { value: String(at) }, one.text))];
            const select = make("select", { id: "control", part: "control", "aria-describedby": "promise" }, ...options);
            return [make("div", {}, label, select), () => (select.value === "" ? undefined : labels[+select.value].value)];
        }
        const numbers = numberOf(inquiry);
        if (!numbers)
            return [make("div"), nothing];
        const [attributes, read] = numbers;
        const input = make("input", { id: "control", part: "control", "aria-describedby": inquiry.terms.unit ? "unit promise" : "promise", ...attributes });
        const unit = inquiry.terms.unit ? [make("span", { id: "unit" }, inquiry.terms.unit)] : [];
        return [make("div", {}, label, make("div", { class: "field" }, input, ...unit)), () => (input.value === "" ? undefined : read(input))];
    }
    #choices(type, text, labels, hint) {
        const inputs = labels.map((_, at) => make("input", { type, name: "answer", value: String(at), part: "control" }));
        const rows = labels.map((one, at) => make("label", { class: "choice" }, inputs[at], make("span", {}, one.text)));
        const control = make("fieldset", { "aria-describedby": "promise" }, make("legend", { part: "question" }, text), ...(hint ? [make("p", { class: "note" }, hint)] : []), ...rows);
        const given = () => labels.flatMap((one, at) => (inputs[at].checked ? [one.value] : []));
        return [control, () => (type === "checkbox" ? given() : given()[0])];
    }
    async #answer(value) {
        const said = this.words;
        if (value === undefined)
            return void this.#status.replaceChildren(said.missing);
        const { shown } = this.inquiry.terms;
        const waits = shown && withConsent.get(this.device)?.has(shown.general) && (await this.device.chosen({ shown })) === undefined;
        const outcome = waits ? refused("consent", "expected a choice in <dither-consent> first") : await this.device.answer(this.inquiry, value, this.#identity).catch((error) => {
            this.#status.replaceChildren(said.failed);
            throw error;
        });
        const { is, reason } = outcome;
        const text = is !== "refused" ? said.thanks : reason === "ended" ? said.over : reason === "consent" ? said.refused : reason === "value" ? said.missing : said.spent;
        this.#status.replaceChildren(text);
        this.tell("answer", outcome);
    }
}
const nothing = () => undefined;
const domainOf = (inquiry) => JSON.parse(inquiry.question.device)["domain"];
/** Return the attributes of the field of a number, and how its value is read; undefined if the question is about something else. */
function numberOf({ terms, question }) {
    const { domain } = JSON.parse(question.device);
    const { kind, low, high, period } = (domain.kind === "optional" ? domain.of : domain);
    if (kind !== "interval" && kind !== "circle")
        return undefined;
    const day = (number) => new Date(number * 864e5).toISOString().slice(0, 10);
    if (terms.form === "time")
        return [{ type: "time" }, ({ value }) => value];
    if (terms.form === "date")
        return [{ type: "date", min: day(low), max: day(high) }, ({ value }) => value];
    const [least, most] = terms.scale ? [terms.scale[0], terms.scale.at(-1)] : kind === "circle" ? [0, period] : [low, high];
    return [{ type: "number", inputmode: "decimal", min: String(least), max: String(most), step: String(terms.step ?? "any") }, ({ valueAsNumber }) => (valueAsNumber === valueAsNumber ? valueAsNumber : undefined)];
}
/**
 * Give a device and a campaign to all elements of a page, `<dither-consent>` and `<dither-question name="…">`, and send the answers. `address` is the campaign's.
 * Return a function that ends the sending.
 */
export function connect(device, campaign, address, root = document) {
    const inquiries = [];
    for (const element of Array.from(root.querySelectorAll("dither-question"))) {
        element.device = device;
        try {
            const name = element.getAttribute("name");
            const given = name && campaign.questions[name];
            need(given, "asking", `<dither-question name="${name}">: the campaign asks ${Object.keys(campaign.questions)}`);
            inquiries.push((element.inquiry = device.asking(...given)));
        }
        catch (error) {
            reportError(error); // the others are answered
        }
        void element.refresh();
    }
    for (const element of Array.from(root.querySelectorAll("dither-consent"))) {
        Object.assign(element, { device, campaign, address });
        void element.refresh();
    }
    const { send, stop } = autoSend(device, inquiries, address + "/batches");
    const again = () => void send();
    root.addEventListener("answer", again);
    root.addEventListener("consent", again);
    return () => {
        stop();
        root.removeEventListener("answer", again);
        root.removeEventListener("consent", again);
    };
}
const { customElements } = globalThis;
if (customElements && !customElements.get("dither-question")) {
    customElements.define("dither-question", DitherQuestion);
    customElements.define("dither-consent", DitherConsent);
}
