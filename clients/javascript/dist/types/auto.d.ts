/** Sending without a call: now, when the device is online again, when the page is shown or left, and after a while. */
import { type Inquiry, type Device, type Sending, type Sent } from "./client.js";
export interface AutoSending extends Sending {
    /** What became of the reports, each time. */
    onSend?: (sent: Sent) => void;
    /** What failed on this device, such as its store. */
    onError?: (error: unknown) => void;
}
/**
 * Send what waits of some inquiries: now, at the events `online` and `visibilitychange`, and as long as something waits after the seconds that the
 * collector said, or after one minute, two, four … up to an hour. Inquiries that are added to the list later are also sent.
 *
 * Return a function that sends now (unless the collector requested a wait), and one that ends all of this.
 */
export declare function autoSend(device: Device, inquiries: Inquiry[], url: string, { onSend, onError, ...options }?: AutoSending): {
    send(): Promise<void>;
    stop(): void;
};
