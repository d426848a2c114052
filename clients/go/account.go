package dither

import (
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The account of one person: a state and events that change it, by the rules of docs/account.md. Nothing here stores or
// sends. A state is JSON. An event does not change it, and returns a new one.

const daySeconds = 86_400

// A step is how an event ended, and the new state; nil if nothing changed.
type step struct{ outcome, next object }

// An answering draws if an answer is allowed.
type answering struct {
	report func() string // in hexadecimal digits
	mark   func() string // mark of the value, 32 digits
	change func(due *owed) (report string, mark int, fine bool)
	random source // source of days and coins
}

//go:noinline
func refuse(reason string) step { return step{outcome: object{"is": "refused", "reason": reason}} }

//go:noinline
func with(state object, name string, value any) object {
	changed := maps.Clone(state)
	changed[name] = value
	return changed
}

// rowsOf returns the objects of a list of the state; none if the list is missing.
//
//go:noinline
func rowsOf(state object, name string) []object {
	listed, _ := state[name].([]any)
	found := make([]object, len(listed))
	for i, one := range listed {
		found[i] = asObject(one)
	}
	return found
}

//go:noinline
func listOf(rows []object) []any {
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row
	}
	return out
}

func appended(state object, name string, row object) object {
	return with(state, name, append(listOf(rowsOf(state, name)), row))
}

// find returns the first row that a condition accepts, or nil.
//
//go:noinline
func find(rows []object, wanted func(row object) bool) object {
	if at := slices.IndexFunc(rows, wanted); at >= 0 {
		return rows[at]
	}
	return nil
}

func filter(rows []object, wanted func(row object) bool) []object {
	return slices.DeleteFunc(slices.Clone(rows), func(row object) bool { return !wanted(row) })
}

// having returns a condition: some fields of a row equal those fields of another object.
//
//go:noinline
func having(other object, names ...string) func(row object) bool {
	return func(row object) bool {
		for _, name := range names {
			if !equal(row[name], other[name]) {
				return false
			}
		}
		return true
	}
}

// equal compares two values of a state. A state that was changed by hand may hold any JSON.
//
//go:noinline
func equal(a, b any) bool {
	if text, ok := a.(string); ok {
		return text == b
	}
	return reflect.DeepEqual(a, b)
}

// questionFields are the fields that name a question.
var questionFields = []string{"asker", "question", "fingerprint"}

// same selects the rows about a question.
func same(query object) func(row object) bool { return having(query, questionFields...) }

func long(value any) int64 { return int64(real(value)) }

func units(given object, field string) *big.Int { return hexadecimal(given[field], 1<<10) }

// charge returns ⌈x·2^places⌉ units of a number.
func charge(x float64, places uint) string {
	exact := new(big.Rat).SetFloat64(x)
	return upwards(shifted(exact.Num(), places), exact.Denom()).Text(16)
}

// limit returns the units of a limit from a number: docs/account.md says why it is a little more.
func limit(x float64, places uint) string {
	exact := new(big.Rat).SetFloat64(x)
	found := over(shifted(exact.Num(), places), exact.Denom())
	if found.Sign() == 0 {
		return "0"
	}
	return plus(plus(found, halved(found, 52)), one).Text(16)
}

// upgraded returns a state of version 3. A choice of version 2 without a repeat means both.
func upgraded(state object) object {
	needs(state["account"] == 3.0 || state["account"] == 2.0, "account", "its version is another one")
	if state["account"] == 3.0 {
		return state
	}
	return with(with(state, "account", 3.0), "choices", listOf(choicesOf(state)))
}

func choicesOf(state object) (choices []object) {
	for _, choice := range rowsOf(state, "choices") {
		if has(choice, "repeat") {
			choices = append(choices, choice)
			continue
		}
		choices = append(choices, with(choice, "repeat", "kept change"), with(choice, "repeat", "once"))
	}
	return choices
}

func remaining(entries []object, most object, field string) *big.Int {
	left := units(most, field)
	for _, entry := range entries {
		left = minus(left, units(entry, field))
	}
	return left
}

func fits(entries []object, most object) bool {
	return remaining(entries, most, "epsilon").Sign() >= 0 && remaining(entries, most, "delta").Sign() >= 0
}

func touching(entries []object, epoch int64) []object {
	return filter(entries, func(row object) bool { return long(row["first"]) <= epoch && epoch <= long(row["last"]) })
}

func floorDiv(x, by int64) int64 { return (x - mod(x, by)) / by }

func dateOf(day int64) time.Time { return time.Unix(day*daySeconds, 0).UTC() }

func epochOf(kind any, second int64) int64 {
	day := floorDiv(second, daySeconds)
	switch kind {
	case "day":
		return day
	case "week":
		return floorDiv(day+3, 7) // weeks begin on Monday
	case "year":
		return int64(dateOf(day).Year())
	}
	return 0
}

// periodOf returns the first day of a day's period (its name), and the number of its days.
func periodOf(query object, day int64) (first, days int64) {
	switch query["every"] {
	case nil:
		days = long(query["days"])
		need(days > 0, "asking")
		return day - mod(day-long(query["start"]), days), days
	case "day":
		return day, 1
	case "week":
		return day - mod(day+3, 7), 7
	}
	here := dateOf(day)
	begin := time.Date(here.Year(), here.Month(), 1, 0, 0, 0, 0, time.UTC)
	return begin.Unix() / daySeconds, int64(begin.AddDate(0, 1, -1).Day())
}

var ahead = map[string]float64{"day": daySeconds, "week": 7 * daySeconds, "year": 366 * daySeconds, "lifetime": math.Inf(1)}

func clockAfter(clock, at object) object {
	elapsed, wall, proved := long(at["elapsed"]), max(long(clock["wall"]), long(at["wall"])), int64(0)
	if at["boot"] == clock["boot"] {
		elapsed = max(elapsed, long(clock["elapsed"]))
		proved = elapsed - long(clock["elapsed"])
	}
	leads := long(clock["ahead"]) + wall - long(clock["wall"]) - proved
	return object{"wall": float64(wall), "boot": at["boot"], "elapsed": float64(elapsed), "ahead": float64(leads)}
}

// assumed returns all that an answer assumes, each line once.
func assumed(query object) []any {
	lines := slices.Clone(asList(query["assumes"]))
	add := func(line string) {
		if !slices.Contains(lines, any(line)) {
			lines = append(lines, line)
		}
	}
	if query["times"] != nil && long(query["times"]) > 1 {
		add("how many locations a trajectory has, and when they were sent, is public")
	}
	if query["repeat"] == "per value" {
		add("the value never changes")
		add("the device's key stays on the device")
	}
	return lines
}

// aside is the batch of permanent answers that wait for the next request.
var aside = strings.Repeat("0", 32)

func waits(queued object) bool { return queued["batch"] != aside }

// again returns a queue in which a report to a question that was set aside waits again.
func again(state, query object, report any) []any {
	queue := rowsOf(state, "queue")
	for i, row := range queue {
		if !waits(row) && row["report"] == report && same(query)(row) {
			queue[i] = with(row, "batch", nil)
		}
	}
	return listOf(queue)
}

// drop removes the reports of a batch from the queue after the collector refused it for good. Permanent answers
// are set aside.
func drop(state object, id string) step {
	if count, next := withoutMessages(state, id); count > 0 {
		return step{object{"is": "dropped", "reports": float64(count)}, next}
	}
	var queue []object
	reports := 0.0
	for _, row := range rowsOf(state, "queue") {
		if gone := waits(row) && (row["batch"] == id || row["id"] == id); !gone {
			queue = append(queue, row)
			continue
		}
		reports++
		if find(rowsOf(state, "answers"), same(row)) != nil {
			queue = append(queue, with(row, "batch", aside))
		}
	}
	if reports == 0 {
		return step{outcome: object{"is": "unknown"}}
	}
	return step{object{"is": "dropped", "reports": reports}, with(state, "queue", listOf(queue))}
}

// erase returns a state without names, permanent answers, drawn days and reports. What was spent stays.
func erase(state object) object {
	entries := rowsOf(state, "entries")
	for i, entry := range entries {
		bare := maps.Clone(entry)
		bare["asker"], bare["question"], bare["fingerprint"] = "", "", ""
		maps.DeleteFunc(bare, func(name string, _ any) bool { return name == "data" || name == "times" || name == "campaign" })
		entries[i] = bare
	}
	next := with(state, "entries", listOf(entries))
	for _, name := range []string{"askers", "answers", "choices", "queue"} {
		next[name] = []any{}
	}
	maps.DeleteFunc(next, func(name string, _ any) bool {
		return slices.Contains([]string{"told", "coins", "trees", "present", "sent"}, name)
	})
	return next
}

// phaseOf returns the outcome if this device does not answer a question, or nil; and the coin to keep, or nil. It is
// tossed once for an asker and a campaign's name, without looking at any value.
func phaseOf(state, query object, drawing *answering) (outcome, kept object) {
	if query["phase"] == nil {
		return nil, nil
	}
	phase := asObject(query["phase"])
	own := object{"asker": query["asker"], "name": phase["name"]}
	coins := rowsOf(state, "coins")
	coin := find(coins, having(own, "asker", "name"))
	if has(phase, "follows") {
		theirs := filter(coins, having(query, "asker"))
		if find(theirs, func(row object) bool {
			return row["heads"] == true && (row["name"] == phase["name"] || row["campaign"] == phase["follows"])
		}) != nil {
			return refuse("phase").outcome, nil
		}
		if coin == nil { // a person who answers the second campaign does not answer the first one any more
			own["campaign"], own["heads"] = phase["follows"], false
			return nil, own
		}
		return nil, nil
	}
	if coin == nil && drawing == nil {
		return object{"is": "silent"}, nil
	}
	if coin == nil {
		own["campaign"] = phase["campaign"]
		own["heads"] = drawing.random.below(1000) < uint64(long(phase["share"]))
		coin, kept = own, own
	}
	if coin["heads"] != true {
		outcome = refuse("phase").outcome
	}
	return outcome, kept
}

// shortOf returns why a spend does not fit, or an empty text if it does.
func shortOf(state, entry object) string {
	every := append(rowsOf(state, "entries"), entry)
	limits := asObject(state["limits"])
	quota := limits["quota"]
	if own, ok := asObject(limits["quotas"])[asString(entry["asker"])]; ok {
		quota = own
	}
	first, last := long(entry["first"]), long(entry["last"])
	theirs := filter(every, having(entry, "asker"))
	for epoch := first; quota != nil && epoch <= last; epoch++ {
		if remaining(touching(theirs, epoch), object{"epsilon": quota}, "epsilon").Sign() < 0 {
			return "quota"
		}
	}
	for _, part := range []string{"own", "limits"} {
		some, most := every, asObject(state[part])
		if part == "own" {
			some = filter(every, having(state, "device"))
		}
		for epoch := first; epoch <= last; epoch++ {
			if !fits(touching(some, epoch), most) {
				return "budget"
			}
		}
		if most["lifetime"] != nil && !fits(some, asObject(most["lifetime"])) {
			return "lifetime"
		}
	}
	return ""
}

// paid returns whether an entry was charged for the same answer as another one.
func paid(charged, entry object) bool {
	if charged == nil || !same(charged)(entry) {
		return false
	}
	for _, name := range []string{"epsilon", "delta", "assumes", "data", "times", "campaign"} {
		if !reflect.DeepEqual(charged[name], entry[name]) {
			return false
		}
	}
	return true
}

// entryOf returns the entry of an answer, without the epochs that it is charged to.
func entryOf(state object, id string, query object) object {
	entry := object{"id": id, "device": state["device"], "assumes": assumed(query),
		"epsilon": charge(real(query["epsilon"]), 64), "delta": charge(real(query["delta"]), 128)}
	for _, name := range []string{"asker", "question", "fingerprint"} {
		entry[name] = query[name]
	}
	for _, name := range []string{"data", "times"} {
		if query[name] != nil {
			entry[name] = query[name]
		}
	}
	if query["limit"] != nil {
		entry["campaign"] = asObject(query["limit"])["campaign"]
	}
	return entry
}

// isAllowed returns whether a policy accepts what an answer spends and assumes.
func isAllowed(query, policy, entry object) bool {
	mechanisms, _ := policy["mechanisms"].([]any)
	for _, line := range asList(entry["assumes"]) {
		if !slices.Contains(asList(policy["assumptions"]), line) {
			return false
		}
	}
	return real(query["epsilon"]) <= real(policy["epsilon"]) && real(query["delta"]) <= real(policy["delta"]) &&
		(policy["mechanisms"] == nil || slices.Contains(mechanisms, query["mechanism"]))
}

// span sets the epochs that an entry is charged to, and returns why the clock or the data do not allow it, or
// an empty text.
func span(before, query, clock, entry object) string {
	epoch := asString(asObject(before["limits"])["epoch"])
	if real(clock["ahead"]) > ahead[epoch] {
		return "clock"
	}
	now, born := long(clock["wall"]), long(before["born"])
	since, until := now, now+1
	if query["data"] != nil {
		both := pairOf(query["data"])
		since, until = int64(both[0]), int64(both[1])
	}
	if query["repeat"] == keptChange { // of all days of the period, also those to come
		first, days := periodOf(query, floorDiv(now, daySeconds))
		since, until = first*daySeconds, (first+days)*daySeconds
		entry["data"] = []any{float64(since), float64(until)}
		now = until
	}
	first, last := epochOf(epoch, max(since, born)), epochOf(epoch, max(until-1, born))
	if since >= until || until > now+1 || last-first >= 366 {
		return "data"
	}
	entry["first"], entry["last"] = float64(first), float64(last)
	return ""
}

// admitted returns a state that has an asker, or nil if no new one is admitted.
func admitted(state object, asker any) object {
	askers := asList(state["askers"])
	if slices.Contains(askers, asker) {
		return state
	}
	if state["openings"] == 0.0 {
		return nil
	}
	at, _ := slices.BinarySearchFunc(askers, asker, func(a, b any) int { return byUnits(asString(a), asString(b)) })
	next := with(state, "askers", slices.Insert(slices.Clone(askers), at, asker))
	if state["openings"] != nil {
		next["openings"] = real(state["openings"]) - 1
	}
	return next
}

// answer checks, spends and draws. Without a drawing it is a dry run. It has no report, and whose state is
// not kept.
func answer(before object, id string, query, policy, at object, drawing *answering) step {
	entries, repeat := rowsOf(before, "entries"), query["repeat"]
	entry := entryOf(before, id, query)
	named := object{"asker": query["asker"], "question": query["question"], "fingerprint": query["fingerprint"]}
	// 1. Only a charged report is given again: the same question, and the same terms.
	kept := find(filter(rowsOf(before, "answers"), same(query)), func(row object) bool { return row["permanent"] == repeat })
	waiting, own := find(rowsOf(before, "queue"), having(entry, "id")), find(entries, having(entry, "id"))
	var charged object
	if kept != nil {
		charged = find(entries, having(kept, "id"))
	}
	if waiting != nil || own != nil {
		known := waiting
		if known == nil {
			known = own
		}
		free := repeat == keptChange && own == nil // another answer was charged for its period
		if own == nil {
			own = charged
		} else if repeat == keptChange && own["data"] != nil {
			entry["data"] = own["data"]
		}
		switch {
		case !same(known)(query) || !free && !paid(own, entry):
			return refuse("id")
		case waiting == nil:
			return step{outcome: object{"is": "acknowledged", "reports": 0.0}}
		}
		resent := step{outcome: object{"is": "resent", "report": waiting["report"]}}
		if !waits(waiting) {
			resent.next = with(before, "queue", again(before, query, waiting["report"]))
		}
		return resent
	}
	// 2. The policy, 3. the clock, 4. the data, 5. the asker and the phase. A coin that was tossed is kept in every case.
	if !isAllowed(query, policy, entry) {
		return refuse("policy")
	}
	clock := clockAfter(asObject(before["clock"]), at)
	if reason := span(before, query, clock, entry); reason != "" {
		return refuse(reason)
	}
	state := admitted(with(before, "clock", clock), query["asker"])
	if state == nil {
		return refuse("asker")
	}
	var drawn object
	outcome, coin := phaseOf(state, query, drawing)
	if coin != nil {
		state = appended(state, "coins", coin)
		drawn = state
	}
	if outcome != nil {
		return step{outcome, drawn}
	}
	// 6. A permanent answer. One report for each value is queued, by the device that was charged.
	queued := kept == nil
	payer := charged
	if payer == nil {
		payer = entry
	}
	if repeat == "per value" && drawing != nil && payer["device"] == state["device"] {
		mark := drawing.mark()
		marks, _ := state["told"].([]any)
		if queued = !slices.Contains(marks, any(mark)); queued {
			state = with(state, "told", append(slices.Clone(marks), any(mark)))
		}
	}
	if kept != nil {
		report := kept["report"]
		if !paid(charged, entry) || repeat == "same" && report == nil {
			return refuse("changed")
		}
		if repeat == "per value" && drawing != nil {
			report = drawing.report()
		}
		if queued {
			state = enqueue(state, named, id, report)
		} else {
			state = with(state, "queue", again(state, query, report))
		}
		return step{object{"is": "repeated", "charged": "0", "report": report}, state}
	}
	if repeat == keptChange {
		return answerChange(state, drawn, query, entry, named, drawing)
	}
	// 7. The kept day (drawn in any case); 8. the campaign's answers and the budget.
	var day object
	if repeat == "once" {
		today := floorDiv(long(asObject(state["clock"])["wall"]), daySeconds)
		first, days := periodOf(query, today)
		wanted := object{"repeat": repeat, "period": float64(first)}
		day = find(filter(rowsOf(state, "choices"), same(query)), having(wanted, "repeat", "period"))
		if day == nil && drawing != nil {
			day = maps.Clone(named)
			maps.Copy(day, wanted)
			day["day"], day["device"], day["answer"] = float64(first+int64(drawing.random.below(uint64(days)))), state["device"], nil
			state = appended(state, "choices", day)
			drawn = state
		}
		if day == nil || long(day["day"]) != today || day["answer"] != nil {
			return step{object{"is": "silent"}, drawn}
		}
	}
	if isAnsweredEnough(state, query) {
		return step{refuse("answers").outcome, drawn}
	}
	if reason := shortOf(state, entry); reason != "" {
		return step{refuse(reason).outcome, drawn}
	}
	// 9. Spend, and then draw.
	if day != nil {
		choices := rowsOf(state, "choices")
		at := slices.IndexFunc(choices, having(day, append(questionFields, "repeat", "period")...))
		choices[at] = with(day, "answer", id)
		state = with(state, "choices", listOf(choices))
	}
	state = appended(state, "entries", entry)
	var report any
	if drawing != nil {
		report = drawing.report()
	}
	if queued {
		state = enqueue(state, named, id, report)
	}
	if repeat == "same" || repeat == "per value" {
		permanent := maps.Clone(named)
		permanent["id"], permanent["permanent"], permanent["report"] = id, repeat, nil
		if repeat == "same" {
			permanent["report"] = report
		}
		state = appended(state, "answers", permanent)
	}
	return step{object{"is": "drawn", "charged": entry["epsilon"], "report": report}, state}
}

func enqueue(state, named object, id string, report any) object {
	row := maps.Clone(named)
	row["id"], row["report"], row["batch"] = id, report, nil
	return appended(state, "queue", row)
}

// isAnsweredEnough returns whether the person has reached the campaign's number of answers to a question.
func isAnsweredEnough(state, query object) bool {
	if query["limit"] == nil {
		return false
	}
	most := asObject(query["limit"])
	given := filter(filter(rowsOf(state, "entries"), same(query)), having(most, "campaign"))
	return int64(len(given)) >= long(most["answers"])
}

// act forgives the clock and admits new askers: the person did something themselves.
func act(state, at object) step {
	clock := with(clockAfter(asObject(state["clock"]), at), "ahead", 0.0)
	openings := asObject(state["limits"])["askers"]
	return step{object{"is": "acted"}, with(with(state, "clock", clock), "openings", openings)}
}

// batch puts chosen waiting reports into a batch, at most one to a question, or returns the batch that was sent before.
func batch(state object, id string, most int, chosen func(row object) bool) step {
	queue := rowsOf(state, "queue")
	reports := []any{}
	sent := find(queue, func(row object) bool { return chosen(row) && waits(row) && row["batch"] != nil })
	if sent != nil {
		for _, row := range filter(queue, having(sent, "batch")) {
			reports = append(reports, row["id"])
		}
		return step{outcome: object{"is": "resent", "id": sent["batch"], "reports": reports}}
	}
	seen := map[string]bool{}
	for i, row := range queue {
		if mark := asString(row["fingerprint"]); len(reports) < most && chosen(row) && waits(row) && !seen[mark] {
			seen[mark] = true
			reports = append(reports, row["id"])
			queue[i] = with(row, "batch", id)
		}
	}
	if len(reports) == 0 {
		return step{outcome: object{"is": "empty"}}
	}
	return step{object{"is": "batched", "id": id, "reports": reports}, with(state, "queue", listOf(queue))}
}

// acknowledge removes a report, or a batch, from the queue, because the collector has it. sent may be nil. It has the
// campaign, the present day and the days for which the batch can be withdrawn.
func acknowledge(state object, id string, sent object) step {
	gone := filter(rowsOf(state, "queue"), func(row object) bool { return row["id"] == id || row["batch"] == id })
	left := filter(rowsOf(state, "queue"), func(row object) bool { return row["id"] != id && row["batch"] != id })
	next := with(state, "queue", listOf(left))
	for _, row := range filter(rowsOf(state, "present"), func(row object) bool { return row["batch"] == id }) {
		gone = append(gone, object{"asker": row["asker"], "question": row["name"], "batch": id})
	}
	if len(gone) == 0 {
		return step{outcome: object{"is": "unknown"}}
	}
	_, next = withoutMessages(next, id)
	if sent != nil && gone[0]["batch"] == id {
		names, day := []any{}, long(sent["day"])
		for _, row := range gone {
			names = append(names, row["question"])
		}
		known := filter(rowsOf(state, "sent"), func(row object) bool { return long(row["until"]) >= day })
		next["sent"] = append(listOf(known), object{"id": id, "asker": gone[0]["asker"], "campaign": sent["campaign"],
			"until": float64(day + long(sent["retry"])), "questions": names})
	}
	return step{object{"is": "acknowledged", "reports": float64(len(gone))}, next}
}

// withdraw forgets a batch that the collector must delete. What was spent stays spent, and nothing is set
// aside.
func withdraw(state object, id string) step {
	theirs := func(row object) bool { return row["batch"] == id && id != aside }
	count := len(filter(rowsOf(state, "queue"), theirs))
	messages, next := withoutMessages(with(state, "queue", listOf(filter(rowsOf(state, "queue"), func(row object) bool { return !theirs(row) }))), id)
	count += messages
	for _, row := range filter(rowsOf(state, "sent"), func(row object) bool { return row["id"] == id }) {
		count += len(asList(row["questions"]))
		next["sent"] = listOf(filter(rowsOf(state, "sent"), func(row object) bool { return row["id"] != id }))
	}
	if count == 0 {
		return step{outcome: object{"is": "unknown"}}
	}
	if has(next, "sent") && len(asList(next["sent"])) == 0 {
		delete(next, "sent")
	}
	return step{object{"is": "withdrawn", "reports": float64(count)}, next}
}

// withoutMessages returns how many messages of presence wait under an identity, and a copy of the state
// without them.
func withoutMessages(state object, id string) (count int, next object) {
	kept := rowsOf(state, "present")
	for i, row := range kept {
		if row["batch"] == id {
			kept[i] = with(row, "batch", nil)
			count++
		}
	}
	if count == 0 {
		return 0, maps.Clone(state)
	}
	return count, with(state, "present", listOf(kept))
}

// present returns the fate of a use of the program: a message for its period, unless the period has one
// already. The presence has asker, name, every and share; query is nil if the campaign has no question.
func present(before object, id string, presence, query, policy, at object, drawing *answering) step {
	clock := clockAfter(asObject(before["clock"]), at)
	if query != nil && !isAllowed(query, policy, entryOf(before, id, query)) {
		return refuse("policy")
	}
	state := admitted(with(before, "clock", clock), presence["asker"])
	if state == nil {
		return refuse("asker")
	}
	period, _ := periodOf(presence, floorDiv(long(clock["wall"]), daySeconds))
	kept := find(rowsOf(state, "present"), having(presence, "asker", "name"))
	if kept != nil && kept["period"] != nil && period <= long(kept["period"]) {
		return step{outcome: object{"is": "silent"}}
	}
	first := kept == nil || kept["period"] == nil
	if kept == nil { // the coin for life
		coin := query != nil && drawing != nil && drawing.random.below(1000) < uint64(long(presence["share"]))
		kept = object{"asker": presence["asker"], "name": presence["name"], "permanent": coin}
	}
	kept = with(with(kept, "period", float64(period)), "batch", id)
	others := filter(rowsOf(state, "present"), func(row object) bool { return !having(presence, "asker", "name")(row) })
	state = with(state, "present", listOf(append(others, kept)))
	if !first || kept["permanent"] != true || query == nil || permanentOf(state, query) != nil {
		return step{object{"is": "present"}, state}
	}
	entry := entryOf(before, id, query)
	if span(before, query, clock, entry) != "" || isAnsweredEnough(state, query) || shortOf(state, entry) != "" {
		return step{object{"is": "present"}, state} // the label is never drawn
	}
	report := drawing.report()
	state = appended(state, "entries", entry)
	state = appended(state, "answers", object{"asker": query["asker"], "question": query["question"],
		"fingerprint": query["fingerprint"], "id": id, "permanent": "present", "report": report})
	return step{object{"is": "drawn", "charged": entry["epsilon"], "report": report}, state}
}

func permanentOf(state, query object) object {
	return find(filter(rowsOf(state, "answers"), same(query)), func(row object) bool { return row["permanent"] == "present" })
}

// message returns the message of presence that waits, inside its period only.
func message(state, presence, query, at object) step {
	kept := find(rowsOf(state, "present"), having(presence, "asker", "name"))
	if kept == nil || kept["batch"] == nil {
		return step{outcome: object{"is": "empty"}}
	}
	clock := clockAfter(asObject(state["clock"]), at)
	if period, _ := periodOf(presence, floorDiv(long(clock["wall"]), daySeconds)); float64(period) != kept["period"] {
		_, next := withoutMessages(with(state, "clock", clock), asString(kept["batch"]))
		return step{object{"is": "empty"}, next}
	}
	reports := []any{}
	if query != nil && kept["permanent"] == true {
		if label := permanentOf(state, query); label != nil {
			reports = []any{[]any{label["fingerprint"], label["report"]}}
		}
	}
	return step{outcome: object{"is": "message", "id": kept["batch"], "public": kept["permanent"] != true, "reports": reports}}
}

// split gives part/whole of this device's budget to another device.
func split(state object, device string, part, whole int64) step {
	need(whole > 0, "asking")
	own, gift := divided(asObject(state["own"]), part, whole)
	entries := filter(rowsOf(state, "entries"), having(state, "device"))
	spent := false
	if lifetime := own["lifetime"]; lifetime != nil {
		mine, theirs := divided(asObject(lifetime), part, whole)
		own["lifetime"], gift["lifetime"] = mine, theirs
		spent = !fits(entries, mine)
	}
	for _, entry := range entries {
		for epoch := long(entry["first"]); epoch <= long(entry["last"]); epoch++ {
			spent = spent || !fits(touching(entries, epoch), own)
		}
	}
	if spent {
		return refuse("spent")
	}
	return step{object{"is": "split", "device": device, "own": gift}, with(state, "own", own)}
}

func divided(given object, part, whole int64) (mine, theirs object) {
	mine, theirs = maps.Clone(given), maps.Clone(given)
	for _, field := range []string{"epsilon", "delta"} {
		share := over(times(units(given, field), integer(part)), integer(whole))
		theirs[field], mine[field] = share.Text(16), minus(units(given, field), share).Text(16)
	}
	return mine, theirs
}

// merge adds the charges and answers of another device of the same person.
func merge(state, from object) step {
	if from["person"] != state["person"] {
		return refuse("person")
	}
	if !reflect.DeepEqual(from["limits"], state["limits"]) {
		return refuse("limits")
	}
	known := rowsOf(state, "entries")
	entries := known
	for _, entry := range rowsOf(from, "entries") {
		switch mine := find(known, having(entry, "id")); {
		case mine != nil && !reflect.DeepEqual(mine, entry):
			return refuse("conflict")
		case mine == nil && entry["device"] == state["device"]:
			return refuse("rolled back")
		case mine == nil:
			entries = append(entries, entry)
		}
	}
	next := with(state, "entries", listOf(entries))
	shared := filter(rowsOf(from, "answers"), func(row object) bool { return row["permanent"] != "present" })
	next["answers"] = unite(rowsOf(state, "answers"), shared, append(questionFields, "permanent"),
		func(row object) string { return asString(row["id"]) })
	next["choices"] = unite(rowsOf(state, "choices"), choicesOf(from), append(questionFields, "repeat", "period"), func(row object) string {
		if row["answer"] == nil {
			return "1" + asString(row["device"])
		}
		return "0" + asString(row["answer"]) + asString(row["device"])
	})
	// Heads are kept on every device: the first phase was answered.
	if coins := unite(rowsOf(state, "coins"), rowsOf(from, "coins"), []string{"asker", "name"}, func(row object) string {
		if row["heads"] == true {
			return "0"
		}
		return "1"
	}); len(coins) > 0 {
		next["coins"] = coins
	}
	return step{object{"is": "merged", "entries": float64(len(entries) - len(known))}, next}
}

func unite(mine, theirs []object, names []string, rank func(row object) string) []any {
	united := slices.Clone(mine)
	for _, row := range theirs {
		at := slices.IndexFunc(united, having(row, names...))
		if at < 0 {
			united = append(united, row)
		} else if rank(row) < rank(united[at]) {
			united[at] = row
		}
	}
	return listOf(united)
}

// leftOf returns the remaining ε of this device and all askers together.
func leftOf(state object, wall int64) float64 {
	own := asObject(state["own"])
	latest := max(wall, long(asObject(state["clock"])["wall"]))
	mine := filter(rowsOf(state, "entries"), having(state, "device"))
	left := remaining(touching(mine, epochOf(asObject(state["limits"])["epoch"], latest)), own, "epsilon")
	if own["lifetime"] != nil {
		if most := remaining(mine, asObject(own["lifetime"]), "epsilon"); most.Cmp(left) < 0 {
			left = most
		}
	}
	// The slack of the limit does not count as remaining: it only makes sums of doubles fit.
	if shifted(left, 50).Cmp(units(own, "epsilon")) <= 0 {
		return 0
	}
	return inUnits(left, 64)
}

func inUnits(count *big.Int, places int) float64 {
	near, _ := new(big.Float).SetInt(count).Float64()
	return math.Ldexp(near, -places)
}
