package dither

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Policy limits a single answer.
type Policy struct {
	Epsilon     float64  // at most so much; 1 if it is 0
	Delta       float64  // at most so much
	Assumptions []string // lines that an answer may assume, such as "the value never changes"
	Mechanisms  []string // accepted mechanisms; all if it is nil
}

// Terms are what a person allows: a budget for all askers together; it counts when the account is created,
// and what one answer may be.
type Terms struct {
	Epsilon  float64 // all askers together learn at most so much in each epoch
	Delta    float64 // the same of δ
	Epoch    string  // "day", "week", "year" of UTC; "lifetime" if it is empty
	Lifetime float64 // the ε of all epochs together; no limit if it is 0
	Quota    float64 // the ε that one asker may take of an epoch; no limit if it is 0
	Askers   int     // new askers that are admitted until the person acts; no limit if it is 0
	Policy   Policy
	Random   io.Reader          // the source of randomness, if it is not crypto/rand
	Now      func() (at Moment) // the clocks, if they are not the system's
}

// A Moment is the present by three clocks: a clock that may be turned, and a steady one that proves that time
// has passed.
type Moment struct {
	Wall    int64  // seconds since 1970 by the system's clock
	Boot    string // a name of the start from which Elapsed counts
	Elapsed int64  // seconds since that start, time asleep included
}

var processName, processStart = fresh(system, 16), time.Now()

// systemMoment reads the system's clocks. The steady clock is the machine's on Linux, and the process's elsewhere.
func systemMoment() Moment {
	now := time.Now()
	boot, elapsed := steady()
	if seconds, err := strconv.ParseInt(elapsed, 10, 64); err == nil && boot != "" {
		return Moment{now.Unix(), boot, seconds}
	}
	return Moment{now.Unix(), processName, int64(now.Sub(processStart) / time.Second)}
}

// A Device is the account of one person on this device, questions to them, and a queue of reports. Its
// methods may be called from any goroutine; they take the time of a disk.
type Device struct {
	store  Store
	random source
	now    func() Moment
	policy object
	asked  bool // the telemetry kit requests consent, and keeps the choice in a file of its own
}

// Open opens the account of a device; it is created with these terms if it is missing. The terms of an existing account
// do not change.
func Open(ctx context.Context, store Store, allowed Terms) (d *Device, err error) {
	defer catch(&err)
	for _, epsilon := range []float64{allowed.Epsilon, allowed.Lifetime, allowed.Quota, allowed.Policy.Epsilon} {
		need(epsilon >= 0 && epsilon < 1<<20, "epsilon")
	}
	if allowed.Epoch == "" {
		allowed.Epoch = "lifetime"
	}
	_, known := ahead[allowed.Epoch]
	need(known && allowed.Epsilon > 0 && allowed.Delta >= 0 && allowed.Delta < 1 && allowed.Askers >= 0, "epsilon")
	d = &Device{store: store, random: system, now: systemMoment, policy: policyOf(allowed.Policy)}
	if allowed.Random != nil {
		d.random = source{allowed.Random}
	}
	if allowed.Now != nil {
		d.now = allowed.Now
	}
	return d, store.Update(ctx, func(kept string) (next string, err error) {
		defer catch(&err)
		if kept != "" {
			readKept(kept)
			return "", nil
		}
		return write(object{"key": fresh(d.random, 32), "state": opened(allowed, d.moment(), d.random)}), nil
	})
}

func policyOf(p Policy) object {
	if p.Epsilon == 0 {
		p.Epsilon = 1
	}
	policy := object{"epsilon": p.Epsilon, "delta": p.Delta, "assumptions": plain(p.Assumptions), "mechanisms": nil}
	if p.Mechanisms != nil {
		policy["mechanisms"] = plain(p.Mechanisms)
	}
	return policy
}

// opened returns the state of a new account.
func opened(allowed Terms, at object, random source) object {
	own := object{"epsilon": limit(allowed.Epsilon, 64), "delta": limit(allowed.Delta, 128), "lifetime": nil}
	if allowed.Lifetime > 0 {
		own["lifetime"] = object{"epsilon": limit(allowed.Lifetime, 64), "delta": own["delta"]}
	}
	limits := object{"epoch": allowed.Epoch, "quota": nil, "quotas": object{}, "askers": nil}
	if allowed.Quota > 0 {
		limits["quota"] = limit(allowed.Quota, 64)
	}
	if allowed.Askers > 0 {
		limits["askers"] = float64(allowed.Askers)
	}
	for name, value := range own {
		limits[name] = value
	}
	return object{
		"account": 3.0, "person": fresh(random, 16), "device": fresh(random, 16), "limits": limits, "own": own,
		"born": at["wall"], "clock": with(at, "ahead", 0.0), "openings": limits["askers"],
		"askers": []any{}, "entries": []any{}, "answers": []any{}, "choices": []any{}, "queue": []any{},
	}
}

func fresh(random source, size int) string { return hex.EncodeToString(random.take(size)) }

// readKept returns what a store keeps, with its state.
func readKept(kept string) (known, state object) {
	needs(kept != "", "account", "it is gone")
	known = asObject(parse(kept))
	need(isDigest(known["key"], 64), "account")
	state = upgraded(asObject(known["state"]))
	_, fine := ahead[asString(asObject(state["limits"])["epoch"])]
	need(fine, "account")
	return known, state
}

func (d *Device) moment() object {
	at := d.now()
	return object{"wall": float64(at.Wall), "boot": at.Boot, "elapsed": float64(at.Elapsed)}
}

// happen changes the account by an event. It is on disk when this returns.
func (d *Device) happen(ctx context.Context, event func(state object, key string) step) (outcome object, err error) {
	return d.unless(ctx, func(object) string { return "" }, event)
}

// consented is happen for an event that needs consent to a campaign, or to a question without one (nil). It is refused
// without it.
func (d *Device) consented(ctx context.Context, c *Campaign, address string, event func(state object, key string) step) (object, error) {
	return d.unless(ctx, func(known object) string {
		if d.asked && choiceOf(known, c, address) == nil {
			return ""
		}
		return withheld(known, c, address)
	}, event)
}

func (d *Device) unless(ctx context.Context, why func(known object) string, event func(state object, key string) step) (outcome object, err error) {
	err = d.store.Update(ctx, func(kept string) (next string, err error) {
		defer catch(&err)
		known, state := readKept(kept)
		if words := why(known); words != "" {
			outcome = with(refuse("consent").outcome, "words", words)
			return "", nil
		}
		after := event(state, known["key"].(string))
		outcome = after.outcome
		if after.next == nil {
			return "", nil
		}
		return write(with(known, "state", after.next)), nil
	})
	return outcome, err
}

// An Outcome is the result of an event.
type Outcome struct {
	Is      string  // drawn, repeated, resent, acknowledged, silent, acted, or refused
	Reason  string  // why it was refused: a word of docs/account.md, "value", "ended", "early" or "consent"; otherwise empty
	Words   string  // a sentence about it, or empty
	Charged float64 // the ε that was charged
	LeftOut int     // how many items of a set are not in the list, and were left out
}

func outcomeOf(reply object) (o Outcome) {
	o.Is, _ = reply["is"].(string)
	o.Reason, _ = reply["reason"].(string)
	o.Words, _ = reply["words"].(string)
	if has(reply, "charged") {
		o.Charged = inUnits(units(reply, "charged"), 64)
	}
	return o
}

// An Inquiry is a question with its asker's terms: the asker, the name and the repetition. It never changes.
type Inquiry struct {
	question  *Question
	query     object
	otherwise []any // a label for answers that are not in the list, or none
	campaign  *Campaign
}

// Epsilon returns the ε of one answer.
func (i *Inquiry) Epsilon() float64 { return i.query["epsilon"].(float64) }

// Odds returns the number that no report is more often likelier under one value than under another.
func (i *Inquiry) Odds() float64 { return math.Exp(i.Epsilon()) }

// Assumes returns the assumptions of an answer's guarantee; the policy must accept each line.
func (i *Inquiry) Assumes() []string {
	var lines []string
	for _, line := range assumed(i.query) {
		lines = append(lines, line.(string))
	}
	return lines
}

// Otherwise returns the inquiry with a label for answers that are not in the list: a missing report can be
// noticed.
func (i *Inquiry) Otherwise(label any) (*Inquiry, error) {
	if i.question.drawing.input(plain(label)) == nil || has(i.query, "changes") {
		return nil, refusal("asking", "otherwise must be an answer to the question")
	}
	other := *i
	other.otherwise = []any{plain(label)}
	return &other, nil
}

func (i *Inquiry) name() string { return i.query["question"].(string) }

func (i *Inquiry) input(value any) any {
	taken := plain(value)
	if i.campaign != nil {
		taken = i.campaign.terms.value(i.name(), taken)
	}
	for _, one := range append([]any{taken}, i.otherwise...) {
		input := i.question.drawing.input(one)
		if has(i.query, "changes") {
			input = codesOf(i.question, one)
		}
		path, isPath := input.([]point)
		if input != nil && (!isPath || i.query["times"] == float64(len(path))) {
			return input
		}
	}
	return nil
}

// Ask returns a question of a campaign.
func (d *Device) Ask(campaign *Campaign, name string) (made *Inquiry, err error) {
	defer catch(&err)
	question, err := campaign.Question(name)
	if err != nil {
		return nil, err
	}
	query := campaign.terms.accountTerms(campaign.ID, name)
	needs(slices.Contains([]any{"fresh", "same", "per value", "once", keptChange}, query["repeat"]), "asking",
		"question %q: the campaign repeats it as %q, but the account of this client does not keep this", name, query["repeat"])
	made = &Inquiry{question: question, query: query, campaign: campaign}
	return made.charge(question, 1), nil
}

// AskQuestion returns a question that belongs to no campaign: repeat is "fresh" at each answer, the "same"
// answer for ever, or one "per value". Of places it is about times of them, each of which is charged;
// otherwise times is 1.
func (d *Device) AskQuestion(question *Question, name, asker, repeat string, times int) (made *Inquiry, err error) {
	defer catch(&err)
	path := question.drawing.about().path
	need(slices.Contains([]string{"fresh", "same", "per value"}, repeat) && name != "" && asker != "", "asking")
	need(times >= 1 && times <= 1<<16 && (path || times == 1), "asking")
	query := object{"asker": asker, "question": name, "fingerprint": question.Fingerprint, "repeat": repeat, "days": nil, "start": nil}
	if path {
		query["times"] = float64(times)
	}
	made = &Inquiry{question: question, query: query}
	return made.charge(question, times), nil
}

// charge sets ε·times, rounded up to a double, and what else is not the asker's.
func (i *Inquiry) charge(question *Question, times int) *Inquiry {
	cost := timesUp(new(big.Rat).SetFloat64(question.Epsilon), int64(times))
	i.query["epsilon"], i.query["delta"], i.query["mechanism"] = cost, question.Delta, question.Mechanism
	i.query["assumes"], i.query["data"] = []any{}, nil
	return i
}

// Answer answers under a new identity.
func (d *Device) Answer(ctx context.Context, inquiry *Inquiry, value any) (Outcome, error) {
	return d.AnswerAs(ctx, fresh(d.random, 16), inquiry, value)
}

// AnswerAs checks, spends, draws and stores in one transaction, under an identity of 32 random hexadecimal
// digits that you keep: the same answer again is charged once. The outcome never depends on the value, except
// that a value that is not in the domain is refused for the reason "value" and nothing is spent: declare
// Otherwise.
//
// A value is a number, a label, nil where "no answer" is one, a slice of labels (a set), a map of labels (several attributes),
// a string (a text, a date, a time), two numbers (a place), a slice of places, or about a kept change the slice of the labels
// of all days of the period so far.
func (d *Device) AnswerAs(ctx context.Context, identity string, inquiry *Inquiry, value any) (o Outcome, err error) {
	defer catch(&err)
	needs(isDigest(identity, 32), "asking", "an identity is 32 hexadecimal digits")
	// The value is read only here: values that are moved to the same point are the same value.
	input := inquiry.input(value)
	if input == nil {
		words := "question %q: expected a value of its domain; declare Otherwise for all others"
		return Outcome{Is: "refused", Reason: "value", Words: fmt.Sprintf(words, inquiry.name())}, nil
	}
	drawing := func(key string) *answering {
		return &answering{
			random: d.random,
			mark:   func() string { return fresh(keyed(key, inquiry.query, input, 1), 16) },
			change: func(due *owed) (string, int, bool) {
				return drawChange(inquiry.question, asList(input), inquiry.query, due, key, d.random)
			},
			report: func() string {
				random := d.random
				if inquiry.query["repeat"] == "per value" {
					random = keyed(key, inquiry.query, input, 0)
				}
				return hex.EncodeToString(inquiry.question.drawing.draw(input, random))
			},
		}
	}
	if o, err = d.answered(ctx, inquiry, identity, drawing); err == nil && inquiry.question.drawing.about().leftOut != nil {
		o.LeftOut = inquiry.question.drawing.about().leftOut(plain(value))
	}
	return o, err
}

// DryRun returns what an answer would do, without a value: nothing is drawn, spent or sent.
func (d *Device) DryRun(ctx context.Context, inquiry *Inquiry) (Outcome, error) {
	return d.answered(ctx, inquiry, "", nil)
}

func (d *Device) answered(ctx context.Context, inquiry *Inquiry, id string, drawing func(key string) *answering) (Outcome, error) {
	if c := inquiry.campaign; c != nil && floorDiv(d.now().Wall, daySeconds) > c.lastDay() {
		return Outcome{Is: "refused", Reason: "ended", Words: "the campaign ended on " + dayText(c.lastDay())}, nil
	}
	reply, err := d.consented(ctx, inquiry.campaign, "", func(state object, key string) step {
		if drawing == nil {
			return step{outcome: answer(state, id, inquiry.query, d.policy, d.moment(), nil).outcome}
		}
		return answer(state, id, inquiry.query, d.policy, d.moment(), drawing(key))
	})
	return outcomeOf(reply), err
}

// keyed returns a source that repeats for one input: HMAC-SHA-256 by the device's key of a counter, the
// purpose, the question and the input. Two askers may use one name, and two values be moved to one place;
// quoted texts show where each ends.
func keyed(key string, query object, input any, purpose float64) source {
	if x, ok := input.(float64); ok && math.IsNaN(x) {
		input = nil // no answer
	}
	text := write([]any{purpose, query["asker"], query["question"], query["fingerprint"], plain(input)})
	return source{&stream{secret: unhex(key), text: text}}
}

type stream struct {
	secret []byte
	text   string
	count  uint64
	left   []byte
}

func (k *stream) Read(out []byte) (int, error) {
	if len(k.left) == 0 {
		mac := hmac.New(sha256.New, k.secret)
		mac.Write(inBytes(nil, k.count, 8))
		mac.Write([]byte(k.text))
		k.left = mac.Sum(nil)
		k.count++
	}
	size := copy(out, k.left)
	k.left = k.left[size:]
	return size, nil
}

// Act says that the person did something themselves, such as pressing a button. No event of an asker may call
// it.
func (d *Device) Act(ctx context.Context) (Outcome, error) {
	reply, err := d.happen(ctx, func(state object, _ string) step { return act(state, d.moment()) })
	return outcomeOf(reply), err
}

// A Given is the answers so far by one answer. The names are empty where they were erased.
type Given struct {
	ID              string // the identity of the report; empty in Waits
	Asker, Question string
	Epsilon, Delta  float64
	Sent            bool // no report of it waits
}

// An Overview is what the account of a person has.
type Overview struct {
	Given     []Given     // one for each answer that was charged; a permanent answer once
	Left      float64     // the ε that is left for all askers
	Waiting   int         // reports that wait to be sent
	Waits     []Given     // their questions
	Sent      int         // answers that were sent; their askers keep them
	Deletable []Deletable // batches that their collectors can still delete: TakeBack
	Aside     int         // permanent answers that a collector refused and wait until the same question comes again
}

// A Deletable is a batch that its collector has and can still delete.
type Deletable struct {
	Asker     string
	Questions []string
	Until     string // the last day, UTC
}

func overviewOf(state object, wall int64) (o Overview) {
	for _, row := range filter(rowsOf(state, "sent"), func(row object) bool { return long(row["until"]) >= floorDiv(wall, daySeconds) }) {
		one := Deletable{Asker: asString(row["asker"]), Until: dayText(long(row["until"]))}
		for _, name := range asList(row["questions"]) {
			one.Questions = append(one.Questions, asString(name))
		}
		o.Deletable = append(o.Deletable, one)
	}
	queued := map[string]bool{}
	for _, row := range filter(rowsOf(state, "present"), func(row object) bool { return row["batch"] != nil }) {
		queued[asString(row["batch"])] = true
		o.Waiting++
		o.Waits = append(o.Waits, Given{Asker: asString(row["asker"]), Question: asString(row["name"])})
	}
	for _, row := range rowsOf(state, "queue") {
		queued[asString(row["id"])] = true
		if !waits(row) {
			o.Aside++
			continue
		}
		o.Waiting++
		o.Waits = append(o.Waits, Given{Asker: asString(row["asker"]), Question: asString(row["question"])})
	}
	for _, entry := range rowsOf(state, "entries") {
		sent := !queued[asString(entry["id"])]
		o.Given = append(o.Given, Given{asString(entry["id"]), asString(entry["asker"]), asString(entry["question"]),
			inUnits(units(entry, "epsilon"), 64), inUnits(units(entry, "delta"), 128), sent})
		if sent {
			o.Sent++
		}
	}
	o.Left = leftOf(state, wall)
	return o
}

// Account returns the answers so far to whom, and the rest.
func (d *Device) Account(ctx context.Context) (o Overview, err error) {
	_, err = d.happen(ctx, func(state object, _ string) step {
		o = overviewOf(state, d.now().Wall)
		return step{outcome: object{}}
	})
	return o, err
}

// Erase forgets the answers so far: names of askers and questions, permanent answers and their key, drawn
// days, reports that wait. It returns the erased data. The spent budget stays, because askers keep what they
// have learned.
func (d *Device) Erase(ctx context.Context) (o Overview, err error) {
	return o, d.store.Update(ctx, func(kept string) (next string, err error) {
		defer catch(&err)
		known, state := readKept(kept)
		o = overviewOf(state, d.now().Wall)
		return write(with(with(known, "state", erase(state)), "key", fresh(d.random, 32))), nil
	})
}

// Forget takes what waits for an asker off the queue, and returns how many reports and messages of presence.
// Permanent answers may be given again, unless they are in a batch that may have arrived.
func (d *Device) Forget(ctx context.Context, asker string) (gone int, err error) {
	_, err = d.happen(ctx, func(state object, _ string) step {
		count, next := unqueued(state, having(object{"asker": asker}, "asker"))
		gone = count
		return step{object{}, next}
	})
	return gone, err
}

// Sent is what became of the reports that waited.
type Sent struct {
	Sent       int      // reports that the collector has now
	Waiting    int      // reports that still wait: send again later
	Dropped    int      // reports that the collector can never take
	Refused    []string // words of the collector: why it did not take a batch; "unreachable", or "consent"
	Words      string   // a sentence about the last refusal, or empty
	RetryAfter int      // seconds to wait before the next attempt, those that the collector said and up to a quarter more; or −1
}

// Sending says how to send. The zero value sends directly, to where the campaign was fetched, without a
// label.
type Sending struct {
	Transport Transport   // Direct if it is nil
	Address   string      // address of the batches; the campaign's if it is empty
	Label     string      // a public label of all reports; one that the campaign lists, or empty
	Allowed   func() bool // looked at before every batch; nil always allows
}

func (how Sending) complete(campaign *Campaign) Sending {
	if how.Transport == nil {
		how.Transport = Direct{}
	}
	if how.Address == "" && campaign.Address != "" {
		how.Address = campaign.Address + "/batches"
	}
	return how
}

func statusWord(status int) string { return fmt.Sprintf("status %d", status) }

const mostReports = 100 // reports of a batch

// Send sends what waits of a campaign, batch by batch, with at most one report to a question in each. A batch
// has the same bytes until the collector acknowledges it; what the collector can never take is dropped.
// Consent is looked at before every batch. It returns ErrLabel if the campaign does not list the label:
// nothing is sent, and all reports are kept.
func (d *Device) Send(ctx context.Context, campaign *Campaign, how Sending) (done Sent, err error) {
	defer catch(&err)
	how = how.complete(campaign)
	needs(campaign.Takes(how.Label), "label", "%q is not in the campaign; it lists %s",
		how.Label, strings.Join(campaign.Labels(), ", "))
	done.RetryAfter = -1
	chosen := campaign.chosen()
	for going := true; going; {
		going = how.Allowed == nil || how.Allowed()
		if !going {
			done.Refused, done.Words = append(done.Refused, "consent"), "the person does not want to send"
			break
		}
		if going, err = d.sendOne(ctx, campaign, &done, how); err != nil {
			return done, err
		}
	}
	_, err = d.happen(ctx, func(state object, _ string) step {
		done.Waiting = len(filter(rowsOf(state, "queue"), func(row object) bool { return chosen(row) && waits(row) }))
		done.Waiting += len(filter(rowsOf(state, "present"), func(row object) bool { return row["batch"] != nil && campaign.owns(row) }))
		return step{outcome: object{}}
	})
	return done, err
}

// sendOne sends one batch and returns whether there may be another.
func (d *Device) sendOne(ctx context.Context, campaign *Campaign, done *Sent, how Sending) (bool, error) {
	var found unsent
	reply, err := d.consented(ctx, campaign, how.Address, func(state object, _ string) (after step) {
		found, after = campaign.next(state, fresh(d.random, 16), how.Label, d.moment())
		return after
	})
	if err != nil || found.id == "" {
		if reply["is"] == "refused" {
			done.Refused, done.Words = append(done.Refused, "consent"), reply["words"].(string)
		}
		return false, err
	}
	id := found.id
	answer, err := how.Transport.Send(ctx, http.MethodPost, how.Address, "application/vnd.dither.batch", packedBody(id, found.label, found.reports))
	if err != nil {
		done.Refused, done.Words = append(done.Refused, "unreachable"), err.Error()
		return false, nil
	}
	fate, word, words := judge(id, answer.Status, answer.Content)
	if fate != "acknowledged" {
		done.Refused, done.Words = append(done.Refused, cmp.Or(word, statusWord(answer.Status))), words
	}
	if fate == "kept" {
		done.RetryAfter = min(answer.RetryAfter, daySeconds) // no collector keeps a device silent for longer
		if done.RetryAfter > 0 {                             // devices that were turned away together do not come back together
			done.RetryAfter += int(d.random.below(uint64(done.RetryAfter)/4 + 1))
		}
		return false, nil
	}
	_, err = d.happen(ctx, func(state object, _ string) step {
		if fate == "dropped" {
			return drop(state, id)
		}
		return acknowledge(state, id, campaign.sentToday(d))
	})
	if count := max(1, len(found.reports)); fate == "acknowledged" {
		done.Sent += count
	} else {
		done.Dropped += count
	}
	return err == nil, err
}

// chosen returns what selects the reports of a campaign.
func (c *Campaign) chosen() func(row object) bool {
	return func(row object) bool {
		name, _ := row["question"].(string)
		question := c.terms.questions[name]
		if question == nil || row["asker"] != c.Term("asker") {
			return false
		}
		mark := question.Fingerprint
		if has(c.terms.object, "changes") {
			mark = changeMark(question, c.terms.object["days"], c.terms.object["changes"])
		}
		return row["fingerprint"] == mark
	}
}

// Preview returns the batches that Send would make, as JSON; nothing is changed.
func (d *Device) Preview(ctx context.Context, campaign *Campaign, label string) (bodies []string, err error) {
	_, err = d.happen(ctx, func(state object, _ string) step {
		for {
			found, after := campaign.next(state, "<random>", label, d.moment())
			if found.id == "" {
				return step{outcome: object{}}
			}
			if after.next != nil {
				state = after.next
			}
			bodies = append(bodies, jsonBody(found.id, found.label, found.reports))
			state = acknowledge(state, found.id, nil).next
		}
	})
	return bodies, err
}
