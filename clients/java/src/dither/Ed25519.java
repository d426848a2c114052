package dither;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;

/**
 * Verification of Ed25519 signatures (RFC 8032): by the platform from Java 15 on, elsewhere written out. Nothing secret is computed
 * here, so that its time may depend on what it is given. Keys of small order are refused, and so are points and numbers that are not
 * written in the one canonical way.
 */
final class Ed25519 {
    private static final BigInteger P = BigInteger.ONE.shiftLeft(255).subtract(BigInteger.valueOf(19));
    private static final BigInteger ORDER = BigInteger.ONE.shiftLeft(252).add(new BigInteger("27742317777372353535851937790883648493"));
    private static final BigInteger D = BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
    private static final BigInteger ROOT = BigInteger.valueOf(2).modPow(P.shiftRight(2), P); // a square root of -1
    private static final BigInteger[] ZERO = {BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE, BigInteger.ZERO};
    private static final BigInteger[] BASE = decode(Json.unhex("5866666666666666666666666666666666666666666666666666666666666666"));
    private static final byte[] HEAD = Json.unhex("302a300506032b6570032100"); // prefix of a public key in X.509

    private Ed25519() {}

    /** Return whether a signature of 64 bytes fits some bytes and a public key of 32 bytes. */
    static boolean verify(byte[] message, byte[] signature, byte[] key) {
        if (!allowed(signature, key)) return false;
        try {
            byte[] encoded = Arrays.copyOf(HEAD, HEAD.length + 32);
            System.arraycopy(key, 0, encoded, HEAD.length, 32);
            Signature platform = Signature.getInstance("Ed25519");
            platform.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
            platform.update(message);
            return platform.verify(signature);
        } catch (GeneralSecurityException | RuntimeException missing) { // some phones have one by the name that takes no key
            return verifyHere(message, signature, key);
        }
    }

    /** Return whether key and signature have their lengths and canonical forms, and the key is not of small order. */
    private static boolean allowed(byte[] signature, byte[] key) {
        if (signature.length != 64 || key.length != 32) return false;
        BigInteger[] point = decode(key);
        if (point == null || decode(Arrays.copyOf(signature, 32)) == null) return false;
        for (int i = 0; i < 3; i++) point = add(point, point);
        return !equal(point, ZERO) && number(signature, 32).compareTo(ORDER) < 0;
    }

    /** Verify without the platform: [S]B = R + [k]A. */
    static boolean verifyHere(byte[] message, byte[] signature, byte[] key) {
        if (!allowed(signature, key)) return false;
        byte[] digest;
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-512");
            sha.update(signature, 0, 32);
            sha.update(key);
            digest = sha.digest(message);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing); // every Java has it
        }
        BigInteger[] right = add(decode(Arrays.copyOf(signature, 32)), times(number(digest, 0).mod(ORDER), decode(key)));
        return equal(times(number(signature, 32), BASE), right);
    }

    /** Return the bytes from a place to the end, lowest first, as a number. */
    private static BigInteger number(byte[] bytes, int begin) {
        byte[] turned = new byte[bytes.length - begin];
        for (int i = 0; i < turned.length; i++) turned[i] = bytes[bytes.length - 1 - i];
        return new BigInteger(1, turned);
    }

    /** Return a point in extended coordinates (RFC 8032, 5.1.3), or null if the bytes are not the canonical form of one. */
    private static BigInteger[] decode(byte[] bytes) {
        BigInteger y = number(bytes, 0);
        boolean odd = y.testBit(255);
        y = y.clearBit(255);
        if (y.compareTo(P) >= 0) return null;
        BigInteger square = y.multiply(y).mod(P);
        BigInteger u = square.subtract(BigInteger.ONE).mod(P);
        BigInteger v = D.multiply(square).add(BigInteger.ONE).mod(P);
        BigInteger quotient = u.multiply(v.modInverse(P)).mod(P); // v is never 0, because -1/D is not a square
        BigInteger x = quotient.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
        if (!x.multiply(x).mod(P).equals(quotient)) x = x.multiply(ROOT).mod(P);
        if (!x.multiply(x).mod(P).equals(quotient) || x.signum() == 0 && odd) return null;
        if (x.testBit(0) != odd) x = P.subtract(x);
        return new BigInteger[] {x, y, BigInteger.ONE, x.multiply(y).mod(P)};
    }

    private static boolean equal(BigInteger[] a, BigInteger[] b) {
        return a[0].multiply(b[2]).subtract(b[0].multiply(a[2])).mod(P).signum() == 0
                && a[1].multiply(b[2]).subtract(b[1].multiply(a[2])).mod(P).signum() == 0;
    }

    private static BigInteger[] add(BigInteger[] a, BigInteger[] b) {
        BigInteger one = a[1].subtract(a[0]).multiply(b[1].subtract(b[0])).mod(P);
        BigInteger two = a[1].add(a[0]).multiply(b[1].add(b[0])).mod(P);
        BigInteger three = a[3].multiply(b[3]).mod(P).multiply(D).shiftLeft(1).mod(P);
        BigInteger four = a[2].multiply(b[2]).shiftLeft(1).mod(P);
        BigInteger e = two.subtract(one);
        BigInteger f = four.subtract(three);
        BigInteger g = four.add(three);
        BigInteger h = two.add(one);
        return new BigInteger[] {e.multiply(f).mod(P), g.multiply(h).mod(P), f.multiply(g).mod(P), e.multiply(h).mod(P)};
    }

    private static BigInteger[] times(BigInteger factor, BigInteger[] point) {
        BigInteger[] sum = ZERO;
        for (int i = factor.bitLength() - 1; i >= 0; i--) {
            sum = add(sum, sum);
            if (factor.testBit(i)) sum = add(sum, point);
        }
        return sum;
    }
}
