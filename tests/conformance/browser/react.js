/** The page of questions.html in React: `<Consent>` and a `<Question>` for each question, in StrictMode. The test bundles it with react-dom. */
import { createElement, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { view } from "../../../clients/javascript/dist/account.js";
import { autoSend } from "../../../clients/javascript/dist/auto.js";
import { Device, draws, indexedStore } from "../../../clients/javascript/dist/dither.js";
import { optional } from "../../../clients/javascript/dist/optional.js";
import { projective } from "../../../clients/javascript/dist/projective.js";
import { Consent, Question } from "../../../clients/javascript/dist/react.js";
import { several } from "../../../clients/javascript/dist/several.js";
import { fetchCampaign } from "../../../clients/javascript/dist/signatures.js";

Object.assign(draws, { optional, projective, several });
const wanted = new URLSearchParams(location.search);
const address = wanted.get("address");
document.documentElement.lang = wanted.get("lang") ?? "en";

async function show() {
  const device = await Device.open({ epsilon: 20, store: indexedStore("react"), policy: { epsilon: 5 } });
  const campaign = await fetchCampaign(address, wanted.get("key"));
  const inquiries = Object.values(campaign.questions).map((asked) => device.asking(...asked));
  const { send } = autoSend(device, inquiries, `${address}/batches`);
  window.outcomes = {};
  const question = (inquiry) => {
    const { name } = inquiry.terms;
    const onAnswer = ({ is, reason }) => {
      window.outcomes[name] = is + (reason ?? "");
      void send();
    };
    const named = (place) => place?.firstElementChild?.setAttribute("name", name); // by which the test finds it
    return createElement("div", { key: name, ref: named }, createElement(Question, { device, inquiry, onAnswer }));
  };
  const consent = createElement(Consent, { device, campaign, address, onConsent: () => void send() });
  const title = createElement("h1", {}, "A survey in React");
  createRoot(document.querySelector("main")).render(createElement(StrictMode, {}, title, consent, ...inquiries.map(question)));
  window.waiting = async () => (await device.account(view)).waiting;
  window.given = async () => (await device.account(view)).given.length;
}

show()
  .catch((error) => (window.failed = String(error)))
  .finally(() => (window.ready = true));
