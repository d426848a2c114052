package dither

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A Campaign was signed with a pinned key: its terms, and questions that keep its promise. It never changes.
type Campaign struct {
	ID      string  // the SHA-256 of its text
	Key     string  // the key of its signature: the pinned one, or the next one that the pinned one has signed
	Retired string  // the day from which on it is retired, such as 2026-05-01, or empty
	Epsilon float64 // for all questions together
	Delta   float64
	Address string // the address of the fetch, or empty

	terms *terms
}

// ReadCampaign reads what a collector publishes. It returns an [Error] unless it is signed with the pinned
// key (64 hexadecimal digits) or with the next one, and its terms are in order. A question whose draw this client lacks
// is not answered; the others are.
func ReadCampaign(published, key string) (c *Campaign, err error) {
	defer catch(&err)
	s := readSigned(published, key)
	text := asString(s.given["campaign"])
	s.check("dither campaign 2\n"+text, s.given["signature"])
	c = &Campaign{ID: digest(text, 64), Key: s.key}
	need(has(s.given, "retired"), "text")
	if ended := s.given["retired"]; ended != nil {
		c.Retired = asString(asObject(ended)["day"])
		dayOf(c.Retired)
		s.check("dither retirement 1\n"+c.ID+"\n"+c.Retired, asObject(ended)["signature"])
	}
	if has(s.given, "card") {
		card := asObject(s.given["card"])
		s.check("dither card 1\n"+asString(card["text"]), card["signature"])
		need(asObject(parse(card["text"].(string)))["campaign"] == c.ID, "terms")
	}
	c.terms = readTerms(text)
	c.Epsilon, c.Delta = c.terms.epsilon, c.terms.delta
	return c, nil
}

// signed is signed data with a pinned key, or with the one that the pinned key has signed as the next.
type signed struct {
	given object
	key   string
}

func readSigned(published, pin string) signed {
	needs(!strings.HasPrefix(strings.TrimSpace(pin), "dither-private-key"), "private", "pin the public key, not the private one")
	s := signed{given: asObject(parse(published))}
	need(isDigest(pin, 64) && isDigest(s.given["key"], 64), "key")
	s.key = s.given["key"].(string)
	if !has(s.given, "key_before") {
		need(s.key == pin, "key")
		return s
	}
	before := asObject(s.given["key_before"])
	need(s.key == pin || before["key"] == pin, "key")
	need(isSigned("dither next key 1\n"+s.key, before["signature"], before["key"]), "signature")
	return s
}

func (s signed) check(text string, signature any) {
	need(isSigned(text, signature, s.key), "signature")
}

// Questions returns the names of the questions, in their order.
func (c *Campaign) Questions() []string { return slices.Clone(c.terms.names) }

// CanAnswer returns whether this client has the draw of a question.
func (c *Campaign) CanAnswer(name string) bool { return c.terms.questions[name] != nil }

// Question returns one of its questions; ErrAsking if the name is unknown, ErrDraw if this client cannot
// answer it.
func (c *Campaign) Question(name string) (*Question, error) {
	if !has(c.terms.stated, name) {
		return nil, refusal("asking", "the campaign has no question %q; it has %s", name, strings.Join(c.terms.names, ", "))
	}
	if !c.CanAnswer(name) {
		return nil, refusal("draw", "question %q is drawn in a way that this client does not know", name)
	}
	return c.terms.questions[name], nil
}

// Term returns a term that is a text, as it is published: name, asker, contact, purpose, begins, ends,
// repeat.
func (c *Campaign) Term(name string) string {
	text, _ := c.terms.object[name].(string)
	return text
}

// Terms returns all terms as they were signed, as JSON values; the caller must not change them.
func (c *Campaign) Terms() map[string]any { return c.terms.object }

// Stated returns the statements of the campaign about a question, as JSON values, and its domain; the caller must not
// change them.
func (c *Campaign) Stated(name string) (stated, domain map[string]any) {
	stated = c.terms.stated[name]
	if question := c.terms.questions[name]; question != nil {
		domain, _ = question.device["domain"].(object)
	}
	return stated, domain
}

// Labels returns the labels of batches that it lists.
func (c *Campaign) Labels() []string {
	listed := asList(c.terms.object["labels"])
	labels := make([]string, len(listed))
	for i := range listed {
		labels[i] = listed[i].(string)
	}
	return labels
}

// Takes returns whether batches may be sent with a label: one that it lists, or an empty one.
func (c *Campaign) Takes(label string) bool { return label == "" || slices.Contains(c.Labels(), label) }

// pick returns the language of a campaign that suits best: the same, or the same but for script and region,
// or the first.
func (c *Campaign) pick(wanted []string) string {
	languages, _ := c.terms.object["languages"].([]any)
	for _, one := range wanted {
		short, _, _ := strings.Cut(one, "-")
		near := slices.DeleteFunc(slices.Clone(languages), func(tag any) bool {
			base, _, _ := strings.Cut(tag.(string), "-")
			return base != short
		})
		if slices.Contains(near, any(one)) {
			return one
		} else if len(near) > 0 {
			return near[0].(string)
		}
	}
	if len(languages) == 0 {
		return ""
	}
	return languages[0].(string)
}

// Text returns a question as people read it, in the best of some languages, such as "de-CH"; its name if the
// campaign has no words for it. It is text: escape it where HTML is shown.
func (c *Campaign) Text(name string, languages ...string) string {
	by, _ := c.terms.stated[name]["text"].(object)
	if text, ok := by[c.pick(languages)].(string); ok {
		return text
	}
	return name
}

// A Label is an answer of a list, and its words.
type Label struct {
	Value any
	Text  string
}

// Answers returns the answers of a list, in their order, with their words in the best of some languages; nil
// without a list.
func (c *Campaign) Answers(name string, languages ...string) (answers []Label) {
	stated, domain := c.Stated(name)
	by, _ := stated["names"].(object)
	names, _ := by[c.pick(languages)].([]any)
	labels, _ := domain["labels"].([]any)
	for i, label := range labels {
		value := labelOf(label)
		text, isText := value.(string)
		if digits, ok := value.(large); ok {
			text, isText = string(digits), true
		}
		if !isText {
			text = write(value)
		}
		if names != nil {
			text = names[i].(string)
		}
		answers = append(answers, Label{value, text})
	}
	return answers
}

// SealingKey returns the key configuration that requests are encrypted to, or an empty text.
func (c *Campaign) SealingKey() string { return c.Term("sealing_key") }

// LastDay returns its last day, in days since 1970: the day that it ends on, or the one before it is retired.
func (c *Campaign) lastDay() int64 {
	last := dayOf(c.terms.object["ends"])
	if c.Retired != "" {
		last = min(last, dayOf(c.Retired)-1)
	}
	return last
}

// IsOpen returns whether a day, in days since 1970 UTC, is one of the campaign.
func (c *Campaign) IsOpen(day int64) bool {
	return dayOf(c.terms.object["begins"]) <= day && day <= c.lastDay()
}

// published is the signed list of the campaigns that a key has published and retired.
type published struct {
	heads []string          // the digest of each entry
	days  map[string]string // campaign → the first day of its retirement, or an empty text
}

func readPublished(text, pin string) *published {
	s := readSigned(text, pin)
	entries := asList(s.given["list"])
	need(len(entries) > 0 && len(entries) <= 10_000, "list")
	p := &published{days: map[string]string{}}
	before := strings.Repeat("0", 64)
	for _, one := range entries {
		entry := canonicalObject(one)
		need(entry["before"] == before, "list")
		kind, count := "next_key", 2
		if has(entry, "published") {
			kind = "published"
		} else if has(entry, "retired") {
			kind, count = "retired", 3
		}
		need(len(entry) == count && isDigest(entry[kind], 64), "list")
		subject := entry[kind].(string)
		_, known := p.days[subject]
		need(kind == "next_key" || known == (kind == "retired"), "list")
		if kind == "retired" {
			dayOf(entry["day"])
			p.days[subject] = entry["day"].(string)
		} else if kind == "published" {
			p.days[subject] = ""
		}
		before = digest(one.(string), 64)
		p.heads = append(p.heads, before)
	}
	s.check("dither list 2\n"+before, s.given["signature"])
	return p
}

// continues returns whether the list continues the one whose length and head were kept, or no list was kept.
func (p *published) continues(kept any) bool {
	if kept == nil {
		return true
	}
	two := asList(kept)
	need(len(two) == 2, "list")
	count := integerIn(two[0], 1, 1<<20)
	return int(count) <= len(p.heads) && p.heads[count-1] == two[1]
}

// Fetch gets a campaign that is signed with the pinned key itself. The last part of its address is its
// identity.
func Fetch(ctx context.Context, address, key string, transport Transport) (*Campaign, error) {
	campaign, err := fetch(ctx, address, key, transport)
	if err == nil && campaign.Key != key { // without stored facts about askers, a new key is not followed
		return nil, refusal("key", "the asker has another key now; use FetchFollowing")
	}
	return campaign, err
}

// FetchFollowing gets a campaign, and keeps the facts about its asker. A pinned key is followed once to the next one
// that it has signed. The asker's list of campaigns must contain this one and continue the list that was seen before.
func FetchFollowing(ctx context.Context, address, key string, transport Transport, seen Store) (campaign *Campaign, err error) {
	defer catch(&err)
	pin := key
	if err := seen.Update(ctx, func(kept string) (string, error) { return "", followed(kept, &pin) }); err != nil {
		return nil, err
	}
	if campaign, err = fetch(ctx, address, pin, transport); err != nil {
		return nil, err
	}
	text, err := body(ctx, transport, strings.TrimSuffix(address, "campaigns/"+campaign.ID)+"list")
	if err != nil {
		return nil, err
	}
	var list *published // a collector of several askers has the list of one
	if text != "" && asObject(parse(text))["key"] == campaign.Key {
		list = readPublished(text, campaign.Key)
	}
	return campaign, seen.Update(ctx, func(kept string) (next string, err error) {
		defer catch(&err)
		keys, heads := seenOf(kept)
		if campaign.Key != pin {
			need(!has(keys, campaign.Key) && (!has(keys, pin) || keys[pin] == campaign.Key), "key")
			keys[pin] = campaign.Key
			if has(heads, pin) && !has(heads, campaign.Key) {
				heads[campaign.Key] = heads[pin]
			}
		}
		if list == nil {
			need(heads[campaign.Key] == nil, "list")
		} else {
			day, listed := list.days[campaign.ID]
			need(list.continues(heads[campaign.Key]) && listed && (campaign.Retired != "" || day == ""), "list")
			heads[campaign.Key] = []any{float64(len(list.heads)), list.heads[len(list.heads)-1]}
		}
		return write(object{"keys": keys, "heads": heads}), nil
	})
}

func seenOf(kept string) (keys, heads object) {
	if kept == "" {
		return object{}, object{}
	}
	both := asObject(parse(kept))
	return maps.Clone(asObject(both["keys"])), maps.Clone(asObject(both["heads"]))
}

// followed sets a pinned key to the last one that was followed.
func followed(kept string, pin *string) (err error) {
	defer catch(&err)
	keys, _ := seenOf(kept)
	for range len(keys) {
		if has(keys, *pin) {
			*pin = asString(keys[*pin])
		}
	}
	return nil
}

func fetch(ctx context.Context, address, key string, transport Transport) (*Campaign, error) {
	text, err := body(ctx, transport, address)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, refusal("campaign", "it may have moved, or ended long ago")
	}
	campaign, err := ReadCampaign(text, key)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(address, "/campaigns/"+campaign.ID) {
		return nil, refusal("fingerprint", "the address names another campaign")
	}
	campaign.Address = address
	return campaign, nil
}

// body returns the text at an address, or an empty one.
func body(ctx context.Context, transport Transport, address string) (string, error) {
	answer, err := transport.Send(ctx, http.MethodGet, address, "", nil)
	switch {
	case err != nil:
		return "", err
	case answer.Status >= 500:
		return "", fmt.Errorf("%w: the collector answers %d", ErrUnreachable, answer.Status)
	case answer.Status != http.StatusOK:
		return "", nil
	}
	return string(answer.Content), nil
}
