package dither;

import static dither.Malformed.need;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The text of a campaign: its terms, by docs/wire.md, also of each question. */
final class CampaignText {
    private static final int ANY = Integer.MAX_VALUE / 8;
    private static final int PEOPLE = 500; // characters of a question, and of an answer
    private static final List<String> ALWAYS = Arrays.asList(
            "dither-campaign", "name", "asker", "contact", "purpose", "version", "people", "begins", "ends", "retry", "repeat", "labels", "questions", "promise");
    private static final List<String> MAYBE = Arrays.asList(
            "answers", "days", "every", "changes", "label_share", "expects", "phase", "languages", "purposes", "sealing_key", "reports_a_batch");
    private static final List<String> OF_QUESTION =
            Arrays.asList("name", "specification", "epsilon", "delta", "unit", "step", "scale", "form", "clipped", "outside", "text", "names");
    /** Terms that are integers from 1 on, and the largest. */
    private static final Object[][] NUMBERS = {
        {"version", (1L << 31) - 1}, {"people", (1L << 53) - 1}, {"retry", 365L}, {"answers", 1_000_000L}, {"days", 36_600L},
        {"changes", 1000L}, {"label_share", 999L}, {"expects", (1L << 53) - 1}, {"reports_a_batch", (1L << 31) - 1},
    };
    /** By the repetition of a question: the required terms, and the optional ones. Other ways do not have them. */
    private static final String[][] REPEATS = {
        {"fresh", "", "answers"}, {"same", "", ""}, {"per value", "", ""}, {"once", "", "days every"},
        {"kept change", "days changes", ""}, {"present", "every expects", "label_share"},
    };
    private static final List<String> PERIODIC = Arrays.asList("days", "changes", "every", "expects", "answers", "label_share");
    /** The length of a path is not known, texts are not counted, and the others are not answers of one device. */
    private static final List<String> UNASKED = Arrays.asList(
            "walk", "two copies", "divided", "prefix", "joint response", "joint bits", "joint hashed", "each", "sampled", "indicator", "kept change", "kept changes");
    private static final String TAG = "[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?";

    final Map<String, Object> terms;
    /** By name; null is a question with an unknown draw; it is not answered. */
    final Map<String, Question> questions = new LinkedHashMap<>();
    /** What the campaign states of each question. */
    final Map<String, Map<String, Object>> stated = new LinkedHashMap<>();
    /** The sums of all questions. */
    double epsilon;
    double delta;

    CampaignText(String text) {
        terms = Json.canonical(text);
        need(Double.valueOf(2).equals(terms.get("dither-campaign")), "version");
        Set<String> more = new HashSet<>(terms.keySet());
        need(more.containsAll(ALWAYS), "fields");
        more.removeAll(ALWAYS);
        need(MAYBE.containsAll(more), "fields");
        Words.check(terms.get("name"), ANY, 64, true);
        Words.check(terms.get("asker"), 200, 253, false);
        Words.check(terms.get("contact"), ANY, 500, true);
        Words.check(terms.get("purpose"), ANY, 4000, true);
        for (Object[] one : NUMBERS) if (terms.containsKey(one[0])) Json.integer(terms.get(one[0]), 1, (Long) one[1]);
        need(dayOf(terms.get("begins")) <= dayOf(terms.get("ends")), "terms");
        List<Object> labels = distinct(terms.get("labels"), 0, 1000);
        for (Object label : labels) Words.check(label, ANY, 64, true);
        checkRepeat();
        List<Object> tags = checkLanguages();
        if (terms.containsKey("sealing_key")) Relay.keyOf(terms.get("sealing_key"));
        checkQuestions(tags);
        Map<String, Object> promise = Json.fields(terms.get("promise"), "epsilon", "delta", "assumptions");
        // The last digits of a promise may be another version's. No mechanism that this client knows assumes anything.
        need(near(Json.real(promise.get("epsilon")), epsilon), "promise");
        need(delta == 0 ? promise.get("delta") == null : near(Json.real(promise.get("delta")), delta), "promise");
        need(Json.list(promise.get("assumptions")).isEmpty(), "promise");
    }

    private static List<Object> distinct(Object given, int least, int most) {
        List<Object> list = Json.list(given);
        need(list.size() >= least && list.size() <= most && new HashSet<>(list).size() == list.size(), "terms");
        return list;
    }

    private static boolean near(double a, double b) {
        return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
    }

    /** Return the number of a day that is written as 2026-05-01. */
    static long dayOf(Object given) {
        need(given instanceof String && ((String) given).matches("[0-9]{4}-[0-9]{2}-[0-9]{2}") && !((String) given).startsWith("0000"), "terms");
        try {
            return LocalDate.parse((String) given).toEpochDay();
        } catch (DateTimeException none) {
            throw new Malformed("terms");
        }
    }

    boolean isPresent() {
        return "present".equals(terms.get("repeat"));
    }

    private void checkRepeat() {
        Object repeat = terms.get("repeat");
        String[] way = null;
        for (String[] one : REPEATS) if (one[0].equals(repeat)) way = one;
        need(way != null, "terms");
        List<String> needed = Arrays.asList(way[1].split(" "));
        List<String> own = Arrays.asList(way[2].split(" "));
        for (String name : PERIODIC) need(terms.containsKey(name) ? needed.contains(name) || own.contains(name) : !needed.contains(name), "terms");
        if (terms.containsKey("every")) need(Arrays.asList("day", "week", "month").contains(terms.get("every")), "terms");
        need(!"once".equals(repeat) || terms.containsKey("days") != terms.containsKey("every"), "terms");
        need(!"kept change".equals(repeat) || Json.real(terms.get("changes")) < Json.real(terms.get("days")), "terms");
        if (terms.containsKey("phase")) {
            Map<String, Object> phase = Json.object(terms.get("phase"));
            need(phase.size() == 1 && !isPresent(), "terms");
            if (phase.containsKey("share")) Json.integer(phase.get("share"), 1, 999);
            else need(phase.get("follows") instanceof String && ((String) phase.get("follows")).length() == 64 && Json.digits((String) phase.get("follows")), "terms");
        }
        need(!isPresent() || !terms.containsKey("reports_a_batch"), "terms");
    }

    /** Return the words in each language; refuse them unless exactly these languages have words. */
    private static List<Object> byTag(Object given, List<Object> tags) {
        Map<String, Object> said = Json.object(given);
        need(!tags.isEmpty() && said.keySet().equals(new HashSet<>(tags)), "terms");
        return new ArrayList<>(said.values());
    }

    private List<Object> checkLanguages() {
        if (!terms.containsKey("languages")) {
            need(!terms.containsKey("purposes"), "terms");
            return new ArrayList<>();
        }
        List<Object> tags = distinct(terms.get("languages"), 1, 40);
        for (Object tag : tags) need(tag instanceof String && ((String) tag).matches(TAG), "terms");
        if (terms.containsKey("purposes")) {
            for (Object words : byTag(terms.get("purposes"), tags.subList(1, tags.size()))) Words.check(words, ANY, 4000, true);
        }
        return tags;
    }

    private void checkQuestions(List<Object> tags) {
        List<Object> request = Json.list(terms.get("questions"));
        need(isPresent() ? request.size() <= 1 : !request.isEmpty() && request.size() <= 1024, "terms");
        Set<String> marks = new HashSet<>();
        for (Object one : request) {
            Map<String, Object> fields = Json.object(one);
            String name = Words.check(fields.get("name"), ANY, 64, false);
            Question.Head head = new Question.Head(Json.string(fields.get("specification")));
            need(!UNASKED.contains(head.kind), "terms");
            Question question = Question.isKnown(head.kind) ? Question.read(Json.string(fields.get("specification"))) : null;
            // Of a question that is not known here these are believed: below 0 they would hide another question's.
            need(Json.real(fields.get("epsilon")) > 0, "promise");
            epsilon += Json.real(fields.get("epsilon"));
            if (fields.containsKey("delta")) {
                need(Json.real(fields.get("delta")) > 0, "promise");
                delta += Json.real(fields.get("delta"));
            }
            if (question != null) check(fields, question, tags);
            questions.put(name, question);
            stated.put(name, fields);
            marks.add(head.fingerprint);
        }
        // A name that is there twice would be one question to some readers; reports to one fingerprint would be indistinguishable.
        need(questions.size() == request.size() && marks.size() == request.size(), "terms");
        need(!isPresent() || request.size() == (terms.containsKey("label_share") ? 1 : 0), "terms");
    }

    /** Refuse a question whose terms do not fit it, or promise something else. */
    private void check(Map<String, Object> fields, Question question, List<Object> tags) {
        need(OF_QUESTION.containsAll(fields.keySet()), "fields");
        need(near(Json.real(fields.get("epsilon")), question.spent()) && (question.delta != 0) == fields.containsKey("delta"), "promise");
        if (question.delta != 0) need(near(Json.real(fields.get("delta")), question.delta), "promise");
        Map<String, Object> device = question.device;
        Map<String, Object> domain = Json.object(device.get("domain"));
        boolean categories = "categories".equals(domain.get("kind"));
        if ("kept change".equals(terms.get("repeat"))) need("response".equals(device.get("draw")) && categories && Double.valueOf(2).equals(device.get("cells")), "terms");
        if (isPresent()) {
            double most = Math.min(128, Math.floor(Json.real(terms.get("expects")) * Json.real(terms.getOrDefault("label_share", 0.0)) / 20_000));
            need(Json.real(terms.get("expects")) >= 100 && categories && presentValues(device) > 0 && presentValues(device) <= most, "terms");
        }
        for (String text : shownTexts(domain)) Words.check(text, PEOPLE, ANY, false);
        checkNumbers(fields, domain);
        if (fields.containsKey("text")) for (Object words : byTag(fields.get("text"), tags)) Words.check(words, PEOPLE, ANY, false);
        if (fields.containsKey("names")) {
            need(categories || "several".equals(domain.get("kind")), "terms");
            int count = domain.containsKey("count") ? (int) Json.integer(domain.get("count"), 2, ANY) : Json.list(domain.get("labels")).size();
            for (Object names : byTag(fields.get("names"), tags)) {
                for (Object name : distinct(names, count, count)) Words.check(name, PEOPLE, ANY, false);
            }
        }
    }

    private void checkNumbers(Map<String, Object> fields, Map<String, Object> domain) {
        Map<String, Object> plain = "optional".equals(domain.get("kind")) ? Json.object(domain.get("of")) : domain;
        boolean interval = "interval".equals(plain.get("kind"));
        boolean circle = "circle".equals(plain.get("kind"));
        boolean form = fields.containsKey("form");
        double low = interval ? Json.real(plain.get("low")) : 0;
        double high = interval ? Json.real(plain.get("high")) : circle ? Json.real(plain.get("period")) : 0;
        if (fields.containsKey("unit")) {
            need((interval || circle) && !form, "terms");
            Words.check(fields.get("unit"), 40, ANY, false);
        }
        if (fields.containsKey("step")) {
            double count = (high - low) / Json.real(fields.get("step"));
            need((interval || circle) && !fields.containsKey("scale"), "terms");
            need(count >= 1 - 1e-12 && count <= 500 && (interval || Math.abs(count - Math.rint(count)) <= 1e-9), "terms");
        }
        if (fields.containsKey("scale")) {
            List<Object> edges = Json.list(fields.get("scale"));
            need(interval && !form && edges.size() >= 3 && edges.size() <= 257 && low == 0 && high == edges.size() - 1, "terms");
            for (int i = 0; i < edges.size(); i++) {
                need(Math.abs(Json.real(edges.get(i))) <= 1e30 && (i == 0 || Json.real(edges.get(i - 1)) < Json.real(edges.get(i))), "terms");
            }
        }
        if (form) checkForm(fields.get("form"), domain, interval, circle, low, high);
        if (fields.containsKey("clipped")) need(Boolean.TRUE.equals(fields.get("clipped")) && interval && !fields.containsKey("scale"), "terms");
        if (fields.containsKey("outside")) {
            List<Object> share = Json.list(fields.get("outside"));
            need(fields.containsKey("clipped") && share.size() == 3, "terms");
            double least = Json.real(share.get(1));
            double most = Json.real(share.get(2));
            need(0 <= least && least <= Json.real(share.get(0)) && Json.real(share.get(0)) <= most && most <= 1, "terms");
        }
    }

    private void checkForm(Object form, Map<String, Object> domain, boolean interval, boolean circle, double low, double high) {
        if ("time".equals(form)) {
            need(circle && high == 1440, "terms");
        } else if ("date".equals(form)) {
            need(interval && low == Math.rint(low) && high == Math.rint(high) && low >= -719_162 && high <= 2_932_896, "terms");
        } else {
            need("installed".equals(form) && isPresent() && "categories".equals(domain.get("kind")), "terms");
            long before = Long.MIN_VALUE;
            for (Object day : Json.list(domain.get("labels"))) {
                need(dayOf(day) > before, "terms");
                before = dayOf(day);
            }
        }
    }

    /** Return how many different reports a draw has; 0 if presence does not use it. */
    private static double presentValues(Map<String, Object> device) {
        if ("projective".equals(device.get("draw"))) {
            double order = Json.real(device.get("order"));
            return (Math.pow(order, Json.real(device.get("dimension"))) - 1) / (order - 1);
        }
        return "response".equals(device.get("draw")) ? Json.real(device.get("cells")) : "hadamard".equals(device.get("draw")) ? Json.real(device.get("order")) : 0;
    }

    /** Return the texts of a domain that people are shown: labels, names of attributes and of sides. */
    private static List<String> shownTexts(Map<String, Object> domain) {
        List<String> texts = new ArrayList<>();
        if (domain.containsKey("labels")) for (Object label : Json.list(domain.get("labels"))) if (label instanceof String) texts.add((String) label);
        if (domain.containsKey("attributes")) {
            for (Object pair : Json.list(domain.get("attributes"))) {
                texts.add(Json.string(Json.list(pair).get(0)));
                texts.addAll(shownTexts(Json.object(Json.list(pair).get(1))));
            }
        }
        if (domain.containsKey("sides")) for (Object side : Json.list(domain.get("sides"))) texts.add(Json.string(Json.list(side).get(0)));
        return texts;
    }

    /** Return the fingerprint that reports to a question have. */
    String fingerprint(String name) {
        Question question = questions.get(name);
        return terms.containsKey("changes") ? Changes.fingerprint(question, terms.get("days"), terms.get("changes")) : question.fingerprint;
    }

    /** Return what an account is given about a question. */
    Map<String, Object> accountTerms(String campaign, String name) {
        Question question = questions.get(name);
        Object days = terms.get("days");
        Map<String, Object> outcome = Account.map("asker", terms.get("asker"), "question", name, "fingerprint", fingerprint(name), "repeat", terms.get("repeat"));
        outcome.putAll(Account.map("days", days, "start", days == null ? null : (Object) (double) dayOf(terms.get("begins"))));
        for (String term : new String[] {"every", "changes"}) if (terms.containsKey(term)) outcome.put(term, terms.get(term));
        if (question.draw.path) outcome.put("times", 1.0); // one place
        if (terms.containsKey("answers")) outcome.put("limit", Account.map("campaign", campaign, "answers", terms.get("answers")));
        if (terms.containsKey("phase")) {
            Map<String, Object> phase = Account.map("campaign", campaign, "name", terms.get("name"));
            phase.putAll(Json.object(terms.get("phase")));
            outcome.put("phase", phase);
        }
        return outcome;
    }

    /** Return the value that a question takes for what a person gives: of scales, dates, times and single places; {@link #NO_VALUE} for other things. */
    Object value(String name, Object given) {
        Map<String, Object> fields = stated.get(name);
        if (questions.get(name).draw.path) return Arrays.asList(given);
        if (fields.containsKey("scale") && given instanceof Number) return onScale(Json.list(fields.get("scale")), ((Number) given).doubleValue());
        Object form = fields.get("form");
        if (form == null || !(given instanceof String)) return given;
        String text = (String) given;
        if (form.equals("time")) {
            if (!text.matches("([01][0-9]|2[0-3]):[0-5][0-9]")) return NO_VALUE;
            return 60.0 * Integer.parseInt(text.substring(0, 2)) + Integer.parseInt(text.substring(3));
        }
        try {
            double day = dayOf(text);
            if (form.equals("date")) return day;
        } catch (Malformed none) {
            return NO_VALUE;
        }
        List<Object> days = Json.list(Json.object(questions.get(name).device.get("domain")).get("labels"));
        Object last = days.get(0);
        for (Object day : days) if (((String) day).compareTo(text) <= 0) last = day;
        return last;
    }

    /** A value that no question has. */
    static final Object NO_VALUE = new Object();

    /** Return the number of the part of a scale in which a value lies, and the share of the way through it. No device takes a logarithm. */
    private static Object onScale(List<Object> edges, double value) {
        if (Double.isNaN(value)) return NO_VALUE;
        double inside = Math.min(Math.max(value, Json.real(edges.get(0))), Json.real(edges.get(edges.size() - 1)));
        int at = edges.size() - 2;
        while (at > 0 && Json.real(edges.get(at)) > inside) at--;
        return at + (inside - Json.real(edges.get(at))) / (Json.real(edges.get(at + 1)) - Json.real(edges.get(at)));
    }
}
