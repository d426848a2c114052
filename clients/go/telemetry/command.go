package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"dither"
)

// Command runs "mytool telemetry on|off|status|show|take-back|erase" with the words after telemetry, and
// prints; without a word it is status. It returns an error for another word, and for no other reason. With
// cobra:
//
//	root.AddCommand(&cobra.Command{Use: "telemetry on|off|status|show|take-back|erase", Args: cobra.MaximumNArgs(1),
//		ValidArgs: telemetry.Actions, RunE: func(_ *cobra.Command, words []string) error { return use.Command(words) }})
func (t *Telemetry) Command(words []string) error {
	action := "status"
	if len(words) > 0 {
		action = words[0]
	}
	if len(words) > 1 || !slices.Contains(Actions, action) {
		return fmt.Errorf("telemetry: expected one of %s", strings.Join(Actions, ", "))
	}
	_, _ = fmt.Fprintln(t.out, t.Run(action))
	return nil
}

// Run returns what an action prints.
func (t *Telemetry) Run(action string) (text string) {
	text = "telemetry: another answer is being given"
	t.locked(func(ctx context.Context) (err error) {
		campaign, wrong := t.read()
		switch action {
		case "on":
			if err = wrong; err == nil {
				text, err = t.on(ctx, campaign)
			}
		case "off":
			text, err = t.off(ctx, campaign)
		case "status":
			text = t.status(ctx, campaign, wrong)
		case "show":
			text = t.show(ctx, campaign, wrong)
		case "take-back":
			if err = wrong; err == nil {
				text, err = t.takeBack(ctx, campaign)
			}
		case "erase":
			text, err = t.erase(ctx, campaign)
		default:
			text = "say one of " + strings.Join(Actions, ", ")
		}
		if err != nil {
			t.fail(err)
			text = "telemetry: " + t.Problem()
		}
		return err
	})
	return text
}

func (t *Telemetry) on(ctx context.Context, campaign *dither.Campaign) (string, error) {
	if reason := t.whyForeign(); reason != "" { // nothing is written: a file of root would lock its owner out
		return "Telemetry stays off here: " + reason + ".", nil
	}
	_, refused := t.consent(campaign)
	if err := t.agree(); err != nil {
		return "", err
	}
	if reason := t.whyOff(); reason != "" {
		return "Consent is kept, but telemetry stays off here: " + reason + ".", nil
	}
	device, err := t.open(ctx)
	if err != nil {
		return "", err
	}
	if _, err := device.Act(ctx); err != nil { // the person did this themselves
		return "", err
	}
	unsent := ""
	if refused {
		dropped := 0
		if err := t.keepDeleted(ctx, device, func() (err error) {
			dropped, err = device.Forget(ctx, campaign.Term("asker"))
			return err
		}); err != nil {
			return "", err
		}
		if dropped > 0 {
			unsent = fmt.Sprintf(" %s deleted: drawn before `off`, never sent.", count(dropped, "was", "were"))
		}
	}
	return t.words() + "\nTelemetry is on." + unsent, nil
}

// keepDeleted runs an action and keeps the identities of the reports that it deletes unsent, for show and erase.
func (t *Telemetry) keepDeleted(ctx context.Context, device *dither.Device, action func() error) error {
	before, err := device.Account(ctx)
	if err != nil {
		return err
	}
	if err := action(); err != nil {
		return err
	}
	after, err := device.Account(ctx)
	if err != nil {
		return err
	}
	sent, deleted := map[string]bool{}, t.deleted()
	for _, one := range before.Given {
		sent[one.ID] = one.Sent
	}
	size := len(deleted)
	for _, one := range after.Given {
		if one.Sent && !sent[one.ID] {
			deleted = append(deleted, one.ID)
		}
	}
	if len(deleted) == size {
		return nil
	}
	return t.write("deleted", strings.Join(deleted, "\n"))
}

// deleted returns the identities of the reports that were deleted unsent.
func (t *Telemetry) deleted() []string {
	content, _ := os.ReadFile(t.path("deleted"))
	return strings.Fields(string(content))
}

// overview returns what the account has; nil if it is missing.
func (t *Telemetry) overview(ctx context.Context, campaign *dither.Campaign) (*dither.Overview, error) {
	if _, err := os.Stat(t.accountFile()); err != nil || campaign == nil {
		return nil, nil
	}
	device, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	found, err := device.Account(ctx)
	return &found, err
}

func (t *Telemetry) off(ctx context.Context, campaign *dither.Campaign) (string, error) {
	if t.base() == "" {
		return "Telemetry is off: no home folder was found.", nil
	}
	if err := t.write("consent", "off\n"); err != nil {
		return "", err
	}
	wait := ""
	if found, err := t.overview(ctx, campaign); err == nil && found != nil && found.Waiting > 0 {
		wait = " " + count(found.Waiting, "waits", "wait") + " here and will not be sent, not even after `on`; `erase` deletes all of it."
	}
	return "Telemetry is off. Nothing is kept or sent from now on." + wait, nil
}

func (t *Telemetry) status(ctx context.Context, campaign *dither.Campaign, wrong error) string {
	reason, given, refused := t.whyOff(), false, false
	if wrong == nil {
		given, refused = t.consent(campaign)
	} else { // an unreadable campaign: nothing is answered or sent
		t.fail(wrong)
	}
	lines := []string{"Telemetry is off."}
	if given && reason == "" {
		lines[0] = "Telemetry is on."
	}
	if reason != "" {
		lines = append(lines, "Here it is off whatever you say: "+reason+".")
	} else if !given && !refused && wrong == nil {
		lines = append(lines, "You were not asked about this campaign yet.")
	}
	found, err := t.overview(ctx, campaign)
	if err != nil { // the state is printed all the same
		t.fail(err)
	} else if found != nil {
		lines = append(lines, fmt.Sprintf("%s to be sent. ε = %.6g is left.", count(found.Waiting, "waits", "wait"), found.Left))
		sent := 0
		for _, one := range found.Deletable {
			sent += len(one.Questions)
		}
		if sent > 0 {
			lines = append(lines, fmt.Sprintf("%s sent and can still be deleted: `%s telemetry take-back`.", count(sent, "was", "were"), t.App))
		}
	}
	if t.Problem() != "" {
		lines = append(lines, "The last problem: "+t.Problem()+".")
	}
	if isTest() {
		lines = append(lines, testMode+" is set: this is a test, with an account and a label of its own.")
	}
	return strings.Join(lines, "\n")
}

func (t *Telemetry) show(ctx context.Context, campaign *dither.Campaign, wrong error) string {
	var lines []string
	if wrong == nil {
		lines = append(lines, t.words())
	} else {
		t.fail(wrong)
		lines = append(lines, "The questions cannot be read, so nothing is answered or sent: "+t.Problem()+".")
	}
	found, err := t.overview(ctx, campaign)
	switch {
	case err != nil:
		t.fail(err)
		lines = append(lines, "What was given cannot be read: "+t.Problem()+".")
	case found == nil || len(found.Given) == 0 && found.Waiting == 0:
		lines = append(lines, "Nothing was given so far.")
	default:
		lines = append(lines, givenOf(found, campaign.Term("asker"), t.deleted())...)
		var bodies []string
		for _, one := range t.campaigns() {
			more, err := t.device.Preview(ctx, one, t.label(one))
			if err == nil {
				bodies = append(bodies, more...)
			}
		}
		if len(bodies) > 0 {
			lines = append(append(lines, fmt.Sprintf("As it travels, %s:", often(len(bodies)))), bodies...)
		}
	}
	where := t.Address
	if where == "" {
		where = "nobody: no address is set"
	}
	lines = append(lines, "It is sent to "+where+", without a name, an identity of this computer or a time.")
	return strings.Join(append(lines, t.status(ctx, campaign, wrong)), "\n")
}

// givenOf returns the answers so far and what waits; other askers, of a shared account, are named.
func givenOf(found *dither.Overview, own string, deleted []string) (lines []string) {
	nameOf := func(one dither.Given) string {
		if one.Asker == own {
			return one.Question
		}
		return one.Asker + ": " + one.Question
	}
	var names, waiting []string
	spent, times, unsent, gone := map[string]float64{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, one := range found.Waits {
		waiting = append(waiting, nameOf(one))
	}
	for _, one := range found.Given {
		name := nameOf(one)
		if times[name] == 0 {
			names = append(names, name)
		}
		spent[name] += one.Epsilon
		times[name]++
		if !one.Sent {
			unsent[name]++
		} else if slices.Contains(deleted, one.ID) {
			gone[name]++
		}
	}
	for _, name := range names {
		more := ""
		if gone[name] > 0 {
			more = fmt.Sprintf(", %d deleted unsent", gone[name])
		}
		lines = append(lines, fmt.Sprintf("Given so far: %s, %s (%d not sent yet%s); ε = %.6g.", name, often(times[name]), unsent[name], more, spent[name]))
	}
	for _, one := range found.Deletable {
		for i, name := range one.Questions {
			one.Questions[i] = nameOf(dither.Given{Asker: one.Asker, Question: name})
		}
		lines = append(lines, fmt.Sprintf("Sent, and can be taken back until %s (UTC): %s.", one.Until, strings.Join(one.Questions, ", ")))
	}
	if len(waiting) > 0 {
		lines = append(lines, "Waits to be sent: "+strings.Join(waiting, ", ")+".")
	}
	return lines
}

// takeBack has the collector delete all that it still can; unsent reports are not sent any more.
func (t *Telemetry) takeBack(ctx context.Context, campaign *dither.Campaign) (string, error) {
	if _, err := os.Stat(t.accountFile()); err != nil {
		return "Nothing was given so far.", nil
	}
	if t.Address == "" {
		return "No address is set, so nothing was sent; `erase` deletes what is kept here.", nil
	}
	device, err := t.open(ctx)
	if err != nil {
		return "", err
	}
	long, cancel := context.WithTimeout(context.WithoutCancel(ctx), sending)
	defer cancel()
	var done dither.TakenBack
	for _, one := range t.campaigns() {
		how, err := t.way(one)
		if err != nil {
			return "", err
		}
		var part dither.TakenBack
		if err := t.keepDeleted(ctx, device, func() (err error) {
			part, err = device.TakeBack(long, one, how)
			return err
		}); err != nil {
			return "", err
		}
		done.Withdrawn, done.Unsent, done.Left = done.Withdrawn+part.Withdrawn, done.Unsent+part.Unsent, part.Left
		done.Refused = append(done.Refused, part.Refused...)
	}
	var lines []string
	if done.Withdrawn > 0 {
		lines = append(lines, answers(done.Withdrawn)+" taken back: the collector leaves them out of its next numbers.")
	}
	if done.Unsent > 0 {
		lines = append(lines, answers(done.Unsent)+" not sent yet, and will not be.")
	}
	if done.Left > 0 {
		slices.Sort(done.Refused)
		why := strings.Join(slices.Compact(done.Refused), ", ")
		lines = append(lines, fmt.Sprintf("%d more could not be taken back now (%s): try again later.", done.Left, why))
	}
	if lines == nil {
		return "Nothing can be taken back any more: what was sent is counted, without anybody's name.", nil
	}
	return strings.Join(append(lines, "The ε that was spent stays spent."), " "), nil
}

func answers(number int) string {
	return strings.Replace(count(number, "was", "were"), "report", "answer", 1)
}

func (t *Telemetry) erase(ctx context.Context, campaign *dither.Campaign) (string, error) {
	if err := t.write("consent", "off\n"); err != nil { // first: a process that sends looks at it before every batch
		return "", err
	}
	sent := "Nothing had been sent."
	if _, err := os.Stat(t.accountFile()); err == nil {
		sent = "How many answers had been sent cannot be read."
		if found, err := t.overview(ctx, campaign); err == nil && found != nil {
			gone, deleted := 0, t.deleted()
			for _, one := range found.Given {
				if one.Asker == campaign.Term("asker") && one.Sent && !slices.Contains(deleted, one.ID) {
					gone++
				}
			}
			sent = fmt.Sprintf("%d answers had been sent before.", gone)
			if gone == 1 {
				sent = "1 answer had been sent before."
			}
			if _, err := t.device.Forget(ctx, campaign.Term("asker")); err != nil {
				t.fail(err)
			}
		}
	}
	t.device = nil
	own, shared := t.path("account.text"), ""
	if t.accountFile() != own {
		shared = fmt.Sprintf(" %s is shared by other tools, and stays; what waited there was deleted.", t.accountFile())
	}
	err := errors.Join(remove(own), remove(t.path("sent")), remove(t.path("deleted")))
	return "What was kept here is erased, and telemetry is off. " + sent + " What was sent and not taken back before stays with the " +
		"collector: nobody can say which reports were yours." + shared, err
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func often(times int) string {
	if times == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", times)
}

func count(reports int, verb, verbs string) string {
	if reports == 1 {
		return "1 report " + verb
	}
	return fmt.Sprintf("%d reports %s", reports, verbs)
}
