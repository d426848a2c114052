/** What the account of a person shows and forgets, and an element that does so on a page: `<dither-account>`. */
import { type Rules, type State } from "./account.js";
import { type Device } from "./client.js";
export { takeBack, type TakenBack } from "./withdraw.js";
/** What was given to one question by one answer. */
export interface Given {
    asker: string;
    question: string;
    epsilon: number;
    delta: number;
    /** What the promise holds under. */
    assumes: string[];
}
/** What the account of a person has. */
export interface AccountView {
    /** The ε that all askers together may learn: for ever, or in one epoch. */
    epsilon: number;
    /** What is left of it. */
    left: number;
    /** One line for each answer that was charged; a permanent answer once. Nameless where it was forgotten. */
    given: Given[];
    /** How many reports wait to be sent. */
    waiting: number;
    /** The number of sent answers; their askers keep them. */
    sent: number;
    /** The batches that can still be taken back, with the last day on which that is possible: `takeBack` does it. */
    withdrawable: {
        asker: string;
        questions: string[];
        until: string;
    }[];
}
/** Return what an account shows: `device.account(view)`. */
export declare function view(state: State, rules: Rules): [AccountView];
/**
 * Forget what was given: names of askers and questions, permanent answers and their key, drawn days, reports that wait. Return what is left, and how many
 * answers had been sent: `device.account(erase)`.
 *
 * The spent budget stays, because askers keep their knowledge: with a new start there would be no limit.
 */
export declare function erase({ told: _, coins: __, trees: ___, sent: ____, present: _____, ...state }: State, rules: Rules): [AccountView, State, forgetKey: true];
declare const DitherAccount_base: {
    new (): HTMLElement;
    prototype: HTMLElement;
};
/**
 * An element that shows a person's answers on this device by asker, the remaining budget, and a button that forgets the answers: `<dither-account>`.
 *
 * Set its `device`. It has no style of its own but parts: `text`, `table`, `button`.
 */
export declare class DitherAccount extends DitherAccount_base {
    #private;
    get device(): Device | undefined;
    set device(device: Device | undefined);
    /** Show what the account has now. */
    refresh(): Promise<void>;
}
