package dither

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// terms are the text of a campaign, by docs/wire.md, with the terms of each question.
type terms struct {
	object
	names          []string             // names of the questions, in their order
	questions      map[string]*Question // nil of a question whose draw is not known here
	stated         map[string]object
	epsilon, delta float64 // the sums of all questions
}

var (
	termsAlways = []string{"dither-campaign", "name", "asker", "contact", "purpose", "version", "people", "begins", "ends",
		"retry", "repeat", "labels", "questions", "promise"}
	termsMaybe = []string{"answers", "days", "every", "changes", "label_share", "expects", "phase", "languages", "purposes",
		"sealing_key", "reports_a_batch"}
	termsOfQuestion = []string{"name", "specification", "epsilon", "delta", "unit", "step", "scale", "form", "clipped",
		"outside", "text", "names"}
	// Terms that are integers from 1 on, and the largest.
	termsCounted = map[string]int64{"version": 1<<31 - 1, "people": 1<<53 - 1, "retry": 365, "answers": 1_000_000, "days": 36_600,
		"changes": 1000, "label_share": 999, "expects": 1<<53 - 1, "reports_a_batch": 1<<31 - 1}
	// By the repetition of a question: the required terms, and the optional ones.
	repeats = map[string][2][]string{
		"fresh": {{}, {"answers"}}, "same": {}, "per value": {}, "once": {{}, {"days", "every"}},
		"kept change": {{"days", "changes"}, {}}, "present": {{"every", "expects"}, {"label_share"}},
	}
	periodic = []string{"days", "changes", "every", "expects", "answers", "label_share"}
	// The length of a path is not known, texts are not counted, and the others are not answers of one device.
	unasked = []string{"walk", "two copies", "divided", "prefix", "joint response", "joint bits", "joint hashed", "each",
		"sampled", "indicator", "kept change", "kept changes"}
)

func readTerms(text string) *terms {
	t := &terms{object: canonicalObject(text), questions: map[string]*Question{}, stated: map[string]object{}}
	need(t.object["dither-campaign"] == 2.0, "version")
	for _, name := range termsAlways {
		need(has(t.object, name), "fields")
	}
	for name := range t.object {
		need(slices.Contains(termsAlways, name) || slices.Contains(termsMaybe, name), "fields")
	}
	words(t.object["name"], endless, 64, true)
	words(t.object["asker"], 200, 253, false)
	words(t.object["contact"], endless, 500, true)
	words(t.object["purpose"], endless, 4000, true)
	for name, most := range termsCounted {
		if has(t.object, name) {
			integerIn(t.object[name], 1, most)
		}
	}
	need(dayOf(t.object["begins"]) <= dayOf(t.object["ends"]), "terms")
	for _, label := range distinct(t.object["labels"], 0, 1000) {
		words(label, endless, 64, true)
	}
	t.checkRepeat()
	tags := t.checkLanguages()
	if has(t.object, "sealing_key") {
		readConfiguration(t.object["sealing_key"])
	}
	t.checkQuestions(tags)
	promise := fieldsOf(t.object["promise"], "epsilon", "delta", "assumptions")
	// The last digits of a promise may be another version's. No mechanism that this client knows assumes
	// anything.
	need(near9(real(promise["epsilon"]), t.epsilon), "promise")
	if t.delta == 0 {
		need(promise["delta"] == nil, "promise")
	} else {
		need(near9(real(promise["delta"]), t.delta), "promise")
	}
	need(len(asList(promise["assumptions"])) == 0, "promise")
	return t
}

// distinct returns a list of different texts.
func distinct(given any, least, most int) []any {
	list, ok := given.([]any)
	need(ok && len(list) >= least && len(list) <= most, "terms")
	seen := map[string]bool{}
	for _, one := range list {
		text, ok := one.(string)
		need(ok && !seen[text], "terms")
		seen[text] = true
	}
	return list
}

func near9(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// dayOf returns the number of a day that is written as 2026-05-01, since 1970.
func dayOf(given any) int64 {
	text, ok := given.(string)
	need(ok && isDay(text) && text[:4] != "0000", "terms")
	day, err := time.Parse(time.DateOnly, text)
	need(err == nil, "terms")
	return day.Unix() / daySeconds
}

// dayText returns a day since 1970 as it is written.
func dayText(day int64) string { return time.Unix(day*daySeconds, 0).UTC().Format(time.DateOnly) }

func (t *terms) text(name string) string { return t.object[name].(string) }

func (t *terms) isPresent() bool { return t.object["repeat"] == "present" }

func (t *terms) checkRepeat() {
	repeat, _ := t.object["repeat"].(string)
	way, known := repeats[repeat]
	need(known, "terms")
	for _, name := range periodic {
		must, may := slices.Contains(way[0], name), slices.Contains(way[1], name)
		need(has(t.object, name) && (must || may) || !has(t.object, name) && !must, "terms")
	}
	every := t.object["every"]
	need(!has(t.object, "every") || every == "day" || every == "week" || every == "month", "terms")
	need(repeat != "once" || has(t.object, "days") != has(t.object, "every"), "terms")
	need(repeat != "kept change" || real(t.object["changes"]) < real(t.object["days"]), "terms")
	if has(t.object, "phase") {
		phase := asObject(t.object["phase"])
		need(len(phase) == 1 && !t.isPresent(), "terms")
		if has(phase, "share") {
			integerIn(phase["share"], 1, 999)
		} else {
			need(isDigest(phase["follows"], 64), "terms")
		}
	}
	need(!t.isPresent() || !has(t.object, "reports_a_batch"), "terms")
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isTag returns whether a text is the tag of a language, such as de, zh-Hant or es-419.
func isTag(text string) bool {
	isLower := func(part string) bool { return strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") == "" }
	isUpper := func(part string) bool { return strings.Trim(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }
	parts := strings.Split(text, "-")
	if len(parts[0]) < 2 || len(parts[0]) > 3 || !isLower(parts[0]) {
		return false
	}
	rest := parts[1:]
	if len(rest) > 0 && len(rest[0]) == 4 && isUpper(rest[0][:1]) && isLower(rest[0][1:]) {
		rest = rest[1:]
	}
	if len(rest) == 1 && (len(rest[0]) == 2 && isUpper(rest[0]) || len(rest[0]) == 3 && isDigits(rest[0])) {
		rest = nil
	}
	return len(rest) == 0
}

// byTag returns the words in each language, and in no other one.
func byTag(given any, tags []any) object {
	said := asObject(given)
	need(len(tags) > 0 && len(said) == len(tags), "terms")
	for _, tag := range tags {
		need(has(said, tag.(string)), "terms")
	}
	return said
}

func (t *terms) checkLanguages() []any {
	if !has(t.object, "languages") {
		need(!has(t.object, "purposes"), "terms")
		return nil
	}
	tags := distinct(t.object["languages"], 1, 40)
	for _, tag := range tags {
		need(isTag(tag.(string)), "terms")
	}
	if has(t.object, "purposes") {
		for _, said := range byTag(t.object["purposes"], tags[1:]) {
			words(said, endless, 4000, true)
		}
	}
	return tags
}

func (t *terms) checkQuestions(tags []any) {
	query, ok := t.object["questions"].([]any)
	need(ok && (t.isPresent() && len(query) <= 1 || !t.isPresent() && len(query) >= 1 && len(query) <= 1024), "terms")
	marks := map[string]bool{}
	for _, one := range query {
		fields := asObject(one)
		name := words(fields["name"], endless, 64, false)
		specification := asString(fields["specification"])
		h := readHead(specification)
		need(!slices.Contains(unasked, h.kind), "terms")
		var question *Question
		if readers[h.kind] != nil {
			question = readQuestion(specification)
		}
		// Of a question that is not known here these are believed: below 0 they would hide another question's.
		need(real(fields["epsilon"]) > 0, "promise")
		t.epsilon += real(fields["epsilon"])
		if has(fields, "delta") {
			need(real(fields["delta"]) > 0, "promise")
			t.delta += real(fields["delta"])
		}
		if question != nil {
			t.checkQuestion(fields, question, tags)
		}
		// A name that is there twice would be one question to some readers; reports to one fingerprint could not be
		// distinguished.
		need(!has(t.stated, name) && !marks[h.fingerprint], "terms")
		t.names, t.questions[name], t.stated[name], marks[h.fingerprint] = append(t.names, name), question, fields, true
	}
	need(!t.isPresent() || (len(query) == 1) == has(t.object, "label_share"), "terms")
}

// checkQuestion refuses a question whose terms do not fit it, or promise something else.
func (t *terms) checkQuestion(fields object, question *Question, tags []any) {
	for name := range fields {
		need(slices.Contains(termsOfQuestion, name), "fields")
	}
	need(near9(real(fields["epsilon"]), question.Epsilon) && (question.Delta != 0) == has(fields, "delta"), "promise")
	need(question.Delta == 0 || near9(real(fields["delta"]), question.Delta), "promise")
	device := question.device
	domain := asObject(device["domain"])
	categories := domain["kind"] == "categories"
	if t.object["repeat"] == "kept change" {
		need(device["draw"] == "response" && categories && device["cells"] == 2.0, "terms")
	}
	if t.isPresent() {
		share, _ := t.object["label_share"].(float64)
		values := presentValues(device)
		need(real(t.object["expects"]) >= 100 && categories && values > 0 && values <= min(128, math.Floor(real(t.object["expects"])*share/20_000)), "terms")
	}
	for _, text := range shownTexts(domain) {
		words(text, 500, endless, false)
	}
	t.checkNumbers(fields, domain)
	if has(fields, "text") {
		for _, said := range byTag(fields["text"], tags) {
			words(said, 500, endless, false)
		}
	}
	if has(fields, "names") {
		need(categories || domain["kind"] == "several", "terms")
		count := 0
		if has(domain, "count") {
			count = int(integerIn(domain["count"], 2, 1<<32))
		} else {
			count = len(asList(domain["labels"]))
		}
		for _, names := range byTag(fields["names"], tags) {
			for _, name := range distinct(names, count, count) {
				words(name, 500, endless, false)
			}
		}
	}
}

func (t *terms) checkNumbers(fields, domain object) {
	plain := domain
	if domain["kind"] == "optional" {
		plain = asObject(domain["of"])
	}
	interval, circle, form := plain["kind"] == "interval", plain["kind"] == "circle", has(fields, "form")
	low, high := 0.0, 0.0
	if interval {
		low, high = real(plain["low"]), real(plain["high"])
	} else if circle {
		high = real(plain["period"])
	}
	if has(fields, "unit") {
		need((interval || circle) && !form, "terms")
		words(fields["unit"], 40, endless, false)
	}
	if has(fields, "step") {
		count := (high - low) / real(fields["step"])
		need((interval || circle) && !has(fields, "scale"), "terms")
		need(count >= 1-1e-12 && count <= 500 && (interval || math.Abs(count-math.RoundToEven(count)) <= 1e-9), "terms")
	}
	if has(fields, "scale") {
		edges := asList(fields["scale"])
		need(interval && !form && len(edges) >= 3 && len(edges) <= 257 && low == 0 && high == float64(len(edges)-1), "terms")
		for i, edge := range edges {
			need(math.Abs(real(edge)) <= 1e30 && (i == 0 || real(edges[i-1]) < real(edge)), "terms")
		}
	}
	switch {
	case !form:
	case fields["form"] == "time":
		need(circle && high == 1440, "terms")
	case fields["form"] == "date":
		need(interval && low == math.Trunc(low) && high == math.Trunc(high) && low >= -719_162 && high <= 2_932_896, "terms")
	default:
		need(fields["form"] == "installed" && t.isPresent() && domain["kind"] == "categories", "terms")
		before := int64(math.MinInt64)
		for _, day := range asList(domain["labels"]) {
			need(dayOf(day) > before, "terms")
			before = dayOf(day)
		}
	}
	if has(fields, "clipped") {
		need(fields["clipped"] == true && interval && !has(fields, "scale"), "terms")
	}
	if has(fields, "outside") {
		share := asList(fields["outside"])
		need(has(fields, "clipped") && len(share) == 3, "terms")
		least, most := real(share[1]), real(share[2])
		need(0 <= least && least <= real(share[0]) && real(share[0]) <= most && most <= 1, "terms")
	}
}

// presentValues returns how many different reports a draw has; 0 if presence does not use it.
func presentValues(device object) float64 {
	switch device["draw"] {
	case "projective":
		order := real(device["order"])
		return (math.Pow(order, real(device["dimension"])) - 1) / (order - 1)
	case "response":
		return real(device["cells"])
	case "hadamard":
		return real(device["order"])
	}
	return 0
}

// shownTexts returns the texts of a domain that people are shown: labels, names of attributes and of sides.
func shownTexts(domain object) (texts []any) {
	labels, _ := domain["labels"].([]any)
	for _, label := range labels {
		if _, ok := label.(string); ok {
			texts = append(texts, label)
		}
	}
	attributes, _ := domain["attributes"].([]any)
	for _, attribute := range attributes {
		two := asList(attribute)
		texts = append(append(texts, two[0]), shownTexts(asObject(two[1]))...)
	}
	sides, _ := domain["sides"].([]any)
	for _, side := range sides {
		texts = append(texts, asList(side)[0])
	}
	return texts
}

// accountTerms returns what an account is given about a question.
func (t *terms) accountTerms(campaign, name string) object {
	question := t.questions[name]
	query := object{"asker": t.object["asker"], "question": name, "fingerprint": question.Fingerprint, "repeat": t.object["repeat"],
		"days": t.object["days"], "start": nil}
	if has(t.object, "changes") {
		query["fingerprint"] = changeMark(question, t.object["days"], t.object["changes"])
	}
	if has(t.object, "days") {
		query["start"] = float64(dayOf(t.object["begins"]))
	}
	for _, term := range []string{"every", "changes"} {
		if has(t.object, term) {
			query[term] = t.object[term]
		}
	}
	if question.drawing.about().path {
		query["times"] = 1.0 // one place
	}
	if has(t.object, "answers") {
		query["limit"] = object{"campaign": campaign, "answers": t.object["answers"]}
	}
	if has(t.object, "phase") {
		phase := object{"campaign": campaign, "name": t.object["name"]}
		for term, value := range asObject(t.object["phase"]) {
			phase[term] = value
		}
		query["phase"] = phase
	}
	return query
}

// value returns the plain value that a question takes for what a person gives: of scales, dates, times and
// single places.
func (t *terms) value(name string, given any) any {
	fields, question := t.stated[name], t.questions[name]
	if question.drawing.about().path {
		return []any{given}
	}
	if has(fields, "scale") {
		if x, ok := asNumber(given); ok {
			return onScale(asList(fields["scale"]), x)
		}
	}
	text, ok := given.(string)
	if !ok || !has(fields, "form") {
		return given
	}
	if fields["form"] == "time" {
		if len(text) != 5 || text[2] != ':' || !isDigits(text[:2]+text[3:]) || text[:2] > "23" || text[3:] > "59" {
			return strange{}
		}
		hours, _ := strconv.Atoi(text[:2])
		minutes, _ := strconv.Atoi(text[3:])
		return float64(60*hours + minutes)
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || !isDay(text) || text[:4] == "0000" {
		return strange{}
	}
	if fields["form"] == "date" {
		return float64(day.Unix() / daySeconds)
	}
	days := asList(asObject(question.device["domain"])["labels"])
	last := days[0]
	for _, one := range days {
		if one.(string) <= text {
			last = one
		}
	}
	return last
}

// onScale returns the number of the part of a scale in which a value lies, and the share of the way through
// it. No device takes a logarithm.
func onScale(edges []any, x float64) any {
	x = min(max(x, real(edges[0])), real(edges[len(edges)-1]))
	at := len(edges) - 2
	for at > 0 && real(edges[at]) > x {
		at--
	}
	return float64(at) + (x-real(edges[at]))/(real(edges[at+1])-real(edges[at]))
}
