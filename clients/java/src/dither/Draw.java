package dither;

import static dither.Malformed.need;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How a device turns one value into one report. */
abstract class Draw {
    /** The largest ratio of the probabilities of one report under two inputs: top over bottom. */
    BigInteger top = BigInteger.ONE;
    BigInteger bottom = BigInteger.ZERO; // no bound, unless one is set
    /** True if a value is a list of places, with the ε of each. */
    boolean path;
    /** For a promise with a δ. */
    Delta gaussian;

    /** Returns the δ, or throws if the integers do not keep it at a lower bound of e^ε·2^320. */
    interface Delta {
        double delta(BigInteger bound, Object stated);
    }

    /** Return the input of a value, or null if nobody may answer with it. It never throws. */
    abstract Object input(Object value);

    /** Return the report of an input as bytes, lowest byte first. */
    abstract byte[] draw(Object input, Source source);

    /** For sets: return how many items of a value are not in the list and are left out. */
    int leftOut(Object value) {
        return 0;
    }

    /** Return whether no report is more than e^ε times likelier under one input than under another. */
    boolean keeps(BigInteger bound, int bits, double epsilon) {
        return top.compareTo(bottom) > 0 && top.shiftLeft(bits).compareTo(bound.multiply(bottom)) <= 0;
    }

    void ratio(BigInteger most, BigInteger least) {
        top = most;
        bottom = least;
    }

    static Draw read(String kind, Map<String, Object> device) {
        switch (kind) {
            case "sliding":
            case "optional":
            case "mixture":
            case "sectors":
            case "lattice":
            case "channel":
                return Lines.read(kind, device);
            case "pair":
            case "walk":
            case "polar":
            case "nearest":
            case "box":
            case "planar":
            case "rings":
            case "points":
            case "grid":
            case "two copies":
                return Places.read(kind, device);
            case "directions":
                return new Vectors(device);
            case "routes":
                return new Routes(device);
            case "splines":
                return new Splines(device);
            default:
                return Lists.read(kind, device);
        }
    }

    /** Return a number below {@code cells} as 1, 2, 4 or 8 bytes. */
    static byte[] cell(long value, long cells) {
        return Uniform.bytes(value, width(cells));
    }

    static int width(long cells) {
        return cells <= 1 << 8 ? 1 : cells <= 1 << 16 ? 2 : cells <= 1L << 32 ? 4 : 8;
    }

    /** An interval or a circle: numbers outside are moved to the end, or turned. */
    static final class Line {
        final boolean turns;
        final double low;
        final double high;

        Line(Object domain, Object outside) {
            turns = "circle".equals(Json.object(domain).get("kind"));
            Map<String, Object> given = turns ? Json.fields(domain, "kind", "period") : Json.fields(domain, "kind", "low", "high");
            need((turns ? "wrap" : "clip").equals(outside) && (turns || "interval".equals(given.get("kind"))), "domain");
            low = turns ? 0 : Json.real(given.get("low"));
            high = Json.real(given.get(turns ? "period" : "high"));
            need(low >= -1e30 && high <= 1e30 && high - low >= 1e-30, "domain");
        }

        Double input(Object value) {
            if (!(value instanceof Number)) return null;
            double x = ((Number) value).doubleValue();
            if (Double.isNaN(x) || turns && Double.isInfinite(x)) return null;
            if (!turns) return Math.min(Math.max(x, low), high) + 0.0; // -0 is 0
            double turned = x % high;
            return (turned < 0 ? turned + high : turned) % high + 0.0; // just below 0 rounds to the period: 0
        }
    }

    /** A list of answers: a count, or labels. A device works with the code, the place in the list. */
    static final class Categories {
        final long count;
        private Map<Object, Long> codes;

        Categories(Object domain, Object outside, String kind, String... more) {
            Map<String, Object> given = Json.object(domain);
            need(kind.equals(given.get("kind")) && "refuse".equals(outside), "domain");
            String[] names = Arrays.copyOf(more, more.length + 2);
            names[more.length] = "kind";
            names[more.length + 1] = given.containsKey("count") ? "count" : "labels";
            Json.fields(given, names);
            if (given.containsKey("count")) {
                count = Json.integer(given.get("count"), 2, 1L << 32);
                return;
            }
            List<Object> labels = Json.list(given.get("labels"));
            codes = new HashMap<>();
            for (Object label : labels) codes.put(label(label), (long) codes.size());
            count = labels.size();
            need(count > 1 && codes.size() == count, "domain");
            for (Object label : codes.keySet()) {
                double near = label instanceof BigInteger ? ((BigInteger) label).doubleValue() : Double.NaN;
                need(!codes.containsKey(near) || !new BigDecimal(near).toBigInteger().equals(label), "domain");
            }
            // Some languages take truth values for 1 and 0.
            need(!(codes.containsKey(true) && codes.containsKey(1.0)) && !(codes.containsKey(false) && codes.containsKey(0.0)), "domain");
        }

        /** Return a label as values are looked up by: {"number": x} and {"integer": "-1f"} mean numbers. */
        static Object label(Object given) {
            if (given instanceof Map && ((Map<?, ?>) given).containsKey("integer")) {
                String digits = Json.string(Json.fields(given, "integer").get("integer"));
                BigInteger large = Json.hexadecimal(digits.startsWith("-") ? digits.substring(1) : digits, 1 << 10);
                need(large.bitLength() > 53, "number");
                return digits.startsWith("-") ? large.negate() : large;
            }
            if (given instanceof Map) return Json.real(Json.fields(given, "number").get("number")) + 0.0;
            need(!(given instanceof List), "domain");
            return given instanceof Double ? (Object) (double) Json.integer(given, 1 - (1L << 53), (1L << 53) - 1) : given;
        }

        /** Return the code of a value, or null. */
        Long code(Object value) {
            if (value instanceof Number && !(value instanceof BigInteger)) {
                double x = ((Number) value).doubleValue() + 0.0;
                if (value instanceof Long && (long) x != (Long) value) value = BigInteger.valueOf((Long) value);
                else value = x;
            }
            if (codes != null) return codes.get(value);
            if (!(value instanceof Double)) return null;
            double code = (Double) value;
            return code == Math.rint(code) && code >= 0 && code < count ? (Long) (long) code : null;
        }
    }

    /** The rule that brings a value to the start of its window; random rounding takes bytes first. */
    abstract static class Start {
        abstract long of(double value, Source source);

        /** Read a start rule for windows of this number of cells, and values between two ends. */
        static Start read(Object rule, long cells, Line line) {
            Map<String, Object> given = Json.object(rule);
            String kind = Json.string(given.get("kind"));
            double origin = Json.real(given.get("origin"));
            double scale = Json.real(given.get("scale"));
            double most = cells > 65536 ? 0x1p52 : 0x1p31;
            double far = Math.max(Math.abs((line.low - origin) * scale), Math.abs((line.high - origin) * scale));
            need(scale > 0 && far * (1 + 0x1p-19) < most, "start");
            switch (kind) {
                case "line":
                    Json.fields(given, "kind", "origin", "scale", "last", "fraction");
                    int fraction = (int) Json.integer(given.get("fraction"), 0, 30);
                    long last = given.get("last") == null ? Long.MAX_VALUE : Json.integer(given.get("last"), 0, (long) most - (1L << fraction));
                    long first = given.get("last") == null ? Long.MIN_VALUE : 0;
                    need(given.get("last") != null || far <= most - (1L << fraction), "start");
                    return new Start() {
                        @Override
                        long of(double value, Source source) {
                            long index = Math.min(Math.max((long) ((value - origin) * scale), first), last);
                            return index + Uniform.bits(source, fraction) >> fraction;
                        }
                    };
                case "steps":
                    Json.fields(given, "kind", "origin", "scale", "starts", "counts");
                    long[] starts = steps(Json.list(given.get("starts")), Json.list(given.get("counts")), cells);
                    return new Start() {
                        @Override
                        long of(double value, Source source) {
                            return starts[(int) Math.min(Math.max((long) ((value - origin) * scale), 0), starts.length - 1)];
                        }
                    };
                default:
                    need(kind.equals("knots") && cells <= 65536, "start");
                    Json.fields(given, "kind", "origin", "scale", "first", "pieces", "bits");
                    long[] knots = knots(given, cells << 16);
                    long end = ((long) knots.length - 1 << 16) - 1;
                    return new Start() {
                        @Override
                        long of(double value, Source source) {
                            long index = Math.min(Math.max((long) ((value - origin) * scale), 0), end);
                            long knot = knots[(int) (index + Uniform.bits(source, 16) >> 16)];
                            return knot + Uniform.bits(source, 16) >> 16;
                        }
                    };
            }
        }

        private static long[] steps(List<Object> starts, List<Object> counts, long cells) {
            need(starts.size() == counts.size() && !starts.isEmpty(), "start");
            long[] table = new long[65536];
            int length = 0;
            for (int i = 0; i < starts.size(); i++) {
                long count = Json.integer(counts.get(i), 1, 65536 - length);
                for (long left = count; left > 0; left--) table[length++] = Json.integer(starts.get(i), 0, cells - 1);
            }
            return Arrays.copyOf(table, length);
        }

        private static long[] knots(Map<String, Object> given, long most) {
            byte[] bits = Json.unhex(Json.string(given.get("bits")));
            long[] table = new long[32768];
            int length = 1;
            table[0] = Json.integer(given.get("first"), 0, most - 1);
            for (Object piece : Json.list(given.get("pieces"))) {
                List<Object> two = Json.list(piece);
                need(two.size() == 2, "start");
                long base = Json.integer(two.get(1), -most, most);
                for (long left = Json.integer(two.get(0), 1, 32768 - length); left > 0; left--, length++) {
                    int index = length - 1;
                    need(index >> 3 < bits.length, "start");
                    table[length] = table[length - 1] + base + (bits[index >> 3] >> (index & 7) & 1);
                    need(table[length] >= 0 && table[length] < most, "start");
                }
            }
            int size = length - 1;
            need(size > 0 && bits.length == size + 7 >> 3 && (bits[bits.length - 1] & 255) >> (size - 1 & 7) + 1 == 0, "start");
            return Arrays.copyOf(table, length);
        }
    }
}
