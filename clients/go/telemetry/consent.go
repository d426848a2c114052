package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dither"
	"dither/internal/bridge"
)

// Consent holds for what was shown. A record keeps digests of asker, key, purpose and address, of each question with its
// words, and the days; a campaign that is not covered by it has not been asked for. The file is that of dither_device.

// shownTerms are what a person reads about a campaign, without its version, its days and its questions.
var shownTerms = []string{"asker", "contact", "purpose", "purposes", "repeat", "days", "every", "changes", "answers", "labels", "people"}

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

// generalOf returns the digest of who asks, by which key, for what, how often, and where answers go.
func generalOf(c *dither.Campaign, address, relay string) string {
	stated := map[string]any{}
	for _, name := range shownTerms {
		stated[name] = c.Terms()[name]
	}
	return digest([]any{stated, c.Key, orNull(address), orNull(relay)})
}

// recordOf returns what a yes covers beside the general terms: each question with its words, and the days.
func recordOf(c *dither.Campaign) map[string]any {
	marks := []any{}
	for _, stated := range c.Terms()["questions"].([]any) {
		marks = append(marks, digest(stated))
	}
	return map[string]any{"questions": marks, "begins": c.Term("begins"), "ends": c.Term("ends")}
}

// covers returns whether a record covers a campaign: no further question, and no earlier or later day.
func covers(record map[string]any, c *dither.Campaign) bool {
	marks, _ := record["questions"].([]any)
	begins, _ := record["begins"].(string)
	ends, _ := record["ends"].(string)
	for _, mark := range recordOf(c)["questions"].([]any) {
		if !slices.Contains(marks, mark) {
			return false
		}
	}
	return marks != nil && begins <= c.Term("begins") && c.Term("ends") <= ends
}

const width = 79

// wordsOf returns what is asked, by whom, for what, and the promise: the total first, then one report.
func wordsOf(c *dither.Campaign, budget float64) string {
	terms := c.Terms()
	lines := []string{fmt.Sprintf("%s asks: %s (%s)", c.Term("asker"), c.Term("purpose"), c.Term("contact"))}
	for _, name := range c.Questions() {
		question, err := c.Question(name)
		if err != nil {
			continue
		}
		stated, domain := c.Stated(name)
		text, _ := inLanguage(stated["text"], terms).(string)
		if text == "" {
			text = name + ":"
		}
		names, _ := inLanguage(stated["names"], terms).([]any)
		lines = append(lines, fmt.Sprintf("  %s %s (ε = %s)", text, describe(domain, names), show(question.Epsilon)))
	}
	period := fmt.Sprintf("%d days", number(terms, "days"))
	if every := c.Term("every"); every != "" {
		period = "each " + every
	}
	often := "each time, until the budget is spent"
	if most := number(terms, "answers"); most > 0 {
		often = fmt.Sprintf("at most %d times, %s", most, often)
	}
	if found := map[string]string{
		"once":      fmt.Sprintf("once in %s, on a day that this computer draws", period),
		"same":      "once, and the same report ever after",
		"per value": "once for each value",
	}[c.Term("repeat")]; found != "" {
		often = found
	}
	t := totalOf(c, budget)
	lines = append(lines, fmt.Sprintf("Each is answered %s, from %s to %s. An answer is randomised on this computer before it is "+
		"kept or sent. In total, over the whole campaign: %s. Whoever holds two answers to be equally likely, and sees all that "+
		"is sent, is at most %s sure of either; with one report, at most %s. Results are shown for %d reports or more.",
		often, c.Term("begins"), c.Term("ends"), t.words(), percent(t.most()), percent(largest(c)), number(terms, "people")))
	for i, line := range lines {
		lines[i] = wrap(printable(line))
	}
	return strings.Join(lines, "\n")
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

// wrap breaks a line into lines of at most 79 characters; those of a question are indented.
func wrap(line string) string {
	indent, out, size := "", "", 0
	if strings.HasPrefix(line, "  ") {
		indent, out, size = "      ", "  ", 2
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

// inLanguage returns a campaign's words in the language of this computer, else in its first one; nil without any.
func inLanguage(given any, terms map[string]any) any {
	by, _ := given.(map[string]any)
	languages, _ := terms["languages"].([]any)
	if len(by) == 0 || len(languages) == 0 {
		return nil
	}
	own := ""
	for _, name := range []string{"LANG", "LC_MESSAGES", "LC_ALL"} {
		if set := os.Getenv(name); set != "" {
			own = set
		}
	}
	tag, _, _ := strings.Cut(own, ".")
	tag = strings.ReplaceAll(tag, "_", "-")
	short, _, _ := strings.Cut(tag, "-")
	for _, wanted := range []string{tag, short} {
		if by[wanted] != nil {
			return by[wanted]
		}
	}
	return by[languages[0].(string)]
}

// describe returns what may be answered, in words; names are those of the answers, for people.
func describe(domain map[string]any, names []any) string {
	kind, _ := domain["kind"].(string)
	if names == nil {
		names, _ = domain["labels"].([]any)
	}
	listed := fmt.Sprintf("0 … %d", number(domain, "count")-1)
	if names != nil {
		shown := make([]string, len(names))
		for i, name := range names {
			shown[i] = fmt.Sprint(name)
			if name == nil {
				shown[i] = "no answer"
			}
		}
		listed = strings.Join(shown, ", ")
	}
	switch kind {
	case "categories":
		return "one of " + listed
	case "several":
		return fmt.Sprintf("any of %s, of which %d are reported", listed, number(domain, "most"))
	case "optional":
		inner, _ := domain["of"].(map[string]any)
		return describe(inner, nil) + ", or no answer"
	case "interval":
		return fmt.Sprintf("a number from %g to %g", domain["low"], domain["high"])
	case "circle":
		return fmt.Sprintf("an angle, of %g", domain["period"])
	case "profile":
		return "several attributes together"
	}
	return "a " + kind
}
