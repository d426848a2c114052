/** One person with several devices: budgets that are divided beforehand, and accounts that are merged. */
import { type Json } from "./parts.js";
import { type Limits, type State, type Step } from "./account.js";
/** Return JSON as RFC 8785 writes it: sorted keys, no white space, numbers as ECMAScript does. */
export declare const canonical: (value: Json) => string;
/** Return a state with its lists in the order of docs/account.md, as it is compared and exported. A store keeps them as they came. */
export declare function ordered(state: State): State;
/** Give part/whole of this device's budget to another device. */
export declare function split(state: State, device: string, [part, total]: [number, number]): Step;
/** What another device exports: everything but its queue and its clock. */
export type Export = Pick<State, "account" | "person" | "device" | "entries" | "answers" | "choices" | "coins"> & {
    limits: Limits;
};
/** Take over what another device of the same person has given. */
export declare function merge(state: State, from: Export): Step;
