package dither;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Checks that tests/conformance/test_java.py runs: java -cp … dither.Checks device FOLDER, and others. */
final class Checks {
    private Checks() {}

    private static void check(boolean fine, String what) {
        if (!fine) throw new IllegalStateException(what);
    }

    private interface Work {
        Object run() throws IOException;
    }

    private static void refused(String word, Work work) throws IOException {
        String found = "nothing";
        try {
            work.run();
        } catch (Malformed wrong) {
            found = wrong.reason;
        }
        check(found.equals(word), word + " was expected, not " + found);
    }

    public static void main(String[] words) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        switch (words[0]) {
            case "numbers": // the bits of doubles, each a line
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    System.out.println(Json.number(Double.longBitsToDouble(Long.parseUnsignedLong(line, 16))));
                }
                break;
            case "signatures": // by the platform, and without it
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    String[] parts = line.split(",", -1);
                    byte[] message = Json.unhex(parts[0]);
                    byte[] signature = Json.unhex(parts[1]);
                    byte[] key = Json.unhex(parts[2]);
                    System.out.println(Ed25519.verify(message, signature, key) + " " + Ed25519.verifyHere(message, signature, key));
                }
                break;
            case "device":
                device(new File(words[1]), in.readLine(), in.readLine());
                break;
            case "answers": // from a collector: as many answers as are asked for, told one by one
                answers(new File(words[1]), words[2], words[3], Integer.parseInt(words[4]));
                break;
            case "consent": // after a yes to the first campaign of consent.json, each with whether it is covered
                consent(new File(words[1]), Json.object(Json.parse(in.readLine())));
                break;
            case "send":
                send(new File(words[1]), words[2], words[3], words.length > 4 ? words[4] : "", words.length > 5 ? words[5] : "");
                break;
            case "changes": // the reports of people about a kept change, asked on three days of a period, the last of which is given
                changes(Json.object(Json.parse(in.readLine())), Long.parseLong(words[1]), Integer.parseInt(words[2]));
                break;
            case "presence": // two uses of a campaign at a collector; the message is taken back if there is a further word
                presence(new File(words[1]), words[2], words[3], words.length > 4);
                break;
            case "uses": // uses of signed campaigns by a clock: what is sent
                uses(new File(words[1]), in.readLine(), in.readLine());
                break;
            case "all": // every question of a campaign, with values by name
                all(words[1], words[2], Json.object(Json.parse(in.readLine())));
                break;
            case "hostile": // one waiting report, sent to ADDRESS/n/batches for each n; the deadline is three times the milliseconds
                hostile(in.readLine(), in.readLine(), words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                break;
            case "writes": // an account that is written so many times
                for (int i = 0; i < Integer.parseInt(words[2]); i++) {
                    String text = "\"" + i + "\"";
                    new FileStore(new File(words[1])).update(kept -> text);
                }
                break;
            default: // what a store holds
                new FileStore(new File(words[1])).update(kept -> {
                    System.out.println(kept);
                    return "";
                });
        }
    }

    private static void answers(File file, String address, String key, int count) throws IOException {
        Campaign campaign = Campaign.fetch(address, key, Transport.direct(10_000), new FileStore(new File(file.getPath() + ".askers")));
        Device device = Device.open(new FileStore(file), new Device.Terms(100_000));
        for (int i = 0; i < count; i++) {
            String identity = Json.hex(Source.system().take(16));
            String is = device.answer(device.ask(campaign, i % 2 == 0 ? "minutes" : "browser"), i % 2 == 0 ? (Object) 42 : "chrome", identity).is;
            System.out.println(identity + " " + is);
            System.out.flush();
        }
    }

    private static void presence(File file, String address, String key, boolean takesBack) throws IOException {
        Transport http = Transport.direct(10_000);
        Campaign campaign = Campaign.fetch(address, key, http);
        Device device = Device.open(new FileStore(file), new Device.Terms(9).allow(9, 0));
        for (int i = 0; i < 2; i++) {
            String is = device.present(campaign).is;
            Device.Sent sent = device.send(campaign, campaign.batches(), "1.0", http);
            System.out.println((is.equals("silent") ? is : "used") + " " + sent.sent + " " + sent.waiting + " " + sent.refused);
        }
        if (!takesBack) return;
        System.out.println(device.account().withdrawable);
        Device.TakenBack told = device.takeBack(campaign, http);
        System.out.println(told.withdrawn + " " + told.unsent + " " + told.refused);
        System.out.println(device.present(campaign).is + " " + device.account().withdrawable);
    }

    /** A clock that is set. */
    private static final class Week implements Device.Clock {
        private long second = (System.currentTimeMillis() / 1000 / 604_800 + 2) * 604_800 - 3 * 86_400; // a Monday: an account begins today

        @Override
        public long wall() {
            return second;
        }

        @Override
        public String boot() {
            return "one";
        }

        @Override
        public long elapsed() {
            return second;
        }
    }

    /** Use a campaign, published by key, over weeks: one message in each, that is sent inside it, and dropped by a no. */
    private static void uses(File file, String published, String key) throws IOException {
        Campaign campaign = Campaign.read(published, key);
        campaign.address = "https://city.example/v1/campaigns/" + campaign.id;
        Week clock = new Week();
        long start = clock.second;
        Device device = Device.open(new FileStore(file), new Device.Terms(9).allow(9, 0).clock(clock));
        List<String> bodies = new ArrayList<>();
        boolean[] offline = {true};
        Transport http = (method, address, form, body) -> {
            if (offline[0]) throw new IOException("offline");
            bodies.add(Json.hex(body));
            String id = Json.hex(body).substring(16, 48);
            return new Transport.Answer(200, Json.utf8("{\"batch\":\"" + id + "\"}"), -1);
        };
        check(Arrays.asList("drawn", "present").contains(device.present(campaign).is), "the first use makes a message");
        check(device.present(campaign).is.equals("silent"), "the second does not");
        check(device.send(campaign, http).waiting == 1 && device.account().waiting == 1, "it waits while the device is offline");
        clock.second = start + 604_800;
        offline[0] = false;
        check(device.send(campaign, http).sent == 0 && bodies.isEmpty(), "it is dropped when its week is over");
        check(device.present(campaign).is.equals("present"), "the label is drawn with the first message, or never");
        check(device.send(campaign, http).sent == 1 && device.send(campaign, http).sent == 0 && bodies.size() == 1, "it is sent once");
        clock.second = start + 2 * 604_800;
        device.consent(true, campaign);
        check(device.present(campaign).is.equals("present"), "each week has one");
        device.consent(false, campaign);
        check(device.send(campaign, http).refused.contains("consent") && bodies.size() == 1, "a no keeps it from being sent");
        check(device.present(campaign).reason.equals("consent"), "nothing is made without consent");
        device.consent(true, campaign);
        check(device.account().waiting == 0 && device.send(campaign, http).sent == 0 && bodies.size() == 1, "a later yes drops it");
        clock.second = start;
        check(device.present(campaign).is.equals("silent"), "a clock that is turned back makes nothing");
        clock.second = start + 3 * 604_800;
        device.present(campaign);
        device.send(campaign, http);
        check(bodies.get(0).substring(48).length() == bodies.get(1).substring(48).length(), "the same label in every week");
        device.erase();
        check(!device.present(campaign).is.equals("silent"), "after erasing the device is a new one");
        clock.second = start - 30 * 604_800L;
        check(device.present(campaign).reason.equals("early"), "the campaign has not begun");
        clock.second = start + 5_300 * 604_800L;
        check(device.present(campaign).reason.equals("ended"), "the campaign is over");
        System.out.println("fine");
    }

    private static void consent(File file, Map<String, Object> given) throws IOException {
        Map<String, Object> campaigns = Json.object(given.get("campaigns"));
        Device device = Device.open(new FileStore(file), new Device.Terms(9));
        String key = Json.string(given.get("key"));
        device.consent(true, Campaign.read(Json.string(Json.object(campaigns.get("first")).get("published")), key));
        for (Map.Entry<String, Object> one : campaigns.entrySet()) {
            System.out.println(one.getKey() + " " + device.consent(Campaign.read(Json.string(Json.object(one.getValue()).get("published")), key)));
        }
    }

    private static void all(String address, String key, Map<String, Object> values) throws IOException {
        String[] kept = {""};
        Store store = change -> {
            String next = change.apply(kept[0]);
            if (!next.isEmpty()) kept[0] = next;
        };
        Campaign campaign = Campaign.fetch(address, key, Transport.direct(10_000));
        Device device = Device.open(store, new Device.Terms(1000).allow(5, 0));
        for (String name : campaign.names()) check(device.answer(device.ask(campaign, name), values.get(name)).is.equals("drawn"), name);
        Device.Sent sent = device.send(campaign, Transport.direct(10_000));
        System.out.println(Json.write(Account.map("sent", (double) sent.sent, "waiting", (double) sent.waiting, "refused", sent.refused)));
    }

    private static void changes(Map<String, Object> given, long last, int people) throws IOException {
        Campaign campaign = Campaign.read(Json.string(given.get("published")), Json.string(given.get("key")));
        List<Object> life = Json.list(given.get("life"));
        for (int n = 0; n < people; n++) {
            String[] kept = {""};
            Store store = change -> {
                String next = change.apply(kept[0]);
                if (!next.isEmpty()) kept[0] = next;
            };
            StringBuilder sent = new StringBuilder();
            for (int so = 1; so <= life.size(); so += 4) {
                TIME[0] = 86_400L * (last - life.size() + so);
                Device device = Device.open(store, new Device.Terms(100).allow(5, 0).clock(CLOCK)); // opened again each time
                Device.Inquiry inquiry = device.ask(campaign, "smokes");
                for (Object value : Arrays.asList(life.subList(0, so), "no", life.subList(0, 1))) device.answer(inquiry, value);
            }
            Map<String, Object> state = Json.object(Json.object(Json.parse(kept[0])).get("state"));
            for (Map<String, Object> one : Account.rows(state, "queue")) sent.append(one.get("report"));
            System.out.println(sent);
        }
    }

    private static void hostile(String published, String key, String address, int many, int milliseconds) throws IOException {
        String[] kept = {""};
        Store store = change -> {
            String next = change.apply(kept[0]);
            if (!next.isEmpty()) kept[0] = next;
        };
        Campaign campaign = Campaign.read(published, key);
        TIME[0] = 86_400L * campaign.lastDay();
        Device device = null;
        boolean waits = false;
        for (int n = 0; n < many; n++) {
            if (n % 200 == 0) { // an account with thousands of answers is slow
                kept[0] = "";
                waits = false;
                device = Device.open(store, new Device.Terms(100_000).clock(CLOCK));
            }
            if (!waits) device.answer(device.ask(campaign, "minutes"), 42);
            Device.Sent sent = device.send(campaign, address + "/" + n + "/batches", "", Transport.direct(milliseconds));
            waits = sent.waiting > 0;
            System.out.println(sent.sent > 0 ? "acknowledged" : waits ? "kept" : "dropped");
        }
    }

    private static void send(File file, String address, String key, String relay, String pinned) throws IOException {
        Transport direct = Transport.direct(10_000);
        Transport first = relay.isEmpty() ? direct : new Relay(relay, pinned, direct);
        Campaign campaign = Campaign.fetch(address, key, first);
        Transport next = relay.isEmpty() ? direct : new Relay(relay, campaign.sealingKey(), direct);
        Device.Sent sent = Device.open(new FileStore(file), new Device.Terms(100_000)).send(campaign, next);
        System.out.println(sent.sent + " " + sent.waiting + " " + sent.refused + " " + sent.retryAfter);
    }

    /** A collector that answers as it is told, and keeps what it was sent. */
    private static final class Fake implements Transport {
        final List<String> bodies = new ArrayList<>();
        final List<Answer> next = new ArrayList<>();

        @Override
        public Answer send(String method, String address, String form, byte[] body) throws IOException {
            bodies.add(Json.hex(body));
            if (next.isEmpty()) throw new IOException("nobody answers");
            return next.remove(0);
        }

        Fake then(int status, String content, int retryAfter) {
            next.add(new Answer(status, Json.utf8(content), retryAfter));
            return this;
        }
    }

    private static final String RELAY_KEY = "01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003"; // RFC 9458, Appendix A
    private static final long[] TIME = {1_800_000_000L, 0};
    private static final Device.Clock CLOCK = new Device.Clock() {
        @Override
        public long wall() {
            return TIME[0];
        }

        @Override
        public String boot() {
            return "test";
        }

        @Override
        public long elapsed() {
            return TIME[1];
        }
    };

    /** A campaign "minutes" (Podium) and "browser" (KRR), ε = 1 each, asked fresh. */
    private static void device(File folder, String published, String key) throws Exception {
        Campaign campaign = Campaign.read(published, key);
        TIME[0] = 86_400L * campaign.lastDay();
        FileStore store = new FileStore(new File(folder, "me.account"));
        Device device = Device.open(store, new Device.Terms(3).clock(CLOCK));
        Device.Inquiry minutes = device.ask(campaign, "minutes");
        Device.Inquiry browser = device.ask(campaign, "browser");
        check(minutes.epsilon() == 1 && Math.abs(minutes.odds() - Math.E) < 1e-9 && minutes.assumes().isEmpty(), "promise");
        check(device.dryRun(minutes).is.equals("drawn") && device.left() > 3 - 1e-9, "a dry run spends nothing");
        values(device, minutes, browser);
        check(device.answer(minutes, 42).is.equals("drawn") && Math.abs(device.left() - 2) < 1e-9, "drawn");
        check(device.answer(browser, "netscape").reason.equals("value") && Math.abs(device.left() - 2) < 1e-9, "value");
        check(device.answer(browser.otherwise("other"), "netscape").is.equals("drawn"), "otherwise");
        String identity = Json.hex(Source.system().take(16));
        check(device.answer(minutes, 1e300, identity).is.equals("drawn") && device.answer(minutes, 0, identity).is.equals("resent"), "one identity");
        check(device.answer(minutes, 42).reason.equals("budget"), "budget");
        sending(device, campaign);
        damage(folder, store);
        rules(folder, campaign.question("browser"));
        TIME[0] = 86_400L * campaign.lastDay();
        threads(folder, campaign);
        mistakes(folder, campaign);
        try {
            Campaign.fetch("https://a.example/v1/campaigns/" + campaign.id, key, new Fake());
            check(false, "no collector");
        } catch (IOException unreachable) {
            // as it should be
        }
        refused("fingerprint", () -> Campaign.fetch("https://a.example/v1/campaigns/" + Json.zeros(64), key, new Fake().then(200, published, -1)));
        refused("campaign", () -> Campaign.fetch("https://a.example/v1/campaigns/" + campaign.id, key, new Fake().then(404, "", -1)));
        refused("private", () -> Campaign.read(published, "dither-private-key-1:ed25519:" + Json.zeros(64)));
        refused("key", () -> new Relay("https://relay.example", "00", new Fake()));
        System.out.println("fine");
    }

    /** A mistake of the app is an error and loses no report; a person's no stops the sender. */
    private static void mistakes(File folder, Campaign campaign) throws IOException {
        String address = "https://a.example/v1/campaigns/" + campaign.id + "/batches";
        Device device = Device.open(new FileStore(new File(folder, "mistakes.account")), new Device.Terms(9).clock(CLOCK));
        Device.Inquiry minutes = device.ask(campaign, "minutes");
        Fake fake = new Fake();
        device.answer(minutes, 42);
        refused("label", () -> device.send(campaign, address, "no such label", fake));
        check(fake.bodies.isEmpty() && device.account().waiting == 1, "a wrong label loses nothing");
        Device.Sent sent = device.send(campaign, address, "", fake.then(422, "{\"refused\":\"label\",\"words\":\"not listed\"}", -1));
        check(sent.waiting == 1 && sent.words.equals("not listed"), "a label that the collector refuses loses nothing");
        sent = device.send(campaign, address, "", new Relay("https://relay.example", RELAY_KEY, new Fake().then(404, "", -1)));
        check(sent.waiting == 1 && sent.words.contains("the relay answers 404"), "a relay that is none: " + sent.words);

        // A permanent answer that was dropped waits again when the question is asked again, for no further ε.
        Device.Inquiry same = device.ask(campaign.question("browser"), "browser", campaign.term("asker"), "same");
        device.answer(same, "chrome");
        String late = "{\"refused\":\"late\",\"words\":\"it is over\"}";
        sent = device.send(campaign, address, "", fake.then(410, late, -1).then(410, late, -1));
        check(sent.waiting == 0 && sent.words.equals("it is over") && device.account().waiting == 0, "dropped");
        double left = device.left();
        check(device.answer(same, "chrome").is.equals("repeated") && device.account().waiting == 1 && device.left() == left, "it waits again");

        device.consent(false);
        check(!device.consent() && device.answer(minutes, 42).reason.equals("consent") && device.dryRun(minutes).reason.equals("consent"), "no");
        int bodies = fake.bodies.size();
        sent = device.send(campaign, address, "", fake);
        check(fake.bodies.size() == bodies && sent.waiting == 1 && sent.refused.equals(Arrays.asList("consent")), "no stops the sender, and the queue is kept");
        device.consent(true);
        check(device.account().waiting == 0, "what waited under a no is never sent");
        check(device.answer(minutes, 42).words.contains("something else"), "a yes without a campaign covers none");
        device.consent(true, campaign);
        check(device.answer(minutes, 42).is.equals("drawn") && device.consent(campaign), "yes");
        device.consent(false, campaign);
        check(!device.consent(campaign) && device.account().waiting == 1, "no to this one");
        device.consent(true, campaign);
        check(device.account().waiting == 0 && device.answer(minutes, 42).is.equals("drawn"), "yes again");
        Device.Overview before = device.erase();
        Device.Overview after = device.account();
        check(before.given.get(0).question.equals("minutes") && before.waiting == 1, "what was there before");
        check(after.given.get(0).question.isEmpty() && after.waiting == 0 && after.left == before.left && after.given.size() == before.given.size(), "erased");
        check(device.answer(same, "chrome").is.equals("drawn"), "a new answer, which is charged");
        while (device.left() >= 1) device.answer(minutes, 1);
        check(device.left() == 0, "nothing is left: " + device.left());

        long now = TIME[0];
        TIME[0] = 86_400L * (campaign.lastDay() + 1);
        Device fresh = Device.open(new FileStore(new File(folder, "late.account")), new Device.Terms(9).clock(CLOCK));
        Device.Outcome over = fresh.answer(fresh.ask(campaign, "minutes"), 42);
        check(over.reason.equals("ended") && over.words.contains("the campaign ended on " + campaign.term("ends")) && fresh.account().given.isEmpty(), "over");
        TIME[0] = now;
    }

    /** What is no value is refused, and never thrown. */
    private static void values(Device device, Device.Inquiry minutes, Device.Inquiry browser) throws IOException {
        List<Object> strange = new ArrayList<>(Arrays.asList("42", Double.NaN, true, new Object(), Collections.emptyList(), new int[] {1}, null));
        for (Object value : strange) {
            check(device.answer(minutes, value).reason.equals("value"), "a number: " + value);
            check(device.answer(browser, value).reason.equals("value"), "a label: " + value);
        }
    }

    private static void sending(Device device, Campaign campaign) throws IOException {
        String address = "https://a.example/v1/campaigns/" + campaign.id + "/batches";
        Fake fake = new Fake();
        Device.Sent sent = device.send(campaign, address, "", fake);
        check(sent.sent == 0 && sent.waiting == 3 && sent.refused.equals(Arrays.asList("unreachable")), "nobody answers");
        for (String other : new String[] {"ftp://a.example/", "http://a.example/", "http://127.a.example/"}) {
            sent = device.send(campaign, other, "", Transport.direct(10));
            check(sent.waiting == 3 && sent.refused.equals(Arrays.asList("unreachable")), "an address that is none of https");
        }
        for (String begin : new String[] {"HTTP/1.1 200 OK\r\nx: ", "HTTP/1.1 200 OK\r\n\r\n"}) {
            check(device.send(campaign, endless(begin), "", Transport.direct(100)).waiting == 3, "an answer without an end");
        }
        sent = device.send(campaign, address, "", fake.then(503, "", 7));
        check(sent.waiting == 3 && (sent.retryAfter == 7 || sent.retryAfter == 8), "later, with a little more");
        sent = device.send(campaign, address, "", fake.then(404, "<html>a captive portal</html>", -1));
        check(sent.waiting == 3 && sent.refused.equals(Arrays.asList("status 404")), "somebody else answers");
        check(fake.bodies.get(0).equals(fake.bodies.get(1)) && fake.bodies.get(1).equals(fake.bodies.get(2)), "the same bytes at every sending");
        sent = device.send(campaign, address, "", fake.then(413, "{\"refused\":\"size\",\"words\":\"too long\"}", -1).then(409, "{\"refused\":\"conflict\"}", -1));
        check(sent.sent == 1 && sent.waiting == 0 && sent.refused.equals(Arrays.asList("size")), "what can never be taken does not block the rest");
        check(!fake.bodies.get(4).equals(fake.bodies.get(3)) && device.send(campaign, address, "", fake).refused.isEmpty(), "nothing waits");
    }

    /** Return the address of somebody who answers one request with a beginning and then an "a" every 20 milliseconds. */
    private static String endless(String begin) throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        Thread answers = new Thread(() -> {
            try (ServerSocket listening = server; Socket caller = listening.accept()) {
                caller.getOutputStream().write(begin.getBytes(StandardCharsets.US_ASCII));
                while (true) {
                    caller.getOutputStream().write('a');
                    Thread.sleep(20);
                }
            } catch (IOException | InterruptedException gone) {
                // the client has left
            }
        });
        answers.setDaemon(true);
        answers.start();
        return "http://127.0.0.1:" + server.getLocalPort() + "/";
    }

    private static void damage(File folder, FileStore store) throws IOException {
        File file = new File(folder, "me.account");
        byte[] document = Files.readAllBytes(file.toPath());
        for (int size : new int[] {0, 1, 64, document.length - 1}) {
            Files.write(file.toPath(), Arrays.copyOf(document, size));
            refused("account", () -> Device.open(store, new Device.Terms(3)));
        }
        byte[] changed = document.clone();
        changed[document.length / 2] ^= 1;
        Files.write(file.toPath(), changed);
        refused("account", () -> Device.open(store, new Device.Terms(3)));
        Files.write(file.toPath(), document);
        check(Device.open(store, new Device.Terms(300)).left() < 1e-9, "what an account was created with stays");
        // A crash before the rename leaves the old text and a part of the new one.
        Files.write(new File(folder, "me.account.new").toPath(), new byte[] {1, 2, 3});
        check(Device.open(store, new Device.Terms(3).clock(CLOCK)).act().is.equals("acted"), "a file that a crash left");
    }

    private static void rules(File folder, Question question) throws IOException {
        FileStore store = new FileStore(new File(folder, "weekly.account"));
        Device.Terms terms = new Device.Terms(2).epoch("week").quota(1).askers(1).clock(CLOCK)
                .assume(Arrays.asList("the value never changes", "the device's key stays on the device"));
        Device device = Device.open(store, terms);
        Device.Inquiry first = device.ask(question, "browser", "a.example", "per value");
        check(device.answer(first, "chrome").is.equals("drawn") && device.answer(first, "chrome").is.equals("repeated"), "per value");
        check(device.answer(first, "safari").is.equals("repeated"), "another value");
        check(device.answer(device.ask(question, "again", "a.example", "fresh"), "chrome").reason.equals("quota"), "quota");
        check(device.answer(device.ask(question, "browser", "b.example", "same"), "chrome").reason.equals("asker"), "asker");
        TIME[0] += 9 * 86400; // a clock that is turned proves nothing
        check(device.answer(device.ask(question, "again", "a.example", "fresh"), "chrome").reason.equals("clock"), "clock");
        check(device.act().is.equals("acted"), "act");
        check(device.answer(device.ask(question, "browser", "b.example", "same"), "chrome").is.equals("drawn"), "the next week");
        refused("asking", () -> device.ask(question, "browser", "b.example", "once"));
        refused("asking", () -> device.askPath(question, "browser", "b.example", 3));
        List<Integer> queued = new ArrayList<>();
        store.update(kept -> {
            queued.add(Account.rows(Json.object(Json.object(Json.parse(kept)).get("state")), "queue").size());
            return "";
        });
        check(queued.get(0) == 3, "of each value one report waits");
    }

    /** Ten threads answer on one account: all is charged, and no more than the budget. */
    private static void threads(File folder, Campaign campaign) throws Exception {
        FileStore store = new FileStore(new File(folder, "threads.account"));
        ConcurrentLinkedQueue<String> outcomes = new ConcurrentLinkedQueue<>();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Thread thread = new Thread(() -> {
                try {
                    Device device = Device.open(store, new Device.Terms(7).clock(CLOCK));
                    outcomes.add(device.answer(device.ask(campaign, "minutes"), 42).is);
                } catch (IOException | RuntimeException wrong) {
                    outcomes.add(wrong.toString());
                }
            });
            all.add(thread);
            thread.start();
        }
        for (Thread thread : all) thread.join();
        check(Collections.frequency(outcomes, "drawn") == 7 && Collections.frequency(outcomes, "refused") == 3, "threads: " + outcomes);
        store.update(kept -> {
            Map<String, Object> state = Json.object(Json.object(Json.parse(kept)).get("state"));
            check(Account.rows(state, "entries").size() == 7 && Account.rows(state, "queue").size() == 7, "entries");
            return "";
        });
    }
}
