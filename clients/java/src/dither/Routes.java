package dither;

import static dither.Malformed.need;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The draw of a complete path: the K public paths nearest to the one next to it are likelier. See docs/wire.md. */
final class Routes extends Draw {
    private static final int MOST = 1 << 20; // locations of a path

    private final Lists.Near window;
    private final Places.Area area;
    private final double[][] box;
    private final long[] scales = new long[2];
    private final int points;
    private final String distance;
    private final boolean byOrder;
    private final int[][][] paths;

    Routes(Map<String, Object> device) {
        Json.fields(device, "domain", "draw", "outside", "cells", "width", "step", "bits", "paths");
        Map<String, Object> domain = Json.fields(device.get("domain"), "kind", "area", "points", "distance", "by");
        need("routes".equals(domain.get("kind")), "domain");
        area = Places.area(domain.get("area"), device.get("outside"));
        box = area.box();
        need(box != null, "domain");
        points = (int) Json.integer(domain.get("points"), 2, 64);
        distance = Json.string(domain.get("distance"));
        String by = Json.string(domain.get("by"));
        need(Arrays.asList("mean", "warped", "frechet").contains(distance) && Arrays.asList("length", "order").contains(by), "domain");
        byOrder = by.equals("order");
        double longest = Math.max(box[0][1] - box[0][0], box[1][1] - box[1][0]);
        for (int i = 0; i < 2; i++) scales[i] = Math.max(1, (long) Math.rint(256 * (box[i][1] - box[i][0]) / longest)); // half to even
        window = new Lists.Near(device);
        int[] flat = Lists.unpack(device.get("paths"));
        need(flat.length == 2 * points * window.cells, "paths");
        paths = new int[window.cells][points][];
        for (int i = 0; i < flat.length / 2; i++) paths[i / points][i % points] = new int[] {flat[2 * i], flat[2 * i + 1]};
        ratio(window.top, window.bottom);
    }

    @Override
    Object input(Object value) {
        List<double[]> path = Places.locations(area, value);
        if (path == null || path.size() > MOST) return null;
        int[][] own = new int[path.size()][2];
        for (int i = 0; i < own.length; i++) {
            for (int axis = 0; axis < 2; axis++) {
                double along = (path.get(i)[axis] - box[axis][0]) / (box[axis][1] - box[axis][0]) * 65536;
                own[i][axis] = (int) Math.min(Math.max(Math.floor(along), 0), 65535);
            }
        }
        return resample(own);
    }

    /** Return places at equal shares of the sum of steps, each between the two locations of its step. */
    private int[][] resample(int[][] path) {
        long[] sums = new long[path.length];
        for (int i = 1; i < path.length; i++) sums[i] = sums[i - 1] + (byOrder ? 1 : apart(path[i - 1], path[i]));
        long parts = points - 1;
        int[][] found = new int[points][2];
        int at = 0;
        for (int i = 0; i < points; i++) {
            long target = i * sums[path.length - 1];
            while (at < path.length - 2 && sums[at + 1] * parts <= target) at++;
            int after = Math.min(at + 1, path.length - 1);
            long over = target - sums[at] * parts;
            long size = (sums[after] - sums[at]) * parts;
            if (size == 0) over = size = 1;
            for (int axis = 0; axis < 2; axis++) found[i][axis] = (int) ((path[at][axis] * (size - over) + path[after][axis] * over) / size);
        }
        return found;
    }

    private long apart(int[] one, int[] other) {
        long x = scales[0] * (one[0] - other[0]);
        long y = scales[1] * (one[1] - other[1]);
        return (long) Math.sqrt((double) (x * x + y * y)); // exact: below 2^50
    }

    private long far(int[][] one, int[][] other) {
        long sum = 0;
        if (distance.equals("mean")) {
            for (int i = 0; i < points; i++) sum += apart(one[i], other[i]);
            return sum;
        }
        boolean largest = distance.equals("frechet");
        long[][] table = new long[points][points];
        for (int i = 0; i < points; i++) {
            for (int j = 0; j < points; j++) {
                long before = Long.MAX_VALUE;
                if (i > 0) before = table[i - 1][j];
                if (j > 0) before = Math.min(before, table[i][j - 1]);
                if (i > 0 && j > 0) before = Math.min(before, table[i - 1][j - 1]);
                long step = apart(one[i], other[j]);
                table[i][j] = i + j == 0 ? step : largest ? Math.max(step, before) : step + before;
            }
        }
        return table[points - 1][points - 1];
    }

    private int[] near(int[][] path) {
        long[] away = new long[paths.length];
        Integer[] order = new Integer[paths.length];
        for (int j = 0; j < order.length; j++) {
            away[j] = far(path, paths[j]);
            order[j] = j;
        }
        Arrays.sort(order, Comparator.comparingLong(j -> away[j])); // equal distances stay in the order of the numbers
        int[] near = new int[window.width];
        for (int j = 0; j < near.length; j++) near[j] = order[j];
        return near;
    }

    @Override
    byte[] draw(Object input, Source source) {
        return Draw.cell(window.draw(near(paths[near((int[][]) input)[0]]), 0, source), window.cells);
    }
}
