package dither;

import static dither.Malformed.need;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.TreeMap;

/**
 * The account of one person on this device, questions to them, and a queue of reports.
 *
 * <p>No method takes or returns null, except a value where null is one of the listed answers. All may be called from any thread; those
 * that read or write the store take the time of a disk.
 */
public final class Device {
    private final Store store;
    private final Terms terms;

    private Device(Store store, Terms terms) {
        this.store = store;
        this.terms = terms;
    }

    /** The present by three clocks: a clock that may be turned, and a steady one that proves that time has passed. */
    public interface Clock {
        /** Seconds since 1970 by the system's clock. */
        long wall();

        /** A name of the start from which {@link #elapsed} counts, such as the machine's. */
        String boot();

        /** Seconds since that start, time asleep included. */
        long elapsed();

        /** Return the system's clocks: the steady one is the machine's on Linux, elsewhere this process's. */
        static Clock system() {
            String process = Json.hex(Source.system().take(16));
            return new Clock() {
                @Override
                public long wall() {
                    return Math.floorDiv(System.currentTimeMillis(), 1000L);
                }

                @Override
                public String boot() {
                    return read("/proc/sys/kernel/random/boot_id", process);
                }

                @Override
                public long elapsed() {
                    return boot().equals(process) ? System.nanoTime() / 1_000_000_000 : (long) Double.parseDouble(read("/proc/uptime", "0 0").split(" ")[0]);
                }
            };
        }

        static String read(String path, String otherwise) {
            try {
                return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8).trim();
            } catch (IOException | SecurityException missing) {
                return otherwise;
            }
        }
    }

    /** What a person allows: a budget for all askers together, and what one answer may be. The budget counts when the account is created. */
    public static final class Terms {
        private final double epsilon;
        private double delta;
        private String epoch = "lifetime";
        private double lifetime = -1;
        private double quota = -1;
        private long askers = -1;
        private Source source = Source.system();
        private Clock clock = Clock.system();
        private final Map<String, Object> policy = Account.map("epsilon", 1.0, "delta", 0.0, "assumptions", new ArrayList<>(), "mechanisms", null);

        /** One budget for all time: all askers together learn at most this ε about the person. */
        public Terms(double epsilon) {
            need(epsilon > 0 && epsilon < 1 << 20, "epsilon");
            this.epsilon = epsilon;
        }

        /** The δ that all askers together may learn; 0 unless it is given, here and by {@link #allow}. */
        public Terms delta(double delta) {
            need(delta >= 0 && delta < 1, "epsilon");
            this.delta = delta;
            return this;
        }

        /** Begin the budget anew in each "day", "week" or "year" of UTC; "lifetime" is the default. */
        public Terms epoch(String epoch) {
            need(Arrays.asList("day", "week", "year", "lifetime").contains(epoch), "epsilon");
            this.epoch = epoch;
            return this;
        }

        /** The ε of all epochs together. */
        public Terms lifetime(double epsilon) {
            need(epsilon >= 0 && epsilon < 1 << 20, "epsilon");
            lifetime = epsilon;
            return this;
        }

        /** The ε that one asker may take of an epoch. */
        public Terms quota(double epsilon) {
            need(epsilon >= 0 && epsilon < 1 << 20, "epsilon");
            quota = epsilon;
            return this;
        }

        /** How many new askers are admitted until the person acts. */
        public Terms askers(int count) {
            need(count >= 0, "number");
            askers = count;
            return this;
        }

        /** What one answer may spend at most: ε = 1 and no δ unless it is given. */
        public Terms allow(double epsilon, double delta) {
            need(epsilon >= 0 && delta >= 0, "epsilon");
            policy.put("epsilon", epsilon);
            policy.put("delta", delta);
            return this;
        }

        /** Lines that an answer may assume, such as "the value never changes"; none unless they are given. */
        public Terms assume(Collection<String> lines) {
            policy.put("assumptions", new ArrayList<Object>(lines));
            return this;
        }

        /** The mechanisms that are accepted; all unless they are given. */
        public Terms mechanisms(Collection<String> names) {
            policy.put("mechanisms", new ArrayList<Object>(names));
            return this;
        }

        /** The source of randomness, if it is not the system's. */
        public Terms source(Source source) {
            this.source = source;
            return this;
        }

        /** The clocks, if they are not the system's. */
        public Terms clock(Clock clock) {
            this.clock = clock;
            return this;
        }
    }

    /** A question with its asker's terms: the asker, the name and the repetition. It is immutable. */
    public static final class Inquiry {
        private final Question question;
        private final Map<String, Object> facts;
        private final Object[] otherwise; // one value, or none
        private final Campaign[] campaign; // one, or none

        private Inquiry(Question question, Map<String, Object> facts, Object[] otherwise, Campaign... campaign) {
            this.question = question;
            this.facts = facts;
            this.otherwise = otherwise;
            this.campaign = campaign;
        }

        /** Answer for this label if an answer is not in the list: a missing report would reveal it. */
        public Inquiry otherwise(Object label) {
            need(question.draw.input(label) != null, "asking", "otherwise must be an answer to the question");
            need(!facts.containsKey("changes"), "asking", "a kept change is about the values of all days");
            return new Inquiry(question, facts, new Object[] {label}, campaign);
        }

        /** ε and δ of one answer. */
        public double epsilon() {
            return Json.real(facts.get("epsilon"));
        }

        public double delta() {
            return Json.real(facts.get("delta"));
        }

        /** No report is more than this many times likelier under one value than under another. */
        public double odds() {
            return Math.exp(epsilon());
        }

        /**
         * The question as people read it, in the best of some languages, or in this machine's; its name if the campaign has no words
         * for it. What an asker wrote is text: escape it where HTML is shown.
         */
        public String text(String... languages) {
            return campaign.length == 0 ? name() : campaign[0].said(name(), languages);
        }

        /** The answers of a list, in their order, each with its words in the best of some languages; may be empty. A key may be null: no answer. */
        public Map<Object, String> labels(String... languages) {
            return campaign.length == 0 ? new LinkedHashMap<>() : campaign[0].named(name(), languages);
        }

        /** What this holds under; the terms must accept each line. */
        public List<String> assumes() {
            List<String> lines = new ArrayList<>();
            for (Object line : Account.assumed(facts)) lines.add((String) line);
            return lines;
        }

        private String name() {
            return (String) facts.get("question");
        }

        private Object input(Object value) {
            List<Object> tried = new ArrayList<>(Arrays.asList(otherwise));
            tried.add(0, campaign.length > 0 ? campaign[0].request.value(name(), value) : value);
            for (Object one : tried) {
                try {
                    Object input = facts.containsKey("changes") ? Changes.input(question, one) : question.draw.input(one);
                    boolean fits = facts.get("times") == null || input instanceof List && ((List<?>) input).size() == Account.integer(facts.get("times"));
                    if (input != null && fits) return input;
                } catch (RuntimeException strange) {
                    // A collection of yours that fails is not a value.
                }
            }
            return null;
        }
    }

    /** How an event ended. */
    public static final class Outcome {
        /** drawn, repeated, resent, acknowledged, silent, present, acted, or refused. */
        public final String is;
        /** Why it was refused: a word of docs/account.md, "value", "ended", "early" or "consent"; otherwise empty. */
        public final String reason;
        /** A sentence about it, or empty. */
        public final String words;
        /** The ε that was charged. */
        public final double charged;
        /** How many items of a set are not in the list, and were left out. */
        public final int leftOut;

        private Outcome(Map<String, Object> outcome) {
            this(outcome, 0);
        }

        private Outcome(Map<String, Object> outcome, int leftOut) {
            this.leftOut = leftOut;
            words = outcome.containsKey("words") ? (String) outcome.get("words") : "";
            is = (String) outcome.get("is");
            reason = outcome.containsKey("reason") ? (String) outcome.get("reason") : "";
            charged = outcome.containsKey("charged") ? new BigInteger((String) outcome.get("charged"), 16).doubleValue() * 0x1p-64 : 0;
        }
    }

    /** What became of the reports that waited. */
    public static final class Sent {
        /** How many reports the collector has now. */
        public final int sent;
        /** How many still wait: send again later. */
        public final int waiting;
        /** Words of the collector: why it did not take a batch; "unreachable", or "consent" if the person does not want to send. What it can never take was dropped. */
        public final List<String> refused;
        /** Seconds to wait before the next attempt, those that the collector said and up to a quarter more; or -1. */
        public final int retryAfter;
        /** A sentence about the last refusal, or empty. */
        public final String words;

        private Sent(int sent, int waiting, List<String> refused, int retryAfter, String words) {
            this.words = words;
            this.sent = sent;
            this.waiting = waiting;
            this.refused = Collections.unmodifiableList(refused);
            this.retryAfter = retryAfter;
        }
    }

    /** What was given by one answer. The names are empty where they were erased. */
    public static final class Given {
        public final String asker;
        public final String question;
        public final double epsilon;
        public final double delta;

        private Given(Map<String, Object> entry) {
            asker = (String) entry.get("asker");
            question = (String) entry.get("question");
            epsilon = new BigInteger((String) entry.get("epsilon"), 16).doubleValue() * 0x1p-64;
            delta = new BigInteger((String) entry.get("delta"), 16).doubleValue() * 0x1p-128;
        }
    }

    /** What the account of a person has. */
    public static final class Overview {
        /** One for each answer that was charged; a permanent answer once. */
        public final List<Given> given;
        /** The ε that is left for all askers. */
        public final double left;
        /** How many reports wait to be sent. */
        public final int waiting;
        /** The number of sent answers; their askers keep them. */
        public final int sent;
        /** How many of these can still be taken back: see {@link Device#takeBack}. */
        public final int withdrawable;

        private Overview(Map<String, Object> state, long wall) {
            List<Given> all = new ArrayList<>();
            List<Object> queued = new ArrayList<>();
            int waits = 0;
            for (Map<String, Object> one : Account.rows(state, "queue")) {
                queued.add(one.get("id"));
                if (Account.waits(one)) waits++;
            }
            for (Map<String, Object> one : Account.rows(state, "present")) if (one.get("batch") != null) waits++;
            int gone = 0;
            for (Map<String, Object> entry : Account.rows(state, "entries")) {
                all.add(new Given(entry));
                if (!queued.contains(entry.get("id"))) gone++;
            }
            given = Collections.unmodifiableList(all);
            left = Account.left(state, wall);
            waiting = waits;
            sent = gone;
            int open = 0;
            for (Map<String, Object> one : Account.rows(state, "sent")) {
                if (Account.integer(one.get("until")) >= Math.floorDiv(wall, 86_400L)) open += Json.list(one.get("questions")).size();
            }
            withdrawable = open;
        }
    }

    /** Open the account of a device; a missing one is created with these terms. Later terms do not change it. */
    public static Device open(Store store, Terms terms) throws IOException {
        Device device = new Device(store, terms);
        store.update(kept -> {
            if (!kept.isEmpty()) {
                Map<String, Object> known = Json.object(Json.parse(kept));
                need(known.containsKey("key") && known.get("state") instanceof Map, "account");
                Account.upgraded(Json.object(known.get("state")));
                return "";
            }
            Map<String, Object> own = Account.map("epsilon", Account.limit(terms.epsilon, 64), "delta", Account.limit(terms.delta, 128));
            own.put("lifetime", terms.lifetime < 0 ? null : Account.map("epsilon", Account.limit(terms.lifetime, 64), "delta", own.get("delta")));
            Map<String, Object> limits = Account.map("epoch", terms.epoch, "quota", terms.quota < 0 ? null : Account.limit(terms.quota, 64), "quotas", Account.map());
            limits.putAll(own);
            limits.put("askers", terms.askers < 0 ? null : (Object) (double) terms.askers);
            Map<String, Object> at = device.now();
            Map<String, Object> clock = Account.map("ahead", 0.0);
            clock.putAll(at);
            List<Object> none = new ArrayList<>();
            Map<String, Object> state = Account.map("account", 3.0, "person", device.fresh(16), "device", device.fresh(16), "limits", limits, "own", own);
            state.putAll(Account.map("born", at.get("wall"), "clock", clock, "openings", limits.get("askers"), "askers", none));
            state.putAll(Account.map("entries", none, "answers", none, "choices", none, "queue", none));
            return Json.write(Account.map("key", device.fresh(32), "state", state));
        });
        return device;
    }

    private String fresh(int bytes) {
        return Json.hex(terms.source.take(bytes));
    }

    private Map<String, Object> now() {
        Clock clock = terms.clock;
        return Account.map("wall", (double) clock.wall(), "boot", clock.boot(), "elapsed", (double) clock.elapsed());
    }

    /** One event; it is on disk when this returns. */
    private interface Event {
        Account.Step of(Map<String, Object> state, String key);
    }

    private Map<String, Object> happen(Event event) throws IOException {
        return happen(null, "", event);
    }

    /** Change the account by an event. One about a campaign, or about none (an empty list), needs consent, and is refused without it. */
    private Map<String, Object> happen(Campaign[] about, String address, Event event) throws IOException {
        List<Map<String, Object>> outcome = new ArrayList<>();
        store.update(kept -> {
            need(!kept.isEmpty(), "account");
            Map<String, Object> known = new LinkedHashMap<>(Json.object(Json.parse(kept)));
            String words = about == null ? "" : withheld(known, about, address);
            if (!words.isEmpty()) {
                outcome.add(refusal("consent", words));
                return "";
            }
            Account.Step step = event.of(Account.upgraded(Json.object(known.get("state"))), Json.string(known.get("key")));
            outcome.add(step.outcome);
            known.put("state", step.next);
            return step.next == null ? "" : Json.write(known);
        });
        return outcome.get(0);
    }

    private static Map<String, Object> refusal(String reason, String words) {
        return Account.map("is", "refused", "reason", reason, "words", words);
    }

    /** Return the person's choice about the words of a campaign, or about questions without one; null without a choice. */
    private static Boolean choice(Map<String, Object> known, Campaign[] about, String address) {
        Object all = known.get("consent");
        if (about.length == 0) return (Boolean) all;
        Map<String, Object> shown = about[0].shown();
        Map<String, Object> agreed = agreed(known);
        Object said = agreed.get(shown.get("general"));
        if (said == null) return agreed.containsKey(shown.get("general")) || Boolean.FALSE.equals(all) ? false : null;
        Map<String, Object> covered = Json.object(said);
        boolean fine = ((List<?>) covered.get("questions")).containsAll((List<?>) shown.get("questions"));
        fine &= Json.string(covered.get("begins")).compareTo(Json.string(shown.get("begins"))) <= 0;
        fine &= Json.string(shown.get("ends")).compareTo(Json.string(covered.get("ends"))) <= 0;
        return fine && address.startsWith(address.isEmpty() ? "" : Json.string(covered.get("address"))) ? true : null;
    }

    private static Map<String, Object> agreed(Map<String, Object> known) {
        return known.get("agreed") == null ? new LinkedHashMap<>() : new LinkedHashMap<>(Json.object(known.get("agreed")));
    }

    /** Return why nothing may be answered and sent; empty if it may. What the person chose counts more than a variable of the environment. */
    private static String withheld(Map<String, Object> known, Campaign[] about, String address) {
        Boolean choice = choice(known, about, address);
        if (choice != null) return choice ? "" : "the person does not want to answer";
        if (Boolean.TRUE.equals(known.get("consent")) || !agreed(known).isEmpty()) {
            return "the person was asked about something else: ask the person, and call consent(true, campaign) if they agree";
        }
        for (String name : new String[] {"DO_NOT_TRACK", "NO_TELEMETRY"}) {
            String set = System.getenv(name);
            if (set != null && !Arrays.asList("", "0", "false", "no").contains(set.toLowerCase(Locale.ROOT))) {
                return name + " is set: ask the person, and call consent(true) if they agree";
            }
        }
        return "";
    }

    /** Return whether this device may answer and send: it may unless the person said no, or nobody asked them and DO_NOT_TRACK or NO_TELEMETRY is set. */
    public boolean consent() throws IOException {
        return mayAnswer(new Campaign[0]);
    }

    /** Return whether this device may answer a campaign and send to it: once the person was asked about any, only if they agreed to what this one shows. */
    public boolean consent(Campaign campaign) throws IOException {
        return mayAnswer(new Campaign[] {campaign});
    }

    private boolean mayAnswer(Campaign[] about) throws IOException {
        return happen(about, "", (state, key) -> new Account.Step(Account.map("is", "fine"), null)).get("is").equals("fine");
    }

    /**
     * Keep what the person chose about everything: a no to all campaigns, or a yes to questions that belong to none. Without consent nothing is
     * answered or sent, from the next batch on. What waits is kept, and is never sent: a later yes deletes it.
     */
    public void consent(boolean choice) throws IOException {
        keep(choice, new Campaign[0]);
    }

    /**
     * Keep the person's choice about a campaign. A yes covers the shown words, also with fewer questions or days, and nothing else: another
     * asker, key, purpose or address, a further question or day, and other words are asked again.
     */
    public void consent(boolean choice, Campaign campaign) throws IOException {
        keep(choice, new Campaign[] {campaign});
    }

    private void keep(boolean choice, Campaign[] about) throws IOException {
        store.update(kept -> {
            need(!kept.isEmpty(), "account");
            Map<String, Object> known = new LinkedHashMap<>(Json.object(Json.parse(kept)));
            if (choice && Boolean.FALSE.equals(choice(known, about, ""))) known.put("state", unqueued(Json.object(known.get("state")), about));
            Map<String, Object> agreed = choice || about.length > 0 ? agreed(known) : new LinkedHashMap<>();
            if (about.length == 0) {
                known.put("consent", choice);
            } else {
                Map<String, Object> shown = about[0].shown();
                Object general = shown.remove("general");
                shown.put("address", about[0].address.replaceAll("campaigns/[0-9a-f]+$", ""));
                agreed.put((String) general, choice ? shown : null);
            }
            known.put("agreed", agreed);
            return Json.write(known);
        });
    }

    /** Take what waits off the queue, and messages of presence: what was drawn before a no is not covered by a later yes. Permanent answers may be given again, unless they may have arrived. */
    private static Map<String, Object> unqueued(Map<String, Object> before, Campaign[] about) {
        Map<String, Object> upgraded = Account.upgraded(before);
        Map<String, Object> state = Account.withoutMessages(upgraded, one -> about.length == 0 || Account.isOf(about[0].presence()).test(one));
        for (Map<String, Object> one : Account.rows(state, "queue")) {
            boolean chosen = about.length == 0 || about[0].term("asker").equals(one.get("asker")) && about[0].names().contains(one.get("question"));
            if (!chosen || !Account.waits(one)) continue;
            String batch = (String) one.get("batch");
            Account.Step step = batch == null ? Account.drop(state, (String) one.get("id")) : Account.acknowledge(state, batch, null);
            if (step.next != null) state = step.next;
        }
        return state;
    }

    /** Return the answers by asker, and the remaining budget. */
    public Overview account() throws IOException {
        List<Overview> found = new ArrayList<>();
        happen((state, key) -> {
            found.add(new Overview(state, terms.clock.wall()));
            return new Account.Step(Account.map("is", "shown"), null);
        });
        return found.get(0);
    }

    /**
     * Forget the answers: names of askers and questions, permanent answers and their key, drawn days, waiting reports. Return the erased data, with the number of
     * answers had been sent. The spent budget stays, because askers keep their knowledge.
     */
    public Overview erase() throws IOException {
        List<Overview> found = new ArrayList<>();
        store.update(kept -> {
            need(!kept.isEmpty(), "account");
            Map<String, Object> known = new LinkedHashMap<>(Json.object(Json.parse(kept)));
            found.add(new Overview(Json.object(known.get("state")), terms.clock.wall()));
            known.put("state", Account.erase(Account.upgraded(Json.object(known.get("state")))));
            known.put("key", fresh(32));
            return Json.write(known);
        });
        return found.get(0);
    }

    /** Ask a question of a campaign. */
    public Inquiry ask(Campaign campaign, String name) {
        Question question = campaign.question(name);
        Map<String, Object> stated = campaign.request.accountTerms(campaign.id, name);
        boolean kept = Arrays.asList("fresh", "same", "per value", "once", Changes.REPEAT).contains(stated.get("repeat"));
        need(kept, "asking", "question \"" + name + "\": the campaign repeats it as \"" + stated.get("repeat") + "\", which the account of this client does not keep");
        Inquiry made = inquiry(question, name, campaign.term("asker"), campaign.term("repeat"), stated.get("days"), stated.get("start"), stated.containsKey("times") ? 1 : 0, campaign);
        for (String term : new String[] {"every", "changes", "fingerprint", "limit", "phase"}) if (stated.containsKey(term)) made.facts.put(term, stated.get(term));
        return made;
    }

    /** Ask a question that belongs to no campaign: "fresh" at each answer, the "same" answer for ever, or one "per value". */
    public Inquiry ask(Question question, String name, String asker, String repeat) {
        need(Arrays.asList("fresh", "same", "per value").contains(repeat), "asking");
        return inquiry(question, name, asker, repeat, null, null, 0);
    }

    /** Ask for a path of this number of locations. Each is charged: a value is a list of places. */
    public Inquiry askPath(Question question, String name, String asker, int times) {
        need(times >= 1 && times <= 65536, "asking");
        return inquiry(question, name, asker, "fresh", null, null, times);
    }

    private static Inquiry inquiry(Question question, String name, String asker, String repeat, Object days, Object start, int times, Campaign... campaign) {
        need(!name.isEmpty() && !asker.isEmpty() && question.draw.path == times > 0, "asking");
        BigDecimal exact = new BigDecimal(question.epsilon).multiply(new BigDecimal(Math.max(times, 1)));
        double cost = exact.doubleValue();
        if (new BigDecimal(cost).compareTo(exact) < 0) cost = Math.nextUp(cost);
        Map<String, Object> facts = Account.map("asker", asker, "question", name, "fingerprint", question.fingerprint, "mechanism", question.mechanism);
        facts.putAll(Account.map("epsilon", cost, "delta", question.delta, "assumes", new ArrayList<>(), "repeat", repeat, "days", days, "start", start, "data", null));
        if (times > 0) facts.put("times", (double) times);
        return new Inquiry(question, facts, new Object[0], campaign);
    }

    /** Answer under a new identity. */
    public Outcome answer(Inquiry inquiry, Object value) throws IOException {
        return answer(inquiry, value, fresh(16));
    }

    /**
     * Answer: check, spend, draw and store in one transaction. The outcome never depends on the value, except that a value that is not in
     * the domain is refused for the reason "value" and nothing is spent: declare {@link Inquiry#otherwise}.
     *
     * @param value a Number, null where a question about a number is optional, a label, a List of labels (a set), a Map of labels (several attributes), a String (a text), or a List of
     *     places of two numbers each (a path); about a kept change the List of the labels of all days of the period so far
     * @param identity 32 random hexadecimal digits that you keep: the same answer again is charged once
     */
    public Outcome answer(Inquiry inquiry, Object value, String identity) throws IOException {
        need(identity.length() == 32 && Json.digits(identity), "asking");
        // The value is read only here: values that are moved to one place are one, and an error leaves the account unchanged.
        Object input = inquiry.input(value);
        if (input == null) return new Outcome(refusal("value", "question \"" + inquiry.name() + "\": expected a value of its domain; declare otherwise for all others"));
        String ended = ended(inquiry);
        if (!ended.isEmpty()) return new Outcome(refusal("ended", ended));
        return new Outcome(happen(inquiry.campaign, "", (state, key) -> Account.answer(state, identity, inquiry.facts, terms.policy, now(), new Account.Drawing() {
            @Override
            public String report() {
                return Json.hex(inquiry.question.draw.draw(input, inquiry.facts.get("repeat").equals("per value") ? keyed(key, inquiry.facts, input, 0) : terms.source));
            }

            @Override
            public String mark() {
                return Json.hex(keyed(key, inquiry.facts, input, 1).take(16));
            }

            @Override
            public Source source() {
                return terms.source;
            }

            @Override
            public Changes.Drawn change(Changes.Owed owed, long period, int mark) {
                return Changes.draw(inquiry.question, Json.list(input), inquiry.facts, owed, period, mark, key, terms.source);
            }
        })), value instanceof Iterable ? inquiry.question.draw.leftOut(value) : 0);
    }

    /** Return that the campaign of an inquiry is over, or empty. */
    private String ended(Inquiry inquiry) {
        if (inquiry.campaign.length == 0) return "";
        long last = inquiry.campaign[0].lastDay();
        return Math.floorDiv(terms.clock.wall(), 86_400L) > last ? "the campaign ended on " + LocalDate.ofEpochDay(last) : "";
    }

    /** Say that the program is used, of a campaign whose label is the day of installation, or that has none: {@link #present(Campaign, Object)}. */
    public Outcome present(Campaign campaign) throws IOException {
        return use(campaign, new Object[0]);
    }

    /**
     * Say that the program is used, whenever it is: the first use in a period of a campaign with repeat "present" makes a message, which {@link #send} sends
     * inside that period. The outcome is drawn if the permanent label was drawn with it, present, silent if the period has a message, or refused.
     *
     * @param value what the permanent label is about
     */
    public Outcome present(Campaign campaign, Object value) throws IOException {
        return use(campaign, new Object[] {value});
    }

    private Outcome use(Campaign campaign, Object[] given) throws IOException {
        need(campaign.request.isPresent(), "asking", "the campaign does not count who is present");
        long today = Math.floorDiv(terms.clock.wall(), 86_400L);
        if (today > campaign.lastDay()) return new Outcome(refusal("ended", "the campaign ended on " + LocalDate.ofEpochDay(campaign.lastDay())));
        if (today < CampaignText.dayOf(campaign.term("begins"))) return new Outcome(refusal("early", "the campaign begins on " + campaign.term("begins")));
        Inquiry[] label = label(campaign);
        return new Outcome(happen(new Campaign[] {campaign}, "", (state, key) -> {
            long latest = Math.max(today, Math.floorDiv(Account.integer(Json.object(state.get("clock")).get("wall")), 86_400L));
            boolean installed = given.length == 0 && label.length > 0 && campaign.isInstalled(label[0].name());
            Object[] value = installed ? new Object[] {LocalDate.ofEpochDay(latest).toString()} : given;
            Object input = label.length == 0 || value.length == 0 ? null : label[0].input(value[0]);
            // Before the coin is tossed: whether a value is refused says nothing about the coin.
            boolean first = Account.rows(state, "present").stream().noneMatch(Account.isOf(campaign.presence()));
            if (first && label.length > 0 && input == null) {
                return new Account.Step(refusal("value", "question \"" + label[0].name() + "\": expected a value of its domain"), null);
            }
            return Account.present(state, fresh(16), campaign.presence(), label.length == 0 ? null : label[0].facts, terms.policy, now(), new Account.Drawing() {
                @Override
                public String report() {
                    return Json.hex(label[0].question.draw.draw(input, terms.source));
                }

                @Override
                public String mark() {
                    return "";
                }

                @Override
                public Source source() {
                    return terms.source;
                }
            });
        }));
    }

    /** Return the question that is the permanent label of a campaign, or none. */
    private static Inquiry[] label(Campaign campaign) {
        if (campaign.names().isEmpty()) return new Inquiry[0];
        String name = campaign.names().get(0);
        Inquiry label = inquiry(campaign.question(name), name, campaign.term("asker"), "present", null, null, 0, campaign);
        label.facts.put("every", campaign.term("every"));
        return new Inquiry[] {label};
    }

    /** Return the message of presence that waits, and its reports; its outcome has no id if none waits. */
    private Account.Step message(Campaign campaign, Map<String, Object> state, List<Map<String, Object>> reports) {
        Inquiry[] label = label(campaign);
        Account.Step step = Account.message(state, campaign.presence(), label.length == 0 ? null : label[0].facts, now());
        if (step.outcome.containsKey("reports")) {
            for (Object one : Json.list(step.outcome.get("reports"))) {
                reports.add(Account.map("fingerprint", Json.list(one).get(0), "report", Json.list(one).get(1)));
            }
        }
        return step;
    }

    /** A source that repeats for one input: HMAC-SHA256 by the device's key of a counter, the purpose, the question and the input. */
    static Source keyed(String key, Map<String, Object> facts, Object input, int purpose) {
        // Two askers may use one name, and two values be moved to one place. Quoted texts mark the end of each.
        byte[] text = Json.utf8(Json.write(Arrays.asList((double) purpose, facts.get("asker"), facts.get("question"), facts.get("fingerprint"), plain(input))));
        byte[] secret = Json.unhex(key);
        need(secret.length == 32, "account");
        long[] count = {0};
        ByteArrayOutputStream[] left = {new ByteArrayOutputStream()};
        return size -> {
            while (left[0].size() < size) {
                byte[] block = Relay.mac(secret, Uniform.bytes(count[0]++, 8), text);
                left[0].write(block, 0, block.length);
            }
            byte[] all = left[0].toByteArray();
            left[0] = new ByteArrayOutputStream();
            left[0].write(all, size, all.length - size);
            return Arrays.copyOf(all, size);
        };
    }

    /** Return an input as JSON. */
    private static Object plain(Object input) {
        if (input instanceof double[]) return Arrays.stream((double[]) input).boxed().collect(Collectors.toList());
        if (input instanceof int[][]) return Arrays.stream((int[][]) input).map(at -> plain(new double[] {at[0], at[1]})).collect(Collectors.toList());
        if (input instanceof Double && ((Double) input).isNaN()) return null; // no answer
        if (!(input instanceof List)) return input;
        List<Object> parts = new ArrayList<>();
        for (Object one : (List<?>) input) parts.add(plain(one));
        return parts;
    }

    /** Return what {@link #answer} would do, without a value: nothing is drawn, spent or sent. */
    public Outcome dryRun(Inquiry inquiry) throws IOException {
        String ended = ended(inquiry);
        if (!ended.isEmpty()) return new Outcome(refusal("ended", ended));
        return new Outcome(happen(inquiry.campaign, "", (state, key) -> new Account.Step(Account.answer(state, "", inquiry.facts, terms.policy, now(), null).outcome, null)));
    }

    /** Return the ε that is left for all askers. */
    public double left() throws IOException {
        return Json.real(happen((state, key) -> new Account.Step(Account.map("left", Account.left(state, terms.clock.wall())), null)).get("left"));
    }

    /** The person did something themselves, such as pressing a button. No event of an asker may call this. */
    public Outcome act() throws IOException {
        return new Outcome(happen((state, key) -> Account.act(state, now())));
    }

    /** Send what waits of a campaign that was fetched. */
    public Sent send(Campaign campaign, Transport transport) throws IOException {
        return send(campaign, campaign.batches(), "", transport);
    }

    /**
     * Send what waits of a campaign, batch by batch, with at most one report to a question in each. A batch has the same bytes until the
     * collector acknowledges it; what the collector can never take is dropped. Of a campaign with repeat "present" the message of the present
     * period is sent, and the label only by devices that carry no permanent one.
     *
     * <p>Consent is looked at before every batch.
     *
     * @param label a public label of all reports, such as a version; one that the campaign lists, or empty
     * @throws Malformed ("label") if the campaign does not list the label: nothing is sent, and all reports are kept
     */
    public Sent send(Campaign campaign, String batches, String label, Transport transport) throws IOException {
        need(campaign.takes(label), "label", "\"" + label + "\" is not in the campaign; it lists " + campaign.labels());
        List<String> refused = new ArrayList<>();
        String words = "";
        int sent = 0;
        int retryAfter = -1;
        while (retryAfter < 0) {
            List<Map<String, Object>> reports = new ArrayList<>();
            Map<String, Object> batch = happen(new Campaign[] {campaign}, batches, (state, key) -> {
                if (campaign.request.isPresent()) return message(campaign, state, reports);
                Account.Step step = Account.batch(state, fresh(16), 1000, one -> isOf(campaign, one));
                for (Map<String, Object> one : Account.rows(step.next == null ? state : step.next, "queue")) {
                    if (step.outcome.containsKey("id") && step.outcome.get("id").equals(one.get("batch"))) reports.add(one);
                }
                return step;
            });
            if (batch.get("is").equals("refused") && waiting(campaign) > 0) {
                refused.add("consent");
                words = (String) batch.get("words");
            }
            if (!batch.containsKey("id") || reports.isEmpty() && !campaign.request.isPresent()) break;
            String id = (String) batch.get("id");
            String marked = Boolean.FALSE.equals(batch.get("public")) ? "" : label;
            Transport.Answer answer;
            try {
                answer = transport.send("POST", batches, "application/vnd.dither.batch", packed(id, marked, reports));
            } catch (IOException unreachable) {
                refused.add("unreachable");
                words = String.valueOf(unreachable.getMessage());
                break;
            }
            Verdict verdict = judge(id, answer.status, answer.content);
            boolean taken = verdict.fate.equals("acknowledged");
            if (!taken) {
                refused.add(verdict.word.isEmpty() ? "status " + answer.status : verdict.word);
                words = verdict.words;
            }
            if (verdict.fate.equals("kept")) {
                retryAfter = Math.min(answer.retryAfter, 86_400); // no collector keeps a device silent for longer
                // Devices that were turned away together do not come back together.
                if (retryAfter > 0) retryAfter += retryAfter * (terms.source.take(1)[0] & 255) / 1024;
                break;
            }
            happen((state, key) -> verdict.fate.equals("dropped") ? Account.drop(state, id) : Account.acknowledge(state, id, noted(campaign)));
            if (taken) sent += campaign.request.isPresent() ? 1 : reports.size();
        }
        return new Sent(sent, waiting(campaign), refused, retryAfter, words);
    }

    /** Return the note about a batch that is acknowledged now. */
    private Map<String, Object> noted(Campaign campaign) {
        return Account.map("campaign", campaign.id, "day", (double) Math.floorDiv(terms.clock.wall(), 86_400L), "retry", campaign.retry());
    }

    /** What became of the batches that were taken back. */
    public static final class TakenBack {
        /** The number of answers whose deletion the collector has confirmed. */
        public final int withdrawn;
        /** How many answers had not been sent, and are not sent any more. */
        public final int unsent;
        /** Why batches are left, one word for each: the collector's, "status" and its number, or "unreachable". Ask again. */
        public final List<String> refused;

        private TakenBack(int withdrawn, int unsent, List<String> refused) {
            this.withdrawn = withdrawn;
            this.unsent = unsent;
            this.refused = Collections.unmodifiableList(refused);
        }
    }

    /**
     * Take back what this device gave to the asker of a campaign, as long as the collector can delete it: each batch by a request of its own.
     * What was not sent leaves the queue. What was spent stays spent, and permanent answers are not sent again.
     *
     * @param transport the way on which the batches were sent
     */
    public TakenBack takeBack(Campaign campaign, Transport transport) throws IOException {
        long today = Math.floorDiv(terms.clock.wall(), 86_400L);
        Object asker = campaign.term("asker");
        Map<String, String> batches = new LinkedHashMap<>(); // their campaigns by their identities
        int unsent = (int) Json.real(happen((state, key) -> {
            List<Map<String, Object>> queue = new ArrayList<>(Account.rows(state, "queue"));
            int before = queue.size();
            for (Map<String, Object> one : queue) {
                if (asker.equals(one.get("asker")) && Account.waits(one) && one.get("batch") != null) batches.put((String) one.get("batch"), campaign.id);
            }
            for (Map<String, Object> one : Account.rows(state, "present")) { // a message may have arrived
                if (asker.equals(one.get("asker")) && one.get("batch") != null) batches.put((String) one.get("batch"), campaign.id);
            }
            queue.removeIf(one -> asker.equals(one.get("asker")) && one.get("batch") == null);
            for (Map<String, Object> one : Account.rows(state, "sent")) {
                if (asker.equals(one.get("asker")) && Account.integer(one.get("until")) >= today) batches.put((String) one.get("id"), (String) one.get("campaign"));
            }
            Map<String, Object> next = new LinkedHashMap<>(state);
            next.put("queue", queue);
            return new Account.Step(Account.map("unsent", (double) (before - queue.size())), before == queue.size() ? null : next);
        }).get("unsent"));
        List<String> refused = new ArrayList<>();
        int withdrawn = 0;
        for (Map.Entry<String, String> batch : batches.entrySet()) {
            String id = batch.getKey();
            String address = campaign.batches().replaceAll("[0-9a-f]{64}/batches$", batch.getValue() + "/withdrawals");
            try {
                Transport.Answer answer = transport.send("POST", address, "application/json", Json.utf8(withdrawal(id)));
                if (isWithdrawn(id, answer.status, answer.content)) {
                    withdrawn += (int) Json.real(happen((state, key) -> Account.withdraw(state, id)).getOrDefault("reports", 0.0));
                } else {
                    String word = judge(id, answer.status, answer.content).word;
                    refused.add(word.isEmpty() ? "status " + answer.status : word);
                }
            } catch (IOException unreachable) {
                refused.add("unreachable");
            }
        }
        return new TakenBack(withdrawn, unsent, refused);
    }

    /** Return the body of a request to delete a batch. */
    static String withdrawal(String batch) {
        return Json.write(Account.map("dither", 2.0, "withdraw", batch));
    }

    /** Return whether an answer says that a batch is withdrawn. */
    static boolean isWithdrawn(String batch, int status, byte[] content) {
        return status / 100 == 2 && batch.equals(said(content).get("withdrawn"));
    }

    private int waiting(Campaign campaign) throws IOException {
        return (int) Json.real(happen((state, key) -> {
            double count = campaign.request.isPresent() && message(campaign, state, new ArrayList<>()).outcome.containsKey("id") ? 1 : 0;
            for (Map<String, Object> one : Account.rows(state, "queue")) if (isOf(campaign, one) && Account.waits(one)) count++;
            return new Account.Step(Account.map("waiting", count), null);
        }).get("waiting"));
    }

    private static boolean isOf(Campaign campaign, Map<String, Object> waiting) {
        Question question = campaign.questions.get(waiting.get("question"));
        boolean theirs = question != null && campaign.term("asker").equals(waiting.get("asker"));
        return theirs && campaign.request.fingerprint((String) waiting.get("question")).equals(waiting.get("fingerprint"));
    }

    /** What becomes of a batch after an answer: acknowledged, dropped or kept; and the collector's word if it was refused, or an empty text. */
    static final class Verdict {
        final String fate;
        final String word;
        final String words; // the collector's sentence

        private Verdict(String fate, String word, String words) {
            this.fate = fate;
            this.word = word;
            this.words = words;
        }
    }

    /**
     * Return the fate of a batch. It is acknowledged only by a 2xx that names it, or by a conflict: these reports are stored, sent before
     * under another label. It is dropped only if the collector has a word for it: what a proxy, a portal or another page says is not an
     * answer of the collector.
     */
    static Verdict judge(String batch, int status, byte[] content) {
        Map<String, Object> said = said(content);
        Object named = said.get("batch");
        Object refused = said.get("refused");
        Object words = said.get("words");
        String word = refused instanceof String ? (String) refused : "";
        boolean taken = status / 100 == 2 ? batch.equals(named) : status == 409 && word.equals("conflict");
        boolean never = !word.isEmpty() && !word.equals("sealed") && !word.equals("label") && Arrays.asList(400, 410, 413, 415, 422).contains(status);
        return new Verdict(taken ? "acknowledged" : never ? "dropped" : "kept", word, words instanceof String ? (String) words : "");
    }

    /** Return what a collector says; empty if it is not an answer of a collector. */
    private static Map<String, Object> said(byte[] content) {
        try {
            need(content.length <= Transport.MOST_ANSWER, "text");
            return Json.object(Json.parse(new String(content, StandardCharsets.UTF_8)));
        } catch (Malformed | StackOverflowError other) {
            return Collections.emptyMap();
        }
    }

    /** Return the reports of each fingerprint, all sorted: the order in which they were drawn is nobody's business. */
    private static Map<String, List<Object>> groups(List<Map<String, Object>> reports) {
        Map<String, List<Object>> found = new TreeMap<>();
        for (Map<String, Object> one : reports) found.computeIfAbsent((String) one.get("fingerprint"), mark -> new ArrayList<>()).add(one.get("report"));
        for (List<Object> group : found.values()) group.sort((a, b) -> ((String) a).compareTo((String) b));
        return found;
    }

    /** Return a batch as canonical JSON. */
    static String json(String id, String label, List<Map<String, Object>> reports) {
        return Json.write(Account.map("batch", id, "dither", 2.0, "label", label, "reports", groups(reports)));
    }

    /** Return a batch as packed bytes. */
    static byte[] packed(String id, String label, List<Map<String, Object>> reports) {
        Map<String, List<Object>> found = groups(reports);
        byte[] name = Json.utf8(label);
        need(name.length <= 64, "asking");
        StringBuilder body = new StringBuilder(Json.hex(Json.utf8("dither\0\2"))).append(id);
        body.append(Json.hex(Uniform.bytes(name.length, 1))).append(Json.hex(name)).append(Json.hex(Uniform.bytes(found.size(), 2)));
        for (Map.Entry<String, List<Object>> group : found.entrySet()) {
            int size = ((String) group.getValue().get(0)).length() / 2;
            body.append(group.getKey()).append(Json.hex(Uniform.bytes(size, 4))).append(Json.hex(Uniform.bytes(group.getValue().size(), 4)));
            for (Object report : group.getValue()) body.append(report);
        }
        return Json.unhex(body + Json.digest(Json.unhex(body.toString()), 32));
    }
}
