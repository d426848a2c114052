package dither;

import java.security.SecureRandom;

/** A source of random bytes: uniform and unpredictable. {@link java.util.Random} does not qualify. */
public interface Source {
    /** Return {@code size} new bytes. */
    byte[] take(int size);

    /** Return the system's cryptographic source. */
    static Source system() {
        SecureRandom random = new SecureRandom();
        return size -> {
            byte[] bytes = new byte[size];
            random.nextBytes(bytes);
            return bytes;
        };
    }
}
