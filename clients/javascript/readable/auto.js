/** Sending without a call: now, when the device is online again, when the page is shown or left, and after a while. */
const [MINUTE, HOUR] = [60, 3600];
/**
 * Send what waits of some inquiries: now, at the events `online` and `visibilitychange`, and as long as something waits after the seconds that the
 * collector said, or after one minute, two, four … up to an hour. Inquiries that are added to the list later are also sent.
 *
 * Return a function that sends now (unless the collector requested a wait), and one that ends all of this.
 */
export function autoSend(device, inquiries, url, { onSend, onError, ...options } = {}) {
    const { document, addEventListener, removeEventListener } = globalThis;
    let [busy, stopped, earliest, pause] = [false, false, 0, MINUTE];
    let timer;
    async function send() {
        if (busy || stopped || Date.now() < earliest)
            return;
        busy = true;
        clearTimeout(timer);
        try {
            const sent = await device.send(inquiries, url, options);
            const { waiting, retryAfter } = sent;
            const request = retryAfter > 0 ? Math.min(Math.max(retryAfter, 1), 24 * HOUR) : 0; // a header is anybody's: −5, 10⁻⁹, Infinity
            earliest = Date.now() + 1000 * request;
            pause = waiting ? Math.min(2 * pause, HOUR) : MINUTE;
            if (waiting && !stopped)
                timer = setTimeout(send, 1000 * (request || pause / 2));
            onSend?.(sent);
        }
        catch (error) {
            onError?.(error);
        }
        finally {
            busy = false;
        }
    }
    addEventListener?.("online", send);
    document?.addEventListener("visibilitychange", send);
    void send();
    return {
        send,
        stop() {
            stopped = true;
            clearTimeout(timer);
            removeEventListener?.("online", send);
            document?.removeEventListener("visibilitychange", send);
        },
    };
}
