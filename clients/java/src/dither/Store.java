package dither;

import java.io.IOException;

/** Where a text is kept: the account of a device, or what it has seen of askers. */
public interface Store {
    /**
     * Read what is kept, call {@code change} with it, write what that returns, and return when it is on disk. Two calls must not
     * overlap, not even of two processes. What {@code change} throws is thrown, and nothing is written.
     */
    void update(Change change) throws IOException;

    /** What is done with the text that is kept. */
    interface Change {
        /**
         * Return the text to keep from now on, or an empty text if nothing changes.
         *
         * @param kept the text that is kept; empty if there is none
         */
        String apply(String kept) throws IOException;
    }
}
