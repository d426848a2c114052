package dither;

import static dither.Malformed.need;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Requests that are encrypted to the gateway of a collector (Oblivious HTTP, RFC 9458), so that a relay passes them on and cannot read
 * them. It needs X25519: Java 11, or Android from about API 31.
 */
public final class Relay implements Transport {
    private static final byte[] PUBLIC = Json.unhex("302a300506032b656e032100"); // prefix of a key in X.509
    private static final byte[] PRIVATE = Json.unhex("302e020100300506032b656e04220420"); // in PKCS #8
    private static final byte[] VERSION = Json.utf8("HPKE-v1");
    private static final byte[] KEM = Json.utf8("KEM\0 "); // DHKEM(X25519, HKDF-SHA256)
    private static final byte[] SUITE = Json.utf8("HPKE\0 \0\1\0\1"); // with HKDF-SHA256 and AES-128-GCM
    private static final byte[] ONE = {1};

    private final String relay;
    private final String configuration;
    private final Transport outer;

    /**
     * Send through a relay: {@code device.send(campaign, new Relay(address, campaign.sealingKey(), Transport.direct(10_000)))}.
     *
     * @param configuration the gateway's key configuration: the one of a signed campaign, or a pinned one
     * @throws Malformed ("key") if nothing can be encrypted to it, ("platform") if this platform has no X25519
     */
    public Relay(String relay, String configuration, Transport outer) {
        keyOf(configuration);
        need(isAvailable(), "platform");
        this.relay = relay;
        this.configuration = configuration;
        this.outer = outer;
    }

    /** Return whether this platform has the algorithms for encryption. */
    public static boolean isAvailable() {
        try {
            KeyFactory.getInstance("XDH");
            KeyAgreement.getInstance("XDH");
            Cipher.getInstance("AES/GCM/NoPadding");
            return true;
        } catch (GeneralSecurityException missing) {
            return false;
        }
    }

    /** Nothing is ever sent unencrypted. An answer by the relay itself is an {@link IOException}: it acknowledges nothing. */
    @Override
    public Answer send(String method, String address, String form, byte[] body) throws IOException {
        Sealed sealed = encapsulate(configuration, request(method, address, form, body), Source.system().take(32));
        Answer answer = outer.send("POST", relay, "message/ohttp-req", sealed.request);
        if (answer.status != 200) throw new IOException("the relay answers " + answer.status + ": is this the address of an Oblivious HTTP relay for the collector?");
        try {
            Answer inside = response(sealed.open(answer.content));
            need(inside.content.length <= Transport.most(method, form), "text");
            return inside;
        } catch (Malformed wrong) {
            throw new IOException("the relay did not bring an answer of the collector");
        }
    }

    /** An encrypted request, and the secret that decrypts its answer. */
    static final class Sealed {
        final byte[] request;
        private final byte[] own;
        private final byte[] answers;

        private Sealed(byte[] request, byte[] own, byte[] answers) {
            this.request = request;
            this.own = own;
            this.answers = answers;
        }

        byte[] open(byte[] answer) {
            need(answer.length >= 32, "text");
            byte[] secret = mac(join(own, Arrays.copyOf(answer, 16)), answers);
            try {
                return cipher(Cipher.DECRYPT_MODE, mac(secret, Json.utf8("key"), ONE), mac(secret, Json.utf8("nonce"), ONE), Arrays.copyOfRange(answer, 16, answer.length));
            } catch (GeneralSecurityException wrong) {
                throw new Malformed("text");
            }
        }
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) out.write(part, 0, part.length);
        return out.toByteArray();
    }

    /** Return HMAC-SHA256: both steps of HKDF are one of it (RFC 9180, 4), because 32 bytes are enough. */
    static byte[] mac(byte[] key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(join(parts));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing); // every Java has it
        }
    }

    /** Encrypt or decrypt with AES-128-GCM; the first bytes of the key and of the nonce are taken. */
    private static byte[] cipher(int use, byte[] key, byte[] nonce, byte[] data) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(use, new SecretKeySpec(key, 0, 16, "AES"), new GCMParameterSpec(128, nonce, 0, 12));
        return cipher.doFinal(data);
    }

    private static byte[] expand(byte[] secret, byte[] suite, String label, int length, byte[]... info) {
        return Arrays.copyOf(mac(secret, new byte[] {0, (byte) length}, VERSION, suite, Json.utf8(label), join(info), ONE), length);
    }

    /** Return the public key of a key configuration (RFC 9458, 3.1); throw ("key") for other texts and algorithms. */
    static byte[] keyOf(Object configuration) {
        need(configuration instanceof String && ((String) configuration).length() >= 82, "key");
        String given = (String) configuration;
        need(Json.digits(given) && given.startsWith("0020", 2) && (given.length() - 74) % 8 == 0, "key");
        need(Integer.parseInt(given.substring(70, 74), 16) * 2 == given.length() - 74, "key");
        boolean known = false;
        for (int i = 74; i < given.length(); i += 8) known |= given.startsWith("00010001", i);
        need(known, "key");
        byte[] key = Json.unhex(given.substring(6, 70));
        need(!weak(key), "key");
        return key;
    }

    /** Return whether a key is one of those to which the Diffie-Hellman result is zero (RFC 7748, 6.1): those of small order. */
    private static boolean weak(byte[] key) {
        byte[] clear = key.clone();
        clear[31] &= 127;
        String text = Json.hex(clear);
        for (String one : new String[] {
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        }) if (text.equals(one)) return true;
        return false;
    }

    private static byte[] agree(byte[] secret, byte[] key) {
        try {
            KeyFactory factory = KeyFactory.getInstance("XDH");
            PrivateKey own = factory.generatePrivate(new PKCS8EncodedKeySpec(join(PRIVATE, secret)));
            KeyAgreement agreement = KeyAgreement.getInstance("XDH");
            agreement.init(own);
            agreement.doPhase(factory.generatePublic(new X509EncodedKeySpec(join(PUBLIC, key))), true);
            return agreement.generateSecret();
        } catch (GeneralSecurityException | RuntimeException wrong) {
            throw new Malformed("key");
        }
    }

    /** Return an encrypted request (RFC 9458, 4.3); {@code ephemeral} are 32 new random bytes. */
    static Sealed encapsulate(String configuration, byte[] plain, byte[] ephemeral) {
        byte[] key = keyOf(configuration);
        byte[] nine = new byte[32];
        nine[0] = 9;
        byte[] own = agree(ephemeral, nine); // the public key is the result with the base point
        byte[] common = agree(ephemeral, key);
        need(!Arrays.equals(common, new byte[32]), "key");
        byte[] header = Json.unhex(configuration.substring(0, 2) + "002000010001");
        byte[] none = new byte[32];
        byte[] shared = expand(mac(none, VERSION, KEM, Json.utf8("eae_prk"), common), KEM, "shared_secret", 32, own, key);
        byte[] secret = mac(shared, VERSION, SUITE, Json.utf8("secret"));
        byte[] bound = join(
                new byte[1],
                mac(none, VERSION, SUITE, Json.utf8("psk_id_hash")),
                mac(none, VERSION, SUITE, Json.utf8("info_hash"), Json.utf8("message/bhttp request\0"), header));
        byte[] answers = expand(expand(secret, SUITE, "exp", 32, bound), SUITE, "sec", 16, Json.utf8("message/bhttp response"));
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, expand(secret, SUITE, "key", 16, bound), expand(secret, SUITE, "base_nonce", 12, bound), plain);
            return new Sealed(join(header, own, sealed), own, answers);
        } catch (GeneralSecurityException missing) {
            throw new Malformed("platform");
        }
    }

    /** Return bytes after their length (RFC 9000, 16). */
    private static byte[] counted(byte[] data) {
        int size = data.length;
        byte[] length = size < 64 ? new byte[] {(byte) size}
                : size < 1 << 14 ? new byte[] {(byte) (64 | size >> 8), (byte) size}
                : new byte[] {(byte) (128 | size >> 24), (byte) (size >> 16), (byte) (size >> 8), (byte) size};
        return join(length, data);
    }

    private static byte[] counted(String text) {
        return counted(Json.utf8(text));
    }

    /** Return a request in binary HTTP (RFC 9292), padded to a power of two: its length reveals only the magnitude of the number of reports. */
    static byte[] request(String method, String address, String form, byte[] body) {
        URI uri = URI.create(address);
        String path = (uri.getRawPath().isEmpty() ? "/" : uri.getRawPath()) + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
        byte[] fields = form.isEmpty() ? new byte[0] : join(counted("content-type"), counted(form));
        byte[] all = join(new byte[1], counted(method), counted("https"), counted(uri.getRawAuthority()), counted(path), counted(fields), counted(body));
        return Arrays.copyOf(all, Math.max(1024, Integer.highestOneBit(all.length - 1) << 1));
    }

    /** Return a response of known length in binary HTTP; throw unless it is complete. Its fields are not read. */
    static Answer response(byte[] data) {
        int[] at = {0};
        need(number(data, at) == 1, "text");
        long status = number(data, at);
        for (; status >= 100 && status < 200; status = number(data, at)) section(data, at);
        need(status >= 200 && status < 600, "text");
        section(data, at);
        byte[] content = section(data, at);
        section(data, at);
        for (int i = at[0]; i < data.length; i++) need(data[i] == 0, "text");
        return new Answer((int) status, content, -1);
    }

    private static long number(byte[] data, int[] at) {
        need(at[0] < data.length, "text");
        int size = 1 << (data[at[0]] >> 6 & 3);
        need(at[0] + size <= data.length, "text");
        long read = data[at[0]++] & 63;
        for (int i = 1; i < size; i++) read = read << 8 | data[at[0]++] & 255;
        return read;
    }

    /** Return a part after its length; those at the end may be left out. */
    private static byte[] section(byte[] data, int[] at) {
        long size = at[0] < data.length ? number(data, at) : 0;
        need(size <= data.length - at[0], "text");
        at[0] += (int) size;
        return Arrays.copyOfRange(data, at[0] - (int) size, at[0]);
    }
}
