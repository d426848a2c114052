package dither

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
)

// presence returns the terms of a campaign about presence, and its question for the account, or nil.
func (c *Campaign) presence() (presence, query object) {
	presence = object{"asker": c.terms.object["asker"], "name": c.terms.object["name"], "every": c.terms.object["every"]}
	for _, name := range c.terms.names {
		presence["share"] = c.terms.object["label_share"]
		if question := c.terms.questions[name]; question != nil {
			query = (&Inquiry{question: question, query: c.terms.accountTerms(c.ID, name)}).charge(question, 1).query
		}
	}
	return presence, query
}

// unsent is the next batch of a campaign.
type unsent struct {
	id, label string // an empty id if nothing waits; a message of presence has a public label, or a permanent one
	reports   []object
}

// next returns the next batch of a campaign, the one that was sent before or a new one, and the step to it.
func (c *Campaign) next(state object, id, label string, at object) (found unsent, after step) {
	found.label = label
	if c.terms.isPresent() {
		presence, query := c.presence()
		after = message(state, presence, query, at)
		if after.outcome["public"] == false {
			found.label = ""
		}
		listed, _ := after.outcome["reports"].([]any)
		for _, one := range listed {
			found.reports = append(found.reports, object{"fingerprint": asList(one)[0], "report": asList(one)[1]})
		}
	} else {
		if after = batch(state, id, mostReports, c.chosen()); after.next != nil {
			state = after.next
		}
		if has(after.outcome, "id") {
			found.reports = filter(rowsOf(state, "queue"), having(object{"batch": after.outcome["id"]}, "batch"))
		}
	}
	found.id, _ = after.outcome["id"].(string)
	return found, after
}

// Present says that the program was used, for a campaign with repeat "present": one message on the first use
// of each period, without an identity. The value is an answer to its question, if it has one: the first
// message may carry a permanent label, drawn once for life by a coin that is kept. nil is the present day where
// the question is about the day of the first use. The outcome is drawn, present, silent or refused. Send sends
// the message.
func (d *Device) Present(ctx context.Context, campaign *Campaign, value any) (Outcome, error) {
	return d.present(ctx, campaign, value, true)
}

func (d *Device) present(ctx context.Context, campaign *Campaign, value any, labels bool) (o Outcome, err error) {
	defer catch(&err)
	needs(campaign.terms.isPresent(), "asking", "the campaign repeats its questions as %q", campaign.Term("repeat"))
	today, begins := floorDiv(d.now().Wall, daySeconds), campaign.Term("begins")
	switch {
	case today > campaign.lastDay():
		return Outcome{Is: "refused", Reason: "ended", Words: "the campaign ended on " + dayText(campaign.lastDay())}, nil
	case today < dayOf(begins):
		return Outcome{Is: "refused", Reason: "early", Words: "the campaign begins on " + begins}, nil
	}
	presence, query := campaign.presence()
	needs(query != nil || len(campaign.terms.names) == 0, "draw", "its question is drawn in a way that this client does not know")
	if !labels {
		query = nil
	}
	reply, err := d.consented(ctx, campaign, "", func(state object, _ string) step {
		drawing := &answering{random: d.random}
		if query != nil {
			name := campaign.terms.names[0]
			given, question := plain(value), campaign.terms.questions[name]
			if given == nil && campaign.terms.stated[name]["form"] == "installed" {
				given = dayText(max(today, floorDiv(long(asObject(state["clock"])["wall"]), daySeconds)))
			}
			input := question.drawing.input(campaign.terms.value(name, given))
			kept := find(rowsOf(state, "present"), having(presence, "asker", "name"))
			// Before the coin is tossed: whether a value is refused says nothing about the coin.
			if input == nil && (kept == nil || kept["period"] == nil) {
				words := fmt.Sprintf("question %q: expected a value of its domain", name)
				return step{outcome: with(refuse("value").outcome, "words", words)}
			}
			drawing.report = func() string { return hex.EncodeToString(question.drawing.draw(input, d.random)) }
		}
		return present(state, fresh(d.random, 16), presence, query, d.policy, d.moment(), drawing)
	})
	return outcomeOf(reply), err
}

// sentToday returns the note about a batch for its withdrawal.
func (c *Campaign) sentToday(d *Device) object {
	return object{"campaign": c.ID, "day": float64(floorDiv(d.now().Wall, daySeconds)), "retry": c.terms.object["retry"]}
}

// TakenBack is the result of a withdrawal.
type TakenBack struct {
	Withdrawn int      // answers that the collector has deleted
	Unsent    int      // answers that had not been sent, and will not be
	Left      int      // batches that were not confirmed: ask again
	Refused   []string // why
}

// TakeBack takes back what the asker of a campaign was given, as long as collectors can delete it: each batch
// by a request of its own, on the way of the batch. Unsent reports leave the queue. No spent budget comes
// back.
func (d *Device) TakeBack(ctx context.Context, campaign *Campaign, how Sending) (done TakenBack, err error) {
	defer catch(&err)
	how = how.complete(campaign)
	asker, batches := campaign.Term("asker"), [][2]string{}
	_, err = d.happen(ctx, func(state object, _ string) step {
		next := state
		for _, row := range filter(rowsOf(state, "queue"), having(object{"asker": asker}, "asker")) {
			if row["batch"] == nil {
				done.Unsent++
				next = acknowledge(next, asString(row["id"]), nil).next
			} else if waits(row) {
				batches = append(batches, [2]string{asString(row["batch"]), campaign.ID})
			}
		}
		for _, row := range filter(rowsOf(state, "present"), campaign.owns) {
			if row["batch"] != nil {
				batches = append(batches, [2]string{asString(row["batch"]), campaign.ID})
			}
		}
		for _, row := range filter(rowsOf(state, "sent"), having(object{"asker": asker}, "asker")) {
			if long(row["until"]) >= floorDiv(d.now().Wall, daySeconds) {
				batches = append(batches, [2]string{asString(row["id"]), asString(row["campaign"])})
			}
		}
		return step{object{}, next}
	})
	seen := map[string]bool{}
	for _, one := range batches {
		if err != nil || seen[one[0]] {
			continue
		}
		seen[one[0]] = true
		address := strings.TrimSuffix(how.Address, campaign.ID+"/batches") + one[1] + "/withdrawals"
		answer, wrong := how.Transport.Send(ctx, http.MethodPost, address, "application/json", []byte(withdrawalBody(one[0])))
		withdrawn, word := judgeWithdrawal(one[0], answer.Status, answer.Content)
		if wrong != nil {
			withdrawn, word = false, "unreachable"
		}
		if !withdrawn {
			done.Left++
			done.Refused = append(done.Refused, cmp.Or(word, statusWord(answer.Status)))
			continue
		}
		var reply object
		reply, err = d.happen(ctx, func(state object, _ string) step { return withdraw(state, one[0]) })
		if count, ok := reply["reports"].(float64); ok {
			done.Withdrawn += int(count)
		}
	}
	return done, err
}
