package dither;

import java.io.IOException;

/** Keeps a text: the account of a device, or its facts about askers. */
public interface Store {
    /**
     * Read the text, call {@code change} with it, write the result, and return when it is on disk. Two calls must not
     * overlap, not even of two processes. What {@code change} throws is thrown, and nothing is written.
     */
    void update(Change change) throws IOException;

    /** A change of the kept text. */
    interface Change {
        /**
         * Return the text to keep from now on, or an empty text if nothing changes.
         *
         * @param kept the kept text, or empty
         */
        String apply(String kept) throws IOException;
    }
}
