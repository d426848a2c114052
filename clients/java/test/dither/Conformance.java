package dither;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Answers requests on standard input, one JSON object a line: dither conformance -- java -cp … dither.Conformance. */
final class Conformance {
    private static final Map<String, Object> POLICY = Account.map("epsilon", 1.0, "delta", 0.0, "assumptions", new ArrayList<>(), "mechanisms", null);
    /** Draws that are not verified: their ε is that of a distance, or of two people who share a coin. */
    private static final List<String> UNVERIFIED = Arrays.asList("rings", "joint response", "joint bits", "joint hashed");

    private static String last = "";
    private static Question read;
    private static Device shown; // an account that is not kept

    private Conformance() {}

    private static Device opened() {
        String[] kept = {""};
        try {
            return Device.open(change -> {
                String next = change.apply(kept[0]);
                if (!next.isEmpty()) kept[0] = next;
            }, new Device.Terms(1));
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** A source that returns given bytes, and no others. */
    static final class Scripted implements Source {
        private final byte[] bytes;
        int at;

        Scripted(String text) {
            bytes = Json.unhex(text);
        }

        int left() {
            return bytes.length - at;
        }

        @Override
        public byte[] take(int size) {
            if (size > left()) throw new IllegalStateException("more bytes were taken");
            return Arrays.copyOfRange(bytes, at, at += size);
        }
    }

    /** Read a specification; an empty text stands for the one before. */
    static Question question(String specification) {
        if (!specification.isEmpty() && !specification.equals(last)) {
            Object device = Json.object(Json.parse(specification)).get("device");
            boolean drawn = device instanceof String && UNVERIFIED.contains(Json.canonical(device).get("draw"));
            read = drawn ? Question.unverified(specification) : Question.read(specification);
            last = specification;
        }
        return read;
    }

    private static String text(Map<String, Object> asked, String name) {
        return Json.string(asked.get(name));
    }

    private static Map<String, Object> answer(Map<String, Object> asked) {
        switch (text(asked, "do")) {
            case "draw": {
                Scripted source = new Scripted(text(asked, "bytes"));
                byte[] report = question(text(asked, "specification")).report(asked.get("value"), source);
                return Account.map("report", report == null ? null : Json.hex(report), "left", (double) source.left());
            }
            case "read":
                return Account.map("fingerprint", Question.read(text(asked, "specification")).fingerprint);
            case "campaign":
                return campaign(Campaign.read(text(asked, "published"), text(asked, "key")));
            case "bound":
                return Account.map("below", Question.expBelow(Json.real(asked.get("epsilon"))).toString(16));
            case "batch": {
                List<Map<String, Object>> reports = Account.rows(asked, "reports");
                return Account.map(
                        "json", Device.json(text(asked, "batch"), text(asked, "label"), reports),
                        "packed", Json.hex(Device.packed(text(asked, "batch"), text(asked, "label"), reports)));
            }
            case "fate":
                return Account.map("fate", Device.judge(text(asked, "batch"), (int) Json.integer(asked.get("status"), 100, 599), Json.unhex(text(asked, "content"))).fate);
            case "withdrawal":
                return Account.map("body", Device.withdrawal(text(asked, "batch")));
            case "withdrawn":
                return Account.map("withdrawn", Device.isWithdrawn(text(asked, "batch"), (int) Json.integer(asked.get("status"), 100, 599), Json.unhex(text(asked, "content"))));
            case "address":
                Malformed.need(Transport.isUsable(text(asked, "address")), "address");
                return Account.map("used", true);
            case "value": {
                Campaign campaign = Campaign.read(text(asked, "published"), text(asked, "key"));
                return Account.map("taken", campaign.request.value(text(asked, "question"), asked.get("value")));
            }
            case "words": {
                Campaign campaign = Campaign.read(text(asked, "published"), text(asked, "key"));
                if (shown == null) shown = opened();
                Device.Inquiry inquiry = shown.ask(campaign, text(asked, "question"));
                String[] languages = Json.list(asked.get("languages")).toArray(new String[0]);
                List<Object> labels = new ArrayList<>();
                inquiry.labels(languages).forEach((value, label) -> labels.add(Account.map("value", value, "text", label)));
                return Account.map("text", inquiry.text(languages), "labels", labels);
            }
            case "open": {
                Campaign campaign = Campaign.read(text(asked, "published"), text(asked, "key"));
                return Account.map("open", CampaignText.dayOf(asked.get("day")) <= campaign.lastDay(), "listed", campaign.takes(text(asked, "label")));
            }
            case "list": {
                Campaign.Published list = new Campaign.Published(text(asked, "published"), text(asked, "key"));
                Malformed.need(list.continues(asked.get("kept")), "list");
                return Account.map("count", (double) list.heads.size(), "head", list.head());
            }
            case "request": {
                byte[] plain = Relay.request(text(asked, "method"), text(asked, "address"), text(asked, "form"), Json.unhex(text(asked, "body")));
                return Account.map("plain", Json.hex(plain).replaceAll("(00)*$", ""), "length", (double) plain.length);
            }
            case "response": {
                Transport.Answer answer = Relay.response(Json.unhex(text(asked, "plain")));
                return Account.map("status", (double) answer.status, "content", Json.hex(answer.content));
            }
            case "encapsulate": {
                if (!Relay.isAvailable()) return Account.map("unknown", true);
                Relay.Sealed sealed = Relay.encapsulate(text(asked, "configuration"), Json.unhex(text(asked, "plain")), Json.unhex(text(asked, "ephemeral")));
                Map<String, Object> result = Account.map("sealed", Json.hex(sealed.request));
                if (asked.containsKey("answer")) result.put("opened", Json.hex(sealed.open(Json.unhex(text(asked, "answer")))));
                return result;
            }
            case "account": {
                Map<String, Object> state = Account.upgraded(Json.object(asked.get("state")));
                Map<String, Object> policy = asked.get("policy") == null ? POLICY : Json.object(asked.get("policy"));
                Account.Step step = happen(state, Json.object(asked.get("event")), policy);
                return Account.map("outcome", step.outcome, "state", step.next == null ? state : Account.ordered(step.next));
            }
            case "change": {
                Question question = question(text(asked, "specification"));
                int group = (int) Account.integer(asked.get("group"));
                int[] given = new int[3];
                for (int i = 0; i < 3; i++) given[i] = (int) Account.integer(asked.get(new String[] {"changes", "days", "before"}[i]));
                List<Object> codes = Changes.input(question, asked.get("values"));
                Changes.Owed owed = new Changes.Owed(group, given[0], given[1], codes.size(), given[2], (int) Account.integer(asked.get("intervals")));
                Scripted flips = new Scripted(text(asked, "keyed"));
                Scripted source = new Scripted(text(asked, "bytes"));
                Changes.Drawn drawn = Changes.rows(question, codes, owed, (int) Account.integer(asked.get("reported")), flips, source);
                String mark = Changes.fingerprint(question, asked.get("days"), asked.get("changes"));
                return Account.map("fingerprint", mark, "report", drawn.report, "reported", (double) drawn.number, "left", (double) flips.left() + source.left());
            }
            case "permanent": {
                List<Object> reports = new ArrayList<>();
                for (Map<String, Object> one : Account.rows(asked, "asks")) {
                    Question question = question(text(one, "specification"));
                    Map<String, Object> named = new LinkedHashMap<>(one);
                    named.put("fingerprint", question.fingerprint);
                    Object input = question.draw.input(one.get("value"));
                    reports.add(Json.hex(question.draw.draw(input, Device.keyed(text(one, "key"), named, input, 0))));
                }
                return Account.map("reports", reports);
            }
            default:
                return Account.map("unknown", true);
        }
    }

    private static Map<String, Object> campaign(Campaign campaign) {
        List<Object> asks = new ArrayList<>();
        for (String name : campaign.names()) {
            asks.add(campaign.canAnswer(name) ? campaign.request.accountTerms(campaign.id, name) : Account.map("question", name, "unknown", true));
        }
        return Account.map("campaign", campaign.id, "retired", campaign.retired.isEmpty() ? null : campaign.retired, "asks", asks);
    }

    private static Account.Step happen(Map<String, Object> state, Map<String, Object> event, Map<String, Object> policy) {
        switch (text(event, "do")) {
            case "answer":
                Source source = new Scripted(event.containsKey("random") ? text(event, "random") : "");
                return Account.answer(state, text(event, "id"), Json.object(event.get("question")), policy, Json.object(event.get("at")), new Account.Drawing() {
                    @Override
                    public String report() {
                        return (String) event.get("report");
                    }

                    @Override
                    public String mark() {
                        return (String) event.get("mark");
                    }

                    @Override
                    public Source source() {
                        return source;
                    }

                    @Override
                    public Changes.Drawn change(Changes.Owed owed, long period, int mark) {
                        return new Changes.Drawn((String) event.get("report"), (int) Account.integer(event.get("mark")));
                    }
                });
            case "dry run":
                Map<String, Object> outcome =
                        Account.answer(state, text(event, "id"), Json.object(event.get("question")), policy, Json.object(event.get("at")), null).outcome;
                outcome.remove("report");
                return new Account.Step(outcome, null);
            case "act":
                return Account.act(state, Json.object(event.get("at")));
            case "batch":
                return Account.batch(state, text(event, "id"), (int) Json.integer(event.get("most"), 0, 1 << 30), one -> {
                    boolean listed = !event.containsKey("questions");
                    for (Object pair : listed ? new ArrayList<>() : Json.list(event.get("questions"))) {
                        listed |= Json.list(pair).equals(Arrays.asList(one.get("question"), one.get("fingerprint")));
                    }
                    return one.get("asker").equals(event.get("asker")) && listed;
                });
            case "present":
                Source tossed = new Scripted(event.containsKey("random") ? text(event, "random") : "");
                return Account.present(state, text(event, "id"), Json.object(event.get("presence")), question(event), policy, Json.object(event.get("at")), new Account.Drawing() {
                    @Override
                    public String report() {
                        return (String) event.get("report");
                    }

                    @Override
                    public String mark() {
                        return "";
                    }

                    @Override
                    public Source source() {
                        return tossed;
                    }
                });
            case "message":
                return Account.message(state, Json.object(event.get("presence")), question(event), Json.object(event.get("at")));
            case "drop":
                return Account.drop(state, text(event, "id"));
            case "acknowledge":
                return Account.acknowledge(state, text(event, "id"), event.containsKey("sent") ? Json.object(event.get("sent")) : null);
            case "withdraw":
                return Account.withdraw(state, text(event, "id"));
            case "split":
                List<Object> share = Json.list(event.get("share"));
                return Account.split(state, text(event, "device"), Json.integer(share.get(0), 0, 1L << 52), Json.integer(share.get(1), 1, 1L << 52));
            default:
                return Account.merge(state, Json.object(event.get("from")));
        }
    }

    private static Map<String, Object> question(Map<String, Object> event) {
        return event.get("question") == null ? null : Json.object(event.get("question"));
    }

    public static void main(String[] words) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> asked = Json.object(Json.parse(line));
            Map<String, Object> result;
            try {
                result = answer(asked);
            } catch (Malformed refused) {
                result = Account.map("refused", refused.reason);
            } catch (RuntimeException | StackOverflowError wrong) {
                result = Account.map("error", wrong.toString());
            }
            result.put("id", asked.get("id"));
            out.write(Json.write(result));
            out.newLine();
        }
        out.flush();
    }
}
