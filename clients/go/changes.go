package dither

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"
)

// Answers about kept changes, by docs/account.md: the drawn group, the intervals that are over, and the number of changes
// that is kept under a pad.

const keptChange = "kept change"

// owed are the intervals that are over and not reported.
type owed struct {
	group, changes int
	all            int // intervals of the group
	days           int // days of the period so far
	before, until  int // intervals that were reported, and that are over
	period         float64
	mark           any // the number under a pad, or nil
}

// lengthOf returns the days of an interval of a group.
func lengthOf(group int) int { return 1 << max(group-1, 0) }

func intervalsOf(group, days int) int {
	if group == 0 {
		return 1
	}
	return (days - 2 + lengthOf(group)) / lengthOf(group)
}

// changeMark returns the fingerprint of a question about a kept change: the one of its own device text.
func changeMark(question *Question, days, changes any) string {
	draw := "kept changes"
	if changes == 1.0 {
		draw = keptChange
	}
	return digest(write(object{"draw": draw, "days": days, "changes": changes, "part": question.device}), 32)
}

// codesOf returns the codes of the values of all days, or nil if one is not an answer.
func codesOf(question *Question, value any) any {
	listed, ok := value.([]any)
	if !ok {
		return nil
	}
	codes := []any{}
	for _, one := range listed {
		code := question.drawing.input(one)
		if code == nil {
			return nil
		}
		codes = append(codes, code)
	}
	return codes
}

// dueOf returns the intervals that a choice owes, or nil.
func dueOf(state, query, choice object, passed int) *owed {
	if choice == nil || choice["device"] != state["device"] { // another device of the person drew the group, and reports
		return nil
	}
	days, changes := int(long(query["days"])), int(long(query["changes"]))
	due := &owed{group: int(long(choice["day"])) / changes, changes: changes, days: passed + 1, period: real(choice["period"])}
	due.all, due.until = intervalsOf(due.group, days), passed/lengthOf(due.group)
	if passed == days-1 || due.group == 0 {
		due.until = due.all
	}
	if tree := find(filter(rowsOf(state, "trees"), same(query)), having(choice, "period")); tree != nil {
		due.before, due.mark = int(long(tree["intervals"])), tree["mark"]
	}
	if due.until <= due.before {
		return nil
	}
	return due
}

// replaced returns a state with another row in a list, in place of the one of the same period.
func replaced(state object, name string, query, row object) object {
	rows := slices.DeleteFunc(rowsOf(state, name), func(one object) bool {
		return same(query)(one) && one["period"] == row["period"] && one["repeat"] == row["repeat"]
	})
	return with(state, name, listOf(append(rows, row)))
}

// answerChange returns how an answer about a kept change ends. drawn is the state that stays whatever follows, or nil.
func answerChange(state, drawn, query, entry, named object, drawing *answering) step {
	today := floorDiv(long(asObject(state["clock"])["wall"]), daySeconds)
	first, days := periodOf(query, today)
	wanted := object{"repeat": keptChange, "period": float64(first)}
	choice := find(filter(rowsOf(state, "choices"), same(query)), having(wanted, "repeat", "period"))
	if choice == nil && drawing != nil {
		choice = maps.Clone(named)
		maps.Copy(choice, wanted)
		numbers := uint64(1+bits.Len64(uint64(days-1))) * uint64(long(query["changes"]))
		choice["day"], choice["device"], choice["answer"] = float64(drawing.random.below(numbers)), state["device"], nil
		state = appended(state, "choices", choice)
		drawn = state
	}
	due := dueOf(state, query, choice, int(today-first))
	if due == nil {
		return step{object{"is": "silent"}, drawn}
	}
	charged := any("0")
	if choice["answer"] == nil {
		charged = entry["epsilon"]
		if isAnsweredEnough(state, query) {
			return step{refuse("answers").outcome, drawn}
		}
		if reason := shortOf(state, entry); reason != "" {
			return step{refuse(reason).outcome, drawn}
		}
	} else if !paid(find(rowsOf(state, "entries"), having(object{"id": choice["answer"]}, "id")), entry) {
		return refuse("changed")
	}
	var report any
	mark := 0
	if drawing != nil {
		text, number, fine := drawing.change(due)
		if !fine {
			words := fmt.Sprintf("question %q: expected the values of all %d days of the period so far", query["question"], due.days)
			return step{object{"is": "refused", "reason": "value", "words": words}, drawn}
		}
		report, mark = text, number
	}
	if choice["answer"] == nil {
		state = replaced(appended(state, "entries", entry), "choices", query, with(choice, "answer", entry["id"]))
	}
	tree := maps.Clone(named)
	tree["period"], tree["intervals"], tree["mark"] = choice["period"], float64(due.until), float64(mark)
	state = enqueue(replaced(state, "trees", query, tree), named, asString(entry["id"]), report)
	return step{object{"is": "drawn", "charged": charged, "report": report}, state}
}

// drawChange draws what is owed by the key of a device; it is not fine if the codes are not those of all days.
func drawChange(question *Question, codes []any, query object, due *owed, key string, s source) (report string, mark int, fine bool) {
	if len(codes) != due.days {
		return "", 0, false
	}
	pad := func(intervals int) int {
		drawn := int(little(keyed(key, query, []any{due.period, float64(intervals)}, 2).take(2)))
		if due.changes == 1 {
			return drawn & 1
		}
		return drawn
	}
	reported := 0
	if due.mark != nil {
		reported = pad(due.before) ^ int(long(due.mark))
	}
	rows, now := rowsOfChange(question, codes, due, reported, keyed(key, query, []any{due.period, float64(due.group)}, 3), s)
	return hex.EncodeToString(rows), pad(due.until) ^ now, true
}

// rowsOfChange draws rows of group, interval and cell, and returns them with the total number of changes so far.
func rowsOfChange(question *Question, codes []any, due *owed, reported int, flips, s source) ([]byte, int) {
	several := due.changes > 1 && due.group > 0
	pattern := []bool{false}
	if several {
		pattern = flipsOf(question.drawing.about().ratio, min(due.changes, due.all), flips)
	}
	first, moves := codes[0].(int64), 0
	still := []int64{first} // after the largest number of kept changes, a value stays the same
	for day := 1; day < len(codes); day++ {
		if codes[day] != codes[day-1] {
			moves++
		}
		still = append(still, first^int64(min(moves, due.changes)&1))
	}
	var rows []byte
	for interval := due.before; interval < due.until; interval++ {
		cell := int64(s.bits(1)) // a coin
		begin := interval * lengthOf(due.group)
		end := still[min(begin+lengthOf(due.group), len(still)-1)]
		moved := due.group > 0 && reported < len(pattern) && end != still[begin]
		if moved {
			cell = end
		} else if due.group == 0 {
			cell = first
		}
		switch {
		case !several:
			cell = int64(question.drawing.draw(cell, s)[0])
		case moved && pattern[reported]:
			cell = 1 - cell
		}
		for _, part := range []int64{int64(due.group), int64(interval), cell} {
			rows = inBytes(rows, uint64(part), 4)
		}
		if moved {
			reported++
		}
	}
	return rows, reported
}

// flipsOf draws the pattern of flips of a group: in a Hamming ball, or outside with the smaller probability.
func flipsOf(r ratio, size int, s source) []bool {
	choose := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	inside, within, radius := zero, zero, 0
	best := [2]*big.Int{zero, one}
	for at := range size {
		within = plus(within, choose(size, at))
		under := plus(times(within, minus(r.top, r.bottom)), shifted(r.bottom, uint(size)))
		if larger(choose(size-1, at), under, best[0], best[1]) {
			best, inside, radius = [2]*big.Int{choose(size-1, at), under}, within, at
		}
	}
	outside := minus(power(uint(size)), inside)
	near := times(inside, r.top)
	held := s.large(128).Cmp(over(shifted(near, 128), plus(near, times(outside, r.bottom)))) < 0
	places := []*big.Int{s.largeBelow(inside), s.largeBelow(outside)}
	left, place := radius+1, places[1]
	if held {
		left, place = 0, places[0]
	}
	for sum := choose(size, left); place.Cmp(sum) >= 0; sum = plus(sum, choose(size, left)) {
		left++
	}
	flips := make([]bool, size)
	for at := range size {
		if flips[at] = s.below(uint64(size-at)) < uint64(left); flips[at] {
			left--
		}
	}
	return flips
}
