package dither

import (
	"strings"
	"unicode/utf8"
)

// Words are texts that people are shown; docs/wire.md has the rule; all readers share it.

type points [][2]rune

func (p points) has(point rune) bool {
	for _, one := range p {
		if one[0] <= point && point <= one[1] {
			return true
		}
	}
	return false
}

// never are controls, separators of lines, invisible characters and no characters.
var never = points{
	{0x0, 0x1F}, {0x7F, 0x9F}, {0x200B, 0x200B}, {0x2028, 0x2029}, {0x2060, 0x2064}, {0x206A, 0x206F},
	{0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF},
}

var invisible = points{
	{0xA, 0xA}, {0x20, 0x20}, {0xA0, 0xA0}, {0xAD, 0xAD}, {0x61C, 0x61C}, {0x1680, 0x1680}, {0x2000, 0x200F},
	{0x202A, 0x202F}, {0x205F, 0x205F}, {0x2066, 0x2069}, {0x3000, 0x3000}, {0xFE00, 0xFE0F},
}

// closing are the marks that close a direction, by the one that opens it.
var closing = map[rune]rune{
	0x202A: 0x202C, 0x202B: 0x202C, 0x202D: 0x202C, 0x202E: 0x202C, 0x2066: 0x2069, 0x2067: 0x2069, 0x2068: 0x2069,
}

const endless = 1 << 28 // no limit

// words returns a text. It refuses one that has more characters or bytes of UTF-8, or further lines if it must not.
func words(given any, characters, bytes int, lines bool) string {
	text, ok := given.(string)
	need(ok && len(text) <= bytes && len(text) <= 4*characters && utf8.RuneCountInString(text) <= characters, "terms")
	var open []rune
	visible := false
	for _, point := range text {
		if point == '\n' && lines {
			need(len(open) == 0, "terms")
			continue
		}
		need(!never.has(point), "terms")
		if mark := closing[point]; mark != 0 {
			open = append(open, mark)
		} else if point == 0x202C || point == 0x2069 {
			need(len(open) > 0 && open[len(open)-1] == point, "terms")
			open = open[:len(open)-1]
		}
		visible = visible || !invisible.has(point)
	}
	need(visible && len(open) == 0, "terms")
	return text
}

// isDay returns whether a text has the form 2026-05-01.
func isDay(text string) bool {
	return len(text) == 10 && text[4] == '-' && text[7] == '-' && strings.Trim(text[:4]+text[5:7]+text[8:], "0123456789") == ""
}
