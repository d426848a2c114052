package dither;

import static dither.Malformed.need;

import dither.Draw.Line;
import dither.Draw.Start;
import dither.Uniform.Alias;
import dither.Uniform.Coin;
import dither.Uniform.Lottery;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Draws about a number or an angle: windows, sectors, noise on a lattice, channels. */
final class Lines {
    private static final BigInteger ONE = BigInteger.ONE.shiftLeft(256); // the 1 of fixed-point numbers
    private static final BigInteger FACTOR = BigInteger.ONE.shiftLeft(320); // scale of the bound of e^ε

    private Lines() {}

    /** A draw that reports a cell. */
    abstract static class Cells extends Draw {
        final Line line;
        long cells;

        Cells(Line line) {
            this.line = line;
        }

        @Override
        Object input(Object value) {
            return line.input(value);
        }

        abstract long cell(double value, Source source);

        @Override
        byte[] draw(Object input, Source source) {
            return cell(cell((Double) input, source), cells);
        }
    }

    static Cells read(String kind, Map<String, Object> device) {
        return read(kind, device, device.get("outside"));
    }

    /** Read a draw; the part of a pair has no rule for values outside, because its inputs are inside. */
    static Cells read(String kind, Map<String, Object> device, Object outside) {
        Object domain = device.get("domain");
        if (kind.equals("optional")) {
            need("optional".equals(Json.object(domain).get("kind")), "domain");
            domain = Json.fields(domain, "kind", "of").get("of");
        }
        Line line = new Line(domain, outside);
        String[] own;
        Cells read;
        switch (kind) {
            case "sliding":
                own = new String[] {"cells", "width", "step", "bits", "start"};
                read = new Window(line, device);
                break;
            case "optional":
                own = new String[] {"cells", "width", "step", "bits", "start"};
                read = new Optional(line, device);
                break;
            case "mixture":
                own = new String[] {"first", "second", "heads"};
                read = new Mixture(line, device);
                break;
            case "sectors":
                own = new String[] {"cells", "width", "step", "bits", "start"};
                read = new Sectors(line, device);
                break;
            case "lattice":
                own = new String[] {"lattice", "start"};
                read = lattice(line, device);
                break;
            default:
                need(kind.equals("channel"), "draw");
                own = new String[] {"values", "rows", "start"};
                read = new Channel(line, device);
        }
        String[] all = Arrays.copyOf(own, own.length + (device.containsKey("outside") ? 3 : 2));
        all[own.length] = "domain";
        all[own.length + 1] = "draw";
        if (device.containsKey("outside")) all[own.length + 2] = "outside";
        Json.fields(device, all);
        return read;
    }

    private static final class Window extends Cells {
        private final Lottery lottery;
        private final Start start;
        private final int size;

        Window(Line line, Map<String, Object> given) {
            super(line);
            need("sliding".equals(given.get("draw")), "cells");
            cells = Json.integer(given.get("cells"), 2, 1L << 32);
            need(Long.bitCount(cells) == 1, "cells");
            size = Long.numberOfTrailingZeros(cells);
            long width = Json.integer(given.get("width"), 1, cells - 1);
            lottery = new Lottery(width, given);
            start = Start.read(given.get("start"), cells, line);
            BigInteger outside = lottery.all.subtract(lottery.step.multiply(BigInteger.valueOf(width)));
            ratio(outside.add(lottery.step.multiply(BigInteger.valueOf(cells))), outside);
        }

        @Override
        long cell(double value, Source source) {
            long begin = start.of(value, source);
            Lottery.Drawn drawn = lottery.draw(source, size);
            // No branch on the value, and no division. A start below 0 wraps, only on circles.
            long mask = drawn.is ? -1 : 0;
            return drawn.uniform + (begin + drawn.ticket - drawn.uniform & mask) & cells - 1;
        }
    }

    /** A window, and cells of its own for no answer (NaN here, null outside). */
    private static final class Optional extends Cells {
        private final Lottery lottery;
        private final Start start;
        private final int size;
        private final long room;

        Optional(Line line, Map<String, Object> given) {
            super(line);
            cells = Json.integer(given.get("cells"), 2, 65536);
            need(Long.bitCount(cells) == 1 && "line".equals(Json.object(given.get("start")).get("kind")), "cells");
            size = Long.numberOfTrailingZeros(cells);
            // Windows of numbers wrap around the other cells, and would meet themselves if they were wider than half of all.
            long width = Json.integer(given.get("width"), 1, cells / 2);
            room = cells - width;
            lottery = new Lottery(width, given);
            start = Start.read(given.get("start"), cells, line);
            BigInteger outside = lottery.all.subtract(lottery.step.multiply(BigInteger.valueOf(width)));
            ratio(outside.add(lottery.step.multiply(BigInteger.valueOf(cells))), outside);
        }

        @Override
        Object input(Object value) {
            return value == null ? (Object) Double.NaN : line.input(value);
        }

        @Override
        long cell(double value, Source source) {
            // Who does not answer draws the start of the lowest value: the same bytes are taken.
            boolean missing = Double.isNaN(value);
            long begin = start.of(missing ? line.low : value, source);
            Lottery.Drawn drawn = lottery.draw(source, size);
            long own = missing ? room + drawn.ticket : Math.floorMod(begin + drawn.ticket, room);
            return drawn.is ? own : drawn.uniform;
        }
    }

    private static final class Mixture extends Cells {
        private final Window first;
        private final Window second;
        private final long heads;

        Mixture(Line line, Map<String, Object> device) {
            super(line);
            first = new Window(line, Json.fields(device.get("first"), "draw", "cells", "width", "step", "bits", "start"));
            second = new Window(line, Json.fields(device.get("second"), "draw", "cells", "width", "step", "bits", "start"));
            heads = Json.integer(device.get("heads"), 0, (1L << 32) - 1);
            cells = first.cells + second.cells;
            boolean more = first.top.multiply(second.bottom).compareTo(second.top.multiply(first.bottom)) > 0;
            ratio((more ? first : second).top, (more ? first : second).bottom);
        }

        @Override
        long cell(double value, Source source) {
            return Uniform.bits(source, 32) < heads ? first.cell(value, source) : first.cells + second.cell(value, source);
        }
    }

    private static final class Sectors extends Cells {
        private final Lottery lottery;
        private final Start start;
        private final long width;

        Sectors(Line line, Map<String, Object> device) {
            super(line);
            cells = Json.integer(device.get("cells"), 2, 1L << 32);
            width = Json.integer(device.get("width"), 1, cells / 2);
            need(Long.bitCount(width) == 1 && cells % width == 0, "cells");
            Map<String, Object> rule = Json.object(device.get("start"));
            need("line".equals(rule.get("kind")) && Double.valueOf(0).equals(rule.get("fraction")), "start");
            lottery = new Lottery(cells / width, device);
            start = Start.read(rule, cells, line);
            ratio(lottery.all.subtract(lottery.step.multiply(BigInteger.valueOf(cells / width - 1))), lottery.step);
        }

        @Override
        long cell(double value, Source source) {
            long own = Math.floorMod(start.of(value, source), cells) / width;
            Lottery.Drawn drawn = lottery.draw(source, Long.numberOfTrailingZeros(width));
            return (drawn.is ? drawn.ticket : own) * width + drawn.uniform;
        }
    }

    /** A table of integers: a row for each input, scaled to weights of total 2^128. */
    static final class Rows {
        final Alias[] rows;
        final int columns;
        BigInteger top = BigInteger.ZERO;
        BigInteger bottom = BigInteger.ONE;

        Rows(Map<String, Object> given) {
            List<Object> values = Json.list(given.get("values"));
            List<Object> table = Json.list(given.get("rows"));
            need(!table.isEmpty() && table.size() <= 1 << 10, "cells");
            columns = Json.list(table.get(0)).size();
            need(columns > 0 && columns <= 1 << 16 && (long) columns * table.size() <= 1 << 21, "cells");
            BigInteger[] known = new BigInteger[values.size()];
            for (int i = 0; i < known.length; i++) {
                known[i] = Json.hexadecimal(values.get(i), 1 << 10);
                need(known[i].signum() > 0 && (i == 0 || known[i].compareTo(known[i - 1]) < 0), "number"); // each once, the largest first
            }
            boolean[] used = new boolean[known.length];
            rows = new Alias[table.size()];
            BigInteger[] most = new BigInteger[columns];
            BigInteger[] least = new BigInteger[columns];
            for (int row = 0; row < rows.length; row++) {
                need(Json.list(table.get(row)).size() == columns, "cells");
                BigInteger[] weights = weigh(Json.list(table.get(row)), known, used);
                rows[row] = new Alias(weights);
                for (int i = 0; i < columns; i++) {
                    most[i] = row == 0 ? weights[i] : most[i].max(weights[i]);
                    least[i] = row == 0 ? weights[i] : least[i].min(weights[i]);
                }
            }
            for (boolean one : used) need(one, "fields");
            for (int i = 0; i < columns; i++) {
                if (most[i].multiply(bottom).compareTo(top.multiply(least[i])) > 0) {
                    top = most[i];
                    bottom = least[i];
                }
            }
        }

        private static BigInteger[] weigh(List<Object> positions, BigInteger[] known, boolean[] used) {
            BigInteger[] weights = new BigInteger[positions.size()];
            BigInteger total = BigInteger.ZERO;
            int largest = 0;
            for (int i = 0; i < weights.length; i++) {
                int index = (int) Json.integer(positions.get(i), 0, known.length - 1);
                used[index] = true;
                weights[i] = known[index];
                total = total.add(weights[i]);
                if (weights[i].compareTo(weights[largest]) > 0) largest = i;
            }
            BigInteger rest = Coin.ALL;
            for (int i = 0; i < weights.length; i++) {
                weights[i] = weights[i].shiftLeft(128).add(total).subtract(BigInteger.ONE).divide(total);
                rest = rest.subtract(weights[i]);
            }
            weights[largest] = weights[largest].add(rest);
            need(weights[largest].signum() > 0, "step");
            return weights;
        }
    }

    private static final class Channel extends Cells {
        private final Rows table;
        private final double[] edges;
        private final int[] labels; // null: the edges are points; values between them are rounded at random

        Channel(Line line, Map<String, Object> device) {
            super(line);
            table = new Rows(device);
            if ("points".equals(Json.object(device.get("start")).get("kind"))) {
                List<Object> points = Json.list(Json.fields(device.get("start"), "kind", "points").get("points"));
                need(!line.turns && points.size() > 1 && points.size() == table.rows.length, "start");
                edges = new double[points.size()];
                labels = null;
                for (int i = 0; i < edges.length; i++) {
                    edges[i] = Json.real(points.get(i));
                    need(i == 0 ? edges[i] == line.low : edges[i] > edges[i - 1], "start");
                }
                need(edges[edges.length - 1] == line.high, "start");
                cells = table.columns;
                ratio(table.top, table.bottom);
                return;
            }
            Map<String, Object> rule = Json.fields(device.get("start"), "kind", "edges", "labels");
            List<Object> given = Json.list(rule.get("edges"));
            List<Object> named = Json.list(rule.get("labels"));
            need("edges".equals(rule.get("kind")) && named.size() == given.size() + 1, "start");
            edges = new double[given.size()];
            labels = new int[named.size()];
            for (int i = 0; i < labels.length; i++) {
                labels[i] = (int) Json.integer(named.get(i), 0, table.rows.length - 1);
                if (i < edges.length) edges[i] = Json.real(given.get(i));
                need(i == 0 || i >= edges.length || edges[i] >= edges[i - 1], "start");
            }
            cells = table.columns;
            ratio(table.top, table.bottom);
        }

        @Override
        long cell(double value, Source source) {
            int index = 0;
            if (labels == null) {
                for (int i = 1; i < edges.length - 1; i++) if (edges[i] <= value) index++;
                long parts = (long) ((value - edges[index]) / (edges[index + 1] - edges[index]) * 4294967296.0 + 0.5);
                return table.rows[index + (Uniform.bits(source, 32) < parts ? 1 : 0)].draw(source);
            }
            for (double edge : edges) if (edge <= value) index++;
            return table.rows[labels[index]].draw(source);
        }
    }

    // Noise on a lattice: docs/wire.md has the weights.

    private static final Map<String, BigInteger[]> WEIGHED = new HashMap<>(); // cache of texts that were read

    private static BigInteger[] weigh(Map<String, Object> noise, String kind) {
        String text = kind + Json.write(noise);
        synchronized (WEIGHED) {
            BigInteger[] known = WEIGHED.get(text);
            if (known == null) {
                known = weighed(noise, kind);
                if (WEIGHED.size() >= 8) WEIGHED.clear();
                WEIGHED.put(text, known);
            }
            return known;
        }
    }

    private static BigInteger[] weighed(Map<String, Object> noise, String kind) {
        boolean stairs = "stairs".equals(noise.get("decay"));
        if (stairs) Json.fields(noise, "base", "decay", "digest", "reach", "run", "first");
        else Json.fields(noise, "base", "decay", "digest", "reach");
        BigInteger base = Json.hexadecimal(noise.get("base"), 64);
        int reach = (int) Json.integer(noise.get("reach"), 1, 32768);
        need(base.signum() > 0, "step");
        BigInteger[] values = new BigInteger[reach + 1];
        BigInteger last;
        BigInteger beyond;
        if ("normal".equals(noise.get("decay"))) {
            BigInteger value = ONE;
            BigInteger factor = base;
            for (int z = 0; z <= reach; z++) {
                values[z] = value;
                value = value.multiply(factor).shiftRight(256);
                factor = factor.multiply(base).multiply(base).shiftRight(512);
            }
            // Quotients of successive terms decrease, so a geometric series with the first one is an upper bound.
            BigInteger quotient = ONE;
            BigInteger square = base;
            for (int exponent = 2 * reach + 1; exponent > 0; exponent >>= 1) {
                if ((exponent & 1) == 1) quotient = quotient.multiply(square).shiftRight(256);
                square = square.multiply(square).shiftRight(256);
            }
            beyond = values[reach].multiply(ONE).divide(ONE.subtract(quotient));
        } else {
            need(stairs || "geometric".equals(noise.get("decay")), "draw");
            long run = stairs ? Json.integer(noise.get("run"), 1, 1L << 52) : 1; // geometric weights are stairs of one step
            long first = stairs ? Json.integer(noise.get("first"), 1, run) : 1;
            BigInteger value = ONE;
            for (int z = 0; z <= reach; z++) {
                if (z >= first && (z - first) % run == 0) value = value.multiply(base).shiftRight(256);
                values[z] = value;
            }
            long rest = Math.floorMod(first - reach, run);
            beyond = values[reach].multiply(BigInteger.valueOf(rest == 0 ? run : rest))
                    .add(values[reach].multiply(base).divide(ONE.subtract(base)).multiply(BigInteger.valueOf(run)));
        }
        if (kind.equals("clamped")) values[reach] = beyond;
        int copies = kind.equals("ring") ? 1 : 2;
        BigInteger mass = ONE.negate().add(values[reach].multiply(BigInteger.valueOf(copies)));
        for (int z = 0; z < reach; z++) mass = mass.add(values[z].shiftLeft(1));
        BigInteger all = Coin.ALL.subtract(BigInteger.ONE.shiftLeft(40));
        BigInteger[] weights = new BigInteger[reach + 1];
        weights[0] = Coin.ALL;
        for (int z = 1; z <= reach; z++) {
            weights[z] = values[z].multiply(all).add(mass).subtract(BigInteger.ONE).divide(mass);
            if (kind.equals("bounded")) weights[z] = weights[z].max(BigInteger.ONE.shiftLeft(32));
            weights[0] = weights[0].subtract(weights[z].multiply(BigInteger.valueOf(z < reach ? 2 : copies)));
        }
        byte[] content = new byte[17 * weights.length];
        for (int z = 0; z <= reach; z++) {
            need(weights[z].signum() > 0, "step");
            need(z == 0 || z == reach && kind.equals("clamped") || weights[z - 1].compareTo(weights[z]) >= 0, "step");
            byte[] big = weights[z].toByteArray();
            for (int i = 0; i < Math.min(big.length, 17); i++) content[17 * z + i] = big[big.length - 1 - i];
        }
        need(Json.digest(content, 16).equals(noise.get("digest")), "fingerprint");
        return weights;
    }

    private static Cells lattice(Line line, Map<String, Object> device) {
        Map<String, Object> shape = Json.object(device.get("lattice"));
        Map<String, Object> rule = Json.object(device.get("start"));
        Map<String, Object> noise = Json.object(shape.get("noise"));
        String kind = Json.string(shape.get("kind"));
        boolean normal = "normal".equals(noise.get("decay"));
        need(kind.equals("clamped") || (kind.equals("ring") || kind.equals("bounded")) && !normal, "draw");
        BigInteger[] w = weigh(noise, kind);
        int reach = w.length - 1;
        need("line".equals(rule.get("kind")), "start");
        Start start = Start.read(rule, 2L * reach, line);
        if (kind.equals("ring")) {
            Json.fields(shape, "kind", "noise");
            need(Double.valueOf(0).equals(rule.get("fraction")), "start");
            BigInteger[] row = Arrays.copyOf(w, 2 * reach);
            for (int z = 1; z < reach; z++) row[2 * reach - z] = w[z];
            Cells ring = new Noise(line, new Alias(row)) {
                @Override
                long cell(double value, Source source) {
                    return Math.floorMod(start.of(value, source) + alias.draw(source), cells);
                }
            };
            ring.cells = 2L * reach;
            ring.ratio(w[0], w[reach]);
            return ring;
        }
        BigInteger[] row = new BigInteger[2 * reach + 1];
        for (int z = 0; z <= reach; z++) row[reach + z] = row[reach - z] = w[z];
        Alias alias = new Alias(row);
        return kind.equals("bounded") ? bounded(line, shape, rule, start, alias, w) : clamped(line, shape, rule, start, alias, w, normal);
    }

    /** Noise that is added to a start. */
    private abstract static class Noise extends Cells {
        final Alias alias;

        Noise(Line line, Alias alias) {
            super(line);
            this.alias = alias;
        }
    }

    private static Cells bounded(Line line, Map<String, Object> shape, Map<String, Object> rule, Start start, Alias table, BigInteger[] w) {
        int reach = w.length - 1;
        Json.fields(shape, "kind", "noise", "shift");
        need(Double.valueOf(0).equals(rule.get("fraction")) && Double.valueOf(reach).equals(rule.get("last")), "start");
        Json.integer(shape.get("shift"), reach, reach); // a smaller one assumes that two values are near
        need(Json.real(rule.get("scale")) <= reach / (line.high - line.low), "start");
        // The total weight inside the domain, by step: between inputs k steps apart the ratio is at most the ratio of two weights times the ratio
        // of two totals, and it grows with k if these two products are at most 1.
        BigInteger[] sums = new BigInteger[reach + 1];
        BigInteger below = w[0].negate();
        for (int z = 0; z <= reach; z++) sums[z] = below = below.add(w[z]);
        BigInteger[] one = {BigInteger.ZERO, BigInteger.ONE};
        BigInteger[] two = {BigInteger.ZERO, BigInteger.ONE};
        for (int z = 0; z < reach; z++) {
            larger(one, w[z + 1], w[z]);
            larger(two, sums[z].add(sums[reach - z]), sums[z + 1].add(sums[reach - z - 1]), w[0]);
        }
        need(w[reach].compareTo(BigInteger.ONE.shiftLeft(32)) > 0, "step");
        need(one[0].multiply(two[0]).compareTo(one[1].multiply(two[1])) <= 0, "step");
        Cells read = new Noise(line, table) {
            @Override
            long cell(double value, Source source) {
                long step = start.of(value, source) - reach;
                for (;;) {
                    long index = step + alias.draw(source);
                    if (index >= 0 && index <= reach) return index;
                }
            }
        };
        read.cells = reach + 1L;
        read.ratio(w[0], w[reach]);
        return read;
    }

    private static void larger(BigInteger[] most, BigInteger top, BigInteger bottom) {
        if (top.multiply(most[1]).compareTo(most[0].multiply(bottom)) > 0) {
            most[0] = top;
            most[1] = bottom;
        }
    }

    private static void larger(BigInteger[] most, BigInteger top, BigInteger bottom, BigInteger more) {
        larger(most, top.add(more), bottom.add(more));
    }

    private static Cells clamped(
            Line line, Map<String, Object> shape, Map<String, Object> rule, Start start, Alias table, BigInteger[] w, boolean normal) {
        int reach = w.length - 1;
        Json.fields(shape, "kind", "noise", "fraction", "last");
        int fraction = (int) Json.integer(shape.get("fraction"), 1, 30);
        long step = 1L << fraction;
        long last = Json.integer(shape.get("last"), 1, (1L << 31) - step);
        int steps = (int) (last + step - 1 >> fraction);
        need(Double.valueOf(last).equals(rule.get("last")) && Double.valueOf(fraction).equals(rule.get("fraction")), "start");
        need(steps < reach && (last < step || last % step == 0), "cells");
        // The largest ratio is between the two ends of the domain: of two weights, or of the sums at the last report.
        BigInteger pile = BigInteger.ZERO;
        for (int z = reach - steps; z <= reach; z++) pile = pile.add(w[z]);
        BigInteger[] most = {pile, w[reach]};
        for (int z = 0; z < reach - steps; z++) larger(most, w[z], w[steps + z]);
        BigInteger all = BigInteger.valueOf(step);
        BigInteger share = BigInteger.valueOf(Math.min(last, step));
        Cells read = new Noise(line, table) {
            @Override
            long cell(double value, Source source) {
                long index = start.of(value, source) + alias.draw(source);
                return Math.min(Math.max(index, steps), 2L * reach) - steps;
            }
        };
        read.cells = 2L * reach - steps + 1;
        read.ratio(all.subtract(share).multiply(most[1]).add(share.multiply(most[0])), all.multiply(most[1]));
        BigInteger piled = pile;
        if (normal) read.gaussian = (factor, stated) -> delta(factor, stated, w, steps, last >= step, all, share, piled);
        return read;
    }

    /** Return the largest P(S | x) - e^ε·P(S | x'), between the two ends of the domain; outermost sums count completely. */
    private static double delta(
            BigInteger factor, Object stated, BigInteger[] w, int steps, boolean document, BigInteger all, BigInteger share, BigInteger pile) {
        int reach = w.length - 1;
        BigInteger first = BigInteger.ZERO;
        BigInteger second = BigInteger.ZERO;
        if (document) {
            for (int z = steps - reach + 1; z <= Math.floorDiv(steps, 2); z++) {
                BigInteger gain = FACTOR.multiply(w[Math.abs(z)]).subtract(factor.multiply(w[Math.abs(steps - z)]));
                first = first.add(all.multiply(gain.max(BigInteger.ZERO)));
            }
        } else {
            for (int z = 2 - reach; z < reach; z++) {
                BigInteger own = w[Math.abs(z)];
                BigInteger mixed = all.subtract(share).multiply(own).add(share.multiply(w[Math.abs(z - 1)]));
                first = first.add(FACTOR.multiply(all).multiply(own).subtract(factor.multiply(mixed)).max(BigInteger.ZERO));
                second = second.add(FACTOR.multiply(mixed).subtract(factor.multiply(all).multiply(own)).max(BigInteger.ZERO));
            }
        }
        BigInteger spent = first.max(second).add(FACTOR.multiply(all).multiply(pile));
        BigInteger total = FACTOR.multiply(all).multiply(Coin.ALL);
        double delta = Json.real(stated);
        need(delta > 0 && delta < 1 && new BigDecimal(delta).multiply(new BigDecimal(total)).compareTo(new BigDecimal(spent)) >= 0, "privacy");
        return new BigDecimal(spent.shiftLeft(128).add(total).subtract(BigInteger.ONE).divide(total)).doubleValue() * 0x1p-128;
    }
}
