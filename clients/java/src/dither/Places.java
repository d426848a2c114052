package dither;

import static dither.Malformed.need;

import dither.Uniform.Lottery;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Draws about places and paths: a value is a list of places, each two numbers. */
final class Places {
    private static final double SLACK = 1e-12; // relative to a side: the least room before the border
    private static final double TURN = 2 * Math.PI;
    private static final int FEW = 512; // candidates of which all pairs are compared

    private Places() {}

    /** Return a list of two numbers. */
    private static double[] pair(Object given) {
        List<Object> two = Json.list(given);
        need(two.size() == 2, "domain");
        return new double[] {Json.real(two.get(0)), Json.real(two.get(1))};
    }

    private static double clamp(double x, double low, double high) {
        return Math.min(Math.max(x, low), high);
    }

    /** An area: its places, its two coordinates, and how far steps go. */
    abstract static class Area {
        /** Return a place inside: the nearest in each coordinate, or along the radius. */
        abstract double[] clip(double[] place);

        /** Return the two numbers that a pair reports. */
        double[] axes(double[] place) {
            return place;
        }

        /** Return the length of a step over the distance to the border in its direction. */
        abstract double gauge(double[] at, double[] step);

        /** Return the largest distance of two places. */
        abstract double diameter();

        /** Return the ends of both sides of the box around the area; null of the sphere. */
        abstract double[][] box();
    }

    private static final class Rectangle extends Area {
        final double[] x;
        final double[] y;

        Rectangle(double[] x, double[] y) {
            this.x = x;
            this.y = y;
        }

        @Override
        double[] clip(double[] place) {
            return new double[] {clamp(place[0], x[0], x[1]), clamp(place[1], y[0], y[1])};
        }

        private static double towards(double[] side, double at, double step) {
            return Math.abs(step) / Math.max(step > 0 ? side[1] - at : at - side[0], SLACK * (side[1] - side[0]));
        }

        @Override
        double gauge(double[] at, double[] step) {
            return Math.max(towards(x, at[0], step[0]), towards(y, at[1], step[1]));
        }

        @Override
        double diameter() {
            return Math.hypot(x[1] - x[0], y[1] - y[0]);
        }

        @Override
        double[][] box() {
            return new double[][] {x, y};
        }
    }

    private static final class Disk extends Area {
        final double radius;
        final double[] centre;

        Disk(double radius, double[] centre) {
            this.radius = radius;
            this.centre = centre;
        }

        @Override
        double[] clip(double[] place) {
            double a = place[0] - centre[0];
            double b = place[1] - centre[1];
            double share = radius / Math.hypot(a, b);
            return share < 1 ? new double[] {centre[0] + a * share, centre[1] + b * share} : place;
        }

        @Override
        double gauge(double[] at, double[] step) {
            double a = at[0] - centre[0];
            double b = at[1] - centre[1];
            double least = SLACK * (radius * radius);
            double room = Math.max(radius * radius - (a * a + b * b), least);
            double along = a * step[0] + b * step[1];
            double square = step[0] * step[0] + step[1] * step[1];
            double root = Math.abs(along) + Math.sqrt(along * along + square * room);
            return along > 0 ? root / room : square / Math.max(root, least * SLACK);
        }

        @Override
        double diameter() {
            return 2 * radius;
        }

        @Override
        double[][] box() {
            return new double[][] {{centre[0] - radius, centre[0] + radius}, {centre[1] - radius, centre[1] + radius}};
        }
    }

    private static final class Parallelogram extends Area {
        private final double[] corner;
        private final double[] first;
        private final double[] second;
        private final double area;
        private final Rectangle unit = new Rectangle(new double[] {0, 1}, new double[] {0, 1});

        Parallelogram(double[] corner, double[] first, double[] second) {
            this.corner = corner;
            this.first = first;
            this.second = second;
            area = first[0] * second[1] - first[1] * second[0];
            need(Math.abs(area) > 1e-9 * Math.hypot(first[0], first[1]) * Math.hypot(second[0], second[1]), "domain");
        }

        private double[] along(double p, double q) {
            return new double[] {(p * second[1] - q * second[0]) / area, (q * first[0] - p * first[1]) / area};
        }

        @Override
        double[] axes(double[] place) {
            return unit.clip(along(place[0] - corner[0], place[1] - corner[1]));
        }

        @Override
        double[] clip(double[] place) {
            double[] exact = along(place[0] - corner[0], place[1] - corner[1]);
            double[] st = axes(place);
            if (Math.max(Math.abs(exact[0] - st[0]), Math.abs(exact[1] - st[1])) <= SLACK) return place;
            return new double[] {
                corner[0] + st[0] * first[0] + st[1] * second[0], corner[1] + st[0] * first[1] + st[1] * second[1]
            };
        }

        @Override
        double gauge(double[] at, double[] step) {
            return unit.gauge(axes(at), along(step[0], step[1]));
        }

        @Override
        double diameter() {
            return Math.max(Math.hypot(first[0] + second[0], first[1] + second[1]), Math.hypot(first[0] - second[0], first[1] - second[1]));
        }

        @Override
        double[][] box() {
            double[][] box = new double[2][];
            for (int i = 0; i < 2; i++) box[i] = extent(corner[i], corner[i] + first[i], corner[i] + second[i], corner[i] + (first[i] + second[i]));
            return box;
        }
    }

    /** Longitude and latitude; a longitude is an angle; a pair counts it from -180°. */
    private static final class Sphere extends Area {
        @Override
        double[] clip(double[] place) {
            double turned = (place[0] + 180) % 360;
            double inside = Math.abs(place[0]) <= 180 ? place[0] : (turned < 0 ? turned + 360 : turned) - 180;
            return new double[] {inside, clamp(place[1], -90, 90)};
        }

        @Override
        double[] axes(double[] place) {
            return new double[] {place[0] + 180, place[1]};
        }

        @Override
        double gauge(double[] at, double[] step) {
            return 1;
        }

        @Override
        double diameter() {
            throw new Malformed("domain");
        }

        @Override
        double[][] box() {
            return null;
        }
    }

    private static double[] side(Object given) {
        Map<String, Object> ends = Json.fields(given, "kind", "low", "high");
        double[] side = {Json.real(ends.get("low")), Json.real(ends.get("high"))};
        need("interval".equals(ends.get("kind")) && side[0] < side[1], "domain");
        extent(side);
        return side;
    }

    /** Refuse ends of an interval, or of a side of the box around an area, that doubles would not hold well. */
    private static double[] extent(double... numbers) {
        double low = numbers[0];
        double high = numbers[0];
        for (double x : numbers) {
            low = Math.min(low, x);
            high = Math.max(high, x);
        }
        need(low >= -1e30 && high <= 1e30 && high - low >= 1e-30, "domain");
        return new double[] {low, high};
    }

    private static double radius(Map<String, Object> domain) {
        double radius = Json.real(domain.get("radius"));
        need(radius > 0, "domain");
        extent(0, radius);
        return radius;
    }

    static Area area(Object given, Object outside) {
        Map<String, Object> domain = Json.object(given);
        need("clip".equals(outside), "domain");
        switch (Json.string(domain.get("kind"))) {
            case "rectangle":
                Json.fields(domain, "kind", "x", "y");
                return new Rectangle(side(domain.get("x")), side(domain.get("y")));
            case "disk":
                Json.fields(domain, "kind", "radius", "centre");
                double radius = radius(domain);
                double[] centre = pair(domain.get("centre"));
                for (double x : centre) extent(x - radius, x + radius);
                return new Disk(radius, centre);
            case "parallelogram":
                Json.fields(domain, "kind", "corner", "first", "second");
                double[] corner = pair(domain.get("corner"));
                double[] first = pair(domain.get("first"));
                double[] second = pair(domain.get("second"));
                extent(0, Math.hypot(first[0], first[1]));
                extent(0, Math.hypot(second[0], second[1]));
                for (int i = 0; i < 2; i++) extent(corner[i], corner[i] + first[i], corner[i] + second[i], corner[i] + (first[i] + second[i]));
                return new Parallelogram(corner, first, second);
            default:
                Json.fields(domain, "kind", "radius");
                need("sphere".equals(domain.get("kind")), "domain");
                radius(domain);
                return new Sphere();
        }
    }

    /** Return the two finite numbers of a value, or null. */
    private static double[] place(Object value) {
        Object[] two = value instanceof List ? ((List<?>) value).toArray()
                : value instanceof double[] && ((double[]) value).length == 2 ? new Object[] {((double[]) value)[0], ((double[]) value)[1]}
                : new Object[0];
        if (two.length != 2 || !(two[0] instanceof Number) || !(two[1] instanceof Number)) return null;
        double[] read = {((Number) two[0]).doubleValue() + 0.0, ((Number) two[1]).doubleValue() + 0.0};
        return Double.isNaN(read[0] - read[0]) || Double.isNaN(read[1] - read[1]) ? null : read; // infinity less itself is NaN
    }

    /** Return the places of a path inside an area, or null for other values. */
    static List<double[]> locations(Area area, Object value) {
        Object[] given = value instanceof List ? ((List<?>) value).toArray() : value instanceof double[][] ? (double[][]) value : new Object[0];
        List<double[]> path = new ArrayList<>();
        for (Object one : given) {
            double[] place = place(one);
            if (place == null) return null;
            path.add(area.clip(place));
        }
        return path.isEmpty() ? null : path;
    }

    /** A draw about a path: for each location numbers, preceded by 1 for the first and 0 for the others, all equally wide. */
    private abstract static class Path extends Draw {
        final Area area;
        int width;

        Path(Area area) {
            this.area = area;
            path = true;
        }

        @Override
        Object input(Object value) {
            return locations(area, value);
        }

        @SuppressWarnings("unchecked")
        @Override
        byte[] draw(Object input, Source source) {
            List<double[]> path = (List<double[]>) input;
            long[][] rows = rows(path, source);
            long[] all = new long[rows.length * (1 + rows[0].length)];
            all[0] = 1;
            for (int i = 0; i < rows.length; i++) System.arraycopy(rows[i], 0, all, i * (1 + rows[i].length) + 1, rows[i].length);
            return Lists.wide(all, width);
        }

        /** Return the numbers of each location. */
        long[][] rows(List<double[]> path, Source source) {
            long[][] rows = new long[path.size()][];
            for (int i = 0; i < rows.length; i++) rows[i] = numbers(path.get(i), source);
            return rows;
        }

        long[] numbers(double[] place, Source source) {
            throw new IllegalStateException(); // those that are drawn together
        }
    }

    static Draw read(String kind, Map<String, Object> device) {
        if (kind.equals("box")) {
            Json.fields(device, "domain", "draw", "outside", "cells", "width", "step", "bits", "selector");
            return new Box(device);
        }
        Area area = area(device.get("domain"), device.get("outside"));
        String[] more;
        Draw read;
        switch (kind) {
            case "pair":
                need(!(area instanceof Disk), "domain");
                more = new String[] {"first", "second"};
                read = new Pair(area, device);
                break;
            case "polar":
                need(area instanceof Disk, "domain");
                more = new String[] {"first", "second"};
                read = new Polar((Disk) area, device);
                break;
            case "walk":
                need(!(area instanceof Sphere), "domain");
                more = device.containsKey("reference")
                        ? new String[] {"first", "second", "start", "codebooks", "reference"}
                        : new String[] {"first", "second", "start", "codebooks"};
                read = new Walk(area, device);
                break;
            case "nearest":
                more = new String[] {"cells", "width", "step", "bits", "selector"};
                read = new Nearest(area, device);
                break;
            case "planar":
                more = new String[] {"origin", "spacing", "fall", "per", "reach"};
                read = new Planar(area, device);
                break;
            case "rings":
                more = new String[] {"first", "width", "fall", "origin", "spacing", "reach"};
                read = new Rings(area, device);
                break;
            case "points":
                more = new String[] {"points", "weights"};
                read = new Points(area, device);
                break;
            case "grid":
                need(area instanceof Rectangle, "domain");
                more = new String[] {"side", "low", "high"};
                read = new Grid((Rectangle) area, device);
                break;
            default:
                more = new String[] {"points", "anchor", "sector", "choice", "odds"};
                read = new Copies(area, device);
        }
        String[] all = Arrays.copyOf(more, more.length + 3);
        System.arraycopy(new String[] {"domain", "draw", "outside"}, 0, all, more.length, 3);
        Json.fields(device, all);
        return read;
    }

    /** Two cells for each location, one for each of two numbers. */
    private static class Pair extends Path {
        final Lines.Cells first;
        final Lines.Cells second;

        Pair(Area area, Map<String, Object> device) {
            super(area);
            first = part(device.get("first"));
            second = part(device.get("second"));
            width = Draw.width(Math.max(first.cells, second.cells));
            ratio(first.top.multiply(second.top), first.bottom.multiply(second.bottom));
            double[][] ends = ends();
            need(is(first, ends[0], area instanceof Sphere || this instanceof Walk) && is(second, ends[1], this instanceof Polar), "domain");
        }

        /** Return the ends of the two numbers; an angle begins at 0. */
        private double[][] ends() {
            if (this instanceof Walk) return new double[][] {{0, TURN}, {0, 1}};
            if (area instanceof Disk) return new double[][] {{0, ((Disk) area).radius}, {0, TURN}};
            if (area instanceof Rectangle) return new double[][] {((Rectangle) area).x, ((Rectangle) area).y};
            return area instanceof Sphere ? new double[][] {{0, 360}, {-90, 90}} : new double[][] {{0, 1}, {0, 1}};
        }

        private static boolean is(Lines.Cells part, double[] ends, boolean turns) {
            return part.line.turns == turns && part.line.low == ends[0] && part.line.high == ends[1];
        }

        private static Lines.Cells part(Object given) {
            Map<String, Object> part = Json.object(given);
            need(!part.containsKey("outside"), "fields");
            Object outside = "circle".equals(Json.object(part.get("domain")).get("kind")) ? "wrap" : "clip";
            need(!"optional".equals(part.get("draw")), "draw");
            Lines.Cells read = Lines.read(Json.string(part.get("draw")), part, outside);
            need(read.gaussian == null, "draw");
            return read;
        }

        long[] cells(double one, double two, Source source) {
            return new long[] {first.cell(first.line.input(one), source), second.cell(second.line.input(two), source)};
        }

        @Override
        long[] numbers(double[] place, Source source) {
            double[] axes = area.axes(place);
            return cells(axes[0], axes[1], source);
        }

        /** Return the direction of a step, from 0 to 2π. */
        static double angle(double across, double up) {
            double angle = Math.atan2(up, across);
            return angle < 0 ? angle + TURN : angle;
        }
    }

    /** The distance from the centre of a disk, and the direction. A value is a path of one place, or the place itself. */
    private static final class Polar extends Pair {
        private final Disk disk;

        Polar(Disk disk, Map<String, Object> device) {
            super(disk, device);
            this.disk = disk;
        }

        @Override
        Object input(Object value) {
            boolean path = value instanceof double[][] || value instanceof List && !((List<?>) value).isEmpty() && !(((List<?>) value).get(0) instanceof Number);
            Object input = super.input(path ? value : Arrays.asList(value));
            return input != null && ((List<?>) input).size() == 1 ? input : null;
        }

        @Override
        byte[] draw(Object input, Source source) {
            double[] place = (double[]) ((List<?>) input).get(0);
            double across = place[0] - disk.centre[0];
            double up = place[1] - disk.centre[1];
            return Lists.wide(cells(Math.min(Math.hypot(across, up), disk.radius), angle(across, up), source), width);
        }
    }

    /** The number of a cell. */
    private static final class Codebook {
        private double[] values;
        private double offset;
        private double step;
        private double low = Double.NEGATIVE_INFINITY;
        private double high = Double.POSITIVE_INFINITY;

        Codebook(Object given, long cells) {
            Map<String, Object> fields = Json.object(given);
            need(cells <= 1 << 20, "cells");
            if (!fields.containsKey("values")) {
                for (String name : fields.keySet()) need(Arrays.asList("offset", "step", "low", "high").contains(name), "fields");
                offset = Json.real(fields.get("offset"));
                step = Json.real(fields.get("step"));
                if (fields.containsKey("low")) low = Json.real(fields.get("low"));
                if (fields.containsKey("high")) high = Json.real(fields.get("high"));
                return;
            }
            Json.fields(fields, "values", "runs");
            List<Object> listed = Json.list(fields.get("values"));
            List<Object> runs = Json.list(fields.get("runs"));
            need(listed.size() == runs.size(), "fields");
            values = new double[(int) cells];
            int length = 0;
            for (int i = 0; i < listed.size(); i++) {
                int end = length + (int) Json.integer(runs.get(i), 1, cells - length);
                Arrays.fill(values, length, end, Json.real(listed.get(i)));
                length = end;
            }
            need(length == cells, "cells");
        }

        double of(long cell) {
            return values == null ? clamp(offset + step * cell, low, high) : values[(int) cell];
        }
    }

    /** The direction from the last report's place, and the share of the way to the border. */
    private static final class Walk extends Pair {
        private final double[] start;
        private final Codebook turns;
        private final Codebook shares;
        private final boolean fixed;

        Walk(Area area, Map<String, Object> device) {
            super(area, device);
            start = pair(device.get("start"));
            double[] inside = area.clip(start);
            double slack = area instanceof Disk ? SLACK * ((Disk) area).radius : 0; // largest distance outside by rounding
            need(Math.abs(inside[0] - start[0]) <= slack && Math.abs(inside[1] - start[1]) <= slack, "start");
            List<Object> books = Json.list(device.get("codebooks"));
            need(books.size() == 2, "start");
            turns = new Codebook(books.get(0), first.cells);
            shares = new Codebook(books.get(1), second.cells);
            fixed = device.containsKey("reference");
            need(!fixed || "fixed".equals(device.get("reference")), "reference");
        }

        @Override
        long[][] rows(List<double[]> path, Source source) {
            double[] at = start;
            long[][] rows = new long[path.size()][];
            for (int i = 0; i < rows.length; i++) {
                double[] way = {path.get(i)[0] - at[0], path.get(i)[1] - at[1]};
                rows[i] = cells(angle(way[0], way[1]), Math.min(area.gauge(at, way), 1), source);
                if (fixed) continue;
                double turn = turns.of(rows[i][0]);
                double[] unit = {Math.cos(turn), Math.sin(turn)};
                double length = clamp(shares.of(rows[i][1]), 0, 1) / area.gauge(at, unit);
                at = new double[] {at[0] + unit[0] * length, at[1] + unit[1] * length};
            }
            return rows;
        }
    }

    /** One of the K nearest of N points, or any. */
    private static final class Nearest extends Path {
        private final Selector selector;

        Nearest(Area area, Map<String, Object> device) {
            super(area);
            selector = new Selector(device, area instanceof Sphere ? 0 : 2);
            width = Draw.width(selector.window.cells);
            ratio(selector.window.top, selector.window.bottom);
        }

        @Override
        long[] numbers(double[] place, Source source) {
            return new long[] {selector.draw(place, source)};
        }
    }

    /** Several numbers together. */
    private static final class Box extends Draw {
        private final Records records;
        private final Selector selector;

        Box(Map<String, Object> device) {
            records = new Records(device);
            selector = new Selector(device, records.ends.length);
            need(Arrays.deepEquals(records.ends, selector.box), "selector");
            ratio(selector.window.top, selector.window.bottom);
        }

        @Override
        Object input(Object value) {
            return records.input(value);
        }

        @Override
        byte[] draw(Object input, Source source) {
            return Draw.cell(selector.draw((double[]) input, source), selector.window.cells);
        }
    }

    /** The rule from a value to its K nearest points: a box has `sides` axes, and a sphere three. */
    private static final class Selector {
        final Lists.Near window;
        final double[][] box;
        private final int[] scales;
        private final int grain;
        private final int[][] points;

        Selector(Map<String, Object> device, int count) {
            window = new Lists.Near(device);
            Map<String, Object> given = Json.object(device.get("selector"));
            boolean grid = "grid".equals(given.get("kind"));
            if (grid) Json.fields(given, "kind", "box", "scales", "grain", "per", "scale");
            else Json.fields(given, "kind", "box", "scales", "grain", "points");
            need(grid || "points".equals(given.get("kind")), "selector");
            boolean round = count == 0;
            int axes = round ? 3 : count;
            need(round == (given.get("box") == null), "selector");
            box = round ? null : new double[count][];
            if (!round) {
                need(Json.list(given.get("box")).size() == count, "selector");
                for (int i = 0; i < count; i++) {
                    box[i] = pair(Json.list(given.get("box")).get(i));
                    need(box[i][0] >= -1e30 && box[i][1] <= 1e30 && box[i][1] - box[i][0] >= 1e-30, "selector");
                }
            }
            grain = 1 << Json.integer(given.get("grain"), 0, 12);
            List<Object> sides = Json.list(given.get("scales"));
            need(sides.size() == axes, "selector");
            scales = new int[axes];
            for (int i = 0; i < axes; i++) scales[i] = (int) Json.integer(sides.get(i), 1, 511);
            points = grid ? gridded(given, axes) : listed(given, axes);
            need(points.length == window.cells, "selector");
        }

        private static int[][] listed(Map<String, Object> given, int axes) {
            int[] flat = Lists.unpack(given.get("points"));
            need(flat.length % axes == 0, "selector");
            int[][] points = new int[flat.length / axes][];
            for (int i = 0; i < points.length; i++) points[i] = Arrays.copyOfRange(flat, i * axes, (i + 1) * axes);
            return points;
        }

        private static int[][] gridded(Map<String, Object> given, int axes) {
            List<Object> per = Json.list(given.get("per"));
            long scale = Json.integer(given.get("scale"), 0, 65536);
            need(given.get("box") != null && per.size() == axes, "selector");
            long[] counts = new long[axes];
            long all = 1;
            for (int i = 0; i < axes; i++) {
                counts[i] = Json.integer(per.get(i), 1, 65536);
                need((all *= counts[i]) <= 65536, "selector");
            }
            int[][] points = new int[(int) all][axes];
            for (int j = 0; j < points.length; j++) {
                long rest = j;
                for (int i = axes - 1; i >= 0; rest /= counts[i--]) points[j][i] = place(rest % counts[i], counts[i], scale);
            }
            return points;
        }

        private static int place(long i, long count, long scale) {
            return (int) Math.min(32768 + Math.floorDiv((2 * i + 1 - count) * scale, 2 * count), 65535);
        }

        private static int integer(double x) {
            return (int) Math.min(Math.max(Math.floor(x), 0), 65535);
        }

        private int[] integers(double[] place) {
            if (box != null) {
                int[] at = new int[box.length];
                for (int i = 0; i < at.length; i++) at[i] = integer((place[i] - box[i][0]) / (box[i][1] - box[i][0]) * 65536);
                return at;
            }
            double across = place[0] * (Math.PI / 180);
            double up = place[1] * (Math.PI / 180);
            double level = Math.cos(up);
            return new int[] {
                integer(32767 * (level * Math.cos(across)) + 32768.5),
                integer(32767 * (level * Math.sin(across)) + 32768.5),
                integer(32767 * Math.sin(up) + 32768.5)
            };
        }

        long draw(double[] place, Source source) {
            int[] at = integers(place);
            long[] far = new long[points.length];
            for (int i = 0; i < at.length; i++) {
                int x = at[i] - at[i] % grain + grain / 2;
                for (int j = 0; j < points.length; j++) {
                    long gap = (long) scales[i] * (x - points[j][i]);
                    far[j] += gap * gap;
                }
            }
            Integer[] order = new Integer[points.length];
            for (int j = 0; j < order.length; j++) order[j] = j;
            Arrays.sort(order, Comparator.comparingLong(j -> far[j])); // equal distances stay in the order of the numbers
            int[] near = new int[window.width];
            for (int j = 0; j < near.length; j++) near[j] = order[j];
            return window.draw(near, 0, source);
        }
    }

    /** The nearest point of a lattice, plus noise in the plane. */
    private abstract static class Noise extends Path {
        private final double[] origin;
        private final double spacing;
        final long reach;

        Noise(Area area, Map<String, Object> device) {
            super(area);
            width = 4;
            origin = pair(device.get("origin"));
            spacing = Json.real(device.get("spacing"));
            reach = Json.integer(device.get("reach"), 1, (1L << 53) - 1);
            need(spacing > 0 && reach >= Math.ceil(area.diameter() / spacing * (1 + 1e-9) + Math.sqrt(2)), "cells");
        }

        abstract long[] offset(Source source);

        @Override
        long[] numbers(double[] place, Source source) {
            long[] offset = offset(source);
            for (int i = 0; i < 2; i++) {
                long point = (long) Math.rint((place[i] - origin[i]) / spacing) + offset[i];
                offset[i] = Math.min(Math.max(point, -Integer.MAX_VALUE), Integer.MAX_VALUE);
            }
            return offset;
        }
    }

    private static final class Planar extends Noise {
        private final long fall;
        private final long per;

        Planar(Area area, Map<String, Object> device) {
            super(area, device);
            fall = Json.integer(device.get("fall"), 1, (1L << 53) - 1);
            per = Json.integer(device.get("per"), 1, 1L << 52);
        }

        @Override
        boolean keeps(BigInteger bound, int bits, double epsilon) {
            // The exponent is rational: fall·reach/per over the complete area.
            return new BigDecimal(BigInteger.valueOf(fall).multiply(BigInteger.valueOf(reach)))
                    .compareTo(new BigDecimal(epsilon).multiply(new BigDecimal(per))) <= 0;
        }

        private static boolean heads(Source source, long h, long m) {
            long k = 1;
            while (Uniform.word(source, m * k) < h) k++;
            return k % 2 == 1;
        }

        private long geometric(Source source) {
            long low;
            do low = Uniform.word(source, per);
            while (!heads(source, low, per));
            long count = 0;
            while (heads(source, 1, 1)) count++;
            return (low + per * count) / fall;
        }

        @Override
        long[] offset(Source source) {
            for (;;) {
                long g = geometric(source) + geometric(source) + geometric(source);
                long right = Uniform.ticket(source, 2 * g + 2) - g - 1;
                long up = Uniform.ticket(source, 2 * g + 4) - g - 2;
                BigInteger square = BigInteger.valueOf(right).pow(2).add(BigInteger.valueOf(up).pow(2));
                if (square.compareTo(BigInteger.valueOf(g).multiply(BigInteger.valueOf(g + 2))) <= 0) return new long[] {right, up};
            }
        }
    }

    private static final class Rings extends Noise {
        private final long first;
        private final long wide;
        private final BigInteger fall;
        private final BigInteger[] ends = new BigInteger[3];

        Rings(Area area, Map<String, Object> device) {
            super(area, device);
            wide = Json.integer(device.get("width"), 1, 1 << 24);
            first = Json.integer(device.get("first"), 1, wide);
            fall = Json.hexadecimal(device.get("fall"), 16);
            need(fall.signum() > 0, "step");
            BigInteger rest = BigInteger.ONE.shiftLeft(64).subtract(fall);
            ends[0] = BigInteger.valueOf(first * first).multiply(rest.pow(2));
            ends[1] = ends[0].add(BigInteger.valueOf(wide * wide + 2 * first * wide).multiply(fall).multiply(rest));
            ends[2] = ends[1].add(BigInteger.valueOf(2 * wide * wide).multiply(fall.pow(2)));
            long begun = (reach + wide - 1) / wide;
            if (begun <= 64) ratio(BigInteger.ONE.shiftLeft((int) (64 * begun)), fall.pow((int) begun));
        }

        @Override
        long[] offset(Source source) {
            int digits = ends[2].bitLength();
            int count = digits + 63 >> 6;
            for (;;) {
                BigInteger drawn;
                do {
                    drawn = BigInteger.ZERO;
                    for (int i = 0; i < count; i++) {
                        BigInteger word = Uniform.large(source, 64);
                        drawn = i == 0 ? word.shiftRight(64 * count - digits) : drawn.shiftLeft(64).or(word);
                    }
                } while (drawn.compareTo(ends[2]) >= 0);
                int kind = drawn.compareTo(ends[0]) < 0 ? 0 : drawn.compareTo(ends[1]) < 0 ? 1 : 2;
                long j = kind;
                for (int i = 0; i <= kind; i++) while (Uniform.large(source, 64).compareTo(fall) < 0) j++;
                long radius = first + j * wide;
                long right = Uniform.ticket(source, 2 * radius) - radius;
                long up = Uniform.ticket(source, 2 * radius) - radius;
                if (right * right + up * up < radius * radius) return new long[] {right, up};
            }
        }
    }

    // Weights by distance, in doubles: private for any doubles, because the weights are compared here.

    private static double apart(double[] one, double[] two) {
        double x = one[0] - two[0];
        double y = one[1] - two[1];
        return Math.sqrt(x * x + y * y);
    }

    private static double[] apart(double[] own, double[][] points) {
        double[] gaps = new double[points.length];
        for (int i = 0; i < gaps.length; i++) gaps[i] = apart(own, points[i]);
        return gaps;
    }

    /** Return the first place of the smallest number. */
    private static int least(double[] numbers) {
        int best = 0;
        for (int i = 1; i < numbers.length; i++) if (numbers[i] < numbers[best]) best = i;
        return best;
    }

    private static double[][] points(Object given) {
        List<Object> listed = Json.list(given);
        need(listed.size() >= 2 && listed.size() <= 1 << 15, "cells");
        double[][] points = new double[listed.size()][];
        for (int i = 0; i < points.length; i++) {
            points[i] = pair(listed.get(i));
            need(Math.abs(points[i][0]) <= 1e30 && Math.abs(points[i][1]) <= 1e30, "cells"); // the squares of distances are finite
        }
        return points;
    }

    /** Weights from high, of the nearest candidate, to low, of the farthest; 0 for other points. */
    private static final class Grades {
        final long low;
        final long high;

        Grades(Map<String, Object> given) {
            low = Json.integer(given.get("low"), 1, 1L << 40);
            high = Json.integer(given.get("high"), low, 1L << 40);
        }

        long[] of(double[] gaps, boolean[] some) {
            double near = Double.POSITIVE_INFINITY;
            double far = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < gaps.length; i++) {
                if (!some[i]) continue;
                near = Math.min(near, gaps[i]);
                far = Math.max(far, gaps[i]);
            }
            double spread = far > near ? far - near : 1;
            double fall = Math.log((double) low / high);
            long[] weights = new long[gaps.length];
            for (int i = 0; i < gaps.length; i++) {
                if (!some[i]) continue;
                long weight = (long) Math.rint(high * Math.exp(clamp((gaps[i] - near) / spread, 0, 1) * fall));
                weights[i] = Math.min(Math.max(weight, low), high);
            }
            return weights;
        }
    }

    private static boolean[] all(int count) {
        boolean[] every = new boolean[count];
        Arrays.fill(every, true);
        return every;
    }

    /** Set the ratio of a draw to the largest one over all rows of weights; none if a weight is 0, or with too many weights. */
    private static void compare(Draw draw, long[][] rows) {
        BigInteger[] totals = new BigInteger[rows.length];
        for (int i = 0; i < rows.length; i++) {
            long total = 0;
            for (long weight : rows[i]) total += weight;
            totals[i] = BigInteger.valueOf(total);
        }
        draw.ratio(BigInteger.ONE, BigInteger.ONE);
        for (int j = 0; j < rows[0].length; j++) {
            int most = 0;
            int least = 0;
            for (int i = 1; i < rows.length; i++) {
                if (product(rows[i][j], totals[most]).compareTo(product(rows[most][j], totals[i])) > 0) most = i;
                if (product(rows[i][j], totals[least]).compareTo(product(rows[least][j], totals[i])) < 0) least = i;
            }
            BigInteger top = product(rows[most][j], totals[least]);
            BigInteger bottom = product(rows[least][j], totals[most]);
            if (top.multiply(draw.bottom).compareTo(draw.top.multiply(bottom)) > 0) draw.ratio(top, bottom);
            if (bottom.signum() == 0) return;
        }
    }

    private static BigInteger product(long weight, BigInteger total) {
        return BigInteger.valueOf(weight).multiply(total);
    }

    private static final class Points extends Path {
        private final double[][] points;
        private final Grades grades;
        private final double reach;
        private double[] radii;
        private long[] levels;
        private long[][] table;

        Points(Area area, Map<String, Object> device) {
            super(area);
            points = points(device.get("points"));
            width = Draw.width(points.length);
            Map<String, Object> rule = Json.object(device.get("weights"));
            boolean falling = "falling".equals(rule.get("kind"));
            if (falling) Json.fields(rule, "kind", "low", "high", "reach");
            grades = falling ? new Grades(rule) : null;
            reach = falling && rule.get("reach") != null ? Json.real(rule.get("reach")) : Double.POSITIVE_INFINITY;
            if ("listed".equals(rule.get("kind"))) {
                Json.fields(rule, "kind", "values", "rows");
                table = table(Json.list(rule.get("values")), Json.list(rule.get("rows")));
            } else if (!falling) {
                Json.fields(rule, "kind", "levels", "radii");
                need("rings".equals(rule.get("kind")) && Json.list(rule.get("levels")).size() == 3, "draw");
                radii = pair(rule.get("radii"));
                need(0 < radii[0] && radii[0] < radii[1], "cells");
                levels = new long[3];
                for (int i = 0; i < 3; i++) levels[i] = Json.integer(Json.list(rule.get("levels")).get(i), 1, 1L << 40);
            }
            if (points.length > FEW) return; // no bound
            long[][] rows = new long[points.length][];
            for (int i = 0; i < rows.length; i++) rows[i] = weights(i);
            compare(this, rows);
        }

        private long[][] table(List<Object> values, List<Object> listed) {
            need(points.length <= 1 << 10 && listed.size() == points.length, "cells");
            long[] weights = new long[values.size()];
            for (int i = 0; i < weights.length; i++) weights[i] = Json.integer(values.get(i), 1, 1L << 40);
            long[][] rows = new long[points.length][points.length];
            for (int i = 0; i < rows.length; i++) {
                List<Object> row = Json.list(listed.get(i));
                need(row.size() == points.length, "cells");
                for (int j = 0; j < rows.length; j++) {
                    rows[i][j] = weights[(int) Json.integer(row.get(j), 0, weights.length - 1)];
                }
            }
            return rows;
        }

        private long[] weights(int own) {
            if (table != null) return table[own];
            double[] gaps = apart(points[own], points);
            boolean[] some = new boolean[gaps.length];
            long[] weights = new long[gaps.length];
            for (int i = 0; i < gaps.length; i++) {
                some[i] = gaps[i] <= reach;
                if (levels != null) weights[i] = levels[gaps[i] > radii[1] ? 2 : gaps[i] > radii[0] ? 1 : 0];
            }
            return levels != null ? weights : grades.of(gaps, some);
        }

        @Override
        long[] numbers(double[] place, Source source) {
            return new long[] {Uniform.choice(source, weights(least(apart(place, points))))};
        }
    }

    private static final class Grid extends Path {
        private final int side;
        private final double[] corner;
        private final double[] cell;
        private final double[][] centres;
        private final Grades grades;

        Grid(Rectangle area, Map<String, Object> device) {
            super(area);
            side = (int) Json.integer(device.get("side"), 2, 128);
            width = 2;
            grades = new Grades(device);
            corner = new double[] {area.x[0], area.y[0]};
            cell = new double[] {(area.x[1] - area.x[0]) / side, (area.y[1] - area.y[0]) / side};
            centres = new double[side * side][];
            for (int i = 0; i < centres.length; i++) centres[i] = new double[] {(i / side + 0.5) * cell[0], (i % side + 0.5) * cell[1]};
            if (centres.length > FEW) return; // no bound
            long[][] rows = new long[centres.length][];
            for (int i = 0; i < rows.length; i++) rows[i] = grades.of(apart(centres[i], centres), all(centres.length));
            compare(this, rows);
        }

        @Override
        long[] numbers(double[] place, Source source) {
            int[] own = new int[2];
            for (int i = 0; i < 2; i++) own[i] = (int) Math.min(Math.max((long) ((place[i] - corner[i]) / cell[i]), 0), side - 1);
            int drawn = Uniform.choice(source, grades.of(apart(centres[own[0] * side + own[1]], centres), all(centres.length)));
            long a = Uniform.word(source, 256);
            long b = Uniform.word(source, 256);
            return new long[] {256L * (drawn / side) + a, 256L * (drawn % side) + b};
        }
    }

    /** Two copies of a whole path among public points, merged. */
    private static final class Copies extends Path {
        private final double[][] points;
        private final Grades anchor;
        private final Grades choice;
        private final Lottery sector;
        private final int sectors;

        Copies(Area area, Map<String, Object> device) {
            super(area);
            points = points(device.get("points"));
            width = Draw.width(points.length);
            anchor = new Grades(Json.fields(device.get("anchor"), "low", "high"));
            choice = new Grades(Json.fields(device.get("choice"), "low", "high"));
            Map<String, Object> given = Json.fields(device.get("sector"), "cells", "step", "bits");
            sectors = (int) Json.integer(given.get("cells"), 2, 1 << 16);
            sector = new Lottery(sectors, given);
            need(device.get("odds") == null, "privacy"); // the candidates would depend on the exact direction
            BigInteger[] far = {squared(anchor.high), squared(anchor.low)};
            BigInteger own = sector.all.subtract(sector.step.multiply(BigInteger.valueOf(sectors - 1)));
            BigInteger[] near = {squared(choice.high).multiply(own.pow(2)), squared(choice.low).multiply(sector.step.pow(2))};
            BigInteger[] most = far[0].multiply(near[1]).compareTo(near[0].multiply(far[1])) > 0 ? far : near;
            ratio(most[0].pow(2), most[1].pow(2));
        }

        private static BigInteger squared(long weight) {
            return BigInteger.valueOf(weight).pow(2);
        }

        private int where(int begin, int end) {
            double angle = Pair.angle(points[end][0] - points[begin][0], points[end][1] - points[begin][1]);
            return Math.min((int) (angle / (TURN / sectors)), sectors - 1);
        }

        private int randomised(int own, Source source) {
            Lottery.Drawn drawn = sector.draw(source, 0);
            return drawn.is ? (int) drawn.ticket : own;
        }

        private int[] copy(int[] truth, int parity, Source source) {
            int[] made = new int[truth.length];
            List<Integer> between = new ArrayList<>();
            for (int i = 0; i < truth.length; i++) {
                if (i % 2 != parity && 0 < i && i < truth.length - 1) between.add(i);
                else made[i] = Uniform.choice(source, anchor.of(apart(points[truth[i]], points), all(points.length)));
            }
            int group = Math.max(1, (1 << 18) / points.length);
            for (int begin = 0; begin < between.size(); begin += group) {
                List<Integer> rows = between.subList(begin, Math.min(begin + group, between.size()));
                int[][] seen = new int[2][rows.size()];
                for (int side = 0; side < 2; side++) {
                    for (int k = 0; k < rows.size(); k++) {
                        seen[side][k] = randomised(where(made[rows.get(k) + 2 * side - 1], truth[rows.get(k)]), source);
                    }
                }
                for (int k = 0; k < rows.size(); k++) {
                    int i = rows.get(k);
                    boolean[] some = new boolean[points.length];
                    boolean any = false;
                    for (int j = 0; j < points.length; j++) {
                        some[j] = where(made[i - 1], j) == seen[0][k] && where(made[i + 1], j) == seen[1][k];
                        any |= some[j];
                    }
                    made[i] = Uniform.choice(source, choice.of(apart(points[truth[i]], points), any ? some : all(points.length)));
                }
            }
            return made;
        }

        @Override
        long[][] rows(List<double[]> path, Source source) {
            int[] truth = new int[path.size()];
            for (int i = 0; i < truth.length; i++) truth[i] = least(apart(path.get(i), points));
            int[] one = copy(truth, 1, source);
            int[] two = copy(truth, 0, source);
            long[][] rows = new long[truth.length][];
            for (int i = 0; i < rows.length; i++) {
                double[] sums = apart(points[one[i]], points);
                double[] more = apart(points[two[i]], points);
                for (int j = 0; j < sums.length; j++) sums[j] += more[j];
                rows[i] = new long[] {least(sums)};
            }
            return rows;
        }
    }
}
