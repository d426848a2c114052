package dither;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * One request and its complete answer in HTTP/1.1, of a server that may be broken or hostile. {@code HttpURLConnection} cannot be used: it sends
 * some requests twice, reads informational answers by recursion, and cannot be ended while it reads the fields after the last chunk.
 */
final class Exchange {
    private static final int MOST_HEAD = 1 << 16; // bytes of the head, and of what frames the content
    private static final int WAITS = 3; // the complete exchange takes at most this number of timeouts

    private final InputStream in;
    private final int most;
    private int left;

    private Exchange(InputStream in, int most) {
        this.in = new BufferedInputStream(in);
        this.most = most;
        this.left = most + MOST_HEAD;
    }

    static Transport.Answer send(String method, String address, String form, byte[] body, int milliseconds) throws IOException {
        if (!Transport.isUsable(address)) throw new IOException("use https, so that nobody reads along");
        URI uri;
        try {
            uri = new URI(address);
        } catch (java.net.URISyntaxException wrong) {
            throw new IOException("the address is not one of a server");
        }
        boolean secure = uri.getScheme().equalsIgnoreCase("https");
        if (uri.getHost() == null) throw new IOException("the address is not one of a server");
        String host = uri.getHost().replaceAll("[\\[\\]]", "");
        int port = uri.getPort() >= 0 ? uri.getPort() : secure ? 443 : 80;
        Socket plain = new Socket();
        Thread cut = new Thread(() -> {
            try {
                Thread.sleep((long) WAITS * milliseconds);
                plain.close(); // wakes waiting reads and writes
            } catch (InterruptedException | IOException done) {
                // the answer came in time
            }
        });
        cut.setDaemon(true);
        cut.start();
        try {
            plain.connect(new InetSocketAddress(host, port), milliseconds);
            plain.setSoTimeout(milliseconds);
            Socket link = secure ? encrypted(plain, host, port) : plain;
            String path = (uri.getRawPath().isEmpty() ? "/" : uri.getRawPath());
            String head = method + " " + path + " HTTP/1.1\r\nhost: " + uri.getRawAuthority() + "\r\nuser-agent: dither\r\nconnection: close\r\n"
                    + (form.isEmpty() ? "" : "content-type: " + form + "\r\ncontent-length: " + body.length + "\r\n") + "\r\n";
            ByteArrayOutputStream request = new ByteArrayOutputStream();
            request.write(head.getBytes(StandardCharsets.US_ASCII));
            if (!form.isEmpty()) request.write(body);
            OutputStream out = link.getOutputStream();
            request.writeTo(out);
            out.flush();
            return new Exchange(link.getInputStream(), Transport.most(method, form)).answer();
        } catch (RuntimeException hostile) {
            throw new IOException("the answer is not one of HTTP");
        } finally {
            cut.interrupt();
            plain.close();
        }
    }

    private static Socket encrypted(Socket plain, String host, int port) throws IOException {
        SSLSocket link = (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(plain, host, port, true);
        SSLParameters parameters = link.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the certificate must name the host
        link.setSSLParameters(parameters);
        link.startHandshake();
        return link;
    }

    private static void need(boolean fine) throws IOException {
        if (!fine) throw new IOException("the answer is not one of HTTP, or too long");
    }

    private Transport.Answer answer() throws IOException {
        int status;
        Map<String, String> fields = new HashMap<>();
        do {
            String first = line();
            need(first.matches("HTTP/1[.][01] [0-9]{3}( .*)?"));
            status = Integer.parseInt(first.substring(9, 12));
            fields.clear();
            for (String field = line(); !field.isEmpty(); field = line()) {
                int colon = field.indexOf(':');
                need(colon > 0);
                String name = field.substring(0, colon).toLowerCase(Locale.ROOT);
                String before = fields.put(name, field.substring(colon + 1).trim());
                need(before == null || before.equals(fields.get(name)) || !name.equals("content-length"));
            }
        } while (status < 200);
        String after = fields.getOrDefault("retry-after", "");
        return new Transport.Answer(status, content(status, fields), after.matches("[0-9]{1,9}") ? Integer.parseInt(after) : -1);
    }

    private byte[] content(int status, Map<String, String> fields) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (status == 204 || status == 304) return new byte[0];
        if (fields.containsKey("transfer-encoding")) {
            need(fields.get("transfer-encoding").equalsIgnoreCase("chunked"));
            for (int size = chunk(); size > 0; size = chunk()) {
                need(size <= most - out.size());
                take(size, out);
                need(line().isEmpty());
            }
        } else if (fields.containsKey("content-length")) {
            need(fields.get("content-length").matches("[0-9]{1,9}"));
            int size = Integer.parseInt(fields.get("content-length"));
            need(size <= most);
            take(size, out);
        } else {
            for (int next = read(); next >= 0; next = read()) {
                out.write(next);
                need(out.size() <= most);
            }
        }
        return out.toByteArray();
    }

    /** Return the size of the next chunk; bytes after the last one are not read. */
    private int chunk() throws IOException {
        String size = line().split(";", 2)[0].trim();
        need(size.matches("[0-9a-fA-F]{1,7}"));
        return Integer.parseInt(size, 16);
    }

    private void take(int size, ByteArrayOutputStream out) throws IOException {
        for (int i = 0; i < size; i++) out.write(some());
    }

    private int read() throws IOException {
        need(left-- > 0);
        return in.read();
    }

    private int some() throws IOException {
        int next = read();
        if (next < 0) throw new EOFException("the answer was cut off");
        return next;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = some(); next != '\n'; next = some()) line.append((char) next);
        int length = line.length();
        return length > 0 && line.charAt(length - 1) == '\r' ? line.substring(0, length - 1) : line.toString();
    }
}
