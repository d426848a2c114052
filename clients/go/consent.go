package dither

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
)

// The choice of a person is kept next to the account. A yes covers only the shown terms of a campaign, as in the other
// clients.

// shownTerms are what a person reads about a campaign, without its version, its days and its questions.
var shownTerms = []string{"asker", "contact", "purpose", "purposes", "repeat", "days", "every", "changes", "answers", "labels", "people"}

// shown returns the digest of the asker, by which key, for what, how often, and where answers go, and a record of what
// a yes covers besides: each question with its words, and the days.
func (c *Campaign) shown(address, relay any) (general string, record object) {
	stated, marks := object{}, []any{}
	for _, name := range shownTerms {
		stated[name] = c.terms.object[name]
	}
	for _, question := range asList(c.terms.object["questions"]) {
		marks = append(marks, digest(write(question), 64))
	}
	general = digest(write([]any{stated, c.Key, address, relay}), 64)
	return general, object{"questions": marks, "begins": c.terms.object["begins"], "ends": c.terms.object["ends"]}
}

// isCovered returns whether a record covers a campaign: no further question, and no earlier or later day.
func (c *Campaign) isCovered(record object) bool {
	marks, ok := record["questions"].([]any)
	begins, _ := record["begins"].(string)
	ends, _ := record["ends"].(string)
	_, own := c.shown(nil, nil)
	for _, mark := range asList(own["questions"]) {
		ok = ok && slices.Contains(marks, mark)
	}
	return ok && begins <= c.Term("begins") && c.Term("ends") <= ends
}

// choiceOf returns a person's choice about a campaign, or about questions without one: true, false or nil.
func choiceOf(known object, c *Campaign, address string) any {
	if c == nil {
		return known["consent"]
	}
	agreed, _ := known["agreed"].(object)
	general, _ := c.shown(nil, nil)
	record, said := agreed[general].(object)
	switch {
	case said && c.isCovered(record) && (address == "" || strings.HasPrefix(address, asString(record["address"]))):
		return true
	case !said && (has(agreed, general) || known["consent"] == false):
		return false
	}
	return nil
}

// withheld returns why nothing may be answered and sent; empty if it may. A choice counts more than the environment.
func withheld(known object, c *Campaign, address string) string {
	choice := choiceOf(known, c, address)
	agreed, _ := known["agreed"].(object)
	switch {
	case choice == true:
		return ""
	case choice == false:
		return "the person does not want to answer"
	case known["consent"] == true || len(agreed) > 0:
		return "the person was asked about something else: ask the person, and call SetConsent with the campaign if they agree"
	}
	for _, name := range []string{"DO_NOT_TRACK", "NO_TELEMETRY"} {
		if !slices.Contains([]string{"", "0", "false", "no"}, strings.ToLower(os.Getenv(name))) {
			return name + " is set: ask the person, and call SetConsent if they agree"
		}
	}
	return ""
}

// Consent returns whether this device may answer a campaign (nil: questions without one) and send to it. It may if
// the person agreed to what the campaign shows, or if no request was made for any and neither DO_NOT_TRACK nor
// NO_TELEMETRY is set.
func (d *Device) Consent(ctx context.Context, campaign *Campaign) (bool, error) {
	reply, err := d.consented(ctx, campaign, "", func(object, string) step { return step{outcome: object{"is": "fine"}} })
	return reply["is"] == "fine", err
}

// SetConsent keeps what the person chose about a campaign, or about everything if it is nil: a no to all campaigns, or
// a yes to questions that belong to none. A yes covers what the campaign shows, also with fewer questions or days.
// Another asker, key, purpose or address, a further question or day, and other words need a new request. Without
// consent nothing is answered or sent, from the next batch on. What waits then is never sent: a later yes deletes it.
func (d *Device) SetConsent(ctx context.Context, campaign *Campaign, yes bool) error {
	return d.store.Update(ctx, func(kept string) (next string, err error) {
		defer catch(&err)
		known, state := readKept(kept)
		agreed, _ := known["agreed"].(object)
		agreed = maps.Clone(agreed)
		if agreed == nil || campaign == nil && !yes {
			agreed = object{}
		}
		if yes && choiceOf(known, campaign, "") == false {
			_, state = unqueued(state, campaign.owns)
		}
		known = with(known, "state", state)
		if campaign == nil {
			known["consent"] = yes
		} else if general, record := campaign.shown(nil, nil); yes {
			agreed[general] = with(record, "address", strings.TrimSuffix(campaign.Address, "campaigns/"+campaign.ID))
		} else {
			agreed[general] = nil
		}
		return write(with(known, "agreed", agreed)), nil
	})
}

// owns returns whether a report, or what is kept of presence, is about a campaign; all are if it is nil.
func (c *Campaign) owns(row object) bool {
	name, _ := row["question"].(string)
	return c == nil || row["asker"] == c.Term("asker") && (has(c.terms.stated, name) || row["name"] == c.Term("name"))
}

// unqueued returns how many reports and messages of presence wait, and a state without them. Permanent answers may be
// given again, unless they are in a batch that may have arrived.
func unqueued(state object, chosen func(row object) bool) (gone int, next object) {
	next = state
	for _, row := range filter(rowsOf(state, "queue"), chosen) {
		if !waits(row) {
			continue
		}
		after := drop(next, asString(row["id"]))
		if row["batch"] != nil {
			after = acknowledge(next, asString(row["id"]), nil)
		}
		if after.next != nil {
			next = after.next
			gone++
		}
	}
	for _, row := range filter(rowsOf(state, "present"), chosen) {
		if row["batch"] != nil {
			gone++
			_, next = withoutMessages(next, asString(row["batch"]))
		}
	}
	return gone, next
}
