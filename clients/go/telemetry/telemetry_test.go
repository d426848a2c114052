package telemetry

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dither"
	"dither/internal/bridge"
)

var tool = flag.String("tool", "", "be a tool that answers, with this campaign file, key, address and folder, and say how each answer ended")

var words = flag.Bool("words", false, "print what a person is shown of each campaign on standard input, one JSON object a line")

// printWords prints, for each object of published, key and budget, the words with single spaces.
func printWords() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		value, err := bridge.Parse(lines.Text())
		if err != nil {
			panic(err)
		}
		query := value.(map[string]any)
		campaign, err := dither.ReadCampaign(query["published"].(string), query["key"].(string))
		if err != nil {
			panic(err)
		}
		fmt.Println(strings.Join(strings.Fields(wordsOf(campaign, query["budget"].(float64))), " "))
	}
}

// TestMain may be a tool: a test starts this program again, and kills it.
func TestMain(m *testing.M) {
	flag.Parse()
	if *words {
		printWords()
		return
	}
	if words := strings.Fields(os.Getenv("DITHER_TEST_TOOL") + *tool); len(words) > 0 {
		content, err := os.ReadFile(words[0])
		if err != nil {
			panic(err)
		}
		os.Setenv("DITHER_TEST_TOOL", strings.Join(words, " ")) // words of the process that sends
		use := Start(Config{Campaign: string(content), Key: words[1], App: "tool", Address: words[2], Folder: words[3], Epsilon: 1000})
		if len(flag.Args()) > 0 && flag.Arg(0) == "telemetry" {
			if err := use.Command(flag.Args()[1:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			return
		}
		for _, value := range flag.Args() {
			fmt.Println(use.Answer("travel", value), use.Problem())
			if value == "send" {
				fmt.Println(use.Send(context.Background()))
			}
		}
		return
	}
	os.Exit(m.Run())
}

func object(t testing.TB, text string) map[string]any {
	value, err := bridge.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return value.(map[string]any)
}

func vectors(t testing.TB) (published map[string]any, key string) {
	content, err := os.ReadFile("../../conformance/2/consent.json")
	if err != nil {
		t.Skip("no vectors next to this folder")
	}
	whole := object(t, string(content))
	return whole["campaigns"].(map[string]any), whole["key"].(string)
}

func TestAYesCoversWhatWasShown(t *testing.T) {
	published, key := vectors(t)
	read := func(name string) *dither.Campaign {
		campaign, err := dither.ReadCampaign(published[name].(map[string]any)["published"].(string), key)
		if err != nil {
			t.Fatal(err)
		}
		return campaign
	}
	var use Telemetry
	general, record := use.shown(read("first"))
	for name, one := range published {
		other := read(name)
		same, _ := use.shown(other)
		if got := same == general && bridge.Covers(record, other); got != one.(map[string]any)["covered"] {
			t.Errorf("%s: covered %v", name, got)
		}
	}
}

var _, private, _ = ed25519.GenerateKey(nil) // key of the asker

// started returns a tool in a home of its own, whose campaign is open until 2120 and has some other terms.
func started(t *testing.T, other ...map[string]any) *Telemetry {
	for _, name := range append(append([]string{"SUDO_UID", "DITHER_ACCOUNT_GO", "DITHER_TELEMETRY_DEBUG", testMode, "XDG_STATE_HOME", "LC_ALL", "LC_MESSAGES", "LANG"}, switches...), machines...) {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	published, _ := vectors(t)
	first := object(t, published["first"].(map[string]any)["published"].(string))
	terms := object(t, first["campaign"].(string))
	terms["repeat"], terms["labels"] = "fresh", []any{"1.0", "test"}
	for _, one := range other {
		maps.Copy(terms, one)
	}
	text, key := bridge.Write(terms), hex.EncodeToString(private.Public().(ed25519.PublicKey))
	signature := hex.EncodeToString(ed25519.Sign(private, []byte("dither campaign 2\n"+text)))
	signed := bridge.Write(map[string]any{"campaign": text, "key": key, "signature": signature, "retired": nil})
	use := Start(Config{Campaign: signed, Key: key, App: "mytool", Version: "1.0", Foreground: true})
	use.err, use.out = new(bytes.Buffer), new(bytes.Buffer)
	return use
}

func answered(t *testing.T, use *Telemetry, name string, value any, wanted string) {
	t.Helper()
	if got := use.Answer(name, value); got != wanted {
		t.Errorf("%s for %s: %s", got, wanted, use.Problem())
	}
}

func says(t *testing.T, use *Telemetry, action string, parts ...string) string {
	t.Helper()
	text := use.Run(action)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is not in\n%s", action, part, text)
		}
	}
	return text
}

func TestNothingIsKeptBeforeAYes(t *testing.T) {
	use := started(t)
	answered(t, use, "travel", "bus", "off")
	if files, err := os.ReadDir(os.Getenv("HOME")); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
	says(t, use, "status", "Telemetry is off.", "You were not asked")
}

func TestOnOffStatusShowAndErase(t *testing.T) {
	use := started(t)
	use.Epsilon = 10
	says(t, use, "on", "city.example asks: We plan bus lines.", "Telemetry is on.", "ε = 1010, the budget of this", "74 %")
	answered(t, use, "travel", "bus", "drawn")
	answered(t, use, "minutes", 7, "drawn")
	answered(t, use, "travel", "rocket", "outside")
	answered(t, use, "nothing", "bus", "failed")
	says(t, use, "status", "Telemetry is on.", "2 reports wait to be sent", "ε = 8 is left.")
	text := says(t, use, "show", "Given so far: travel, once (1 not sent yet); ε = 1.", `{"batch":"<random>"`, `"label":"1.0"`, "nobody: no address is set")
	if strings.Contains(text, "rocket") {
		t.Error("a value was shown")
	}
	says(t, use, "off", "2 reports wait here and will not be sent")
	answered(t, use, "travel", "bus", "off")
	says(t, use, "on", "2 reports were deleted: drawn before `off`, never sent.")
	answered(t, use, "travel", "bus", "drawn")
	says(t, use, "show", "travel, 2 times (1 not sent yet, 1 deleted unsent); ε = 2.",
		"minutes, once (0 not sent yet, 1 deleted unsent); ε = 1.")
	says(t, use, "erase", "What was kept here is erased", "0 answers had been sent before.")
	says(t, use, "status", "Telemetry is off.")
	if err := use.Command([]string{"on", "off"}); err == nil {
		t.Error("two words were taken")
	}
	if err := use.Command([]string{"fly"}); err == nil || !strings.Contains(err.Error(), "on, off, status, show, take-back, erase") {
		t.Error(err)
	}
}

func TestSwitchesCountMoreThanAYes(t *testing.T) {
	use := started(t)
	says(t, use, "on", "Telemetry is on.")
	for _, name := range append(append([]string{}, switches...), machines...) {
		t.Setenv(name, "1")
		answered(t, use, "travel", "bus", "off")
		says(t, use, "status", "Here it is off whatever you say")
		t.Setenv(name, "0")
	}
	t.Setenv("SUDO_UID", "1000")
	answered(t, use, "travel", "bus", "off")
	t.Setenv("SUDO_UID", "")
	noTelemetry = filepath.Join(t.TempDir(), "no-telemetry")
	if err := os.WriteFile(noTelemetry, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answered(t, use, "travel", "bus", "off")
	noTelemetry = "/nowhere"
	answered(t, use, "travel", "bus", "drawn")
	t.Setenv("HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	answered(t, use, "travel", "bus", "off")
}

func TestCircumstancesAreHostile(t *testing.T) {
	use := started(t)
	says(t, use, "on", "Telemetry is on.")
	file := use.path("account.text")
	if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	answered(t, use, "travel", "bus", "failed")
	if !strings.Contains(use.Problem(), "mytool telemetry erase") {
		t.Error(use.Problem())
	}
	says(t, use, "show", "What was given cannot be read")
	says(t, use, "erase", "cannot be read")
	if err := os.WriteFile(use.path("consent"), []byte("yes"), 0o600); err != nil {
		t.Fatal(err)
	}
	answered(t, use, "travel", "bus", "off") // unknown contents
	broken := Start(Config{Campaign: "{", Key: "00", App: "mytool", Foreground: true})
	answered(t, broken, "travel", "bus", "failed")
	says(t, broken, "status", "Telemetry is off.")
	says(t, broken, "show", "The questions cannot be read")
	says(t, broken, "off", "Telemetry is off.")
	var nobody Telemetry
	if got := nobody.Answer("travel", 1); got != "failed" {
		t.Error(got)
	}
}

func TestATestHasItsOwnAccountAndLabel(t *testing.T) {
	use := started(t, map[string]any{"repeat": "once", "days": 30.0})
	t.Setenv(testMode, "1")
	t.Setenv("CI", "1")
	says(t, use, "on", "Telemetry is on.")
	answered(t, use, "travel", "bus", "drawn") // the drawn day is today
	answered(t, use, "travel", "bus", "silent")
	says(t, use, "show", `"label":"test"`, testMode+" is set")
	t.Setenv(testMode, "")
	t.Setenv("CI", "")
	says(t, use, "status", "You were not asked")
}

func TestAnotherCampaignIsNotCovered(t *testing.T) {
	use := started(t)
	says(t, use, "on", "Telemetry is on.")
	use.Address = "https://other.example"
	answered(t, use, "travel", "bus", "off")
	says(t, use, "status", "You were not asked about this campaign yet.")
}

func TestManyGoroutinesAnswer(t *testing.T) {
	use := started(t)
	use.Epsilon = 100
	says(t, use, "on", "Telemetry is on.")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { answered(t, use, "travel", "bus", "drawn") })
		group.Go(func() { // the race detector looks
			if use.Problem() != "" {
				t.Error(use.Problem())
			}
		})
	}
	group.Wait()
	says(t, use, "status", "8 reports wait")
}

func TestNobodyWaitsForACollector(t *testing.T) {
	use := started(t)
	use.Epsilon = 100
	arrived, left := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- true
		<-left
	}))
	defer server.Close()
	use.Address = server.URL
	says(t, use, "on", "Telemetry is on.")
	answered(t, use, "travel", "bus", "drawn")
	var group sync.WaitGroup
	group.Go(func() { use.Send(t.Context()) })
	<-arrived
	answered(t, use, "travel", "bus", "drawn")
	says(t, use, "status", "2 reports wait")
	close(left)
	group.Wait()
}

func TestThisProgramSendsInAnotherProcess(t *testing.T) {
	use := started(t)
	arrived := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		arrived <- r.URL.Path
		if strings.HasSuffix(r.URL.Path, "/withdrawals") {
			_, _ = w.Write(bytes.Replace(body.Bytes(), []byte("withdraw"), []byte("withdrawn"), 1))
			return
		}
		_, _ = fmt.Fprintf(w, `{"batch":"%x"}`, body.Bytes()[8:24])
	}))
	defer server.Close()
	folder := t.TempDir()
	campaign := filepath.Join(folder, "campaign.json")
	if err := os.WriteFile(campaign, []byte(use.Config.Campaign), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DITHER_TEST_TOOL", strings.Join([]string{campaign, use.Key, server.URL, folder}, " "))
	use.App, use.Folder, use.Address, use.Foreground, use.Epsilon, use.Version = "tool", folder, server.URL, false, 1000, ""
	says(t, use, "on", "Telemetry is on.")
	answered(t, use, "travel", "bus", "drawn")
	select {
	case path := <-arrived:
		if !strings.HasSuffix(path, "/batches") {
			t.Error(path)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was sent")
	}
	for range 2000 {
		if time.Sleep(5 * time.Millisecond); strings.Contains(use.Run("status"), "0 reports wait") {
			break
		}
	}
	says(t, use, "show", "(0 not sent yet)", "Sent, and can be taken back until")
	for end := time.Now().Add(20 * time.Second); reap(use.sender) != -1; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process is left")
		}
	}
	answered(t, use, "travel", "bus", "drawn") // within the hour no other process is started
	done := use.Send(t.Context())
	if done == nil || done.Sent != 1 {
		t.Error(done, use.Problem())
	}
	answered(t, use, "travel", "bus", "drawn")
	says(t, use, "status", "2 reports were sent and can still be deleted: `tool telemetry take-back`.")
	says(t, use, "take-back", "2 answers were taken back", "1 answer was not sent yet, and will not be.", "stays spent")
	says(t, use, "take-back", "Nothing can be taken back any more")
}

func TestAnAccountOfSeveralProgramsObeysANoToAll(t *testing.T) {
	use := started(t)
	use.Epsilon = 100
	shared := filepath.Join(t.TempDir(), "shared.text")
	t.Setenv("DITHER_ACCOUNT_GO", shared)
	says(t, use, "on", "Telemetry is on.")
	device, err := dither.Open(t.Context(), dither.NewFileStore(shared), dither.Terms{Epsilon: 9})
	if err != nil {
		t.Fatal(err)
	}
	published, key := vectors(t)
	other, err := dither.ReadCampaign(published["first"].(map[string]any)["published"].(string), key)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		campaign *dither.Campaign
		yes      bool
		wanted   string
	}{{other, true, "drawn"}, {nil, false, "refused"}, {nil, true, "drawn"}} {
		if err := device.SetConsent(t.Context(), one.campaign, one.yes); err != nil {
			t.Fatal(err)
		}
		answered(t, use, "travel", "bus", one.wanted)
	}
}

func TestTotalsAreSaidAsInPython(t *testing.T) {
	for x, text := range map[float64]string{1: "1", 0.1: "0.1", 1.0000001: "1.00001", 12345678: "1.23457e+07", 1.999999999999997: "2"} {
		if got := show(x); got != text {
			t.Errorf("%s for %s", got, text)
		}
	}
	for epsilon, text := range map[float64]string{1: "74 %", 5: "99.4 %", 6: "99.8 %", 50: "100 %", 0.1: "53 %"} {
		if got := percent(epsilon); got != text {
			t.Errorf("%s for %s", got, text)
		}
	}
}

// counting returns a tool with a second campaign, of presence, and the thousandths of first messages that have a label.
func counting(t *testing.T, share float64) *Telemetry {
	published, _ := vectors(t)
	first := object(t, published["first"].(map[string]any)["published"].(string))
	question := object(t, first["campaign"].(string))["questions"].([]any)[1] // bus or car
	counted := started(t, map[string]any{
		"name": "presence", "repeat": "present", "every": "week", "expects": 1e8, "label_share": share,
		"questions": []any{question}, "promise": map[string]any{"epsilon": 1.0, "delta": nil, "assumptions": []any{}},
	})
	use := started(t)
	use.Presence = counted.Config.Campaign
	return use
}

func TestAMessageThatWasNotSentNeverIsAfterANo(t *testing.T) {
	use := counting(t, 1)
	says(t, use, "on", "Telemetry is on.")
	for use.Present("bus") == "drawn" { // one in a thousand has a label
		says(t, use, "erase", "had been sent before.")
		says(t, use, "on", "Telemetry is on.")
	}
	says(t, use, "off", "1 report waits here and will not be sent, not even after `on`")
	says(t, use, "on", "1 report was deleted: drawn before `off`, never sent.")
	says(t, use, "status", "0 reports wait")
	says(t, use, "erase", "0 answers had been sent before.")
	says(t, use, "on", "Telemetry is on.")
	use.Present("bus")
	answered(t, use, "travel", "bus", "drawn")
	says(t, use, "erase", "0 answers had been sent before.")
}

func TestPresenceIsOneMessageInAPeriod(t *testing.T) {
	use := counting(t, 999)
	labels := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		labels = append(labels, string(body.Bytes()[25:25+body.Bytes()[24]]))
		_, _ = fmt.Fprintf(w, `{"batch":"%x"}`, body.Bytes()[8:24])
	}))
	defer server.Close()
	use.Address = server.URL
	says(t, use, "on", "One message is sent on the first use in each week", "once for life", "Telemetry is on.")
	if got := use.Present("bus"); got != "drawn" && got != "present" { // one in a thousand
		t.Error(got, use.Problem())
	}
	if got := use.Present("car"); got != "silent" {
		t.Error(got, use.Problem())
	}
	answered(t, use, "travel", "bus", "drawn")
	says(t, use, "status", "2 reports wait")
	says(t, use, "show", "As it travels, 2 times:")
	done := use.Send(t.Context())
	if done == nil || done.Sent != 2 || done.Waiting != 0 || len(labels) != 2 {
		t.Error(done, use.Problem(), labels)
	}
}
