// Package telemetry reports what the people who run a command-line tool use, with consent, a promise and a
// budget. Every answer is randomised before it is kept. Nothing that happens here stops the tool: no function
// panics, and none waits longer than two seconds for another process.
//
//	var use = telemetry.Start(telemetry.Config{Campaign: campaign, Key: "…", App: "mytool", Address: "https://…"})
//
//	use.Answer("command", "build")
//
// The command dither init --telemetry --language go writes such a variable, and the campaign that it embeds.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"dither"
	"dither/internal/bridge"
)

// Actions are the words that Run knows.
var Actions = []string{"on", "off", "status", "show", "take-back", "erase"}

const (
	patience  = 2 * time.Second // for which another process may hold the account
	interval  = time.Hour       // between two attempts to send
	sending   = 10 * time.Minute
	testMode  = "DITHER_TELEMETRY_TEST" // a switch for developers
	testLabel = "test"                  // label of their reports
	sender    = "DITHER_TELEMETRY_SEND" // set for the process that sends, to the folder of its tool
)

var (
	switches = []string{"DO_NOT_TRACK", "NO_TELEMETRY"}
	// Set by continuous integration: nobody is there.
	machines    = []string{"CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL"}
	noTelemetry = "/etc/dither/no-telemetry"
)

// A Config holds the questions of a tool and the address of its answers.
type Config struct {
	Campaign   string        // the text that dither campaign publish writes; embed it
	Presence   string        // the text of a second campaign, with repeat "present", for Present; or empty
	Key        string        // the asker's public key, 64 hexadecimal digits
	App        string        // the name of the tool, as people type it
	Version    string        // sent as a label if the campaign lists it
	Address    string        // address of the collector, such as https://telemetry.example; empty sends nothing
	Relay      string        // address of a relay that passes requests on to the collector's gateway, or empty
	Epsilon    float64       // the tool's budget for a year; what the campaign needs if it is 0
	Policy     dither.Policy // what one answer may be
	Folder     string        // folder of consent and account; the user's state folder if it is empty
	AskLater   bool          // Answer does not ask for consent; call Ask
	Foreground bool          // no process is started that sends; call Send
}

// A Telemetry has the questions of a tool. Its methods may be called from any goroutine.
type Telemetry struct {
	Config
	turn     chan struct{}
	problem  atomic.Value // a text
	campaign *dither.Campaign
	counted  *dither.Campaign // the presence, or nil
	device   *dither.Device
	opened   string // the file of the device
	sender   int    // the process that sends; −1 if it is known to need none
	in       *os.File
	out, err io.Writer
}

// Start returns the telemetry of a tool. Call it first in main, or initialise a variable with it: the process
// that sends is this program; it sends here and ends.
func Start(config Config) *Telemetry {
	t := &Telemetry{Config: config, turn: make(chan struct{}, 1), in: os.Stdin, out: os.Stdout, err: os.Stderr}
	if folder := os.Getenv(sender); folder != "" && folder == t.base() {
		t.sendAndExit()
	}
	return t
}

// sendAndExit is all that the process that sends does. It writes when to try again next to the account.
func (t *Telemetry) sendAndExit() {
	ctx, cancel := context.WithTimeout(context.Background(), sending)
	defer cancel()
	if done := t.Send(ctx); done != nil && done.RetryAfter >= 0 {
		later := time.Now().Add(time.Duration(done.RetryAfter) * time.Second)
		_ = os.Chtimes(t.path("sent"), later, later)
	}
	os.Exit(0)
}

// locked runs work unless other goroutines take too long, and keeps what went wrong.
func (t *Telemetry) locked(work func(ctx context.Context) error) {
	if t.turn == nil {
		t.problem.Store("it was not started: call telemetry.Start")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		t.problem.Store("another answer is being given")
		return
	}
	defer func() { <-t.turn }()
	t.guarded(func() error { return work(ctx) })
}

// guarded runs work that may fail in any way, and keeps what went wrong.
func (t *Telemetry) guarded(work func() error) {
	t.problem.Store("")
	defer func() {
		if recover() != nil { // it may hold anything
			t.problem.Store("a mistake in this package")
		}
	}()
	if err := work(); err != nil {
		t.fail(err)
	}
}

// fail keeps what went wrong, without anything that a person gave.
func (t *Telemetry) fail(err error) {
	problem := fmt.Sprintf("%T", err)
	if known, ok := errors.AsType[*dither.Error](err); ok {
		problem = known.Error()
	} else if path, ok := errors.AsType[*fs.PathError](err); ok {
		problem = path.Error()
	} else if errors.Is(err, dither.ErrBusy) {
		problem = dither.ErrBusy.Error()
	}
	if errors.Is(err, dither.ErrAccount) && t.accountFile() == t.path("account.text") {
		problem += fmt.Sprintf("; `%s telemetry erase` removes it, and what was given is forgotten", t.App)
	}
	t.problem.Store(problem)
}

// Problem says what went wrong at the latest answer or sending; empty if nothing did.
func (t *Telemetry) Problem() string {
	problem, _ := t.problem.Load().(string)
	return problem
}

// Answer answers a question and returns what became of it: drawn (sent later), silent (another day was
// drawn), repeated (a permanent answer), refused (budget or policy), outside (no such answer), closed (before
// or after the campaign), off (no consent) or failed (see Problem). DITHER_TELEMETRY_DEBUG=1 prints it, never
// a value.
func (t *Telemetry) Answer(question string, value any) (result string) {
	return t.say(question, func(ctx context.Context) (string, error) { return t.answer(ctx, question, value) })
}

// Present says that the tool is used, for the campaign Presence: one message on the first use in a period. It
// returns drawn or present (sent now or later), silent (this period has a message), and otherwise the words
// of Answer. The value is what the permanent label is about; nil is the day of the first use.
func (t *Telemetry) Present(value any) (result string) {
	return t.say("present", func(ctx context.Context) (string, error) {
		return t.answer(ctx, "", value)
	})
}

// say runs an answer and prints the result for a developer.
func (t *Telemetry) say(what string, answer func(ctx context.Context) (string, error)) (result string) {
	result = "failed"
	t.locked(func(ctx context.Context) (err error) {
		result, err = answer(ctx)
		return err
	})
	if os.Getenv("DITHER_TELEMETRY_DEBUG") != "" {
		why := ""
		if result == "failed" || result == "refused" {
			why = " (" + t.Problem() + ")"
		}
		fmt.Fprintf(t.err, "telemetry: %s: %s%s\n", what, result, why)
	}
	return result
}

func (t *Telemetry) answer(ctx context.Context, name string, value any) (string, error) {
	if t.whyOff() != "" {
		return "off", nil
	}
	campaign, err := t.read()
	if err != nil {
		return "failed", err
	}
	if name == "" && t.counted != nil {
		campaign = t.counted
	}
	if given, refused := t.consent(campaign); !given && (refused || t.AskLater || !t.askNow()) {
		return "off", nil
	}
	if !campaign.IsOpen(time.Now().Unix() / 86_400) {
		return "closed", nil
	}
	device, err := t.open(ctx)
	if err != nil {
		return "failed", err
	}
	outcome, err := t.give(ctx, device, campaign, name, value)
	if err != nil {
		return "failed", err
	}
	switch {
	case outcome.Reason == "value":
		return "outside", nil
	case outcome.Reason == "ended":
		return "closed", nil
	case outcome.Is == "refused":
		t.problem.Store("refused: " + outcome.Reason)
		return "refused", nil
	}
	if outcome.Is != "silent" {
		t.sendLater()
	}
	return outcome.Is, nil
}

// give answers a question, or says that the program was used.
func (t *Telemetry) give(ctx context.Context, device *dither.Device, campaign *dither.Campaign, name string, value any) (dither.Outcome, error) {
	if campaign.Term("repeat") == "present" {
		outcome, err := bridge.Present(ctx, device, campaign, value, !isTest())
		return outcome.(dither.Outcome), err
	}
	inquiry, err := device.Ask(campaign, name)
	if err != nil {
		return dither.Outcome{}, err
	}
	if _, domain := campaign.Stated(name); domain["kind"] == "categories" {
		if other, err := inquiry.Otherwise("other"); err == nil {
			inquiry = other
		}
	}
	if isTest() {
		bridge.Daily(inquiry)
	}
	return device.Answer(ctx, inquiry, value)
}

// Send sends what waits, now, in this process; nil if telemetry is off. Others may answer meanwhile.
func (t *Telemetry) Send(ctx context.Context) (done *dither.Sent) {
	var device *dither.Device
	t.locked(func(short context.Context) error {
		campaign, err := t.read()
		if err != nil {
			return err
		}
		if given, _ := t.consent(campaign); t.whyOff() != "" || !given || t.Address == "" {
			return nil
		}
		if isTest() && t.label(campaign) == "" {
			t.problem.Store("the campaign does not list the label test: nothing is sent")
			return nil
		}
		device, err = t.open(short)
		return err
	})
	if device == nil {
		return nil
	}
	done = &dither.Sent{RetryAfter: -1}
	t.guarded(func() error {
		for _, campaign := range t.campaigns() {
			how, err := t.way(campaign)
			if err != nil {
				return err
			}
			how.Allowed = func() bool { given, _ := t.consent(campaign); return given && t.whyOff() == "" }
			sent, err := device.Send(ctx, campaign, how)
			done.Sent, done.Waiting, done.Dropped = done.Sent+sent.Sent, done.Waiting+sent.Waiting, done.Dropped+sent.Dropped
			done.Refused, done.RetryAfter = append(done.Refused, sent.Refused...), max(done.RetryAfter, sent.RetryAfter)
			if err != nil {
				return err
			}
		}
		t.problem.Store(strings.Join(done.Refused, ", "))
		return nil
	})
	return done
}

// way returns how a campaign is sent: encrypted if it has a sealing key.
func (t *Telemetry) way(campaign *dither.Campaign) (how dither.Sending, err error) {
	place := strings.TrimRight(t.Address, "/")
	how = dither.Sending{Transport: dither.Direct{}, Label: t.label(campaign), Address: place + "/v1/campaigns/" + campaign.ID + "/batches"}
	if sealing := campaign.SealingKey(); sealing != "" {
		how.Transport, err = dither.NewRelay(cmp.Or(t.Relay, place+"/.well-known/ohttp-gateway"), sealing, dither.Direct{})
	} else if t.Relay != "" {
		err = &dither.Error{Reason: "key", Words: "the campaign has no sealing key for a relay"}
	}
	return how, err
}

// sendLater starts a process that sends, at most once in this one and once an hour.
func (t *Telemetry) sendLater() {
	if t.sender != 0 || t.Foreground || t.Address == "" || os.Getenv(sender) != "" {
		t.sender = reap(t.sender)
		return
	}
	t.sender = -1
	if info, err := os.Stat(t.path("sent")); err == nil {
		if since := time.Since(info.ModTime()); since < interval && since > -48*time.Hour {
			return // a time far ahead comes from a wrong clock
		}
	}
	if t.write("sent", "") == nil {
		t.sender = spawn(append([]string{sender + "=" + t.base()}, os.Environ()...)) // of two values the first counts
	}
}

// spawn starts this program to send, detached: it delays nobody's end. It returns its number, or −1.
func spawn(environment []string) int {
	program, err := os.Executable()
	if err != nil {
		return -1
	}
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return -1
	}
	defer nothing.Close()
	files := []*os.File{nothing, nothing, nothing}
	process, err := os.StartProcess(program, []string{program}, &os.ProcAttr{Env: environment, Files: files, Sys: detached})
	if err != nil {
		return -1
	}
	number := process.Pid
	_ = process.Release()
	return number
}

// Ask requests consent if a person is at the terminal and never chose, and returns whether it is given.
func (t *Telemetry) Ask() (given bool) {
	t.locked(func(context.Context) error {
		campaign, err := t.read()
		if err != nil || t.whyOff() != "" {
			return err
		}
		query := false
		if given, query = t.consent(campaign); !given && !query {
			given = t.askNow()
		}
		return nil
	})
	return given
}

// campaigns returns the campaign, and the presence if there is one: one consent covers both.
func (t *Telemetry) campaigns() []*dither.Campaign {
	if t.counted == nil {
		return []*dither.Campaign{t.campaign}
	}
	return []*dither.Campaign{t.campaign, t.counted}
}

func (t *Telemetry) words() string {
	var words []string
	for _, campaign := range t.campaigns() {
		words = append(words, wordsOf(campaign, t.budget()))
	}
	return strings.Join(words, "\n")
}

func (t *Telemetry) askNow() bool {
	if isMachine() || !isTerminal(t.in) || !isTerminal(os.Stderr) {
		return false
	}
	var parts []any
	for _, campaign := range t.campaigns() {
		general, record := t.shown(campaign)
		parts = append(parts, general, record)
	}
	shown := digest(parts)[:16]
	if os.MkdirAll(t.base(), 0o700) != nil {
		return false
	}
	// One of two processes requests consent, and a request without an answer is not repeated.
	file, err := os.OpenFile(t.path("asked-"+shown), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	file.Close()
	words := t.words()
	if strings.Count(words, "\n")+2 > linesOf(os.Stderr) {
		words += "\n" + shortOf(t.campaign, t.budget())
	}
	forgetInput(t.in) // earlier input is not an answer
	fmt.Fprintf(t.err, "%s\nMay %s send such answers? [y/N] ", words, t.App)
	var line [80]byte
	size, _ := t.in.Read(line[:]) // a terminal gives one line
	yes := slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(string(line[:size]))))
	now := "off"
	if yes && t.agree() == nil {
		now = "on"
	}
	fmt.Fprintf(t.err, "Telemetry is %s; `%s telemetry on` and `off` change it, `show` shows it.\n", now, t.App)
	return now == "on"
}

// shown returns the digest of what is shown of a campaign in general, and a record of what a yes covers.
func (t *Telemetry) shown(campaign *dither.Campaign) (general string, record map[string]any) {
	return bridge.Shown(campaign, orNull(t.Address), orNull(t.Relay))
}

// agree keeps a yes to the shown campaign, in addition to other askers'.
func (t *Telemetry) agree() error {
	records := t.records()
	if records == nil {
		records = map[string]any{}
	}
	delete(records, "")
	for _, campaign := range t.campaigns() {
		general, record := t.shown(campaign)
		records[general] = record
	}
	return t.write("consent", bridge.Write(records)+"\n")
}

// records returns the kept consent by asker; nil before the first choice. An unreadable file counts as a refusal.
func (t *Telemetry) records() map[string]any {
	content, err := os.ReadFile(t.path("consent"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	value, wrong := bridge.Parse(string(content))
	records, ok := value.(map[string]any)
	if err != nil || wrong != nil || !ok {
		return map[string]any{"": nil}
	}
	return records
}

// consent returns whether a campaign may be answered, and whether the person said no.
func (t *Telemetry) consent(campaign *dither.Campaign) (given, refused bool) {
	records := t.records()
	if _, no := records[""]; no {
		return false, true
	}
	general, _ := t.shown(campaign)
	record, ok := records[general].(map[string]any)
	return ok && bridge.Covers(record, campaign), false
}

// whyOff returns why nothing is kept or sent, whatever the consent is; empty if nothing forbids it.
func (t *Telemetry) whyOff() string {
	for _, name := range switches {
		if isSet(name) {
			return name + " is set"
		}
	}
	for _, place := range []string{noTelemetry, filepath.Join(configFolder(), "dither", "no-telemetry")} {
		if _, err := os.Stat(place); err == nil && filepath.IsAbs(place) {
			return "there is a file " + place
		}
	}
	if isMachine() && !isTest() {
		return "this is continuous integration"
	}
	return t.whyForeign()
}

// whyForeign returns why this machine has no folder of this person's own, or "".
func (t *Telemetry) whyForeign() string {
	folder := t.base()
	switch {
	case os.Getenv("SUDO_UID") != "":
		return "this was started by sudo"
	case folder == "":
		return "no home folder was found"
	}
	for {
		info, err := os.Stat(folder)
		if err == nil && !isOwn(info) {
			return folder + " belongs to somebody else"
		}
		if err == nil || filepath.Dir(folder) == folder {
			return ""
		}
		folder = filepath.Dir(folder)
	}
}

func isSet(name string) bool {
	return !slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(os.Getenv(name)))
}

func isMachine() bool { return slices.ContainsFunc(machines, isSet) }

func isTest() bool { return isSet(testMode) }

// read verifies the campaign, once.
func (t *Telemetry) read() (*dither.Campaign, error) {
	if t.campaign != nil {
		return t.campaign, nil
	}
	campaign, err := dither.ReadCampaign(t.Config.Campaign, t.Key)
	if err == nil && t.Presence != "" {
		t.counted, err = dither.ReadCampaign(t.Presence, t.Key)
	}
	if err != nil {
		return nil, err
	}
	t.campaign = campaign
	return campaign, nil
}

// budget returns the ε of a year: a label of presence is charged once.
func (t *Telemetry) budget() float64 {
	if t.Epsilon > 0 {
		return t.Epsilon
	}
	epsilon, _ := budgetOf(t.campaign, isTest())
	if t.counted != nil {
		epsilon += t.counted.Epsilon
	}
	return epsilon
}

// open returns the account; it is created if it is missing.
func (t *Telemetry) open(ctx context.Context) (*dither.Device, error) {
	place := t.accountFile()
	if t.device != nil && t.opened == place {
		return t.device, nil
	}
	if err := os.MkdirAll(t.base(), 0o700); err != nil {
		return nil, err
	}
	_, delta := budgetOf(t.campaign, isTest())
	device, err := dither.Open(ctx, dither.NewFileStore(place),
		dither.Terms{Epsilon: t.budget(), Delta: delta, Epoch: "year", Policy: t.Policy})
	if err != nil {
		return nil, err
	}
	bridge.Asked(device)
	t.device, t.opened = device, place
	return device, nil
}

func (t *Telemetry) label(campaign *dither.Campaign) string {
	label := t.Version
	if isTest() {
		label = testLabel
	}
	if slices.Contains(campaign.Labels(), label) {
		return label
	}
	return ""
}

// accountFile returns the file of this tool, or one that the person made for several, by DITHER_ACCOUNT_GO.
// An account of dt.Account is an SQLite file that this client cannot read.
func (t *Telemetry) accountFile() string {
	if shared := os.Getenv("DITHER_ACCOUNT_GO"); shared != "" && !isTest() {
		return shared
	}
	return t.path("account.text")
}

func (t *Telemetry) path(name string) string { return filepath.Join(t.base(), name) }

// base returns the folder of the kept files, or an empty text.
func (t *Telemetry) base() string {
	base := t.Folder
	if base == "" {
		state := stateFolder()
		if state == "" {
			return ""
		}
		base = filepath.Join(state, t.App, "telemetry")
	}
	if isTest() {
		base = filepath.Join(base, "test")
	}
	if absolute, err := filepath.Abs(base); err == nil {
		return absolute
	}
	return ""
}

// write writes a small file completely or not at all, readable only by its owner.
func (t *Telemetry) write(name, text string) error {
	if err := os.MkdirAll(t.base(), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(t.base(), name+".*") // mode 600
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), t.path(name))
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// folderOf returns the folder of a variable, or one below the home.
func folderOf(variable string, below ...string) string {
	if stated := os.Getenv(variable); filepath.IsAbs(stated) {
		return stated
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(append([]string{home}, below...)...)
}

func stateFolder() string {
	switch runtime.GOOS {
	case "windows":
		return folderOf("LOCALAPPDATA", "AppData", "Local")
	case "darwin", "ios":
		return folderOf("", "Library", "Application Support")
	}
	return folderOf("XDG_STATE_HOME", ".local", "state")
}

func configFolder() string {
	if runtime.GOOS == "windows" {
		return folderOf("APPDATA", ".config")
	}
	return folderOf("XDG_CONFIG_HOME", ".config")
}
