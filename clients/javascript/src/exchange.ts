/** One request and its complete answer, of a server that may be broken or hostile. */

import { Malformed, need } from "./text.js";

const SECONDS = 30; // for the complete exchange
const ADDRESS = /^(https:\/\/[^\s\\/?#@]+|http:\/\/(localhost|\[::1]|127(\.(25[0-5]|(2[0-4]|1\d|[1-9])?\d)){3})(:\d+)?)(\/[^\s\\?#]*)?$/i;

/** Throw `Malformed` ("address") unless an address is one of https, or of this machine. An address without a host belongs to the page. */
export const checkAddress = (address: string): void => need(ADDRESS.test(address?.includes("://") ? address : new URL(address, globalThis.location?.href ?? "no:/").href), "address", "expected https, or this machine");

/**
 * Send a request; return its answer, and a response that has its content, at most `most` bytes of it.
 *
 * No cookie and no referrer is sent, and no redirect is followed: its answer is one of another status than 2xx (in a browser 0). Throw `Malformed` ("late", "size") if the answer is not complete after 30 seconds or is
 * longer. Where answers have no stream, as in React Native, they have arrived completely, and their length is not checked.
 */
export async function exchange(fetch: typeof globalThis.fetch, address: string, most: number, options?: RequestInit): Promise<[answer: Response, content: Response]> {
  checkAddress(address);
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, fail) => (timer = setTimeout(() => fail(new Malformed("late")), SECONDS * 1000)));
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  try {
    const answer = await Promise.race([late, fetch(address, { ...options, credentials: "omit", referrerPolicy: "no-referrer", redirect: "manual", signal: ending.signal })]);
    reader = answer.body?.getReader();
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let size = 0, next; reader && (next = await Promise.race([late, reader.read()])).value; parts.push(next.value)) need((size += next.value.length) <= most, "size");
    return [answer, reader ? new Response(new Blob(parts)) : answer];
  } finally {
    clearTimeout(timer!);
    ending.abort(); // the rest is not read
    reader?.cancel().catch(() => 0); // Node forgets the signal of an answer whose request was collected as garbage
  }
}
