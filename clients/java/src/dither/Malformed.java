package dither;

/** An input is not allowed. The message is one word from docs/devices.md, and sometimes a sentence; it never contains a person's value. */
public final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** One word from docs/devices.md. */
    public final String reason;

    Malformed(String reason) {
        this(reason, "");
    }

    Malformed(String reason, String words) {
        super(words.isEmpty() ? reason : reason + ": " + words);
        this.reason = reason;
    }

    /** Throw for a reason unless the condition is true. */
    static void need(boolean fine, String reason) {
        if (!fine) throw new Malformed(reason);
    }

    /** Throw for a reason, with a sentence, unless the condition is true. */
    static void need(boolean fine, String reason, String words) {
        if (!fine) throw new Malformed(reason, words);
    }
}
