package dither;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Answers about kept changes, by docs/account.md: the drawn group, the intervals that are over, and the number of changes that is kept. */
final class Changes {
    static final String REPEAT = "kept change";

    private Changes() {}

    /** The intervals that are over and not reported. */
    static final class Owed {
        final int group;
        final int changes;
        /** The number of intervals of the group. */
        final int all;
        /** The number of days of the period so far. */
        final int days;
        /** The first interval that was not reported, and the first that is not over. */
        final int before;
        final int intervals;

        Owed(int group, int changes, int period, int days, int before, int intervals) {
            this.group = group;
            this.changes = changes;
            this.all = group == 0 ? 1 : (int) ((period - 2 + length(group)) / length(group));
            this.days = days;
            this.before = before;
            this.intervals = intervals;
        }
    }

    /** The reports of the intervals, and a number: how many changes were in them, or that under a pad. */
    static final class Drawn {
        final String report;
        final int number;

        Drawn(String report, int number) {
            this.report = report;
            this.number = number;
        }
    }

    /** Return the days of an interval of a group. */
    private static long length(int group) {
        return group == 0 ? 1 : 1L << group - 1;
    }

    /** Return the fingerprint of a question about a kept change: that of its own device text. */
    static String fingerprint(Question question, Object days, Object changes) {
        Map<String, Object> kept = Account.map("draw", Double.valueOf(1).equals(changes) ? REPEAT : "kept changes", "days", days, "changes", changes, "part", question.device);
        return Json.digest(Json.utf8(Json.write(kept)), 32);
    }

    /** Return the codes of the values of all days so far, or null if one is not an answer. */
    static List<Object> input(Question question, Object value) {
        if (!(value instanceof Iterable)) return null;
        List<Object> codes = new ArrayList<>();
        for (Object one : (Iterable<?>) value) codes.add(question.draw.input(one));
        return codes.contains(null) ? null : codes;
    }

    /**
     * Return how an answer ends, and the new state.
     *
     * @param drawn the state that stays whatever follows, or null
     * @param entry what would be charged
     * @param reason returns why a charge is refused, or null
     */
    static Account.Step decide(Map<String, Object> state, Map<String, Object> drawn, Map<String, Object> request, Map<String, Object> entry, Function<Map<String, Object>, String> reason, Account.Drawing drawing) {
        Map<String, Object> named = Account.map("asker", request.get("asker"), "question", request.get("question"), "fingerprint", request.get("fingerprint"));
        long today = Math.floorDiv(Account.integer(Json.object(state.get("clock")).get("wall")), 86_400L);
        double period = Account.periodOf(request, today)[0];
        int days = (int) Account.integer(request.get("days"));
        int changes = (int) Account.integer(request.get("changes"));
        Map<String, Object> choice = null;
        for (Map<String, Object> one : Account.rows(state, "choices")) {
            if (Account.same(one, request) && REPEAT.equals(one.get("repeat")) && one.get("period").equals(period)) choice = one;
        }
        if (choice == null && drawing != null) {
            long groups = 1 + 64 - Long.numberOfLeadingZeros(days - 1);
            choice = new LinkedHashMap<>(named);
            double number = Uniform.below(drawing.source(), groups * changes);
            choice.putAll(Account.map("repeat", REPEAT, "period", period, "day", number, "device", state.get("device"), "answer", null));
            drawn = state = with(state, "choices", choice, null);
        }
        Map<String, Object> tree = null;
        for (Map<String, Object> one : Account.rows(state, "trees")) if (Account.same(one, request) && one.get("period").equals(period)) tree = one;
        Owed owed = choice == null || !choice.get("device").equals(state.get("device")) ? null : due(choice, days, changes, (int) (today - period), tree);
        if (owed == null) return new Account.Step(Account.map("is", "silent"), drawn);
        boolean first = choice.get("answer") == null;
        if (!first) {
            Map<String, Object> charged = null;
            for (Map<String, Object> one : Account.rows(state, "entries")) if (one.get("id").equals(choice.get("answer"))) charged = one;
            if (!Account.paid(charged, entry)) return Account.refuse("changed");
        }
        String why = first ? reason.apply(state) : null;
        if (why != null) return new Account.Step(Account.refuse(why).outcome, drawn);
        int mark = tree == null ? -1 : (int) Account.integer(tree.get("mark"));
        Drawn result = drawing == null ? new Drawn(null, 0) : drawing.change(owed, (long) period, mark);
        if (result == null) {
            String words = "question \"" + request.get("question") + "\": expected the values of all " + owed.days + " days of the period so far";
            return new Account.Step(Account.map("is", "refused", "reason", "value", "words", words), drawn);
        }
        Map<String, Object> next = state;
        if (first) {
            next = with(next, "entries", entry, null);
            Map<String, Object> answered = new LinkedHashMap<>(choice);
            answered.put("answer", entry.get("id"));
            next = with(next, "choices", answered, choice);
        }
        Map<String, Object> kept = new LinkedHashMap<>(named);
        kept.putAll(Account.map("period", period, "intervals", (double) owed.intervals, "mark", (double) result.number));
        next = with(with(next, "trees", kept, tree), "queue", Account.queued(named, (String) entry.get("id"), result.report), null);
        return new Account.Step(Account.map("is", "drawn", "charged", first ? entry.get("epsilon") : "0", "report", result.report), next);
    }

    /** Return a state with one more row in a list, without another one. */
    private static Map<String, Object> with(Map<String, Object> state, String name, Map<String, Object> row, Map<String, Object> without) {
        List<Map<String, Object>> rows = new ArrayList<>(Account.rows(state, name));
        rows.remove(without);
        rows.add(row);
        Map<String, Object> changed = new LinkedHashMap<>(state);
        changed.put(name, rows);
        return changed;
    }

    private static Owed due(Map<String, Object> choice, int days, int changes, int passed, Map<String, Object> tree) {
        int group = (int) Account.integer(choice.get("day")) / changes;
        int length = (int) length(group);
        int intervals = group == 0 ? 1 : passed == days - 1 ? (passed + length - 1) / length : passed / length;
        int before = tree == null ? 0 : (int) Account.integer(tree.get("intervals"));
        return intervals > before ? new Owed(group, changes, days, passed + 1, before, intervals) : null;
    }

    /** Draw what is owed by the key of a device; null if the codes are not those of all days. The number is under a pad, and {@code mark} the one before, or -1. */
    static Drawn draw(Question question, List<Object> codes, Map<String, Object> request, Owed owed, long period, int mark, String key, Source source) {
        if (codes.size() != owed.days) return null;
        int reported = mark < 0 ? 0 : pad(key, request, period, owed.before) ^ mark;
        Source flips = Device.keyed(key, request, Arrays.asList((double) period, (double) owed.group), 3);
        Drawn drawn = rows(question, codes, owed, reported, flips, source);
        return new Drawn(drawn.report, pad(key, request, period, owed.intervals) ^ drawn.number);
    }

    /** Return a secret number for each number of intervals: a bit, or 16 bits for more than one change. */
    private static int pad(String key, Map<String, Object> request, long period, int intervals) {
        byte[] taken = Device.keyed(key, request, Arrays.asList((double) period, (double) intervals), 2).take(2);
        return Double.valueOf(1).equals(request.get("changes")) ? taken[0] & 1 : taken[0] & 255 | (taken[1] & 255) << 8;
    }

    /** Draw the reports of the intervals that are over: rows of group, interval and cell. Return them with the number of changes that were in all so far. */
    static Drawn rows(Question question, List<Object> codes, Owed owed, int reported, Source flips, Source source) {
        long length = length(owed.group);
        boolean several = owed.changes > 1 && owed.group > 0;
        List<Boolean> pattern = several ? pattern(question.draw, Math.min(owed.changes, owed.all), flips) : Collections.emptyList();
        long[] still = new long[codes.size()]; // after as many changes as are kept, a value stays as it is
        int moves = 0;
        for (int day = 0; day < still.length; day++) {
            if (day > 0 && !codes.get(day).equals(codes.get(day - 1))) moves++;
            still[day] = (Long) codes.get(0) ^ Math.min(moves, owed.changes) & 1;
        }
        StringBuilder report = new StringBuilder();
        for (int interval = owed.before; interval < owed.intervals; interval++) {
            long coin = Uniform.bits(source, 1);
            int begin = (int) (interval * length);
            long end = still[(int) Math.min(begin + length, still.length - 1)];
            boolean moved = owed.group > 0 && reported < Math.max(pattern.size(), 1) && end != still[begin];
            long own = moved ? end : owed.group > 0 ? coin : still[0];
            long cell = !several ? question.draw.draw(own, source)[0] : moved && pattern.get(reported) ? 1 - own : own;
            for (long part : new long[] {owed.group, interval, cell}) report.append(Json.hex(Uniform.bytes(part, 4)));
            if (moved) reported++;
        }
        return new Drawn(report.toString(), reported);
    }

    /** Draw the pattern of flips of a group: in a Hamming ball, or outside with the smaller probability. */
    private static List<Boolean> pattern(Draw draw, int size, Source source) {
        List<BigInteger> ways = binomials(size);
        List<BigInteger> means = binomials(size - 1);
        BigInteger all = BigInteger.ONE.shiftLeft(size);
        BigInteger within = BigInteger.ZERO;
        BigInteger inside = BigInteger.ZERO;
        BigInteger[] best = {BigInteger.ZERO, BigInteger.ONE};
        int radius = 0;
        for (int at = 0; at < size; at++) {
            within = within.add(ways.get(at));
            BigInteger below = within.multiply(draw.top.subtract(draw.bottom)).add(draw.bottom.shiftLeft(size));
            if (means.get(at).multiply(best[1]).compareTo(best[0].multiply(below)) <= 0) continue;
            best = new BigInteger[] {means.get(at), below};
            radius = at;
            inside = within;
        }
        BigInteger outside = all.subtract(inside);
        BigInteger near = inside.multiply(draw.top);
        BigInteger heads = near.shiftLeft(128).divide(near.add(outside.multiply(draw.bottom)));
        boolean held = Uniform.large(source, 128).compareTo(heads) < 0;
        BigInteger first = Uniform.below(source, inside);
        BigInteger second = Uniform.below(source, outside);
        int left = held ? find(ways, 0, first) : find(ways, radius + 1, second);
        List<Boolean> flips = new ArrayList<>();
        for (int at = 0; at < size; at++) {
            flips.add(Uniform.below(source, size - at) < left);
            if (flips.get(at)) left--;
        }
        return flips;
    }

    /** Return the numbers of patterns of so many places with 0, 1, … flips. */
    private static List<BigInteger> binomials(int size) {
        List<BigInteger> row = new ArrayList<>(Collections.singletonList(BigInteger.ONE));
        for (int at = 0; at < size; at++) row.add(row.get(at).multiply(BigInteger.valueOf(size - at)).divide(BigInteger.valueOf(at + 1)));
        return row;
    }

    /** Return the index, from one on, at which the sum of some numbers is above a place. */
    private static int find(List<BigInteger> counts, int begin, BigInteger place) {
        int at = begin;
        for (BigInteger sum = counts.get(at); place.compareTo(sum) >= 0; sum = sum.add(counts.get(at))) at++;
        return at;
    }
}
