package dither;

import static dither.Malformed.need;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The draw of a vector: the nearest of public directions, by a public seed. See docs/wire.md. */
final class Vectors extends Draw {
    private static final int EQUAL = 128; // axes up to which directions have equal lengths

    private final Lists.Near window;
    private final boolean exact;
    private final double length;
    private final double[] centre;
    private final int axes;
    private final int size;

    Vectors(Map<String, Object> device) {
        Json.fields(device, "domain", "draw", "outside", "cells", "width", "step", "bits");
        Map<String, Object> domain = Json.fields(device.get("domain"), "kind", "dimension", "length", "centre", "exact");
        need("vectors".equals(domain.get("kind")) && "clip".equals(device.get("outside")), "domain");
        need(domain.get("exact") instanceof Boolean, "domain");
        exact = (Boolean) domain.get("exact");
        centre = new double[(int) Json.integer(domain.get("dimension"), exact ? 2 : 1, 1 << 16)];
        length = Json.real(domain.get("length"));
        need(length >= 1e-30 && length <= 1e30, "domain");
        if (domain.get("centre") != null) {
            List<Object> given = Json.list(domain.get("centre"));
            need(given.size() == centre.length, "domain");
            boolean some = false;
            for (int i = 0; i < centre.length; i++) {
                centre[i] = Json.real(given.get(i));
                need(Math.abs(centre[i]) <= 1e30, "domain");
                some |= centre[i] != 0;
            }
            need(some, "domain");
        }
        window = new Lists.Near(device);
        need((window.cells & window.cells - 1) == 0 && window.cells >= 64 && window.cells <= 1 << 12, "cells");
        axes = centre.length + (exact ? 0 : 1);
        size = axes <= EQUAL ? window.cells : Integer.highestOneBit(axes - 1) << 1;
        ratio(window.top, window.bottom);
    }

    @Override
    Object input(Object value) {
        if (!(value instanceof List) || ((List<?>) value).size() != centre.length) return null;
        double[] given = new double[centre.length];
        double[] own = new double[centre.length];
        double most = 0;
        for (int i = 0; i < given.length; i++) {
            Object one = ((List<?>) value).get(i);
            if (!(one instanceof Number)) return null;
            given[i] = ((Number) one).doubleValue() + 0.0;
            own[i] = (given[i] - centre[i]) / length;
            if (Double.isNaN(own[i]) || Double.isInfinite(own[i])) return null;
            most = Math.max(most, Math.abs(own[i]));
        }
        if (exact && most == 0) return null; // the zero vector has no direction
        double unit = most > 2 || exact ? most : 1;
        double squares = 0;
        for (double x : own) squares += x / unit * (x / unit);
        double far = Math.sqrt(squares) * unit;
        if (exact ? Math.abs(far - 1) <= 1e-2 : far <= 1 + 1e-5) return given;
        for (int i = 0; i < given.length; i++) {
            double moved = exact ? own[i] / unit / Math.sqrt(squares) : own[i] / far;
            given[i] = centre[i] + length * moved + 0.0;
        }
        return given;
    }

    @Override
    byte[] draw(Object input, Source source) {
        long seed = Uniform.bits(source, 32); // drawn before the vector is read
        long number = window.draw(nearest(lift((double[]) input), seed), 0, source);
        return Uniform.bytes(seed << 16 | number, 8);
    }

    /** Return a vector relative to the centre, in units of the length; one of a ball on a sphere. */
    private double[] lift(double[] vector) {
        double[] own = new double[axes];
        double squares = 0;
        for (int i = 0; i < vector.length; i++) {
            own[i] = (vector[i] - centre[i]) / length;
            squares += own[i] * own[i];
        }
        if (!exact) own[axes - 1] = Math.sqrt(Math.max(1 - squares, 0));
        return own;
    }

    /** Return the numbers of the K directions with the largest products, ascending; of equal ones the first. */
    private int[] nearest(double[] vector, long seed) {
        long[] own = words(seed << 16, size);
        long[] first = words((1L << 48) + (seed % 256 << 16), axes);
        double[] products = new double[window.cells];
        if (axes > EQUAL) {
            double[] spread = new double[size];
            for (int i = 0; i < axes; i++) spread[i] = vector[i] * sign(first, i);
            transform(spread);
            products = fold(spread, own);
        } else {
            double[] squares = new double[window.cells];
            double[] row = new double[size];
            for (int axis = 0; axis < axes; axis++) {
                for (int k = 0; k < size; k++) row[k] = (Integer.bitCount(axis & k) & 1) == 0 ? 1 : -1;
                double[] made = fold(row, own);
                for (int i = 0; i < made.length; i++) {
                    products[i] += made[i] * sign(first, axis) * vector[axis];
                    squares[i] += made[i] * made[i];
                }
            }
            for (int i = 0; i < products.length; i++) products[i] /= Math.sqrt(Math.max(squares[i], 1));
        }
        Integer[] order = new Integer[window.cells];
        for (int i = 0; i < order.length; i++) order[i] = i;
        double[] compared = products;
        Arrays.sort(order, (a, b) -> compared[a] > compared[b] ? -1 : compared[a] < compared[b] ? 1 : 0); // stable
        int[] near = new int[window.width];
        for (int i = 0; i < near.length; i++) near[i] = order[i];
        Arrays.sort(near);
        return near;
    }

    private static long[] words(long first, int count) {
        long[] words = new long[count + 63 >> 6];
        for (int i = 0; i < words.length; i++) words[i] = Lists.mix(first + i);
        return words;
    }

    private static double sign(long[] words, int at) {
        return (words[at >> 6] >>> (at & 63) & 1) == 0 ? 1 : -1;
    }

    private double[] fold(double[] row, long[] own) {
        double[] folded = new double[window.cells];
        for (int k = 0; k < size; k++) folded[(int) (1 + 619L * k % (window.cells - 1))] += row[k] * sign(own, k);
        transform(folded);
        return folded;
    }

    /** Replace a row by its product with the Hadamard matrix, by butterflies of 1, 2, 4, …: the order is specified. */
    private static void transform(double[] row) {
        for (int half = 1; half < row.length; half *= 2) {
            for (int begin = 0; begin < row.length; begin += 2 * half) {
                for (int i = begin; i < begin + half; i++) {
                    double left = row[i];
                    double right = row[i + half];
                    row[i] = left + right;
                    row[i + half] = left - right;
                }
            }
        }
    }
}
