/** A question in React: `const { promised, outcome, answer } = useQuestion(device, specification, { name, asker })`. */

import { createElement, type ReactElement, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Outcome } from "./account.js";
import { type Inquiry, type InquiryTerms, type Device, type Promised } from "./client.js";
import { type DitherConsent, type DitherQuestion } from "./elements.js";
import { hex, systemSource } from "./parts.js";
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
export function useQuestion(device: Device | undefined, specification: string, terms: InquiryTerms, id?: string): UsedQuestion {
  const [own] = useState(() => id ?? hex(systemSource().take(16)));
  const [promised, setPromised] = useState<Promised>();
  const [outcome, setOutcome] = useState<Outcome>();
  // Terms are often written where they are used, and so are another object each time.
  const asking = useMemo(() => device?.asking(specification, terms), [device, specification, JSON.stringify(terms)]);
  useEffect(() => {
    let shown = true;
    const show = (found: () => Promised): unknown => shown && setPromised(found);
    asking?.promise().then(
      (found) => show(() => found),
      // A failing store reaches the nearest error boundary, like other errors in React.
      (error: unknown) =>
        show(() => {
          throw error;
        }),
    );
    return () => void (shown = false);
  }, [asking, outcome]);
  const answer = useCallback(
    async (value: unknown) => {
      if (!asking) throw new Error("the device is not open yet");
      const ended = await device!.answer(asking, value, own);
      setOutcome(ended);
      return ended;
    },
    [device, asking, own],
  );
  return { asking, promised, outcome, answer };
}

/** Return an element of a page as a component: its properties are set, and one event is handed on. */
function useElement(name: string, properties: object, event: string, handle: ((detail: never) => void) | undefined): ReactElement {
  const element = useRef<DitherQuestion | DitherConsent>(null);
  useEffect(() => {
    // Loaded where it is used: the hook alone needs no element. What is set before an element is defined would be lost.
    void import("./elements.js").then(() => {
      if (element.current) void Object.assign(element.current, properties).refresh();
    });
  }, Object.values(properties));
  useEffect(() => {
    const { current } = element;
    const hand = (one: Event): void => handle?.((one as CustomEvent).detail as never);
    current!.addEventListener(event, hand);
    return () => current!.removeEventListener(event, hand);
  }, [event, handle]);
  return createElement(name, { ref: element });
}

/** `<dither-question>` as a component: `<Question device={device} inquiry={inquiry} onAnswer={(outcome) => …} />`. */
export const Question = ({ device, inquiry, onAnswer }: { device: Device; inquiry: Inquiry; onAnswer?: (outcome: Outcome) => void }): ReactElement =>
  useElement("dither-question", { device, inquiry }, "answer", onAnswer);

/** `<dither-consent>` as a component: `<Consent device={device} campaign={campaign} address={address} onConsent={(choice) => …} />`. */
export const Consent = ({ device, campaign, address, onConsent }: { device: Device; campaign: Campaign; address?: string; onConsent?: (choice: boolean) => void }): ReactElement =>
  useElement("dither-consent", { device, campaign, address }, "consent", onConsent);
