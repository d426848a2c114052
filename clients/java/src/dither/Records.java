package dither;

import static dither.Malformed.need;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Records of several numbers: a list in the order of the sides, or an object by their names. */
final class Records {
    /** The two ends of each side. */
    final double[][] ends;

    private final List<String> names = new ArrayList<>();

    Records(Map<String, Object> device) {
        Map<String, Object> domain = Json.fields(device.get("domain"), "kind", "sides");
        need("box".equals(domain.get("kind")) && "clip".equals(device.get("outside")), "domain");
        List<Object> sides = Json.list(domain.get("sides"));
        need(sides.size() >= 2 && sides.size() <= 8, "domain");
        ends = new double[sides.size()][];
        for (Object one : sides) {
            List<Object> side = Json.list(one);
            need(side.size() == 3 && !names.contains(Json.string(side.get(0))), "domain");
            ends[names.size()] = new double[] {Json.real(side.get(1)), Json.real(side.get(2))};
            names.add(Json.string(side.get(0)));
        }
    }

    /** Return the numbers of a value, each inside its side; null for other values. */
    double[] input(Object value) {
        if (!(value instanceof Map) && !(value instanceof List)) return null;
        if (value instanceof List && ((List<?>) value).size() != ends.length) return null;
        double[] record = new double[ends.length];
        for (int i = 0; i < record.length; i++) {
            Object one = value instanceof List ? ((List<?>) value).get(i) : ((Map<?, ?>) value).get(names.get(i));
            if (!(one instanceof Number)) return null;
            double x = ((Number) one).doubleValue();
            if (Double.isNaN(x) || Double.isInfinite(x)) return null;
            record[i] = Math.min(Math.max(x, ends[i][0]), ends[i][1]) + 0.0;
        }
        return record;
    }
}
