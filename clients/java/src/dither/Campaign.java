package dither;

import static dither.Malformed.need;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A campaign that was signed with a pinned key: its terms, and questions that keep its promise. It is immutable. */
public final class Campaign {
    private static final List<String> TERMS = Arrays.asList(
            "dither-campaign", "name", "version", "asker", "contact", "purpose", "begins", "ends", "people", "repeat", "days", "labels", "promise", "questions");

    /** The SHA-256 of its text. */
    public final String id;
    /** The key that it is signed with: the pinned one, or the one that the pinned one has signed as the next. */
    public final String key;
    /** The day from which on it is retired, such as 2026-05-01; empty if it is not. */
    public final String retired;
    /** The ε of all questions together, and the δ. */
    public final double epsilon;

    public final double delta;

    final Map<String, Object> terms;
    final Map<String, Question> questions = new LinkedHashMap<>();
    String address = "";

    private Campaign(String published, String pin) {
        Signed signed = new Signed(published, pin);
        key = signed.key;
        String text = Json.string(signed.given.get("campaign"));
        signed.check("dither campaign 1\n" + text, signed.given.get("signature"));
        id = Json.digest(Json.utf8(text), 64);
        need(signed.given.containsKey("retired"), "text");
        Object ended = signed.given.get("retired");
        retired = ended == null ? "" : Json.string(Json.object(ended).get("day"));
        if (ended != null) {
            dayOf(retired);
            signed.check("dither retirement 1\n" + id + "\n" + retired, Json.object(ended).get("signature"));
        }
        terms = Json.canonical(text);
        double[] spent = checkTerms();
        epsilon = spent[0];
        delta = spent[1];
    }

    /**
     * Read what a collector publishes.
     *
     * @throws Malformed unless it is signed with the pinned key (64 hexadecimal digits) or with the next one, its terms are in order, and
     *     this client can answer all its questions: otherwise it could not tell whether they keep the campaign's promise
     */
    public static Campaign read(String published, String key) {
        return new Campaign(published, key);
    }

    /** Fetch a campaign that is signed with the pinned key itself; the last part of its address is its identity. */
    public static Campaign fetch(String address, String key, Transport transport) throws IOException {
        Campaign campaign = get(address, key, transport);
        need(campaign.key.equals(key), "key"); // who cannot remember it does not follow
        return campaign;
    }

    /**
     * Fetch a campaign, and keep what was seen of its asker. A pinned key is followed to the next one, which it has signed, once; and the
     * asker's list of campaigns must have this one and continue the list that was seen before ("log").
     */
    public static Campaign fetch(String address, String key, Transport transport, Store seen) throws IOException {
        String[] pin = {key};
        seen.update(kept -> {
            Map<String, Object> keys = keptOf(kept, "keys");
            while (keys.containsKey(pin[0])) pin[0] = Json.string(keys.get(pin[0]));
            return "";
        });
        Campaign campaign = get(address, pin[0], transport);
        String text = body(transport, address.substring(0, address.length() - campaign.id.length() - "campaigns/".length()) + "log");
        // A collector of several askers has the list of one.
        boolean theirs = !text.isEmpty() && campaign.key.equals(Json.object(Json.parse(text)).get("key"));
        Log log = theirs ? new Log(text, campaign.key) : null;
        seen.update(kept -> {
            Map<String, Object> keys = keptOf(kept, "keys");
            Map<String, Object> heads = keptOf(kept, "heads");
            if (!campaign.key.equals(pin[0])) {
                need(!keys.containsKey(campaign.key) && (!keys.containsKey(pin[0]) || keys.get(pin[0]).equals(campaign.key)), "key");
                keys.put(pin[0], campaign.key);
                if (heads.containsKey(pin[0])) heads.putIfAbsent(campaign.key, heads.get(pin[0]));
            }
            Object before = heads.get(campaign.key);
            if (log == null) {
                need(before == null, "log");
            } else {
                need(log.continues(before) && log.days.containsKey(campaign.id), "log");
                need(!campaign.retired.isEmpty() || log.days.get(campaign.id).isEmpty(), "log");
                heads.put(campaign.key, Arrays.asList((double) log.heads.size(), log.head()));
            }
            return Json.write(Account.map("keys", keys, "heads", heads));
        });
        return campaign;
    }

    private static Map<String, Object> keptOf(String kept, String name) {
        return kept.isEmpty() ? new LinkedHashMap<>() : new LinkedHashMap<>(Json.object(Json.object(Json.parse(kept)).get(name)));
    }

    private static Campaign get(String address, String key, Transport transport) throws IOException {
        Campaign campaign = read(body(transport, address), key);
        need(address.endsWith("/campaigns/" + campaign.id), "fingerprint");
        campaign.address = address;
        return campaign;
    }

    private static String body(Transport transport, String address) throws IOException {
        Transport.Answer answer = transport.send("GET", address, "", new byte[0]);
        if (answer.status >= 500) throw new IOException("the collector answers " + answer.status);
        return answer.status == 200 ? new String(answer.content, StandardCharsets.UTF_8) : "";
    }

    /** The names of its questions, in their order. */
    public List<String> names() {
        return new ArrayList<>(questions.keySet());
    }

    /** One of its questions. */
    public Question question(String name) {
        need(questions.containsKey(name), "asking");
        return questions.get(name);
    }

    /** A term that is a text, as it is published: name, asker, contact, purpose, begins, ends, repeat. */
    public String term(String name) {
        return Json.string(terms.get(name));
    }

    /** Its canonical text, all terms: what was signed. */
    public String text() {
        return Json.write(terms);
    }

    /** The key configuration that requests are encrypted to; empty if it has none. */
    public String sealingKey() {
        return terms.containsKey("sealing_key") ? Json.string(terms.get("sealing_key")) : "";
    }

    /** Where batches are sent; it is known if the campaign was fetched. */
    public String batches() {
        need(!address.isEmpty(), "asking");
        return address + "/batches";
    }

    /** Refuse terms that are not as docs/wire.md says, or that promise something else than the questions; return their ε and δ. */
    private double[] checkTerms() {
        Set<String> names = new HashSet<>(terms.keySet());
        names.removeAll(Arrays.asList("sealing_key", "reports_a_batch", "reading"));
        need(names.equals(new HashSet<>(TERMS)), "fields");
        need(Double.valueOf(1).equals(terms.get("dither-campaign")), "version");
        show(terms.get("name"), 64, true);
        show(terms.get("asker"), 253, false);
        show(terms.get("contact"), 500, true);
        show(terms.get("purpose"), 4000, true);
        need(term("asker").codePointCount(0, term("asker").length()) <= 200, "terms");
        Json.whole(terms.get("version"), 1, Integer.MAX_VALUE);
        Json.whole(terms.get("people"), 1, (1L << 53) - 1);
        need(dayOf(terms.get("begins")) <= dayOf(terms.get("ends")), "terms");
        if ("once".equals(terms.get("repeat"))) Json.whole(terms.get("days"), 1, 36600);
        else need(terms.get("days") == null && Arrays.asList("fresh", "same", "per value").contains(terms.get("repeat")), "terms");
        List<Object> labels = Json.list(terms.get("labels"));
        need(labels.size() <= 1000 && new HashSet<>(labels).size() == labels.size(), "terms");
        for (Object label : labels) show(label, 64, true);
        if (terms.containsKey("sealing_key")) Relay.keyOf(terms.get("sealing_key"));
        if (terms.containsKey("reports_a_batch")) Json.whole(terms.get("reports_a_batch"), 1, Integer.MAX_VALUE); // for gateways: a device sends one

        List<Object> asked = Json.list(terms.get("questions"));
        Set<String> marks = new HashSet<>();
        double[] spent = {0, 0};
        for (Object one : asked) {
            List<Object> pair = Json.list(one);
            need(pair.size() == 2, "terms");
            show(pair.get(0), 64, false);
            Question question = Question.read(Json.string(pair.get(1)));
            // Nobody says how many places of a path are asked, and a collector counts neither texts nor tables of attributes.
            need(!question.draw.path && !Arrays.asList("polar", "prefix", "questions").contains(question.device.get("draw")), "terms");
            spent[0] += question.spent();
            spent[1] += question.delta;
            questions.put((String) pair.get(0), question);
            marks.add(question.fingerprint);
        }
        // A name that stands twice would be one question to some readers; reports to one fingerprint could not be told apart.
        need(!asked.isEmpty() && asked.size() <= 1024 && questions.size() == asked.size() && marks.size() == asked.size(), "terms");
        if (terms.containsKey("reading")) checkReading(Json.object(terms.get("reading")));
        Map<String, Object> promise = Json.fields(terms.get("promise"), "epsilon", "delta", "assumptions");
        // The last digits of a promise may be another version's. No mechanism that this client knows assumes anything.
        need(near(Json.real(promise.get("epsilon")), spent[0]), "promise");
        need(spent[1] == 0 ? promise.get("delta") == null : near(Json.real(promise.get("delta")), spent[1]), "promise");
        need(Json.list(promise.get("assumptions")).isEmpty(), "promise");
        return spent;
    }

    /** Refuse units and steps that are declared of anything but a number, or that cannot be. */
    private void checkReading(Map<String, Object> reading) {
        for (Map.Entry<String, Object> one : reading.entrySet()) {
            need(questions.containsKey(one.getKey()), "terms");
            Map<String, Object> domain = Json.object(questions.get(one.getKey()).device.get("domain"));
            if ("optional".equals(domain.get("kind"))) domain = Json.object(domain.get("of"));
            boolean turns = "circle".equals(domain.get("kind"));
            need(turns || "interval".equals(domain.get("kind")), "terms");
            double length = turns ? Json.real(domain.get("period")) : Json.real(domain.get("high")) - Json.real(domain.get("low"));
            Map<String, Object> words = Json.object(one.getValue());
            need(!words.isEmpty() && Arrays.asList("step", "unit").containsAll(words.keySet()), "terms");
            if (words.containsKey("step")) {
                double step = Json.real(words.get("step"));
                double count = length / step;
                need(step > 0 && count >= 1 - 1e-12 && count <= 500 && (!turns || Math.abs(count - Math.rint(count)) <= 1e-9), "terms");
            }
            if (words.containsKey("unit")) {
                show("_" + Json.string(words.get("unit")), 200, false);
                need(((String) words.get("unit")).codePointCount(0, ((String) words.get("unit")).length()) <= 40, "terms");
            }
        }
    }

    private static boolean near(double a, double b) {
        return Math.abs(a - b) <= 1e-9 * Math.max(a, b);
    }

    /** Refuse what is no text of 1 to so many bytes that can be shown, on one line unless it may have several. */
    private static void show(Object given, int most, boolean lines) {
        need(given instanceof String && Json.utf8((String) given).length <= most, "terms");
        boolean blank = true;
        for (int point : ((String) given).codePoints().toArray()) {
            if (point == ' ' || point == '\n' && lines) continue;
            blank = false;
            switch (Character.getType(point)) {
                case Character.CONTROL:
                case Character.FORMAT:
                case Character.SURROGATE:
                case Character.PRIVATE_USE:
                case Character.UNASSIGNED:
                case Character.SPACE_SEPARATOR:
                case Character.LINE_SEPARATOR:
                case Character.PARAGRAPH_SEPARATOR:
                    throw new Malformed("terms");
                default:
            }
        }
        need(!blank, "terms");
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

    /** What is signed with a pinned key, or with the one that the pinned key has signed as the next. */
    private static final class Signed {
        final Map<String, Object> given;
        final String key;

        Signed(String text, String pin) {
            need(!pin.trim().startsWith("dither-private-key"), "private");
            given = Json.object(Json.parse(text));
            need(pin.length() == 64 && Json.digits(pin) && given.get("key") instanceof String, "key");
            key = (String) given.get("key");
            Map<String, Object> before = given.containsKey("key_before") ? Json.object(given.get("key_before")) : Collections.emptyMap();
            need(key.equals(pin) || pin.equals(before.get("key")), "key");
            if (given.containsKey("key_before")) check("dither next key 1\n" + key, before.get("signature"), before.get("key"));
        }

        void check(String text, Object signature) {
            check(text, signature, key);
        }

        private static void check(String text, Object signature, Object by) {
            need(signature instanceof String && ((String) signature).length() == 128 && Json.digits((String) signature), "signature");
            need(by instanceof String && ((String) by).length() == 64 && Json.digits((String) by), "signature");
            need(Ed25519.verify(Json.utf8(text), Json.unhex((String) signature), Json.unhex((String) by)), "signature");
        }
    }

    /** The list of all campaigns that a key has published and retired. */
    static final class Log {
        /** The digest of each entry; the last one is the head. */
        final List<String> heads = new ArrayList<>();
        /** By identity: the day from which on a campaign is retired, or an empty text. */
        final Map<String, String> days = new LinkedHashMap<>();

        Log(String published, String pin) {
            Signed signed = new Signed(published, pin);
            List<Object> entries = Json.list(signed.given.get("log"));
            need(!entries.isEmpty() && entries.size() <= 10000, "log");
            for (Object text : entries) {
                Map<String, Object> entry = Json.canonical(text);
                need((heads.isEmpty() ? Json.zeros(64) : head()).equals(entry.get("before")), "log");
                String kind = entry.containsKey("published") ? "published" : entry.containsKey("retired") ? "retired" : "next_key";
                need(entry.size() == (kind.equals("retired") ? 3 : 2) && entry.get(kind) instanceof String, "log");
                String subject = (String) entry.get(kind);
                need(subject.length() == 64 && Json.digits(subject), "log");
                need(kind.equals("next_key") || days.containsKey(subject) == kind.equals("retired"), "log");
                if (kind.equals("retired")) dayOf(entry.get("day"));
                if (!kind.equals("next_key")) days.put(subject, kind.equals("retired") ? (String) entry.get("day") : "");
                heads.add(Json.digest(Json.utf8((String) text), 64));
            }
            signed.check("dither log 1\n" + head(), signed.given.get("signature"));
        }

        String head() {
            return heads.get(heads.size() - 1);
        }

        /** Return whether the list continues one of which the length and the head were kept, or none was. */
        boolean continues(Object kept) {
            if (kept == null) return true;
            long count = Json.whole(Json.list(kept).get(0), 1, 1 << 20);
            return count <= heads.size() && heads.get((int) count - 1).equals(Json.list(kept).get(1));
        }
    }
}
