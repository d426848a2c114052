/** A question in React: `const { promised, outcome, answer } = useQuestion(device, specification, { name, asker })`. */
import { type ReactElement } from "react";
import { type Outcome } from "./account.js";
import { type Inquiry, type InquiryTerms, type Device, type Promised } from "./client.js";
import { type Campaign } from "./signatures.js";
/** What a component knows of its question. */
export interface UsedQuestion {
    /** The input of `device.send`; undefined without a device. */
    asking: Inquiry | undefined;
    /** What is promised to the person: show it before you ask. */
    promised: Promised | undefined;
    /** How the last answer ended. */
    outcome: Outcome | undefined;
    /** Answer. However often a mounted component calls it, one answer is drawn, charged and sent. */
    answer(value: unknown): Promise<Outcome>;
}
/**
 * Use a question in a component. An answer has one identity for each mount, so that a second call, a second click and React's StrictMode answer once.
 *
 * `device` may be undefined as long as it is not open. `id` is the identity; it is drawn unless it is given. Throw `Malformed` if this device cannot answer the question,
 * and what its store throws if the account cannot be read: an error boundary shows it.
 */
export declare function useQuestion(device: Device | undefined, specification: string, terms: InquiryTerms, id?: string): UsedQuestion;
/** `<dither-question>` as a component: `<Question device={device} inquiry={inquiry} onAnswer={(outcome) => …} />`. */
export declare const Question: ({ device, inquiry, onAnswer }: {
    device: Device;
    inquiry: Inquiry;
    onAnswer?: (outcome: Outcome) => void;
}) => ReactElement;
/** `<dither-consent>` as a component: `<Consent device={device} campaign={campaign} address={address} onConsent={(choice) => …} />`. */
export declare const Consent: ({ device, campaign, address, onConsent }: {
    device: Device;
    campaign: Campaign;
    address?: string;
    onConsent?: (choice: boolean) => void;
}) => ReactElement;
