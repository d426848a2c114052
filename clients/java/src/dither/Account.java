package dither;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The account of one person: a state and events that change it, by the rules of docs/account.md.
 *
 * <p>Nothing here stores or sends. A state is JSON; an event leaves it alone and returns a new one.
 */
final class Account {
    private static final long DAY = 86400;
    private static final String[] UNITS = {"epsilon", "delta"};

    private Account() {}

    /** How an event ended, and the new state; null if nothing changed. */
    static final class Step {
        final Map<String, Object> outcome;
        final Map<String, Object> next;

        Step(Map<String, Object> outcome, Map<String, Object> next) {
            this.outcome = outcome;
            this.next = next;
        }
    }

    /** What is drawn if the answer is allowed. */
    interface Drawing {
        /** Return the report as hexadecimal text. */
        String report();

        /** Return the mark of the value, as 32 hexadecimal digits. */
        String mark();

        /** Return the source of random days. */
        Source source();

        /** Draw the reports of a kept change, and the number under a pad that is kept; null if the value has not all days. */
        default Changes.Drawn change(Changes.Owed owed, long period, int mark) {
            return null;
        }
    }

    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) made.put((String) pairs[i], pairs[i + 1]);
        return made;
    }

    static Step refuse(String reason) {
        return new Step(map("is", "refused", "reason", reason), null);
    }

    private static Map<String, Object> with(Map<String, Object> state, String name, Object value) {
        Map<String, Object> changed = new LinkedHashMap<>(state);
        changed.put(name, value);
        return changed;
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> rows(Map<String, Object> state, String name) {
        Object found = state.get(name);
        return found == null ? Collections.emptyList() : (List<Map<String, Object>>) found;
    }

    private static <T> List<T> more(List<T> list, T one) {
        List<T> longer = new ArrayList<>(list);
        longer.add(one);
        return longer;
    }

    static long integer(Object value) {
        return ((Double) value).longValue();
    }

    private static BigInteger units(Map<String, Object> given, String field) {
        return new BigInteger((String) given.get(field), 16);
    }

    private static String charge(double x, int positions) {
        return new BigDecimal(x).multiply(new BigDecimal(BigInteger.ONE.shiftLeft(positions))).setScale(0, RoundingMode.CEILING).toBigInteger().toString(16);
    }

    /** Return the units of a limit from a number: docs/account.md says why it is a little more. */
    static String limit(double x, int positions) {
        BigInteger units = new BigDecimal(x).multiply(new BigDecimal(BigInteger.ONE.shiftLeft(positions))).toBigInteger();
        return (units.signum() == 0 ? units : units.add(units.shiftRight(52)).add(BigInteger.ONE)).toString(16);
    }

    /** Return choices with the way of repeating that they belong to. One of version 2 does not have it, and means both. */
    private static List<Map<String, Object>> ofRepeat(List<Map<String, Object>> choices) {
        List<Map<String, Object>> some = new ArrayList<>();
        for (Map<String, Object> one : choices) {
            if (one.containsKey("repeat")) some.add(one);
            else for (String repeat : new String[] {"kept change", "once"}) some.add(with(one, "repeat", repeat));
        }
        return some;
    }

    /** Return a state of version 3; those of versions 2 and 3 are read. */
    static Map<String, Object> upgraded(Map<String, Object> state) {
        if (Double.valueOf(3).equals(state.get("account"))) return state;
        Malformed.need(Double.valueOf(2).equals(state.get("account")), "account");
        return with(with(state, "account", 3.0), "choices", ofRepeat(rows(state, "choices")));
    }

    static boolean same(Map<String, Object> a, Map<String, Object> b) {
        for (String name : new String[] {"asker", "question", "fingerprint"}) if (!a.get(name).equals(b.get(name))) return false;
        return true;
    }

    private static Map<String, Object> find(List<Map<String, Object>> rows, Predicate<Map<String, Object>> wanted) {
        for (Map<String, Object> row : rows) if (wanted.test(row)) return row;
        return null;
    }

    private static BigInteger remaining(List<Map<String, Object>> entries, Map<String, Object> most, String field) {
        BigInteger left = units(most, field);
        for (Map<String, Object> entry : entries) left = left.subtract(units(entry, field));
        return left;
    }

    private static boolean fits(List<Map<String, Object>> entries, Map<String, Object> most) {
        for (String field : UNITS) if (remaining(entries, most, field).signum() < 0) return false;
        return true;
    }

    private static List<Map<String, Object>> touching(List<Map<String, Object>> entries, long epoch) {
        List<Map<String, Object>> some = new ArrayList<>();
        for (Map<String, Object> entry : entries) if (integer(entry.get("first")) <= epoch && epoch <= integer(entry.get("last"))) some.add(entry);
        return some;
    }

    private static List<Map<String, Object>> having(List<Map<String, Object>> entries, String name, Object value) {
        List<Map<String, Object>> some = new ArrayList<>();
        for (Map<String, Object> entry : entries) if (entry.get(name).equals(value)) some.add(entry);
        return some;
    }

    static long epochOf(Object kind, long second) {
        long day = Math.floorDiv(second, DAY);
        if (kind.equals("day")) return day;
        if (kind.equals("week")) return Math.floorDiv(day + 3, 7L);
        return kind.equals("year") ? LocalDate.ofEpochDay(day).getYear() : 0;
    }

    /** Return the first day of a day's period (its name), and the number of its days. */
    static long[] periodOf(Map<String, Object> request, long day) {
        Object every = request.get("every");
        if (every == null) {
            long days = integer(request.get("days"));
            return new long[] {day - Math.floorMod(day - integer(request.get("start")), days), days};
        }
        if (every.equals("day")) return new long[] {day, 1};
        if (every.equals("week")) return new long[] {day - Math.floorMod(day + 3, 7L), 7}; // 1970-01-01 was a Thursday
        LocalDate here = LocalDate.ofEpochDay(day);
        return new long[] {day - here.getDayOfMonth() + 1, here.lengthOfMonth()};
    }

    private static double mostAhead(Object epoch) {
        return epoch.equals("day") ? DAY : epoch.equals("week") ? 7 * DAY : epoch.equals("year") ? 366 * DAY : Double.POSITIVE_INFINITY;
    }

    private static Map<String, Object> clockAfter(Map<String, Object> clock, Map<String, Object> at) {
        boolean proves = at.get("boot").equals(clock.get("boot"));
        long before = integer(clock.get("elapsed"));
        long elapsed = proves ? Math.max(integer(at.get("elapsed")), before) : integer(at.get("elapsed"));
        long wall = Math.max(integer(clock.get("wall")), integer(at.get("wall")));
        long ahead = integer(clock.get("ahead")) + wall - integer(clock.get("wall")) - (proves ? elapsed - before : 0);
        return map("wall", (double) wall, "boot", at.get("boot"), "elapsed", (double) elapsed, "ahead", (double) ahead);
    }

    /** Return all that an answer assumes, each line once. */
    static List<Object> assumed(Map<String, Object> request) {
        Set<Object> lines = new LinkedHashSet<>(Json.list(request.get("assumes")));
        if (request.get("times") != null && integer(request.get("times")) > 1) {
            lines.add("how many locations a trajectory has, and when they were sent, is public");
        }
        if (request.get("repeat").equals("per value")) lines.addAll(Arrays.asList("the value never changes", "the device's key stays on the device"));
        return new ArrayList<>(lines);
    }

    /** The batch of permanent answers that a collector refused for good. They are not sent before the next request. */
    private static final String ASIDE = Json.zeros(32);

    /** Return whether a report waits to be sent. */
    static boolean waits(Map<String, Object> queued) {
        return !ASIDE.equals(queued.get("batch"));
    }

    /** Return a queue in which a report to a question that was set aside waits again. */
    private static List<Map<String, Object>> again(List<Map<String, Object>> queue, Map<String, Object> request, Object report) {
        List<Map<String, Object>> changed = new ArrayList<>();
        for (Map<String, Object> one : queue) changed.add(waits(one) || !one.get("report").equals(report) || !same(one, request) ? one : with(one, "batch", null));
        return changed;
    }

    /** The collector refused a batch for good: its reports leave the queue. Permanent answers are set aside, and wait again after the next request. */
    static Step drop(Map<String, Object> state, String id) {
        List<Map<String, Object>> queue = new ArrayList<>();
        double reports = 0;
        Map<String, Object> rest = withoutMessages(state, one -> id.equals(one.get("batch")));
        if (rest != state) return new Step(map("is", "dropped", "reports", 1.0), rest);
        for (Map<String, Object> one : rows(state, "queue")) {
            boolean gone = waits(one) && (id.equals(one.get("batch")) || id.equals(one.get("id")));
            if (gone) reports++;
            if (!gone) queue.add(one);
            else if (find(rows(state, "answers"), kept -> same(kept, one)) != null) queue.add(with(one, "batch", ASIDE));
        }
        return reports == 0 ? new Step(map("is", "unknown"), null) : new Step(map("is", "dropped", "reports", reports), with(state, "queue", queue));
    }

    /** Return a state without names, permanent answers, drawn days and reports. The spent budget stays: askers keep their knowledge. */
    static Map<String, Object> erase(Map<String, Object> state) {
        List<Map<String, Object>> entries = new ArrayList<>();
        for (Map<String, Object> entry : rows(state, "entries")) {
            Map<String, Object> bare = new LinkedHashMap<>(entry);
            for (String name : new String[] {"asker", "question", "fingerprint"}) bare.put(name, "");
            bare.keySet().removeAll(Arrays.asList("data", "times", "campaign"));
            entries.add(bare);
        }
        Map<String, Object> next = with(state, "entries", entries);
        for (String name : new String[] {"askers", "answers", "choices", "queue"}) next.put(name, new ArrayList<>());
        next.keySet().removeAll(Arrays.asList("told", "coins", "trees", "present", "sent"));
        return next;
    }

    /** Return a state in which chosen reports are kept and never sent: the person said no. */
    static Map<String, Object> withhold(Map<String, Object> state, Predicate<Map<String, Object>> chosen) {
        List<Map<String, Object>> queue = new ArrayList<>();
        for (Map<String, Object> one : rows(state, "queue")) queue.add(chosen.test(one) ? with(one, "batch", ASIDE) : one);
        return with(state, "queue", queue);
    }

    /** Return whether the person has reached the campaign's number of answers to a question. */
    private static boolean isAnsweredEnough(Map<String, Object> state, Map<String, Object> request) {
        if (request.get("limit") == null) return false;
        Map<String, Object> limit = Json.object(request.get("limit"));
        long given = 0;
        for (Map<String, Object> entry : rows(state, "entries")) if (same(entry, request) && limit.get("campaign").equals(entry.get("campaign"))) given++;
        return given >= integer(limit.get("answers"));
    }

    /** What a phase says about a question: how it ends if this device does not answer it, otherwise null; and the coin to keep, or null. */
    private static final class Phase {
        Map<String, Object> outcome;
        Map<String, Object> coin;
    }

    /** Toss the coin of a campaign's phase, once for an asker and a campaign's name, without looking at any value. Heads answer the first campaign, and never the one that follows. */
    private static Phase phase(Map<String, Object> state, Map<String, Object> request, Drawing drawing) {
        Phase found = new Phase();
        if (request.get("phase") == null) return found;
        Map<String, Object> phase = Json.object(request.get("phase"));
        Object asker = request.get("asker");
        Object name = phase.get("name");
        Map<String, Object> coin = find(rows(state, "coins"), one -> one.get("asker").equals(asker) && one.get("name").equals(name));
        if (phase.containsKey("follows")) {
            boolean heads = false;
            for (Map<String, Object> one : having(rows(state, "coins"), "asker", asker)) {
                heads |= Boolean.TRUE.equals(one.get("heads")) && (one.get("name").equals(name) || one.get("campaign").equals(phase.get("follows")));
            }
            if (heads) found.outcome = refuse("phase").outcome;
            // A person who answers the second campaign does not answer the first one any more.
            else if (coin == null) found.coin = map("asker", asker, "name", name, "campaign", phase.get("follows"), "heads", false);
            return found;
        }
        if (coin == null && drawing == null) {
            found.outcome = map("is", "silent");
            return found;
        }
        if (coin == null) {
            boolean heads = Uniform.below(drawing.source(), 1000) < integer(phase.get("share"));
            coin = found.coin = map("asker", asker, "name", name, "campaign", phase.get("campaign"), "heads", heads);
        }
        if (!Boolean.TRUE.equals(coin.get("heads"))) found.outcome = refuse("phase").outcome;
        return found;
    }

    /** Return why a spend does not fit, or null if it does. */
    private static String shortOf(Map<String, Object> state, Map<String, Object> entry) {
        List<Map<String, Object>> all = more(rows(state, "entries"), entry);
        Map<String, Object> limits = Json.object(state.get("limits"));
        Map<String, Object> quotas = Json.object(limits.get("quotas"));
        Object quota = quotas.containsKey(entry.get("asker")) ? quotas.get(entry.get("asker")) : limits.get("quota");
        List<Map<String, Object>> theirs = having(all, "asker", entry.get("asker"));
        long first = integer(entry.get("first"));
        long last = integer(entry.get("last"));
        for (long epoch = first; quota != null && epoch <= last; epoch++) {
            if (remaining(touching(theirs, epoch), map("epsilon", quota), "epsilon").signum() < 0) return "quota";
        }
        for (boolean own : new boolean[] {true, false}) {
            List<Map<String, Object>> some = own ? having(all, "device", state.get("device")) : all;
            Map<String, Object> most = Json.object(state.get(own ? "own" : "limits"));
            for (long epoch = first; epoch <= last; epoch++) if (!fits(touching(some, epoch), most)) return "budget";
            if (most.get("lifetime") != null && !fits(some, Json.object(most.get("lifetime")))) return "lifetime";
        }
        return null;
    }

    /** Answer a question: check, spend, draw. Without a drawing it is a dry run, without a report, and its state is not kept. */
    static Step answer(Map<String, Object> before, String id, Map<String, Object> request, Map<String, Object> policy, Map<String, Object> at, Drawing drawing) {
        List<Map<String, Object>> entries = rows(before, "entries");
        String repeat = (String) request.get("repeat");
        double epsilon = Json.real(request.get("epsilon"));
        double delta = Json.real(request.get("delta"));
        List<Object> assumes = assumed(request);
        Map<String, Object> named = map("asker", request.get("asker"), "question", request.get("question"), "fingerprint", request.get("fingerprint"));
        Map<String, Object> entry = new LinkedHashMap<>(named);
        entry.putAll(map("id", id, "device", before.get("device"), "epsilon", charge(epsilon, 64), "delta", charge(delta, 128), "assumes", assumes));
        for (String name : new String[] {"data", "times"}) if (request.get(name) != null) entry.put(name, request.get(name));
        if (request.get("limit") != null) entry.put("campaign", Json.object(request.get("limit")).get("campaign"));
        // 1. Only a charged report is given again: the same question, and the same terms.
        Map<String, Object> kept = find(rows(before, "answers"), one -> same(one, request) && one.get("permanent").equals(repeat));
        Map<String, Object> waiting = find(rows(before, "queue"), one -> one.get("id").equals(id));
        Map<String, Object> own = find(entries, one -> one.get("id").equals(id));
        Map<String, Object> charged = kept == null ? null : find(entries, one -> one.get("id").equals(kept.get("id")));
        boolean change = repeat.equals(Changes.REPEAT); // it is about its own period, and charged once for all its reports
        if (waiting != null || own != null) {
            if (change && own != null && own.get("data") != null) entry.put("data", own.get("data"));
            boolean free = change && own == null;
            if (!same(waiting != null ? waiting : own, request) || !free && !paid(own != null ? own : charged, entry)) return refuse("id");
            if (waiting == null) return new Step(map("is", "acknowledged", "reports", 0.0), null);
            Map<String, Object> again = waits(waiting) ? null : with(before, "queue", again(rows(before, "queue"), request, waiting.get("report")));
            return new Step(map("is", "resent", "report", waiting.get("report")), again);
        }
        // 2. The policy, 3. the clock, 4. the data, 5. the asker.
        if (!accepts(policy, request, assumes)) return refuse("policy");
        Map<String, Object> limits = Json.object(before.get("limits"));
        Map<String, Object> clock = clockAfter(Json.object(before.get("clock")), at);
        if ((Double) clock.get("ahead") > mostAhead(limits.get("epoch"))) return refuse("clock");
        long now = integer(clock.get("wall"));
        long since = request.get("data") == null ? now : integer(Json.list(request.get("data")).get(0));
        long until = request.get("data") == null ? now + 1 : integer(Json.list(request.get("data")).get(1));
        if (change) { // of all days of the period, also those to come
            since = periodOf(request, Math.floorDiv(now, DAY))[0] * DAY;
            until = since + integer(request.get("days")) * DAY;
            entry.put("data", Arrays.asList((double) since, (double) until));
        } else if (!(since < until && until <= now + 1)) {
            return refuse("data");
        }
        long born = integer(before.get("born"));
        long first = epochOf(limits.get("epoch"), Math.max(since, born));
        long last = epochOf(limits.get("epoch"), Math.max(until - 1, born));
        if (last - first >= 366) return refuse("data");
        entry.put("first", (double) first);
        entry.put("last", (double) last);
        Map<String, Object> state = with(before, "clock", clock);
        if (!admit(before, state, request.get("asker"))) return refuse("asker");
        // 6. The phase: a coin that is tossed is kept, whatever follows.
        Map<String, Object> drawn = null;
        Phase phase = phase(state, request, drawing);
        if (phase.coin != null) drawn = state = with(state, "coins", more(rows(state, "coins"), phase.coin));
        if (phase.outcome != null) return new Step(phase.outcome, drawn);
        // 7. A permanent answer. Of each value one report is queued, by the device that was charged.
        boolean queued = kept == null;
        if (repeat.equals("per value") && drawing != null && (kept == null ? entry : charged == null ? entry : charged).get("device").equals(state.get("device"))) {
            String mark = drawing.mark();
            List<Object> result = state.get("told") == null ? Collections.emptyList() : Json.list(state.get("told"));
            queued = !result.contains(mark);
            if (queued) state.put("told", more(result, mark));
        }
        if (kept != null) {
            boolean stays = repeat.equals("same");
            if (!paid(charged, entry) || stays && kept.get("report") == null) return refuse("changed");
            Object report = stays ? kept.get("report") : drawing == null ? null : drawing.report();
            state.put("queue", queued ? more(rows(state, "queue"), queued(named, id, report)) : again(rows(state, "queue"), request, report));
            return new Step(map("is", "repeated", "charged", "0", "report", report), state);
        }
        if (change) return Changes.decide(state, drawn, request, entry, some -> isAnsweredEnough(some, request) ? "answers" : shortOf(some, entry), drawing);
        // 8. The kept day, which is drawn whatever follows; 9. the campaign's answers and the budget.
        Map<String, Object> day = null;
        if (repeat.equals("once")) {
            long today = Math.floorDiv(now, DAY);
            long[] span = periodOf(request, today);
            double period = span[0];
            day = find(rows(state, "choices"), one -> same(one, request) && one.get("repeat").equals(repeat) && one.get("period").equals(period));
            if (day == null && drawing != null) {
                day = new LinkedHashMap<>(named);
                day.putAll(map("repeat", repeat, "period", period, "day", period + Uniform.below(drawing.source(), span[1]), "device", state.get("device"), "answer", null));
                drawn = state = with(state, "choices", more(rows(state, "choices"), day));
            }
            if (day == null || integer(day.get("day")) != today || day.get("answer") != null) return new Step(map("is", "silent"), drawn);
        }
        String reason = isAnsweredEnough(state, request) ? "answers" : shortOf(state, entry);
        if (reason != null) return new Step(refuse(reason).outcome, drawn);
        // 10. Spend, and then draw.
        state = new LinkedHashMap<>(state);
        if (day != null) {
            List<Map<String, Object>> choices = new ArrayList<>(rows(state, "choices"));
            choices.set(choices.indexOf(day), with(day, "answer", id));
            state.put("choices", choices);
        }
        state.put("entries", more(entries, entry));
        Object report = drawing == null ? null : drawing.report();
        if (queued) state.put("queue", more(rows(state, "queue"), queued(named, id, report)));
        if (repeat.equals("same") || repeat.equals("per value")) {
            Map<String, Object> permanent = new LinkedHashMap<>(named);
            permanent.putAll(map("id", id, "permanent", repeat, "report", repeat.equals("same") ? report : null));
            state.put("answers", more(rows(state, "answers"), permanent));
        }
        return new Step(map("is", "drawn", "charged", entry.get("epsilon"), "report", report), state);
    }

    static Map<String, Object> queued(Map<String, Object> named, String id, Object report) {
        Map<String, Object> waits = new LinkedHashMap<>(named);
        waits.putAll(map("id", id, "report", report, "batch", null));
        return waits;
    }

    static boolean paid(Map<String, Object> charged, Map<String, Object> entry) {
        if (charged == null || !same(charged, entry)) return false;
        for (String name : new String[] {"epsilon", "delta", "assumes", "data", "times", "campaign"}) {
            if (!Objects.equals(charged.get(name), entry.get(name))) return false;
        }
        return true;
    }

    /** Return a state in which chosen messages of presence do not wait any more; the same one if none did. */
    static Map<String, Object> withoutMessages(Map<String, Object> state, Predicate<Map<String, Object>> chosen) {
        List<Map<String, Object>> left = new ArrayList<>();
        boolean found = false;
        for (Map<String, Object> one : rows(state, "present")) {
            boolean gone = one.get("batch") != null && chosen.test(one);
            found |= gone;
            left.add(gone ? with(one, "batch", null) : one);
        }
        return found ? with(state, "present", left) : state;
    }

    /** Return whether what is kept of presence is that of a campaign. */
    static Predicate<Map<String, Object>> isOf(Map<String, Object> terms) {
        return one -> one.get("asker").equals(terms.get("asker")) && one.get("name").equals(terms.get("name"));
    }

    private static Map<String, Object> label(Map<String, Object> state, Map<String, Object> request) {
        return request == null ? null : find(rows(state, "answers"), one -> "present".equals(one.get("permanent")) && same(one, request));
    }

    private static double periodAt(Map<String, Object> terms, Map<String, Object> clock) {
        return periodOf(map("every", terms.get("every")), Math.floorDiv(integer(clock.get("wall")), DAY))[0];
    }

    private static Map<String, Object> withPresence(Map<String, Object> state, Map<String, Object> one) {
        List<Map<String, Object>> all = new ArrayList<>(rows(state, "present"));
        all.removeIf(isOf(one));
        return with(state, "present", more(all, one));
    }

    /**
     * The program is used: make the message of this period, unless there is one. The permanent label is drawn and charged with the first message, or never.
     *
     * @param terms asker, name and every of the campaign, and its share of devices that carry the label
     * @param request the question that is the label, or null
     */
    static Step present(Map<String, Object> before, String id, Map<String, Object> terms, Map<String, Object> request, Map<String, Object> policy, Map<String, Object> at, Drawing drawing) {
        if (request != null && !accepts(policy, request, assumed(request))) return refuse("policy");
        Map<String, Object> clock = clockAfter(Json.object(before.get("clock")), at);
        Map<String, Object> state = with(before, "clock", clock);
        if (!admit(before, state, terms.get("asker"))) return refuse("asker");
        double period = periodAt(terms, clock);
        Map<String, Object> known = find(rows(state, "present"), isOf(terms));
        boolean first = known == null || known.get("period") == null;
        if (!first && period <= Json.real(known.get("period"))) return new Step(map("is", "silent"), null);
        // The coin for life: no device carries both kinds of labels, in no two messages.
        Object permanent = known != null ? known.get("permanent") : request != null && Uniform.below(drawing.source(), 1000) < integer(terms.get("share"));
        state = withPresence(state, map("asker", terms.get("asker"), "name", terms.get("name"), "permanent", permanent, "period", period, "batch", id));
        if (!first || !Boolean.TRUE.equals(permanent) || request == null || label(state, request) != null) return new Step(map("is", "present"), state);
        Object kind = Json.object(before.get("limits")).get("epoch");
        double epoch = epochOf(kind, Math.max(integer(clock.get("wall")), integer(before.get("born"))));
        Map<String, Object> named = map("asker", request.get("asker"), "question", request.get("question"), "fingerprint", request.get("fingerprint"));
        Map<String, Object> entry = new LinkedHashMap<>(named);
        entry.putAll(map("id", id, "device", before.get("device"), "epsilon", charge(Json.real(request.get("epsilon")), 64)));
        entry.putAll(map("delta", charge(Json.real(request.get("delta")), 128), "assumes", assumed(request), "first", epoch, "last", epoch));
        if ((Double) clock.get("ahead") > mostAhead(kind) || shortOf(state, entry) != null) return new Step(map("is", "present"), state);
        String report = drawing.report();
        named.putAll(map("id", id, "permanent", "present", "report", report));
        state.put("entries", more(rows(state, "entries"), entry));
        state.put("answers", more(rows(state, "answers"), named));
        return new Step(map("is", "drawn", "charged", entry.get("epsilon"), "report", report), state);
    }

    /** Return the message of presence that waits: its id, whether it may have a public label, and its reports. One whose period is over is dropped. */
    static Step message(Map<String, Object> state, Map<String, Object> terms, Map<String, Object> request, Map<String, Object> at) {
        Map<String, Object> known = find(rows(state, "present"), isOf(terms));
        if (known == null || known.get("batch") == null) return new Step(map("is", "empty"), null);
        Map<String, Object> clock = clockAfter(Json.object(state.get("clock")), at);
        if (!known.get("period").equals(periodAt(terms, clock))) return new Step(map("is", "empty"), with(withoutMessages(state, isOf(terms)), "clock", clock));
        boolean permanent = Boolean.TRUE.equals(known.get("permanent"));
        Map<String, Object> label = permanent ? label(state, request) : null;
        List<Object> reports = new ArrayList<>();
        if (label != null) reports.add(Arrays.asList(label.get("fingerprint"), label.get("report")));
        return new Step(map("is", "message", "id", known.get("batch"), "public", !permanent, "reports", reports), null);
    }

    private static boolean accepts(Map<String, Object> policy, Map<String, Object> request, List<Object> assumes) {
        boolean listed = Json.list(policy.get("assumptions")).containsAll(assumes)
                && (policy.get("mechanisms") == null || Json.list(policy.get("mechanisms")).contains(request.get("mechanism")));
        return Json.real(request.get("epsilon")) <= Json.real(policy.get("epsilon")) && Json.real(request.get("delta")) <= Json.real(policy.get("delta")) && listed;
    }

    /** Admit an asker to a state that is new; return whether that is allowed. */
    private static boolean admit(Map<String, Object> before, Map<String, Object> state, Object asker) {
        if (Json.list(before.get("askers")).contains(asker)) return true;
        if (Double.valueOf(0).equals(before.get("openings"))) return false;
        List<Object> askers = more(Json.list(before.get("askers")), asker);
        askers.sort(Comparator.comparing(one -> (String) one));
        state.put("askers", askers);
        if (before.get("openings") != null) state.put("openings", (Double) before.get("openings") - 1);
        return true;
    }

    /** The person did something themselves. */
    static Step act(Map<String, Object> state, Map<String, Object> at) {
        Map<String, Object> clock = with(clockAfter(Json.object(state.get("clock")), at), "ahead", 0.0);
        Object askers = Json.object(state.get("limits")).get("askers");
        return new Step(map("is", "acted"), with(with(state, "clock", clock), "openings", askers));
    }

    /** Put chosen reports that wait into a batch, at most one to a question, or return the one that was sent and not acknowledged. */
    static Step batch(Map<String, Object> state, String id, int most, Predicate<Map<String, Object>> chosen) {
        List<Map<String, Object>> queue = rows(state, "queue");
        Map<String, Object> sent = find(queue, one -> chosen.test(one) && waits(one) && one.get("batch") != null);
        List<Object> reports = new ArrayList<>();
        if (sent != null) {
            for (Map<String, Object> one : having(queue.stream().filter(one -> one.get("batch") != null).collect(Collectors.toList()), "batch", sent.get("batch"))) {
                reports.add(one.get("id"));
            }
            return new Step(map("is", "resent", "id", sent.get("batch"), "reports", reports), null);
        }
        Set<Object> seen = new LinkedHashSet<>();
        List<Map<String, Object>> changed = new ArrayList<>();
        for (Map<String, Object> one : queue) {
            boolean taken = reports.size() < most && chosen.test(one) && waits(one) && seen.add(one.get("fingerprint"));
            if (taken) reports.add(one.get("id"));
            changed.add(taken ? with(one, "batch", id) : one);
        }
        if (reports.isEmpty()) return new Step(map("is", "empty"), null);
        return new Step(map("is", "batched", "id", id, "reports", reports), with(state, "queue", changed));
    }

    /**
     * The collector has a report, or a batch: it leaves the queue.
     *
     * @param sent the campaign, the present day and the days of its window, so that a batch can be taken back; or null
     */
    static Step acknowledge(Map<String, Object> state, String id, Map<String, Object> sent) {
        List<Map<String, Object>> queue = new ArrayList<>(rows(state, "queue"));
        List<Map<String, Object>> gone = new ArrayList<>(queue);
        gone.removeIf(one -> !one.get("id").equals(id) && !id.equals(one.get("batch")));
        queue.removeAll(gone);
        for (Map<String, Object> one : messages(state, id)) gone.add(map("id", id, "asker", one.get("asker"), "question", one.get("name"), "batch", id));
        if (gone.isEmpty()) return new Step(map("is", "unknown"), null);
        Map<String, Object> next = with(withoutMessages(state, one -> id.equals(one.get("batch"))), "queue", queue);
        if (sent != null && id.equals(gone.get(0).get("batch"))) {
            double day = (Double) sent.get("day");
            List<Map<String, Object>> left = new ArrayList<>(rows(state, "sent"));
            left.removeIf(one -> (Double) one.get("until") < day);
            List<Object> names = new ArrayList<>();
            for (Map<String, Object> one : gone) names.add(one.get("question"));
            double until = day + (Double) sent.get("retry");
            left.add(map("id", id, "asker", gone.get(0).get("asker"), "campaign", sent.get("campaign"), "until", until, "questions", names));
            next.put("sent", left);
        }
        return new Step(map("is", "acknowledged", "reports", (double) gone.size()), next);
    }

    /** Return what waits of presence under an identity. */
    private static List<Map<String, Object>> messages(Map<String, Object> state, String id) {
        List<Map<String, Object>> found = new ArrayList<>(rows(state, "present"));
        found.removeIf(one -> !id.equals(one.get("batch")));
        return found;
    }

    /** A batch is withdrawn: it leaves the queue, or the list of what can be taken back. What was spent stays spent, and nothing is set aside. */
    static Step withdraw(Map<String, Object> state, String id) {
        List<Map<String, Object>> queue = new ArrayList<>(rows(state, "queue"));
        queue.removeIf(one -> waits(one) && id.equals(one.get("batch")));
        double reports = rows(state, "queue").size() - queue.size() + messages(state, id).size();
        List<Map<String, Object>> left = new ArrayList<>();
        for (Map<String, Object> one : rows(state, "sent")) {
            if (one.get("id").equals(id)) reports += Json.list(one.get("questions")).size();
            else left.add(one);
        }
        if (reports == 0) return new Step(map("is", "unknown"), null);
        Map<String, Object> next = with(withoutMessages(state, one -> id.equals(one.get("batch"))), "queue", queue);
        next.put("sent", left);
        if (left.isEmpty()) next.remove("sent");
        return new Step(map("is", "withdrawn", "reports", reports), next);
    }

    /** Give part/whole of this device's budget to another device. */
    static Step split(Map<String, Object> state, String device, long part, long document) {
        Map<String, Object> own = new LinkedHashMap<>(Json.object(state.get("own")));
        Map<String, Object> gift = new LinkedHashMap<>(own);
        divide(own, gift, part, document);
        if (own.get("lifetime") != null) {
            Map<String, Object> mine = new LinkedHashMap<>(Json.object(own.get("lifetime")));
            Map<String, Object> theirs = new LinkedHashMap<>(mine);
            divide(mine, theirs, part, document);
            own.put("lifetime", mine);
            gift.put("lifetime", theirs);
        }
        List<Map<String, Object>> entries = having(rows(state, "entries"), "device", state.get("device"));
        boolean spent = own.get("lifetime") != null && !fits(entries, Json.object(own.get("lifetime")));
        for (Map<String, Object> entry : entries) {
            for (long epoch = integer(entry.get("first")); epoch <= integer(entry.get("last")); epoch++) spent |= !fits(touching(entries, epoch), own);
        }
        return spent ? refuse("spent") : new Step(map("is", "split", "device", device, "own", gift), with(state, "own", own));
    }

    private static void divide(Map<String, Object> mine, Map<String, Object> theirs, long part, long document) {
        for (String field : UNITS) {
            BigInteger given = units(mine, field).multiply(BigInteger.valueOf(part)).divide(BigInteger.valueOf(document));
            theirs.put(field, given.toString(16));
            mine.put(field, units(mine, field).subtract(given).toString(16));
        }
    }

    /** Take over what another device of the same person has given. */
    static Step merge(Map<String, Object> state, Map<String, Object> from) {
        if (!from.get("person").equals(state.get("person"))) return refuse("person");
        if (!from.get("limits").equals(state.get("limits"))) return refuse("limits");
        List<Map<String, Object>> entries = new ArrayList<>(rows(state, "entries"));
        for (Map<String, Object> entry : rows(from, "entries")) {
            Map<String, Object> known = find(rows(state, "entries"), one -> one.get("id").equals(entry.get("id")));
            if (known != null && !known.equals(entry)) return refuse("conflict");
            if (known == null && entry.get("device").equals(state.get("device"))) return refuse("rolled back");
            if (known == null) entries.add(entry);
        }
        Map<String, Object> next = with(state, "entries", entries);
        next.put("answers", unite(rows(state, "answers"), shared(rows(from, "answers")), one -> (String) one.get("id"), "asker", "question", "fingerprint", "permanent"));
        next.put("choices", unite(rows(state, "choices"), ofRepeat(rows(from, "choices")),
                one -> (one.get("answer") == null ? "1" : "0" + one.get("answer")) + one.get("device"), "asker", "question", "fingerprint", "repeat", "period"));
        // Heads are kept on every device: the first phase was answered.
        List<Map<String, Object>> coins = unite(rows(state, "coins"), rows(from, "coins"), one -> Boolean.TRUE.equals(one.get("heads")) ? "0" : "1", "asker", "name");
        if (!coins.isEmpty()) next.put("coins", coins);
        return new Step(map("is", "merged", "entries", (double) entries.size() - rows(state, "entries").size()), next);
    }

    /** Return answers without the labels of presence, because these belong to one device. */
    private static List<Map<String, Object>> shared(List<Map<String, Object>> answers) {
        List<Map<String, Object>> some = new ArrayList<>(answers);
        some.removeIf(one -> "present".equals(one.get("permanent")));
        return some;
    }

    private static List<Map<String, Object>> unite(
            List<Map<String, Object>> mine, List<Map<String, Object>> theirs, Function<Map<String, Object>, String> rank, String... names) {
        List<Map<String, Object>> all = new ArrayList<>(mine);
        for (Map<String, Object> one : theirs) {
            Map<String, Object> known = find(all, other -> {
                for (String name : names) if (!other.get(name).equals(one.get(name))) return false;
                return true;
            });
            if (known == null) all.add(one);
            else if (rank.apply(one).compareTo(rank.apply(known)) < 0) all.set(all.indexOf(known), one);
        }
        return all;
    }

    /** Return a state with its lists in the order of docs/account.md, as it is compared and exported. A store keeps them as they came. */
    static Map<String, Object> ordered(Map<String, Object> state) {
        Map<String, Object> sorted = new LinkedHashMap<>(state);
        sorted.put("entries", sorted(rows(state, "entries"), "id"));
        sorted.put("answers", sorted(rows(state, "answers"), "asker", "question", "fingerprint", "permanent"));
        sorted.put("choices", sorted(rows(state, "choices"), "asker", "question", "fingerprint", "repeat", "period"));
        if (state.get("coins") != null) sorted.put("coins", sorted(rows(state, "coins"), "asker", "name"));
        if (state.get("present") != null) sorted.put("present", sorted(rows(state, "present"), "asker", "name"));
        if (state.get("trees") != null) sorted.put("trees", sorted(rows(state, "trees"), "asker", "question", "fingerprint", "period"));
        if (state.get("told") != null) {
            List<Object> result = new ArrayList<>(Json.list(state.get("told")));
            result.sort(Comparator.comparing(one -> (String) one));
            sorted.put("told", result);
        }
        return sorted;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static List<Map<String, Object>> sorted(List<Map<String, Object>> rows, String... names) {
        List<Map<String, Object>> sorted = new ArrayList<>(rows);
        sorted.sort((a, b) -> {
            for (String name : names) {
                int order = ((Comparable) a.get(name)).compareTo(b.get(name));
                if (order != 0) return order;
            }
            return 0;
        });
        return sorted;
    }

    /** Return the ε that is left for all askers on this device. */
    static double left(Map<String, Object> state, long wall) {
        Map<String, Object> own = Json.object(state.get("own"));
        long latest = Math.max(wall, integer(Json.object(state.get("clock")).get("wall")));
        List<Map<String, Object>> mine = having(rows(state, "entries"), "device", state.get("device"));
        BigInteger left = remaining(touching(mine, epochOf(Json.object(state.get("limits")).get("epoch"), latest)), own, "epsilon");
        if (own.get("lifetime") != null) left = left.min(remaining(mine, Json.object(own.get("lifetime")), "epsilon"));
        // The slack of the limit is not left: it is there so that sums of doubles fit.
        return left.shiftLeft(50).compareTo(units(own, "epsilon")) > 0 ? left.doubleValue() * 0x1p-64 : 0;
    }
}
