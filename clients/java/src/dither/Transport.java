package dither;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** How a request is sent: directly, through a {@link Relay}, or by an HTTP library of yours. */
public interface Transport {
    /**
     * Send a request and return its answer. No cookies, no redirects, no header that names the device.
     *
     * @param form the content type of the body; empty if there is none
     */
    Answer send(String method, String address, String form, byte[] body) throws IOException;

    /** What was answered. */
    final class Answer {
        public final int status;
        public final byte[] content;
        /** The seconds that the header {@code retry-after} asks for, or -1. */
        public final int retryAfter;

        public Answer(int status, byte[] content, int retryAfter) {
            this.status = status;
            this.content = content.clone();
            this.retryAfter = retryAfter;
        }
    }

    /**
     * Return a transport that connects directly, by {@link HttpURLConnection}: to https, and to this machine.
     *
     * @param milliseconds the limit on connecting and on each wait; what goes on byte after byte is cut off after three of it
     */
    static Transport direct(int milliseconds) {
        return (method, address, form, body) -> {
            URL url = new URL(address);
            String host = url.getHost();
            boolean local = host.equals("localhost") || host.equals("[::1]") || host.matches("127([.][0-9]{1,3}){3}");
            if (!url.getProtocol().equals("https") && !(local && url.getProtocol().equals("http"))) throw new IOException("use https, so that nobody reads along");
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            Thread cut = new Thread(() -> {
                try {
                    Thread.sleep(3L * milliseconds);
                    connection.disconnect();
                } catch (InterruptedException done) {
                    // the answer came in time
                }
            });
            cut.setDaemon(true);
            cut.start();
            try {
                connection.setConnectTimeout(milliseconds);
                connection.setReadTimeout(milliseconds);
                connection.setInstanceFollowRedirects(false);
                connection.setUseCaches(false);
                connection.setRequestMethod(method);
                connection.setRequestProperty("user-agent", "dither");
                if (!form.isEmpty()) {
                    connection.setDoOutput(true);
                    connection.setFixedLengthStreamingMode(body.length);
                    connection.setRequestProperty("content-type", form);
                    try (OutputStream out = connection.getOutputStream()) {
                        out.write(body);
                    }
                }
                int status = connection.getResponseCode();
                InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
                return new Answer(status, in == null ? new byte[0] : all(in), connection.getHeaderFieldInt("retry-after", -1));
            } finally {
                cut.interrupt();
                connection.disconnect();
            }
        };
    }

    /** Read at most 32 MiB. */
    static byte[] all(InputStream from) throws IOException {
        try (InputStream in = from) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[8192];
            for (int size = in.read(part); size >= 0; size = in.read(part)) {
                out.write(part, 0, size);
                if (out.size() > 1 << 25) throw new IOException("the answer is too long");
            }
            return out.toByteArray();
        }
    }
}
