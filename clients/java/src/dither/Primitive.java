package dither;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The first primitive polynomial x^n + Σ c_j·x^j modulo a prime p, in the order of Σ c_j·p^j: modulo it, x has the order p^n − 1. */
final class Primitive {
    private final long prime;
    private final long[] modulus;

    private Primitive(long prime, long[] modulus) {
        this.prime = prime;
        this.modulus = modulus;
    }

    /** Return c_0 … c_(n−1); p^n is below 2^43. */
    static long[] first(int prime, int length) {
        long order = 1;
        for (int i = 0; i < length; i++) order *= prime;
        order--;
        List<Long> factors = new ArrayList<>();
        long rest = order;
        for (long trial = 2; rest > 1; trial = trial * trial > rest ? rest : trial + 1) {
            if (rest % trial == 0) factors.add(trial);
            while (rest % trial == 0) rest /= trial;
        }
        for (long number = prime + 1L; ; number++) {
            long[] digits = new long[length];
            long left = number;
            for (int j = 0; j < length; j++, left /= prime) digits[j] = left % prime;
            Primitive given = new Primitive(prime, digits);
            boolean primitive = given.isOne(order);
            for (long factor : factors) primitive = primitive && !given.isOne(order / factor);
            if (primitive) return digits;
        }
    }

    /** Return a polynomial times x. */
    private long[] byX(long[] given) {
        int length = given.length;
        long[] found = new long[length];
        for (int j = 0; j < length; j++) found[j] = ((j == 0 ? 0 : given[j - 1]) + given[length - 1] * (prime - modulus[j])) % prime;
        return found;
    }

    /** Return whether x^exponent is 1. */
    private boolean isOne(long exponent) {
        long[] unit = new long[modulus.length];
        unit[0] = 1;
        long[] power = unit;
        for (int bit = 63 - Long.numberOfLeadingZeros(exponent); bit >= 0; bit--) {
            long[] square = new long[unit.length];
            for (int i = unit.length - 1; i >= 0; i--) {
                square = byX(square);
                for (int j = 0; j < unit.length; j++) square[j] = (square[j] + power[i] * power[j]) % prime;
            }
            power = (exponent >> bit & 1) == 1 ? byX(square) : square;
        }
        return Arrays.equals(power, unit);
    }
}
