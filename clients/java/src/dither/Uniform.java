package dither;

import static dither.Malformed.need;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Map;

/** Integers made of random bytes, by the names of docs/wire.md. */
final class Uniform {
    private Uniform() {}

    /** Return bytes, lowest first, as a number of at most 8 bytes. */
    static long little(byte[] bytes, int begin, int end) {
        long read = 0;
        while (end-- > begin) read = read << 8 | bytes[end] & 255;
        return read;
    }

    /** Return a number as bytes, lowest first. */
    static byte[] bytes(long value, int length) {
        byte[] out = new byte[length];
        for (int i = 0; i < length && i < 8; i++) out[i] = (byte) (value >>> 8 * i);
        return out;
    }

    /** Return a uniform number of at most 64 bits. */
    static long bits(Source source, int size) {
        byte[] taken = source.take(size + 7 >> 3);
        return size == 0 ? 0 : little(taken, 0, taken.length) >>> (-size & 7);
    }

    /** Return a uniform number of any number of bits. */
    static BigInteger large(Source source, int size) {
        byte[] taken = source.take(size + 7 >> 3);
        byte[] turned = new byte[taken.length];
        for (int i = 0; i < taken.length; i++) turned[i] = taken[taken.length - 1 - i];
        return new BigInteger(1, turned).shiftRight(-size & 7);
    }

    static long below(Source source, long bound) {
        for (;;) {
            long drawn = bits(source, 64 - Long.numberOfLeadingZeros(bound - 1));
            if (drawn < bound) return drawn;
        }
    }

    static BigInteger below(Source source, BigInteger bound) {
        for (;;) {
            BigInteger drawn = large(source, bound.subtract(BigInteger.ONE).bitLength());
            if (drawn.compareTo(bound) < 0) return drawn;
        }
    }

    static long word(Source source, long bound) {
        // 2^64 - (2^64 mod bound), as an unsigned number; 0 means 2^64.
        long most = -Long.remainderUnsigned(-bound, bound);
        for (;;) {
            long drawn = bits(source, 64);
            if (most == 0 || Long.compareUnsigned(drawn, most) < 0) return Long.remainderUnsigned(drawn, bound);
        }
    }

    static long ticket(Source source, long bound) {
        long most = (1L << 62) / bound * bound;
        for (;;) {
            long drawn = bits(source, 62);
            if (drawn < most) return drawn % bound;
        }
    }

    static int choice(Source source, long[] weights) {
        long total = 0;
        for (long weight : weights) total += weight;
        long drawn = ticket(source, total);
        for (int index = 0; ; index++) if ((drawn -= weights[index]) < 0) return index;
    }

    /** Heads with probability heads/2^128: 64 bits, and 64 more only if they equal the first 64 of {@code heads}. */
    static final class Coin {
        static final BigInteger ALL = BigInteger.ONE.shiftLeft(128);
        final BigInteger heads;
        final BigInteger tails;
        private final long high;
        private final long low;

        Coin(Object text) {
            heads = Json.hexadecimal(text, 32);
            tails = ALL.subtract(heads);
            high = heads.shiftRight(64).longValue();
            low = heads.longValue();
        }

        boolean toss(Source source) {
            long first = Uniform.bits(source, 64);
            return first == high ? Long.compareUnsigned(Uniform.bits(source, 64), low) < 0 : Long.compareUnsigned(first, high) < 0;
        }
    }

    /** A ticket below {@code tickets}, each with probability step/2^bits, or none. */
    static final class Lottery {
        final BigInteger step;
        final BigInteger all;
        private final long tickets;
        private final long high; // the step without its last 32 bits
        private final long low;
        private final int early; // these bytes nearly always decide

        /** The result of one lottery. */
        static final class Drawn {
            final boolean is;
            final long ticket;
            final long uniform;

            Drawn(boolean is, long ticket, long uniform) {
                this.is = is;
                this.ticket = ticket;
                this.uniform = uniform;
            }
        }

        Lottery(long tickets, Map<String, Object> given) {
            int bits = (int) Json.integer(given.get("bits"), 64, 96);
            step = Json.hexadecimal(given.get("step"), 24);
            BigInteger first = step.shiftRight(32);
            need(bits == 96 ? step.signum() > 0 : bits == 64 && first.signum() > 0, "step");
            BigInteger room = BigInteger.ONE.shiftLeft(bits - 32);
            need(BigInteger.valueOf(tickets).multiply(first.add(BigInteger.ONE)).compareTo(room) <= 0, "step");
            this.tickets = tickets;
            all = BigInteger.ONE.shiftLeft(bits);
            high = first.longValue();
            low = step.longValue() & 0xffffffffL;
            early = bits / 8 - 4;
        }

        /** Draw a ticket, and further uniform bits. */
        Drawn draw(Source source, int extra) {
            byte[] taken = source.take(early + (extra + 7 >> 3));
            long drew = Uniform.little(taken, 0, early);
            boolean is = Long.compareUnsigned(drew, tickets * high) < 0;
            long ticket = Long.divideUnsigned(drew, high == 0 ? 1 : high); // computed even if it is not used
            int begin = early;
            long last = early == 8 ? drew + tickets : drew - (1L << 32) + tickets;
            if (early == 8 ? Long.compareUnsigned(drew, -tickets) >= 0 : last >= 0) {
                // The late word: the four bytes after the early ones decide, and as many new ones take their place at the end.
                byte[] longer = Arrays.copyOf(taken, taken.length + 4);
                System.arraycopy(source.take(4), 0, longer, taken.length, 4);
                taken = longer;
                is = Uniform.little(taken, early, early + 4) < low;
                begin += 4;
                ticket = last;
            }
            return new Drawn(is, ticket, extra == 0 ? 0 : Uniform.little(taken, begin, taken.length) >>> (-extra & 7));
        }
    }

    /** An outcome drawn by its weight, of weights of total 2^128: a column, and a coin between its two outcomes. Vose's method in integers. */
    static final class Alias {
        private final int size;
        private final BigInteger[] thresholds;
        private final int[] others;

        Alias(BigInteger[] row) {
            size = Math.max(1, 32 - Integer.numberOfLeadingZeros(row.length - 1));
            BigInteger capacity = BigInteger.ONE.shiftLeft(128 - size);
            BigInteger[] left = new BigInteger[1 << size];
            thresholds = new BigInteger[left.length];
            others = new int[left.length];
            int[] small = new int[left.length];
            int[] large = new int[left.length];
            int few = 0;
            int many = 0;
            for (int i = 0; i < left.length; i++) {
                left[i] = i < row.length ? row[i] : BigInteger.ZERO;
                thresholds[i] = BigInteger.ZERO;
                others[i] = i;
                if (left[i].compareTo(capacity) < 0) small[few++] = i;
                else large[many++] = i;
            }
            while (few > 0) {
                int column = small[--few];
                int giver = large[many - 1];
                thresholds[column] = left[column];
                others[column] = giver;
                left[giver] = left[giver].subtract(capacity.subtract(left[column]));
                if (left[giver].compareTo(capacity) < 0) {
                    small[few++] = giver;
                    many--;
                }
            }
        }

        int draw(Source source) {
            int column = (int) Uniform.bits(source, size);
            return Uniform.large(source, 128 - size).compareTo(thresholds[column]) < 0 ? column : others[column];
        }
    }
}
