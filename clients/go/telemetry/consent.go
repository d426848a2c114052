package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"dither"
	"dither/internal/bridge"
)

// Consent holds for the shown campaign. A record keeps digests of asker, key, purpose and address, of each
// question with its words, and the days; a campaign that is not covered by it needs another yes. The file is
// the one of dither_device.

func digest(value any) string {
	sum := sha256.Sum256([]byte(bridge.Write(value)))
	return hex.EncodeToString(sum[:])
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

const width = 79

// wordsOf returns the questions, by whom, for what, and the promise: the total first, then one report.
func wordsOf(c *dither.Campaign, budget float64) string {
	lines := []string{fmt.Sprintf("%s asks: %s (%s)", c.Term("asker"), c.Term("purpose"), c.Term("contact"))}
	for _, name := range c.Questions() {
		question, err := c.Question(name)
		if err != nil {
			continue
		}
		stated, domain := c.Stated(name)
		text := name + ":"
		if stated["text"] != nil {
			text = c.Text(name, ownLanguages()...)
		}
		answers := c.Answers(name, ownLanguages()...)
		lines = append(lines, fmt.Sprintf("  %s %s (ε = %s)", text, describe(domain, stated, answers), show(question.Epsilon)))
	}
	lines = append(lines, promiseOf(c, totalOf(c, budget)))
	for i, line := range lines {
		lines[i] = wrap(printable(line))
	}
	return strings.Join(lines, "\n")
}

// promiseOf returns how often a person answers, and what all answers reveal.
func promiseOf(c *dither.Campaign, t total) string {
	terms, period, most, changes := c.Terms(), "each "+c.Term("every"), "", "1 change"
	if c.Term("every") == "" {
		period = fmt.Sprintf("%d days", number(terms, "days"))
	}
	if times := number(terms, "answers"); times > 0 {
		most = fmt.Sprintf(", at most %d times", times)
	}
	if kept := number(terms, "changes"); kept > 1 {
		changes = fmt.Sprintf("%d changes", kept)
	}
	often := map[string]string{
		"once":        "once in " + period + ", on a day that this computer draws",
		"same":        "once, and the same report ever after",
		"per value":   "once for each value",
		"fresh":       "whenever it is asked" + most + ", until the budget is spent",
		"kept change": "in periods of " + period + ", each with at most " + changes,
	}[c.Term("repeat")]
	if often != "" {
		return fmt.Sprintf("Each is answered %s, from %s to %s. An answer is randomised on this computer before it is kept or "+
			"sent. In total, over the whole campaign: %s. Anyone who holds two answers equally likely, and sees all that "+
			"is sent, is at most %s sure of either; with one report, at most %s. Results are shown for %d reports or more.",
			often, c.Term("begins"), c.Term("ends"), t.words(), percent(t.most()), percent(largest(c)), number(terms, "people"))
	}
	text := fmt.Sprintf("One message is sent on the first use in %s, from %s to %s, with no name and no identifier. That you "+
		"use it is seen in each period: it is counted exactly. ", period, c.Term("begins"), c.Term("ends"))
	for _, name := range c.Questions() {
		text += fmt.Sprintf("A coin that this computer tosses once for life decides what its messages carry: public labels such "+
			"as the version, or a label about %s, randomised once and the same ever after; never both. In total, over the "+
			"whole campaign: ε = %s, once for life. By the label, anyone who holds two values equally likely is at most %s "+
			"sure of either. Erasing, or installing again, draws another label: a second ε. ", name, show(t.most()), percent(t.most()))
	}
	return text + fmt.Sprintf("Noise does not hide the messages: anyone who links yours, as by network address, sees when "+
		"you used it, and the first one is the installation; anyone who knows all others' use reads yours off the count. "+
		"Numbers are shown for %d devices or more, when the %s is over.", number(terms, "people"), c.Term("every"))
}

// shortOf returns one line that says the same again, for a question that scrolled out of view.
func shortOf(c *dither.Campaign, budget float64) string {
	t, many := totalOf(c, budget), "1 question"
	if count := len(c.Questions()); count != 1 {
		many = fmt.Sprintf("%d questions", count)
	}
	return printable(fmt.Sprintf("In short: %s asks %s until %s; in total at most %s sure (ε = %s). Scroll up for all of it.",
		c.Term("asker"), many, c.Term("ends"), percent(t.most()), show(t.most())))
}

// printable returns a text without characters that move the cursor, hide letters or turn their direction.
func printable(text string) string {
	return strings.Map(func(letter rune) rune {
		switch {
		case letter == '\n':
			return ' '
		case unicode.IsPrint(letter):
			return letter
		}
		return '\ufffd'
	}, text)
}

// wrap breaks a line into lines of at most 79 characters; the ones of a question are indented.
func wrap(line string) string {
	indent, out, size := "", "", 0
	if strings.HasPrefix(line, "  ") {
		indent, out, size = "    ", "  ", 2
	}
	for i, word := range strings.Fields(line) {
		length := utf8.RuneCountInString(word)
		switch {
		case i > 0 && size+1+length > width:
			out += "\n" + indent
			size = len(indent)
		case i > 0:
			out += " "
			size++
		}
		out += word
		size += length
	}
	return out
}

// ownLanguages returns the language of this computer, as its environment says it.
func ownLanguages() []string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if set := os.Getenv(name); set != "" {
			tag, _, _ := strings.Cut(set, ".")
			return []string{strings.ReplaceAll(tag, "_", "-")}
		}
	}
	return nil
}

// describe returns the possible answers in words: by the terms of the campaign, with the names for people.
func describe(domain, stated map[string]any, labels []dither.Label) string {
	var listed []string
	none := ""
	for _, label := range labels {
		if label.Value == nil {
			none = ", or no answer"
			continue
		}
		listed = append(listed, label.Text)
	}
	answers := strings.Join(listed, ", ")
	if answers == "" {
		answers = fmt.Sprintf("0 … %d", number(domain, "count")-1)
	}
	switch domain["kind"] {
	case "categories":
		return "one of " + answers + none
	case "several":
		return fmt.Sprintf("any of %s, of which %d are reported", answers, number(domain, "most"))
	case "optional":
		inner, _ := domain["of"].(map[string]any)
		return describe(inner, stated, nil) + ", or no answer"
	case "interval", "circle":
		return rangeOf(domain, stated)
	case "box":
		var sides []string
		for _, one := range domain["sides"].([]any) {
			side := one.([]any)
			sides = append(sides, fmt.Sprintf("%s from %.6g to %.6g", side...))
		}
		return "together " + strings.Join(sides, ", ")
	case "profile":
		var parts []string
		for _, one := range domain["attributes"].([]any) {
			parts = append(parts, one.([]any)[0].(string))
		}
		return "together " + strings.Join(parts, ", ")
	}
	return "a place"
}

func rangeOf(domain, stated map[string]any) string {
	unit, _ := stated["unit"].(string)
	if unit != "" {
		unit = " " + unit
	}
	if stated["form"] == "time" {
		return "a time of the day"
	}
	if domain["kind"] == "circle" {
		return fmt.Sprintf("an angle, of %.6g%s", domain["period"], unit)
	}
	low, high := domain["low"], domain["high"]
	if scale, ok := stated["scale"].([]any); ok {
		low, high = scale[0], scale[len(scale)-1]
	}
	if stated["form"] == "date" {
		date := func(day any) string { return time.Unix(int64(day.(float64))*86_400, 0).UTC().Format(time.DateOnly) }
		return fmt.Sprintf("a day from %s to %s", date(low), date(high))
	}
	return fmt.Sprintf("a number from %.6g to %.6g%s", low, high, unit)
}
