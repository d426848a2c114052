/** Withdrawal: batches that a collector can still delete. docs/wire.md and docs/account.md have the rules. */

import { acknowledge, type SentBatch, type State, type Step, waits, withoutMessages } from "./account.js";
import type { Device, Inquiry } from "./client.js";
import type { Campaign } from "./signatures.js";
import { checkAddress, exchange, type Fields, parse } from "./parts.js";

/** What is noted of a batch when it is acknowledged: its campaign, the present day (since 1970), and the days of its window. */
export interface Noted {
  campaign: string;
  day: number;
  retry: number;
}

/** What waits of presence under an identity, by the name of its campaign. */
const messages = ({ present }: State, id: string): { asker: string; question: string; batch: string | null }[] =>
  (present ?? []).filter(({ batch }) => batch === id).map(({ asker, name, batch }) => ({ asker, question: name, batch }));

/** The collector has a report, or a batch: it leaves the queue. What is noted of a batch says until when it can be taken back. */
export function noted(state: State, id: string, sent?: Noted): Step {
  const gone = [...state.queue.filter((one) => one.id === id || one.batch === id), ...messages(state, id)];
  const [outcome, next] = acknowledge(state, id);
  if (!next || gone[0]!.batch !== id || !sent) return [outcome, next];
  const { campaign, day, retry } = sent;
  const entry: SentBatch = { id, asker: gone[0]!.asker, campaign, until: day + retry, questions: gone.map(({ question }) => question) };
  return [outcome, { ...next, sent: [...(state.sent ?? []).filter(({ until }) => until >= day), entry] }];
}

/** A batch is withdrawn: it leaves the queue, or the list of what can be taken back. What was spent stays spent, and nothing is set aside. */
export function withdraw(state: State, id: string): Step {
  const gone = state.queue.filter((one) => waits(one) && one.batch === id);
  const found = state.sent?.find((one) => one.id === id);
  const [present, count] = withoutMessages(state, ({ batch }) => batch === id);
  const reports = gone.length + count + (found?.questions.length ?? 0);
  const { sent, ...rest } = { ...present, queue: state.queue.filter((one) => !gone.includes(one)) };
  const left = sent?.filter((one) => one !== found);
  return reports ? [{ is: "withdrawn", reports }, left?.[0] ? { ...rest, sent: left } : rest] : [{ is: "unknown" }];
}

/** Return the body of a request to delete a batch. */
export const withdrawalBody = (id: string): string => JSON.stringify({ dither: 2, withdraw: id });

/** Return whether an answer says that a batch is withdrawn, and the collector's word for a refusal. */
export function judgeWithdrawal(id: string, status: number, text: string): [withdrawn: boolean, word: string] {
  let said: Fields = {};
  try {
    said = Object(parse(text)) as Fields;
  } catch {
    // not an answer of a collector
  }
  return [status >= 200 && status < 300 && said["withdrawn"] === id, typeof said["refused"] === "string" ? said["refused"] : ""];
}

/** An inquiry of `device.asking`, or a campaign of `dither-ldp/signatures`. */
type Asker = Pick<Inquiry, "terms"> | Pick<Campaign, "terms">;

/** What became of the batches that were taken back. */
export interface TakenBack {
  /** The number of answers whose deletion the collector has confirmed. */
  withdrawn: number;
  /** How many answers had not been sent, and are not sent any more. */
  unsent: number;
  /** How many batches are left, because the collector did not confirm; ask again. */
  left: number;
  /** Why they are left: the collector's words, the status, or "unreachable". */
  refused: string[];
}

/**
 * Take back what this device gave to the askers of some inquiries or campaigns, as long as the collector can delete it: each batch by a request of its own, to the address that
 * `send` was given and by the same `fetch`. What was not sent leaves the queue. What was spent stays spent, and permanent answers are not sent again.
 */
export async function takeBack(device: Device, inquiries: Asker | Asker[], url: string, { fetch = globalThis.fetch }: { fetch?: typeof globalThis.fetch } = {}): Promise<TakenBack> {
  checkAddress(url);
  const askers = [inquiries].flat().map(({ terms }) => terms.asker);
  const result: TakenBack = { withdrawn: 0, unsent: 0, left: 0, refused: [] };
  const today = Math.floor(Date.now() / 864e5);
  const found = await device.account<[id: string, campaign: string | undefined][]>((state) => {
    const queued = state.queue.filter((one) => waits(one) && askers.includes(one.asker));
    const unsent = queued.filter(({ batch }) => !batch);
    result.unsent = unsent.length;
    const sent = (state.sent ?? []).filter(({ asker, until }) => askers.includes(asker) && until >= today);
    const present = (state.present ?? []).filter(({ asker }) => askers.includes(asker));
    const batches = [...new Set([...queued, ...present].flatMap(({ batch }) => batch ?? []))].map((id): [string, undefined] => [id, undefined]);
    const next = unsent[0] && { ...state, queue: state.queue.filter((one) => !unsent.includes(one)) };
    return [[...batches, ...sent.map(({ id, campaign }): [string, string] => [id, campaign])], next];
  });
  for (const [id, campaign] of found) {
    const address = url.replace(/batches$/, "withdrawals").replace(/(campaigns\/)\w{64}/, (all, before) => (campaign ? before + campaign : all));
    const options = { method: "POST", body: withdrawalBody(id), headers: { "content-type": "application/json" } };
    const [status, text] = await exchange(fetch, address, 2 ** 16, options)
      .then(async ([answer, content]) => [answer.status, await content.text()] as const)
      .catch(() => [0, '{"refused":"unreachable"}'] as const);
    const [withdrawn, word] = judgeWithdrawal(id, status, text);
    if (withdrawn) result.withdrawn += (await device.account((state) => withdraw(state, id) as never as [{ reports?: number }, State?])).reports ?? 0;
    else {
      result.left++;
      result.refused.push(word || "status " + status);
    }
  }
  return result;
}
