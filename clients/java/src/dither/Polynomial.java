package dither;

import static dither.Malformed.need;

import java.math.BigInteger;
import java.util.List;
import java.util.Map;

/** A set of very many items: a report has those at which the value of its polynomial over a prime field is below a bound. */
final class Polynomial extends Lists.Items {
    private final int prime;
    private final int bound;
    private final int terms;
    private final int length;
    private final BigInteger order;
    private final BigInteger low;
    private final BigInteger high;
    private final BigInteger[] firsts; // by index: the number of rows of values whose first one is below the bound
    private BigInteger hits = BigInteger.ZERO;
    private final BigInteger misses;

    Polynomial(Map<String, Object> given) {
        super(given);
        prime = (int) Json.integer(given.get("prime"), items + most, (1 << 21) - 1);
        for (int trial = 2; (long) trial * trial <= prime; trial++) need(prime % trial != 0, "cells");
        bound = (int) Json.integer(given.get("below"), 1, prime - 1);
        terms = (int) Json.integer(given.get("terms"), most + 1, most + 2);
        need(terms <= 2048, "cells");
        order = BigInteger.valueOf(prime);
        length = order.pow(terms).subtract(BigInteger.ONE).bitLength() + 7 >> 3;
        need(length <= 256, "cells");
        low = BigInteger.valueOf(bound);
        high = BigInteger.valueOf(prime - bound);
        firsts = new BigInteger[most];
        for (int i = 0; i < most; i++) {
            firsts[i] = high.pow(i).multiply(low).multiply(order.pow(most - 1 - i));
            hits = hits.add(firsts[i]);
        }
        misses = high.pow(most);
        ratio(coin.heads.multiply(misses), coin.tails.multiply(hits));
    }

    private long inverse(long number) {
        return BigInteger.valueOf(number).modInverse(order).longValue();
    }

    @Override
    byte[] draw(Object input, Source source) {
        List<Long> own = elements(input, source);
        // The same numbers are drawn for all items, whether or not a report has them.
        boolean held = coin.toss(source);
        BigInteger hit = Uniform.below(source, hits);
        BigInteger miss = Uniform.below(source, misses);
        BigInteger rest = Uniform.below(source, order.pow(terms - most));
        int index = passed(hit, firsts, 0, most);
        for (int i = 0; i < index; i++) hit = hit.subtract(firsts[i]);
        int first = held ? index : most;
        BigInteger drawn = held ? hit : miss;
        long[] values = new long[most];
        for (int i = 0; i < most; i++) {
            BigInteger[] parts = drawn.divideAndRemainder(i < first ? high : i == first ? low : order);
            values[i] = parts[1].longValue() + (i < first ? bound : 0);
            drawn = parts[0];
        }
        for (int step = 1; step < most; step++) {
            for (int i = most - 1; i >= step; i--) {
                values[i] = Math.floorMod(Math.floorMod(values[i] - values[i - 1], (long) prime) * inverse(own.get(i) - own.get(i - step)), (long) prime);
            }
        }
        long[] row = new long[terms];
        for (int i = most; i < terms; i++) {
            row[i - most] = rest.mod(order).longValue();
            rest = rest.divide(order);
        }
        for (int i = most - 1; i >= 0; i--) {
            for (int j = terms - 1; j >= 0; j--) row[j] = Math.floorMod((j > 0 ? row[j - 1] : values[i]) - own.get(i) * row[j], (long) prime);
        }
        BigInteger packed = BigInteger.ZERO;
        for (int i = terms - 1; i >= 0; i--) packed = packed.multiply(order).add(BigInteger.valueOf(row[i]));
        byte[] report = new byte[length];
        for (int i = 0; i < length; i++) report[i] = packed.shiftRight(8 * i).byteValue();
        return report;
    }
}
