package dither;

import static dither.Malformed.need;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON that is read without coercion and written as RFC 8785 says; hexadecimal text, SHA-256.
 *
 * <p>What is read is null, a Boolean, a Double, a String, a List or a Map. Every number is a double, as in ECMAScript.
 */
final class Json {
    private static final int DEEPEST = 24;
    private static final MathContext[] SIDES = {new MathContext(1, RoundingMode.DOWN), new MathContext(1, RoundingMode.UP)};

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Return the data of a text; refuse repeated keys in one object, and half a pair of UTF-16. */
    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.space();
        need(reader.at == text.length(), "text");
        return value;
    }

    /** Return the object of a text in canonical JSON, and refuse any other text. */
    static Map<String, Object> canonical(Object text) {
        Map<String, Object> given = object(parse(string(text)));
        need(write(given).equals(text), "text");
        return given;
    }

    private void space() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char next() {
        need(at < text.length(), "text");
        return text.charAt(at++);
    }

    private boolean skip(char wanted) {
        space();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private Object value(int depth) {
        need(depth < DEEPEST, "text");
        if (skip('{')) {
            Map<String, Object> fields = new LinkedHashMap<>();
            if (skip('}')) return fields;
            do {
                need(skip('"'), "text");
                String key = quoted();
                need(skip(':') && !fields.containsKey(key), "text");
                fields.put(key, value(depth + 1));
            } while (skip(','));
            need(skip('}'), "text");
            return fields;
        }
        if (skip('[')) {
            List<Object> items = new ArrayList<>();
            if (skip(']')) return items;
            do items.add(value(depth + 1));
            while (skip(','));
            need(skip(']'), "text");
            return items;
        }
        if (skip('"')) return quoted();
        for (String word : new String[] {"true", "false", "null"}) {
            if (text.startsWith(word, at)) {
                at += word.length();
                return word.equals("null") ? null : (Object) word.equals("true");
            }
        }
        return number();
    }

    private String quoted() {
        StringBuilder read = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            need(c >= ' ', "text");
            if (c == '\\') {
                c = next();
                int index = "\"\\/bfnrt".indexOf(c);
                if (c == 'u') {
                    int code = 0;
                    for (int i = 0; i < 4; i++) {
                        int digit = Character.digit(next(), 16);
                        need(digit >= 0 && text.charAt(at - 1) < 128, "text");
                        code = 16 * code + digit;
                    }
                    c = (char) code;
                } else {
                    need(index >= 0, "text");
                    c = "\"\\/\b\f\n\r\t".charAt(index);
                }
            }
            read.append(c);
        }
        for (int i = 0; i < read.length(); i++) {
            if (!Character.isSurrogate(read.charAt(i))) continue;
            need(i + 1 < read.length() && Character.isSurrogatePair(read.charAt(i), read.charAt(i + 1)), "text");
            i++;
        }
        return read.toString();
    }

    private int digits() {
        int begin = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
        need(at > begin, "text");
        return begin;
    }

    private Double number() {
        int begin = at;
        if (skip('-')) need(at == begin + 1, "text");
        int first = digits();
        need(text.charAt(first) != '0' || at == first + 1, "text");
        if (at < text.length() && text.charAt(at) == '.') {
            at++;
            digits();
        }
        if (at < text.length() && (text.charAt(at) | 32) == 'e') {
            at++;
            if (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) at++;
            digits();
        }
        need(at - begin < 2000, "number");
        double read = Double.parseDouble(text.substring(begin, at));
        need(!Double.isInfinite(read), "number");
        return read;
    }

    /** Return canonical JSON: keys in the order of their UTF-16 code units, no white space, the shortest numbers. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map) {
            char before = '{';
            // A String compares by its UTF-16 code units.
            for (Map.Entry<String, Object> one : new TreeMap<>(object(value)).entrySet()) {
                write(one.getKey(), out.append(before));
                write(one.getValue(), out.append(':'));
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object one : (List<?>) value) {
                write(one, out.append(before));
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String) {
            out.append('"');
            for (char c : ((String) value).toCharArray()) {
                int index = "\"\\\b\f\n\r\t".indexOf(c);
                if (index >= 0) out.append('\\').append("\"\\bfnrt".charAt(index));
                else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
                else out.append(c);
            }
            out.append('"');
        } else if (value instanceof Number) {
            out.append(number(((Number) value).doubleValue()));
        } else {
            out.append(value); // null, true, false
        }
    }

    /**
     * Return a finite double as ECMAScript writes it: the fewest digits that read back to it, and of these the nearest.
     *
     * <p>{@code Double.toString} has too many digits in Java before 19: 2.0E-3 is shown well, 2.2E-322 and 2^-44 are not.
     */
    static String number(double x) {
        if (x == (long) x && Math.abs(x) < 1L << 53) return Long.toString((long) x); // also for -0
        BigDecimal exact = new BigDecimal(Math.abs(x));
        BigDecimal found = null;
        // 15 digits distinguish all normal numbers of at most 15 digits, so that a shorter one is found with zeros at its end.
        for (int digits = Math.abs(x) < 1e-300 ? 1 : 15; found == null; digits++) {
            found = identifying(exact.round(new MathContext(digits, RoundingMode.HALF_EVEN)), exact);
            for (MathContext side : SIDES) { // at a power of two the gap below is half the gap above
                if (found == null) found = identifying(exact.round(new MathContext(digits, side.getRoundingMode())), exact);
            }
        }
        String shown = found.unscaledValue().toString();
        int end = shown.length();
        while (shown.charAt(end - 1) == '0') end--;
        int point = shown.length() - found.scale(); // the place of the decimal point among the digits
        shown = shown.substring(0, end);
        StringBuilder out = new StringBuilder(x < 0 ? "-" : "");
        if (end <= point && point <= 21) return out.append(shown).append(zeros(point - end)).toString();
        if (0 < point && point <= 21) return out.append(shown, 0, point).append('.').append(shown, point, end).toString();
        if (-6 < point && point <= 0) return out.append("0.").append(zeros(-point)).append(shown).toString();
        out.append(shown.charAt(0));
        if (end > 1) out.append('.').append(shown, 1, end);
        return out.append(point > 0 ? "e+" : "e-").append(Math.abs(point - 1)).toString();
    }

    private static BigDecimal identifying(BigDecimal tried, BigDecimal exact) {
        return tried.doubleValue() == exact.doubleValue() ? tried : null;
    }

    static String zeros(int count) {
        char[] all = new char[count];
        Arrays.fill(all, '0');
        return new String(all);
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        need(value instanceof Map, "text");
        return (Map<String, Object>) value;
    }

    /** Return an object that has exactly these fields, in any order. */
    static Map<String, Object> fields(Object value, String... names) {
        Map<String, Object> given = object(value);
        need(given.keySet().equals(new HashSet<>(Arrays.asList(names))), "fields");
        return given;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        need(value instanceof List, "text");
        return (List<Object>) value;
    }

    static String string(Object value) {
        need(value instanceof String, "text");
        return (String) value;
    }

    /** Return a finite number; texts and truth values are not read as one. */
    static double real(Object value) {
        need(value instanceof Double, "number");
        return (Double) value;
    }

    /** Return an integer within bounds. */
    static long integer(Object value, long least, long most) {
        double given = real(value);
        need(given == Math.rint(given) && Math.abs(given) < 1L << 53 && given >= least && given <= most, "number");
        return (long) given;
    }

    /** Return an integer that is written as lower-case hexadecimal text without leading zeros. */
    static BigInteger hexadecimal(Object value, int digits) {
        String given = string(value);
        need(given.length() > 0 && given.length() <= digits && digits(given), "number");
        need(given.charAt(0) != '0' || given.length() == 1, "number");
        return new BigInteger(given, 16);
    }

    /** Return whether a text has only lower-case hexadecimal digits. */
    static boolean digits(String text) {
        for (int i = 0; i < text.length(); i++) if ("0123456789abcdef".indexOf(text.charAt(i)) < 0) return false;
        return true;
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder(2 * bytes.length);
        for (byte one : bytes) out.append(Character.forDigit(one >> 4 & 15, 16)).append(Character.forDigit(one & 15, 16));
        return out.toString();
    }

    static byte[] unhex(String text) {
        need(text.length() % 2 == 0 && digits(text), "number");
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(missing); // every Java has it
        }
    }

    /** Return the first digits of the SHA-256 of some bytes. */
    static String digest(byte[] bytes, int digits) {
        return hex(sha256(bytes)).substring(0, digits);
    }
}
