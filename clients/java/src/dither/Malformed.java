package dither;

/** What was given is not allowed. The message is one word, which docs/devices.md explains; it never holds a value. */
public final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Malformed(String reason) {
        super(reason);
    }

    /** Throw for a reason unless something is as it must be. */
    static void need(boolean fine, String reason) {
        if (!fine) throw new Malformed(reason);
    }
}
