package dither;

/** What was given is not allowed. The message is one word, which docs/devices.md explains, and maybe a sentence; it never holds a person's value. */
public final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** One word, which docs/devices.md explains. */
    public final String reason;

    Malformed(String reason) {
        this(reason, "");
    }

    Malformed(String reason, String words) {
        super(words.isEmpty() ? reason : reason + ": " + words);
        this.reason = reason;
    }

    /** Throw for a reason unless something is as it must be. */
    static void need(boolean fine, String reason) {
        if (!fine) throw new Malformed(reason);
    }

    /** Throw for a reason, with a sentence, unless something is as it must be. */
    static void need(boolean fine, String reason, String words) {
        if (!fine) throw new Malformed(reason, words);
    }
}
