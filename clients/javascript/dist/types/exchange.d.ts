/** One request and its complete answer, of a server that may be broken or hostile. */
/** Throw `Malformed` ("address") unless an address is one of https, or of this machine. An address without a host belongs to the page. */
export declare const checkAddress: (address: string) => void;
/**
 * Send a request; return its answer, and a response that has its content, at most `most` bytes of it.
 *
 * No cookie and no referrer is sent, and no redirect is followed: its answer is one of another status than 2xx (in a browser 0). Throw `Malformed` ("late", "size") if the answer is not complete after 30 seconds or is
 * longer. Where answers have no stream, as in React Native, they have arrived completely, and their length is not checked.
 */
export declare function exchange(fetch: typeof globalThis.fetch, address: string, most: number, options?: RequestInit): Promise<[answer: Response, content: Response]>;
