package dither;

import static dither.Malformed.need;

import dither.Draw.Categories;
import dither.Uniform.Coin;
import dither.Uniform.Lottery;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Draws about answers from a list, sets, texts and several attributes. */
final class Lists {
    private Lists() {}

    /** A draw about a code: it reports numbers of equal width. */
    abstract static class Codes extends Draw {
        long count;
        Categories list; // categories of the values; the inner draws of several questions have only codes
        int width = 1; // bytes of a number

        Codes(long count) {
            this.count = count;
        }

        abstract long[] numbers(long code, Source source);

        @Override
        Object input(Object value) {
            return list.code(value);
        }

        @Override
        byte[] draw(Object input, Source source) {
            return wide(numbers((Long) input, source), width);
        }
    }

    static byte[] wide(long[] numbers, int width) {
        byte[] out = new byte[numbers.length * width];
        for (int i = 0; i < numbers.length; i++) System.arraycopy(Uniform.bytes(numbers[i], width), 0, out, i * width, width);
        return out;
    }

    private static long[] only(long number) {
        return new long[] {number};
    }

    /** Return the numbers 0 or 1 of the bits of a report as its bytes, lowest bit first. */
    private static long[] pack(boolean[] row) {
        long[] out = new long[row.length + 7 >> 3];
        for (int i = 0; i < row.length; i++) if (row[i]) out[i >> 3] |= 1L << (i & 7);
        return out;
    }

    static Draw read(String kind, Map<String, Object> device) {
        Object domain = device.get("domain");
        Object outside = device.get("outside");
        switch (kind) {
            case "several":
                return new Several(Json.fields(device, "domain", "draw", "outside", "chosen", "least", "heads"));
            case "polynomial":
                return new Polynomial(Json.fields(device, "domain", "draw", "outside", "prime", "below", "terms", "heads"));
            case "questions":
                return new Questions(Json.fields(device, "domain", "draw", "outside", "questions", "draws"));
            case "prefix":
                if (!device.containsKey("shares")) return new Prefix(Json.fields(device, "domain", "draw", "outside", "hash", "buckets", "step", "bits", "ends"));
                return new Prefix(Json.fields(device, "domain", "draw", "outside", "hash", "buckets", "step", "bits", "ends", "shares"));
            default:
                Categories list = new Categories(domain, outside, "categories");
                Codes read = codes(kind, device, list.count, "domain", "outside");
                read.list = list;
                return read;
        }
    }

    private static Map<String, Object> fields(Map<String, Object> given, String[] around, String... own) {
        String[] all = Arrays.copyOf(own, own.length + around.length + 1);
        System.arraycopy(around, 0, all, own.length, around.length);
        all[all.length - 1] = "draw";
        return Json.fields(given, all);
    }

    /** Read a draw about one of `count` codes; 0 if the text has the number. */
    private static Codes codes(String kind, Map<String, Object> given, long listed, String... around) {
        switch (kind) {
            case "response":
                fields(given, around, "cells", "width", "step", "bits");
                Json.integer(given.get("width"), 1, 1);
                return new Response(sized(given.get("cells"), listed, 1L << 32), given);
            case "bits":
                fields(given, around, "size", "own", "other");
                return bits(given, (int) sized(given.get("size"), listed, 1 << 24));
            case "subset":
                fields(given, around, "size", "chosen", "heads");
                return subset(given, (int) sized(given.get("size"), listed, 1 << 16));
            case "indices":
                fields(given, around, "size", "chosen", "heads");
                return indices(given, (int) sized(given.get("size"), listed, 1 << 16));
            case "hadamard":
                fields(given, around, "order", "heads");
                need(listed > 0, "draw");
                return hadamard(given, listed);
            case "projective":
                fields(given, around, "order", "dimension", "polynomial", "set", "own", "other", "bits");
                return new Projective(given, listed);
            case "hashed":
                fields(given, around, "hash", "buckets", "step", "bits");
                return hashed(given, listed);
            case "table":
                fields(given, around, "values", "rows");
                return table(given, listed);
            case "listing":
                fields(given, around, "cells", "width", "step", "bits", "lists");
                return listing(given, listed);
            default:
                need(kind.startsWith("joint "), "draw");
                return new Joint(kind, given, listed, around);
        }
    }

    private static long sized(Object given, long listed, long most) {
        return Json.integer(given, listed == 0 ? 2 : listed, listed == 0 ? most : Math.min(listed, most));
    }

    /** Each category with probability d/2^w, otherwise the own one. */
    private static final class Response extends Codes {
        final Lottery lottery;

        Response(long count, Map<String, Object> given) {
            super(count);
            lottery = new Lottery(count, given);
            width = Draw.width(count);
            ratio(lottery.all.subtract(lottery.step.multiply(BigInteger.valueOf(count - 1))), lottery.step);
        }

        long cell(long own, Source source) {
            Lottery.Drawn drawn = lottery.draw(source, 0);
            return drawn.is ? drawn.ticket : own;
        }

        @Override
        long[] numbers(long code, Source source) {
            return only(cell(code, source));
        }
    }

    private static Codes bits(Map<String, Object> given, int size) {
        Coin own = new Coin(given.get("own"));
        Coin other = new Coin(given.get("other"));
        need(other.heads.signum() > 0 && other.heads.compareTo(own.heads) < 0, "step");
        Codes read = new Codes(size) {
            @Override
            long[] numbers(long code, Source source) {
                boolean[] row = new boolean[size];
                for (int i = 0; i < size; i++) row[i] = (i == code ? own : other).toss(source);
                return pack(row);
            }
        };
        read.ratio(own.heads.multiply(other.tails), own.tails.multiply(other.heads));
        return read;
    }

    private static Codes subset(Map<String, Object> given, int size) {
        int chosen = (int) Json.integer(given.get("chosen"), 1, size - 1);
        Coin coin = new Coin(given.get("heads"));
        Codes read = new Codes(size) {
            @Override
            long[] numbers(long code, Source source) {
                boolean held = coin.toss(source);
                boolean[] row = new boolean[size];
                int wanted = held ? chosen - 1 : chosen;
                for (int i = 0; i < size - 1; i++) {
                    row[i] = Uniform.below(source, size - 1 - i) < wanted;
                    if (row[i]) wanted--;
                }
                // The others were drawn as 0 … k - 2: the element at the input's place becomes k - 1.
                row[size - 1] = row[(int) code];
                row[(int) code] = held;
                return pack(row);
            }
        };
        read.ratio(coin.heads.multiply(BigInteger.valueOf(size - chosen)), coin.tails.multiply(BigInteger.valueOf(chosen)));
        return read;
    }

    /** Return a number moved past others that ascend: it is a place among the numbers that are not these. */
    private static long past(long index, Iterable<Long> others) {
        for (long other : others) if (index >= other) index++;
        return index;
    }

    /** Return different numbers below a bound, in the order in which they are drawn. */
    private static long[] different(Source source, int count, long bound) {
        TreeSet<Long> taken = new TreeSet<>();
        long[] drawn = new long[count];
        for (int i = 0; i < count; i++) taken.add(drawn[i] = past(Uniform.below(source, bound - i), taken));
        return drawn;
    }

    private static Codes indices(Map<String, Object> given, int size) {
        int chosen = (int) Json.integer(given.get("chosen"), 2, Math.min(8, size - 1));
        Coin coin = new Coin(given.get("heads"));
        Codes read = new Codes(size) {
            @Override
            long[] numbers(long code, Source source) {
                boolean held = coin.toss(source);
                long[] row = different(source, chosen, size - 1);
                for (int i = 0; i < chosen; i++) if (row[i] >= code) row[i]++;
                if (held) row[chosen - 1] = code;
                Arrays.sort(row);
                return row;
            }
        };
        read.width = size <= 256 ? 1 : 2;
        read.ratio(coin.heads.multiply(BigInteger.valueOf(size - chosen)), coin.tails.multiply(BigInteger.valueOf(chosen)));
        return read;
    }

    private static Codes hadamard(Map<String, Object> given, long count) {
        long order = Json.integer(given.get("order"), count + 1, 1L << 32);
        Coin coin = new Coin(given.get("heads"));
        need(Long.bitCount(order) == 1 && order <= 2 * count, "cells");
        Codes read = new Codes(count) {
            @Override
            long[] numbers(long code, Source source) {
                long row = code + 1;
                long column = Uniform.bits(source, Long.numberOfTrailingZeros(order));
                boolean odd = (Long.bitCount(row & column) & 1) == 1;
                return only(odd == coin.toss(source) ? column ^ Long.lowestOneBit(row) : column);
            }
        };
        read.width = Draw.width(order);
        read.ratio(coin.heads, coin.tails);
        return read;
    }

    private static final class Projective extends Codes {
        private final int[] all; // the set in ascending order, then all others
        private final int points;
        private final int block;
        private final BigInteger own;
        private final BigInteger other;
        private final BigInteger outcome;
        private final BigInteger total;
        private final int size;

        Projective(Map<String, Object> given, long listed) {
            super(listed);
            int order = (int) Json.integer(given.get("order"), 2, 1 << 21);
            int dimension = (int) Json.integer(given.get("dimension"), 2, 21);
            int prime = 2;
            while (order % prime != 0) prime++;
            int degree = 1;
            for (long power = prime; power < order; power *= prime) degree++;
            double all = (Math.pow(order, dimension) - 1) / (order - 1);
            need(Math.pow(prime, degree) == order && all >= listed && all <= 1 << 21, "cells");
            points = (int) all;
            if (listed == 0) count = points;
            block = (int) ((Math.pow(order, dimension - 1) - 1) / (order - 1));
            List<Object> polynomial = Json.list(given.get("polynomial"));
            int length = degree * dimension;
            need(polynomial.size() == length, "cells");
            long[] factors = new long[length];
            for (int i = 0; i < length; i++) factors[i] = Json.integer(polynomial.get(i), 0, prime - 1);
            own = Json.hexadecimal(given.get("own"), 32);
            other = Json.hexadecimal(given.get("other"), 32);
            size = (int) Json.integer(given.get("bits"), 64, 128);
            outcome = own.multiply(BigInteger.valueOf(block));
            total = outcome.add(other.multiply(BigInteger.valueOf(points - block)));
            need((size == 64 || size == 128) && other.signum() > 0 && other.compareTo(own) < 0, "step");
            need(total.compareTo(BigInteger.ONE.shiftLeft(size)) <= 0 && total.bitLength() >= size, "step");
            need(Arrays.equals(factors, Primitive.first(prime, length)), "cells"); // another one has another set
            this.all = members(prime, degree, length, factors);
            byte[] set = new byte[4 * block];
            for (int i = 0; i < block; i++) System.arraycopy(Uniform.bytes(this.all[i], 4), 0, set, 4 * i, 4);
            need(Json.digest(set, 32).equals(given.get("set")), "fingerprint");
            width = Draw.width(points);
            ratio(own, other);
        }

        private int[] members(int prime, int degree, int length, long[] factors) {
            int end = degree * points;
            int[] values = new int[end + length];
            values[length - 1] = 1;
            for (int i = 0; i + length < end; i++) {
                long sum = 0;
                for (int j = 0; j < length; j++) sum += factors[j] * values[i + j];
                values[i + length] = (int) ((prime - sum % prime) % prime);
            }
            int[] found = new int[points];
            int inside = 0;
            for (int turn = 0; turn < 2; turn++) {
                for (int i = 0; i < points; i++) {
                    boolean zero = true;
                    for (int j = 0; j < degree; j++) zero &= values[i + j * points] == 0;
                    if (zero == (turn == 0)) found[inside++] = i;
                }
                need(turn == 1 || inside == block, "fingerprint");
            }
            return found;
        }

        @Override
        long[] numbers(long code, Source source) {
            BigInteger drawn;
            do drawn = Uniform.large(source, size);
            while (drawn.compareTo(total) >= 0);
            int index = drawn.compareTo(outcome) < 0 ? drawn.divide(own).intValue() : block + drawn.subtract(outcome).divide(other).intValue();
            return only(Math.floorMod(all[index] - code, points));
        }
    }

    /** Return the word of a seed: SplitMix64's finaliser. */
    static long mix(long seed) {
        long word = (seed + 1) * 0x9e3779b97f4a7c15L;
        word = (word ^ word >>> 30) * 0xbf58476d1ce4e5b9L;
        word = (word ^ word >>> 27) * 0x94d049bb133111ebL;
        return word ^ word >>> 31;
    }

    /** Return the bucket of an item under a seed: the hash family "affine 1". */
    private static long bucket(long seed, long item, long buckets) {
        long word = mix(seed);
        return ((word >>> 32) * item + word & 0xffffffffL) * buckets >>> 32;
    }

    private static Response buckets(Map<String, Object> given) {
        need("affine 1".equals(given.get("hash")), "draw");
        return new Response(Json.integer(given.get("buckets"), 2, 65536), given);
    }

    private static Codes hashed(Map<String, Object> given, long listed) {
        Response inner = buckets(given);
        Codes read = new Codes(listed) {
            @Override
            long[] numbers(long code, Source source) {
                long seed = Uniform.bits(source, 47);
                return only(seed << 16 | inner.cell(bucket(seed, code, inner.count), source));
            }
        };
        read.width = 8;
        read.ratio(inner.top, inner.bottom);
        return read;
    }

    private static Codes table(Map<String, Object> given, long listed) {
        Lines.Rows rows = new Lines.Rows(given);
        need(listed == 0 || rows.rows.length == listed, "cells");
        Codes read = new Codes(rows.rows.length) {
            @Override
            long[] numbers(long code, Source source) {
                return only(rows.rows[(int) code].draw(source));
            }
        };
        read.width = Draw.width(rows.columns);
        read.ratio(rows.top, rows.bottom);
        return read;
    }

    /** Return numbers of 16 bits, written as four hexadecimal digits each. */
    static int[] unpack(Object text) {
        String given = Json.string(text);
        need(given.length() <= 1 << 17 && given.length() % 4 == 0 && Json.digits(given), "number");
        int[] out = new int[given.length() / 4];
        for (int i = 0; i < out.length; i++) out[i] = Integer.parseInt(given.substring(4 * i, 4 * i + 4), 16);
        return out;
    }

    /** One of K given numbers with probability K·d/2^w, otherwise any number below N. */
    static final class Near {
        final int cells;
        final int width;
        final BigInteger top;
        final BigInteger bottom;
        private final Lottery lottery;

        Near(Map<String, Object> given) {
            cells = (int) Json.integer(given.get("cells"), 2, 65536);
            width = (int) Json.integer(given.get("width"), 1, cells - 1);
            lottery = new Lottery(width, given);
            bottom = lottery.all.subtract(lottery.step.multiply(BigInteger.valueOf(width)));
            top = bottom.add(lottery.step.multiply(BigInteger.valueOf(cells)));
        }

        long draw(int[] near, int begin, Source source) {
            Lottery.Drawn drawn = lottery.draw(source, 0);
            long any = Uniform.below(source, cells); // for both outcomes of the coin
            return drawn.is ? near[begin + (int) drawn.ticket] : any;
        }
    }

    private static Codes listing(Map<String, Object> given, long listed) {
        Near window = new Near(given);
        int[] lists = unpack(given.get("lists"));
        need(lists.length == listed * window.width, "lists");
        for (int row = 0; row < listed; row++) {
            Set<Integer> seen = new HashSet<>();
            // A number that stood twice in a list would be likelier than ε allows.
            for (int i = 0; i < window.width; i++) {
                need(seen.add(lists[row * window.width + i]) && lists[row * window.width + i] < window.cells, "lists");
            }
        }
        Codes read = new Codes(listed) {
            @Override
            long[] numbers(long code, Source source) {
                return only(window.draw(lists, (int) code * window.width, source));
            }
        };
        read.width = Draw.width(window.cells);
        read.ratio(window.top, window.bottom);
        return read;
    }

    /** A set of items, "select all that apply", as an exact number of elements: thinned at random, or with dummies. */
    abstract static class Items extends Draw {
        private final Categories list;
        final int items;
        final int most;
        final Coin coin;

        Items(Map<String, Object> given) {
            list = new Categories(given.get("domain"), given.get("outside"), "several", "most");
            need(list.count <= 1 << 20, "cells");
            items = (int) list.count;
            most = (int) Json.integer(Json.object(given.get("domain")).get("most"), 1, items);
            coin = new Coin(given.get("heads"));
        }

        @Override
        Object input(Object value) {
            if (!(value instanceof Iterable)) return null;
            Set<Long> found = new TreeSet<>();
            for (Object one : (Iterable<?>) value) {
                Long code = codeOf(one);
                if (code != null) found.add(code);
            }
            return new ArrayList<>(found);
        }

        /** Return the code of an item, or of "other" if it is not in the list: a person who is not counted would bias all shares, and the gap would reveal the answer. */
        private Long codeOf(Object item) {
            Long code = list.code(item);
            return code != null ? code : list.code("other");
        }

        @Override
        int leftOut(Object value) {
            int count = 0;
            for (Object one : (Iterable<?>) value) if (codeOf(one) == null) count++;
            return count;
        }

        /** Return the elements of a person, ascending. */
        List<Long> elements(Object input, Source source) {
            List<Long> own = new ArrayList<>();
            for (Object one : (List<?>) input) own.add((Long) one);
            if (own.size() > most) {
                for (int i = 0; i < most; i++) Collections.swap(own, i, i + (int) Uniform.below(source, own.size() - i));
                own = new ArrayList<>(new TreeSet<>(own.subList(0, most)));
            }
            for (long dummy = items; own.size() < most; dummy++) own.add(dummy);
            return own;
        }

        /** Return how many of the parts from a place on, one after the other, end at a number or before it; all are looked at. */
        static int passed(BigInteger drawn, BigInteger[] parts, int begin, int end) {
            int count = begin;
            for (int j = begin; j < end; j++) {
                drawn = drawn.subtract(parts[j]);
                if (drawn.signum() >= 0) count++;
            }
            return count;
        }
    }

    /** A report is a few elements. */
    private static final class Several extends Items {
        private final int chosen;
        private final int least;
        private final int size;
        private final BigInteger[] ways;
        private BigInteger misses = BigInteger.ZERO;
        private BigInteger hits = BigInteger.ZERO;

        Several(Map<String, Object> given) {
            super(given);
            chosen = (int) Json.integer(given.get("chosen"), 1, Math.min(items, 512));
            least = (int) Json.integer(given.get("least"), 1, Math.min(most, chosen));
            size = 32 - Integer.numberOfLeadingZeros(items + most - 1);
            need(chosen * size <= 512, "cells");
            ways = new BigInteger[Math.min(most, chosen) + 1];
            for (int j = 0; j < ways.length; j++) {
                ways[j] = choose(most, j).multiply(choose(items, chosen - j));
                if (j < least) misses = misses.add(ways[j]);
                else hits = hits.add(ways[j]);
            }
            ratio(coin.heads.multiply(misses), coin.tails.multiply(hits));
        }

        private static BigInteger choose(int n, int some) {
            BigInteger ways = BigInteger.ONE;
            for (int i = 0; i < some; i++) ways = ways.multiply(BigInteger.valueOf(n - i)).divide(BigInteger.valueOf(i + 1));
            return ways;
        }

        @Override
        byte[] draw(Object input, Source source) {
            List<Long> own = elements(input, source);
            // The same numbers are drawn for all items, whether or not a report has them.
            boolean held = coin.toss(source);
            int met = passed(Uniform.below(source, hits), ways, least, ways.length);
            int missed = passed(Uniform.below(source, misses), ways, 0, least);
            int count = held ? met : missed;
            long[] others = different(source, chosen, items);
            long[] members = different(source, Math.min(most, chosen), most);
            long[] outcome = new long[chosen];
            for (int i = 0; i < chosen; i++) outcome[i] = i < count ? own.get((int) members[i]) : past(others[i], own);
            Arrays.sort(outcome);
            byte[] row = new byte[chosen * size + 7 >> 3];
            for (int i = 0; i < chosen * size; i++) row[i >> 3] |= (outcome[i / size] >> i % size & 1) << (i & 7);
            return row;
        }
    }

    /** One of several public functions of a row of attributes, and a report of its value. */
    private static final class Questions extends Draw {
        private final List<String> names = new ArrayList<>();
        private final List<Categories> parts = new ArrayList<>();
        private final List<Codes> draws = new ArrayList<>();
        private final List<int[]> attributes = new ArrayList<>();
        private final List<long[]> tables = new ArrayList<>();
        private final List<Codes> outcome = new ArrayList<>();
        private final List<Long> ends = new ArrayList<>();
        private int columns;
        private int width;

        Questions(Map<String, Object> given) {
            Map<String, Object> domain = Json.fields(given.get("domain"), "kind", "attributes");
            need("profile".equals(domain.get("kind")) && "refuse".equals(given.get("outside")), "domain");
            for (Object one : Json.list(domain.get("attributes"))) {
                need(Json.list(one).size() == 2 && !names.contains(Json.string(Json.list(one).get(0))), "domain");
                names.add(Json.string(Json.list(one).get(0)));
                parts.add(new Categories(Json.list(one).get(1), "refuse", "categories"));
            }
            need(names.size() >= 2 && names.size() <= 64, "domain");
            long largest = Json.list(given.get("questions")).size();
            for (Object one : Json.list(given.get("draws"))) {
                Map<String, Object> inner = Json.object(one);
                String kind = Json.string(inner.get("draw"));
                need(Arrays.asList("response", "indices", "projective").contains(kind), "draw");
                Codes draw = codes(kind, inner, 0);
                draws.add(draw);
                columns = Math.max(columns, kind.equals("indices") ? (int) Json.integer(inner.get("chosen"), 2, 8) : 1);
                largest = Math.max(largest, draw.count);
            }
            width = Draw.width(largest);
            long total = 0;
            bottom = BigInteger.ONE;
            top = BigInteger.ZERO;
            long entries = 0;
            for (Object one : Json.list(given.get("questions"))) {
                List<Object> four = Json.list(one);
                need(four.size() == 4, "fields");
                int[] request = new int[Json.list(four.get(0)).size()];
                long combinations = 1;
                Set<Integer> seen = new HashSet<>();
                for (int i = 0; i < request.length; i++) {
                    request[i] = (int) Json.integer(Json.list(four.get(0)).get(i), 0, names.size() - 1);
                    need(seen.add(request[i]) && (combinations *= parts.get(request[i]).count) <= 1 << 21, "cells");
                }
                List<Object> values = Json.list(four.get(1));
                need(request.length > 0 && values.size() == combinations && (entries += combinations) <= 1 << 21, "cells");
                need(!draws.isEmpty(), "draw");
                Codes draw = draws.get((int) Json.integer(four.get(3), 0, draws.size() - 1));
                long[] table = new long[values.size()];
                for (int i = 0; i < table.length; i++) table[i] = Json.integer(values.get(i), 0, draw.count - 1);
                total += Json.integer(four.get(2), 1, 1L << 32);
                need(total <= 1L << 32 && ends.size() < 1 << 14, "step");
                attributes.add(request);
                tables.add(table);
                outcome.add(draw);
                ends.add(total);
                if (draw.top.multiply(bottom).compareTo(top.multiply(draw.bottom)) > 0) ratio(draw.top, draw.bottom);
            }
            need(total == 1L << 32, "step");
        }

        @Override
        Object input(Object value) {
            if (!(value instanceof Map)) return null;
            List<Long> codes = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                Long code = ((Map<?, ?>) value).containsKey(names.get(i)) ? parts.get(i).code(((Map<?, ?>) value).get(names.get(i))) : null;
                if (code == null) return null;
                codes.add(code);
            }
            return codes;
        }

        @Override
        byte[] draw(Object input, Source source) {
            long drawn = Uniform.bits(source, 32);
            int index = 0;
            while (drawn >= ends.get(index)) index++;
            long at = 0;
            for (int attribute : attributes.get(index)) at = at * parts.get(attribute).count + (Long) ((List<?>) input).get(attribute);
            long[] inner = outcome.get(index).numbers(tables.get(index)[(int) at], source);
            long[] row = new long[1 + columns];
            row[0] = index;
            System.arraycopy(inner, 0, row, 1, inner.length);
            return wide(row, width);
        }
    }

    /** One prefix of a text, by local hashing. */
    private static final class Prefix extends Draw {
        private final Response inner;
        private final int length;
        private final int[] alphabet; // code points, or null for bytes
        private final int[] ends;
        private final long[] shares; // shares of the people, one for each end

        Prefix(Map<String, Object> given) {
            Map<String, Object> domain = Json.fields(given.get("domain"), "kind", "length", "alphabet");
            need("text".equals(domain.get("kind")) && "refuse".equals(given.get("outside")), "domain");
            length = (int) Json.integer(domain.get("length"), 1, 256);
            alphabet = domain.get("alphabet") == null ? null : Json.string(domain.get("alphabet")).codePoints().toArray();
            need(alphabet == null || alphabet.length >= 1 && alphabet.length <= 255, "domain");
            need(alphabet == null || Arrays.stream(alphabet).distinct().count() == alphabet.length, "domain");
            inner = buckets(given);
            List<Object> listed = Json.list(given.get("ends"));
            need(!listed.isEmpty(), "cells");
            ends = new int[listed.size()];
            for (int i = 0; i < ends.length; i++) ends[i] = (int) Json.integer(listed.get(i), i == 0 ? 1 : ends[i - 1] + 1, length);
            need(ends[ends.length - 1] == length, "cells");
            shares = new long[ends.length];
            Arrays.fill(shares, 1);
            if (given.containsKey("shares")) {
                List<Object> stated = Json.list(given.get("shares"));
                need(stated.size() == ends.length, "cells");
                for (int i = 0; i < ends.length; i++) shares[i] = Json.integer(stated.get(i), 1, 1 << 16);
            }
            ratio(inner.top, inner.bottom);
        }

        @Override
        Object input(Object value) {
            if (!(value instanceof String)) return null;
            List<Long> symbols = new ArrayList<>();
            if (alphabet == null) {
                if (!Arrays.equals(((String) value).toCharArray(), new String(Json.utf8((String) value), StandardCharsets.UTF_8).toCharArray())) return null;
                for (byte one : Json.utf8((String) value)) symbols.add(one & 255L);
            } else {
                for (int point : ((String) value).codePoints().toArray()) {
                    int index = 0;
                    while (index < alphabet.length && alphabet[index] != point) index++;
                    symbols.add(index == alphabet.length ? 0L : index + 1L);
                }
            }
            if (symbols.size() > length || symbols.contains(0L)) return null;
            while (symbols.size() < length) symbols.add(0L);
            return symbols;
        }

        @Override
        byte[] draw(Object input, Source source) {
            long seed = Uniform.bits(source, 47);
            long key = 0;
            long left = seed % Arrays.stream(shares).sum();
            int level = 0;
            while (left >= shares[level]) left -= shares[level++];
            int end = ends[level];
            for (int i = 0; i < end; i++) key = mix(key ^ (Long) ((List<?>) input).get(i));
            return Uniform.bytes(seed << 16 | inner.cell(bucket(seed, key >>> 32, inner.count), source), 8);
        }
    }

    /** Randomized response whose coins were dealt between two people: a value comes with its coins. It is not verified. */
    private static final class Joint extends Codes {
        private final String kind;

        Joint(String kind, Map<String, Object> given, long listed, String[] around) {
            super(listed);
            this.kind = kind;
            if (kind.equals("joint hashed")) fields(given, around, "both", "one", "neither", "people", "size", "hash");
            else fields(given, around, "both", "one", "neither", "people", "size");
            size = (int) Json.integer(given.get("size"), 2, 1 << 16);
            width = kind.equals("joint hashed") ? 8 : kind.equals("joint bits") ? 1 : Draw.width(size);
        }

        private final int size;

        @Override
        Object input(Object value) {
            if (!(value instanceof List) || ((List<?>) value).size() != 2) return null;
            Long code = list.code(((List<?>) value).get(0));
            Object coins = ((List<?>) value).get(1);
            if (code == null || !(coins instanceof List) || ((List<?>) coins).size() != (kind.equals("joint bits") ? size : 1)) return null;
            return Arrays.asList(code, coins);
        }

        @Override
        byte[] draw(Object input, Source source) {
            long own = (Long) ((List<?>) input).get(0);
            List<?> coins = (List<?>) ((List<?>) input).get(1);
            if (kind.equals("joint bits")) {
                boolean[] row = new boolean[size];
                for (int i = 0; i < size; i++) row[i] = (i == own) == (Boolean) coins.get(i);
                return wide(pack(row), 1);
            }
            long seed = kind.equals("joint hashed") ? Uniform.bits(source, 64) >>> 17 : 0;
            long truth = kind.equals("joint hashed") ? bucket(seed, own, size) : own;
            long outcome = (Boolean) coins.get(0) ? truth : (truth + 1 + Uniform.word(source, size - 1)) % size;
            return Uniform.bytes(seed << 16 | outcome, width);
        }

        @Override
        long[] numbers(long code, Source source) {
            throw new IllegalStateException();
        }
    }
}
