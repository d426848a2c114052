package telemetry

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dither"
	"dither/internal/bridge"
)

// A total is the most that one person reveals in a campaign, over all questions and all days;
// dither_device/total.py is the same in Python.
type total struct {
	each, epsilon, delta float64 // for one answer to every question; epsilon is infinite without a limit
	times                int     // how often they are answered at most; 0 if it is not known
	unchanging           bool    // it holds if no value changes
	capped               bool    // the budget of the account is the limit
}

func number(terms map[string]any, name string) int {
	x, _ := terms[name].(float64)
	return int(x)
}

// totalOf returns the total on a device whose account has a budget of ε for each calendar year.
func totalOf(c *dither.Campaign, budget float64) total {
	terms := c.Terms()
	promise := terms["promise"].(map[string]any)
	each := promise["epsilon"].(float64)
	delta, _ := promise["delta"].(float64)
	t := total{each: each, epsilon: math.Inf(1), delta: delta, times: 1}
	switch terms["repeat"] {
	case "fresh":
		t.times = number(terms, "answers")
	case "per value":
		t.unchanging = true
	case "once", "kept change":
		t.times = periodsOf(terms)
	}
	if t.times > 0 {
		t.epsilon, t.delta = bridge.Totals(each, t.times), min(1, bridge.Totals(delta, t.times))
	}
	years := yearOf(terms, "ends") - yearOf(terms, "begins") + 1
	// The limit of an account admits 2^−52 of the budget more, and one unit of 2^−64.
	most := bridge.Totals(budget*(1+0x1p-51), years)
	if t.unchanging || t.epsilon <= most {
		return t
	}
	return total{each: each, epsilon: most, delta: t.delta, capped: true}
}

func (t total) words() string {
	if t.capped {
		return fmt.Sprintf("ε = %s, the budget of this computer", show(t.epsilon))
	}
	if math.IsInf(t.epsilon, 1) {
		return fmt.Sprintf("ε = %s for each answer; no limit over the campaign except the person's own account", show(t.each))
	}
	text := "ε = " + show(t.epsilon)
	if t.delta > 0 {
		text += " and δ = " + show(t.delta)
	}
	if t.times > 1 {
		text += fmt.Sprintf(" (%d answers of ε = %s)", t.times, show(t.each))
	}
	if t.unchanging {
		text += fmt.Sprintf(" if no value changes; ε = %s more for each further value", show(t.each))
	}
	return text
}

func (t total) most() float64 {
	if math.IsInf(t.epsilon, 1) {
		return t.each
	}
	return t.epsilon
}

func day(terms map[string]any, name string) time.Time {
	found, _ := time.Parse(time.DateOnly, terms[name].(string))
	return found
}

func yearOf(terms map[string]any, name string) int { return day(terms, name).Year() }

// days returns how many days a campaign has.
func days(terms map[string]any) int {
	return int(day(terms, "ends").Sub(day(terms, "begins"))/(24*time.Hour)) + 1
}

// periodsOf returns how many periods a campaign begins; the last one counts as a complete one.
func periodsOf(terms map[string]any) int {
	first, last := day(terms, "begins"), day(terms, "ends")
	switch terms["every"] {
	case "day":
		return days(terms)
	case "week":
		return int((last.Unix()/86_400+3)/7-(first.Unix()/86_400+3)/7) + 1
	case "month":
		return 12*(last.Year()-first.Year()) + int(last.Month()) - int(first.Month()) + 1
	}
	length := number(terms, "days")
	return (days(terms) + length - 1) / length
}

// budgetOf returns ε and δ for a year: what a campaign needs.
func budgetOf(c *dither.Campaign, test bool) (epsilon, delta float64) {
	terms, times := c.Terms(), 1
	switch terms["repeat"] {
	case "fresh":
		times = max(number(terms, "answers"), 1)
	case "once", "kept change":
		every, _ := terms["every"].(string)
		length := max(number(terms, "days"), map[string]int{"day": 1, "week": 7, "month": 28}[every])
		times = (min(366, days(terms)) + length - 1) / length
		if days(terms) > 366 || every != "" && days(terms) > 1 { // periods that a year touches
			times++
		}
	}
	if test {
		times *= 366 // a round of answers on each day of a year
	}
	delta, _ = terms["promise"].(map[string]any)["delta"].(float64)
	return terms["promise"].(map[string]any)["epsilon"].(float64) * float64(times), min(delta*float64(times), 1-0x1p-53)
}

// show returns a number with at most six digits that is not below the given one, without rounding dust.
func show(x float64) string {
	const digits = 6
	text := strconv.FormatFloat(x, 'g', digits, 64)
	if near, _ := strconv.ParseFloat(text, 64); near < x*(1-1e-9) {
		step := math.Pow(10, math.Floor(math.Log10(x))-digits+1)
		text = strconv.FormatFloat(math.Ceil(x/step)*step, 'g', digits, 64)
	}
	return text
}

// percent returns how sure the best guess between two equally likely values is at most, rounded up. More
// decimals are shown where fewer would say 100 %.
func percent(epsilon float64) string {
	share := math.Nextafter(1/(1+math.Exp(-epsilon)), 1)
	for digits := range 3 {
		scale := math.Pow(10, float64(digits))
		if shown := math.Ceil(scale*100*share) / scale; shown < 100 {
			return strconv.FormatFloat(shown, 'f', digits, 64) + " %"
		}
	}
	return "100 %"
}

// largest returns the ε of one report.
func largest(c *dither.Campaign) float64 {
	most := []float64{0}
	for _, name := range c.Questions() {
		if question, err := c.Question(name); err == nil {
			most = append(most, question.Epsilon)
		}
	}
	return slices.Max(most)
}
