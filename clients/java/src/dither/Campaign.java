package dither;

import static dither.Malformed.need;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** A campaign that was signed with a pinned key: its terms, and questions that keep its promise. It is immutable. */
public final class Campaign {
    /** The SHA-256 of its text. */
    public final String id;
    /** The key that it is signed with: the pinned one, or the one that the pinned one has signed as the next. */
    public final String key;
    /** The day from which on it is retired, such as 2026-05-01; empty if it is not. */
    public final String retired;
    /** The ε of all questions together, and the δ. */
    public final double epsilon;

    public final double delta;

    final CampaignText request;
    final Map<String, Object> terms;
    final Map<String, Question> questions;
    String address = "";

    private Campaign(String published, String pin) {
        Signed signed = new Signed(published, pin);
        key = signed.key;
        String text = Json.string(signed.given.get("campaign"));
        signed.check("dither campaign 2\n" + text, signed.given.get("signature"));
        id = Json.digest(Json.utf8(text), 64);
        need(signed.given.containsKey("retired"), "text");
        Object ended = signed.given.get("retired");
        retired = ended == null ? "" : Json.string(Json.object(ended).get("day"));
        if (ended != null) {
            CampaignText.dayOf(retired);
            signed.check("dither retirement 1\n" + id + "\n" + retired, Json.object(ended).get("signature"));
        }
        if (signed.given.containsKey("card")) {
            Map<String, Object> card = Json.object(signed.given.get("card"));
            signed.check("dither card 1\n" + Json.string(card.get("text")), card.get("signature"));
            need(id.equals(Json.object(Json.parse(Json.string(card.get("text")))).get("campaign")), "terms");
        }
        request = new CampaignText(text);
        terms = request.terms;
        questions = request.questions;
        epsilon = request.epsilon;
        delta = request.delta;
    }

    /**
     * Read what a collector publishes.
     *
     * @throws Malformed unless it is signed with the pinned key (64 hexadecimal digits) or with the next one, and its terms are
     *     in order. A question whose draw this client does not know is not answered ({@link #canAnswer}), and the others are
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
     * Fetch a campaign, and keep the facts about its asker. A pinned key is followed once to the next one that it has signed; and the
     * asker's list of campaigns must have this one and continue the list that was seen before ("list").
     */
    public static Campaign fetch(String address, String key, Transport transport, Store seen) throws IOException {
        String[] pin = {key};
        seen.update(kept -> {
            Map<String, Object> keys = keptOf(kept, "keys");
            while (keys.containsKey(pin[0])) pin[0] = Json.string(keys.get(pin[0]));
            return "";
        });
        Campaign campaign = get(address, pin[0], transport);
        String text = body(transport, address.substring(0, address.length() - campaign.id.length() - "campaigns/".length()) + "list");
        // A collector of several askers has the list of one.
        boolean theirs = !text.isEmpty() && campaign.key.equals(Json.object(Json.parse(text)).get("key"));
        Published list = theirs ? new Published(text, campaign.key) : null;
        seen.update(kept -> {
            Map<String, Object> keys = keptOf(kept, "keys");
            Map<String, Object> heads = keptOf(kept, "heads");
            if (!campaign.key.equals(pin[0])) {
                need(!keys.containsKey(campaign.key) && (!keys.containsKey(pin[0]) || keys.get(pin[0]).equals(campaign.key)), "key");
                keys.put(pin[0], campaign.key);
                if (heads.containsKey(pin[0])) heads.putIfAbsent(campaign.key, heads.get(pin[0]));
            }
            Object before = heads.get(campaign.key);
            if (list == null) {
                need(before == null, "list");
            } else {
                need(list.continues(before) && list.days.containsKey(campaign.id), "list");
                need(!campaign.retired.isEmpty() || list.days.get(campaign.id).isEmpty(), "list");
                heads.put(campaign.key, Arrays.asList((double) list.heads.size(), list.head()));
            }
            return Json.write(Account.map("keys", keys, "heads", heads));
        });
        return campaign;
    }

    private static Map<String, Object> keptOf(String kept, String name) {
        return kept.isEmpty() ? new LinkedHashMap<>() : new LinkedHashMap<>(Json.object(Json.object(Json.parse(kept)).get(name)));
    }

    private static Campaign get(String address, String key, Transport transport) throws IOException {
        String text = body(transport, address);
        need(!text.isEmpty(), "campaign", "no campaign at this address; it may have moved, or ended long ago");
        Campaign campaign = read(text, key);
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

    /** Return whether this client knows how a question is drawn. */
    public boolean canAnswer(String name) {
        return questions.get(name) != null;
    }

    /** One of its questions. Throw {@link Malformed} ("asking") if the name is unknown, ("draw") if this client cannot answer it. */
    public Question question(String name) {
        need(questions.containsKey(name), "asking", "the campaign has no question \"" + name + "\"");
        need(canAnswer(name), "draw", "question \"" + name + "\" is drawn in a way that this client does not know");
        return questions.get(name);
    }

    /** A term that is a text, as it is published: name, asker, contact, purpose, begins, ends, repeat. */
    public String term(String name) {
        return Json.string(terms.get(name));
    }

    /** The labels of batches that it lists: {@link Device#send} refuses any other one. */
    public List<String> labels() {
        List<String> labels = new ArrayList<>();
        for (Object label : Json.list(terms.get("labels"))) labels.add((String) label);
        return labels;
    }

    /** Return whether a batch may have a label: none, or one that it lists. */
    boolean takes(String label) {
        return label.isEmpty() || labels().contains(label);
    }

    /** The languages of the words for people; may be empty. The first is the purpose's. */
    public List<String> languages() {
        List<String> tags = new ArrayList<>();
        if (terms.containsKey("languages")) for (Object tag : Json.list(terms.get("languages"))) tags.add((String) tag);
        return tags;
    }

    /** A question as people read it, in one of the {@link #languages}; empty if the campaign has no words for it. */
    public String text(String name, String language) {
        Map<String, Object> fields = stated(name);
        return fields.containsKey("text") ? said(fields.get("text"), language, "").toString() : "";
    }

    /** The answers to a question as people read them, in one of the {@link #languages} and in the order of the labels; otherwise the labels; may be empty. */
    public List<String> answers(String name, String language) {
        Map<String, Object> fields = stated(name);
        Map<String, Object> domain = Json.object(question(name).device.get("domain"));
        List<Object> found = domain.containsKey("labels") ? Json.list(domain.get("labels")) : new ArrayList<>();
        if (fields.containsKey("names")) found = Json.list(said(fields.get("names"), language, found));
        List<String> names = new ArrayList<>();
        for (Object one : found) {
            Object label = Draw.Categories.label(one);
            names.add(label instanceof String || label instanceof BigInteger ? label.toString() : Json.write(label));
        }
        return names;
    }

    /** Return a question in the best of some languages; its name without words. */
    String said(String name, String... wanted) {
        Map<String, Object> fields = stated(name);
        return fields.containsKey("text") ? Json.string(Json.object(fields.get("text")).get(pick(wanted))) : name;
    }

    /** Return the answers of a list with their words in the best of some languages. */
    Map<Object, String> named(String name, String... wanted) {
        Map<Object, String> named = new LinkedHashMap<>();
        List<String> words = answers(name, pick(wanted));
        List<Object> labels = Json.list(Json.object(question(name).device.get("domain")).getOrDefault("labels", new ArrayList<>()));
        for (int i = 0; i < labels.size(); i++) named.put(Draw.Categories.label(labels.get(i)), words.get(i));
        return named;
    }

    /** Return the tag that suits best: the same, or the same but for script and region, or the first. */
    private String pick(String... wanted) {
        List<String> tags = languages();
        for (String one : wanted.length > 0 ? wanted : new String[] {Locale.getDefault().toLanguageTag()}) {
            if (tags.contains(one)) return one;
            for (String tag : tags) if (tag.split("-", -1)[0].equals(one.split("-", -1)[0])) return tag;
        }
        return tags.isEmpty() ? "" : tags.get(0);
    }

    private Map<String, Object> stated(String name) {
        need(request.stated.containsKey(name), "asking", "the campaign has no question \"" + name + "\"");
        return request.stated.get(name);
    }

    private static Object said(Object byTag, String language, Object otherwise) {
        Map<String, Object> all = Json.object(byTag);
        return all.containsKey(language) ? all.get(language) : otherwise;
    }

    /** What the account is given about presence. */
    Map<String, Object> presence() {
        Map<String, Object> found = Account.map("asker", terms.get("asker"), "name", terms.get("name"), "every", terms.get("every"));
        if (terms.containsKey("label_share")) found.put("share", terms.get("label_share"));
        return found;
    }

    /** Return whether the values of a question are days of installation. */
    boolean isInstalled(String name) {
        return "installed".equals(stated(name).get("form"));
    }

    /** For how many days its collector recognises a batch, and can delete it. */
    double retry() {
        return (Double) terms.get("retry");
    }

    /** Its last day, in days since 1970: the day that it ends on, or the one before it is retired. */
    long lastDay() {
        long ends = CampaignText.dayOf(terms.get("ends"));
        return retired.isEmpty() ? ends : Math.min(ends, CampaignText.dayOf(retired) - 1);
    }

    /** What a person reads about it, without its version, its days and its questions. */
    private static final String[] STATED = {"answers", "asker", "changes", "contact", "days", "every", "labels", "people", "purpose", "purposes", "repeat"};

    /** Return digests of the words for a person: a yes covers only these. */
    Map<String, Object> shown() {
        List<Object> stated = new ArrayList<>();
        for (String name : STATED) stated.add(terms.get(name));
        List<Object> marks = new ArrayList<>();
        for (Object question : (List<?>) terms.get("questions")) marks.add(Json.digest(Json.utf8(Json.write(question)), 64));
        String general = Json.digest(Json.utf8(Json.write(Arrays.asList(stated, key))), 64);
        return Account.map("general", general, "questions", marks, "begins", terms.get("begins"), "ends", terms.get("ends"));
    }

    /** Its canonical text, all terms: the signed text. */
    public String text() {
        return Json.write(terms);
    }

    /** The key configuration that requests are encrypted to; may be empty. */
    public String sealingKey() {
        return terms.containsKey("sealing_key") ? Json.string(terms.get("sealing_key")) : "";
    }

    /** Where batches are sent; it is known if the campaign was fetched. */
    public String batches() {
        need(!address.isEmpty(), "asking");
        return address + "/batches";
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
    static final class Published {
        /** The digest of each entry; the last one is the head. */
        final List<String> heads = new ArrayList<>();
        /** By identity: the day from which on a campaign is retired, or an empty text. */
        final Map<String, String> days = new LinkedHashMap<>();

        Published(String published, String pin) {
            Signed signed = new Signed(published, pin);
            List<Object> entries = Json.list(signed.given.get("list"));
            need(!entries.isEmpty() && entries.size() <= 10000, "list");
            for (Object text : entries) {
                Map<String, Object> entry = Json.canonical(text);
                need((heads.isEmpty() ? Json.zeros(64) : head()).equals(entry.get("before")), "list");
                String kind = entry.containsKey("published") ? "published" : entry.containsKey("retired") ? "retired" : "next_key";
                need(entry.size() == (kind.equals("retired") ? 3 : 2) && entry.get(kind) instanceof String, "list");
                String subject = (String) entry.get(kind);
                need(subject.length() == 64 && Json.digits(subject), "list");
                need(kind.equals("next_key") || days.containsKey(subject) == kind.equals("retired"), "list");
                if (kind.equals("retired")) CampaignText.dayOf(entry.get("day"));
                if (!kind.equals("next_key")) days.put(subject, kind.equals("retired") ? (String) entry.get("day") : "");
                heads.add(Json.digest(Json.utf8((String) text), 64));
            }
            signed.check("dither list 2\n" + head(), signed.given.get("signature"));
        }

        String head() {
            return heads.get(heads.size() - 1);
        }

        /** Return whether the list continues one of which the length and the head were kept, or none was. */
        boolean continues(Object kept) {
            if (kept == null) return true;
            long count = Json.integer(Json.list(kept).get(0), 1, 1 << 20);
            return count <= heads.size() && heads.get((int) count - 1).equals(Json.list(kept).get(1));
        }
    }
}
