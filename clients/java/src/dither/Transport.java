package dither;

import java.io.IOException;
import java.util.regex.Pattern;

/** How a request is sent: directly, through a {@link Relay}, or by an HTTP library of yours. */
public interface Transport {
    /** The most bytes of an answer to a batch, and of a campaign or a list of campaigns. */
    int MOST_ANSWER = 1 << 16;
    int MOST_CAMPAIGN = 1 << 22;

    /**
     * Send a request and return its answer. No cookies, no redirects, no header that names the device.
     *
     * <p>The server may be hostile: end after a stated time, and read at most {@link #most} bytes of an answer.
     *
     * @param form the content type of the body, or empty
     */
    Answer send(String method, String address, String form, byte[] body) throws IOException;

    /** An answer to a request. */
    final class Answer {
        public final int status;
        public final byte[] content;
        /** The seconds in the header {@code retry-after}, or -1. */
        public final int retryAfter;

        public Answer(int status, byte[] content, int retryAfter) {
            this.status = status;
            this.content = content.clone();
            this.retryAfter = retryAfter;
        }
    }

    /**
     * Return a transport that connects directly, to https, and to this machine. It uses no proxy.
     *
     * @param milliseconds the limit on connecting and on each wait; the complete exchange is cut off after three times the limit
     */
    static Transport direct(int milliseconds) {
        return (method, address, form, body) -> Exchange.send(method, address, form, body, milliseconds);
    }

    /** Return whether an address is one of https, or of this machine; without the name of a user, a query and a fragment. */
    static boolean isUsable(String address) {
        return Addresses.USABLE.matcher(address).matches();
    }

    /** The form of addresses, in a class of its own, because all of an interface is public. */
    final class Addresses {
        private static final Pattern USABLE = Pattern.compile(
                "(https://[^\\s\\\\/?#@]+|http://(localhost|\\[::1]|127([.](25[0-5]|(2[0-4]|1[0-9]|[1-9])?[0-9])){3})(:[0-9]+)?)(/[^\\s\\\\?#]*)?",
                Pattern.CASE_INSENSITIVE);

        private Addresses() {}
    }

    /** Return the most bytes that an answer may have; one that is encrypted is padded to a power of two, and may be a campaign. */
    static int most(String method, String form) {
        if (form.equals("message/ohttp-req")) return 2 * MOST_CAMPAIGN + 1024;
        return method.equals("GET") ? MOST_CAMPAIGN : MOST_ANSWER;
    }
}
