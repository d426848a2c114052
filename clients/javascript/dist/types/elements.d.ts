/**
 * Elements of a page: `<dither-consent>` says who asks for what and keeps what the person chose, `<dither-question name="minutes">` is a labelled form control.
 * `connect(device, campaign, address)` gives them what they need.
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
    missing: string;
    unknown: string;
    choose: string;
    several: string;
    /** What one answer tells: {reach} is a share. */
    one: string;
    /** What all answers to a campaign together tell: {total} is a share. */
    total: string;
    /** What one answer to each of its questions tells: {reach} is a share. */
    round: string;
    /** That there is no limit over all answers. */
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
    /** The languages that are wanted: that of the element, of the page, of the browser. */
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
 * `<dither-consent>`: who asks what and what for, what the answers reveal, and two buttons. Set `device`, `campaign` and its `address`, or call `connect`. It sends the
 * event `consent`. A yes holds for what is shown.
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
 * Give a device and a campaign to all elements of a page, `<dither-consent>` and `<dither-question name="…">`, and send what is answered. `address` is the campaign's.
 * Return a function that ends the sending.
 */
export declare function connect(device: Device, campaign: Campaign, address: string, root?: ParentNode): () => void;
export {};
