/**
 * Elements of a page: `<dither-consent>` shows asker and purpose and keeps the person's choice, `<dither-question name="minutes">` is a labelled form control.
 * `connect(device, campaign, address)` connects them.
 */
import { type Device, type Inquiry } from "./client.js";
import { type Campaign } from "./signatures.js";
/** The words of the elements in one language. A page may bring others: `words.fr = { … }`. */
export interface ElementWords {
    agree: string;
    decline: string;
    agreed: string;
    declined: string;
    asks: string;
    until: string;
    contact: string;
    signal: string;
    answer: string;
    none: string;
    thanks: string;
    over: string;
    spent: string;
    refused: string;
    /** For an answer that this device could not keep. */
    failed: string;
    missing: string;
    unknown: string;
    choose: string;
    several: string;
    /** The information in one answer: {reach} is a share. */
    one: string;
    /** The information in all answers to a campaign: {total} is a share. */
    total: string;
    /** The information in one answer to each of its questions: {reach} is a share. */
    round: string;
    /** The words for a missing limit over all answers. */
    unlimited: string;
    /** That nothing is sent before the person agrees. */
    first: string;
}
/** The words of the elements, by language. A page may add its own. */
export declare const words: {
    [language: string]: ElementWords;
};
declare const Base: {
    new (): HTMLElement;
    prototype: HTMLElement;
};
/** What both elements share: a shadow root, a language, and words in it. */
declare abstract class DitherElement extends Base {
    #private;
    static observedAttributes: string[];
    /** The wanted languages: of the element, of the page, of the browser. */
    get wanted(): string[];
    get words(): ElementWords;
    /** Show these children, and their language to programs that read aloud. */
    protected show(language: string, ...children: Node[]): void;
    connectedCallback(): void;
    attributeChangedCallback(): void;
    abstract refresh(): Promise<void>;
    protected tell(name: string, detail: unknown): void;
}
/**
 * `<dither-consent>`: the asker, the questions, the purpose, the information in the answers, and two buttons. Set `device`, `campaign` and its `address`, or call `connect`. It sends the
 * event `consent`. A yes holds for the shown campaign.
 */
export declare class DitherConsent extends DitherElement {
    #private;
    device: Device | undefined;
    campaign: Campaign | undefined;
    address: string | undefined;
    refresh(): Promise<void>;
}
/** `<dither-question>`: a question of a list, a scale, a number, a date, a time, or of several answers. Set `device` and `inquiry`, or call `connect`. It sends the event `answer` with the outcome. */
export declare class DitherQuestion extends DitherElement {
    #private;
    device: Device | undefined;
    inquiry: Inquiry | undefined;
    refresh(): Promise<void>;
}
/**
 * Give a device and a campaign to all elements of a page, `<dither-consent>` and `<dither-question name="…">`, and send the answers. `address` is the campaign's.
 * Return a function that ends the sending.
 */
export declare function connect(device: Device, campaign: Campaign, address: string, root?: ParentNode): () => void;
export {};
