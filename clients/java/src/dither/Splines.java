package dither;

import static dither.Malformed.need;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Several numbers, or one: each selects one of its three quadratic B-splines at random, and these select the row of a table. */
final class Splines extends Draw {
    private static final long STEPS = 1 << 15; // places between two knots of an axis

    private final Line[] line; // ends of a single number; empty for a record
    private final Records[] records;
    private final double[][] ends;
    private final int pieces;
    private final Lines.Rows table;

    Splines(Map<String, Object> device) {
        Json.fields(device, "domain", "draw", "ends", "outside", "pieces", "rows", "values");
        boolean alone = "interval".equals(Json.object(device.get("domain")).get("kind"));
        line = alone ? new Line[] {new Line(device.get("domain"), device.get("outside"))} : new Line[0];
        records = alone ? new Records[0] : new Records[] {new Records(device)};
        ends = alone ? new double[][] {{line[0].low, line[0].high}} : records[0].ends;
        pieces = (int) Json.integer(device.get("pieces"), 1, 16);
        table = new Lines.Rows(device);
        List<Object> stated = Json.list(device.get("ends"));
        need(stated.size() == ends.length, "domain");
        long rows = 1;
        for (int i = 0; i < ends.length; i++) {
            List<Object> pair = Json.list(stated.get(i));
            need(pair.size() == 2 && Arrays.equals(ends[i], new double[] {Json.real(pair.get(0)), Json.real(pair.get(1))}), "domain");
            need(ends[i][0] >= -1e30 && ends[i][1] <= 1e30 && ends[i][1] - ends[i][0] >= 1e-30, "domain");
            rows *= pieces + 2;
        }
        need(rows == table.rows.length, "step");
        ratio(table.top, table.bottom);
    }

    @Override
    Object input(Object value) {
        if (records.length > 0) return records[0].input(value);
        Double x = line[0].input(value);
        return x == null ? null : new double[] {x};
    }

    @Override
    byte[] draw(Object input, Source source) {
        double[] record = (double[]) input;
        int row = 0;
        for (int i = 0; i < record.length; i++) row = row * (pieces + 2) + spline(record[i], ends[i], source);
        return cell(table.rows[row].draw(source), table.columns);
    }

    /** Return the number of the spline that a place selects. */
    private int spline(double x, double[] side, Source source) {
        long most = pieces * STEPS;
        long index = Math.min(Math.max((long) Math.floor((x - side[0]) / (side[1] - side[0]) * most + 0.5), 0), most);
        int part = (int) Math.min(index / STEPS, pieces - 1);
        long way = index - part * STEPS;
        long left = (STEPS - way) * (STEPS - way) * (part == 0 ? 2 : 1);
        long right = way * way * (part == pieces - 1 ? 2 : 1);
        long drawn = Uniform.bits(source, 32) >> 1;
        return part + (drawn >= left ? 1 : 0) + (drawn >= 2 * STEPS * STEPS - right ? 1 : 0);
    }
}
