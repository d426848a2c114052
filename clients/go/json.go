package dither

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Helpers that are called hundreds of times are not inlined: it would make every program 70 kB larger.

// JSON that is read without coercion and written as RFC 8785 says. What is read is nil, bool, float64,
// string, []any or object. Every number is a double, as in ECMAScript.

type object = map[string]any

const deepest = 24 // levels of objects and lists

type reader struct {
	text string
	at   int
}

// parse returns the data of a text. It refuses repeated keys in one object, and half a pair of UTF-16.
func parse(text string) any {
	need(utf8.ValidString(text), "text")
	r := &reader{text: text}
	value := r.value(0)
	r.space()
	need(r.at == len(text), "text")
	return value
}

// canonicalObject returns the object of a text in canonical JSON, and refuses any other text.
func canonicalObject(text any) object {
	given := asObject(parse(asString(text)))
	need(write(given) == text, "text")
	return given
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *reader) peek(c byte) bool { return r.at < len(r.text) && r.text[r.at] == c }

func (r *reader) next() byte {
	need(r.at < len(r.text), "text")
	r.at++
	return r.text[r.at-1]
}

func (r *reader) skip(c byte) bool {
	r.space()
	found := r.peek(c)
	if found {
		r.at++
	}
	return found
}

func (r *reader) value(depth int) any {
	need(depth < deepest, "text")
	switch {
	case r.skip('{'):
		fields := object{}
		if r.skip('}') {
			return fields
		}
		for {
			need(r.skip('"'), "text")
			key := r.quoted()
			_, twice := fields[key]
			need(!twice && r.skip(':'), "text")
			fields[key] = r.value(depth + 1)
			if !r.skip(',') {
				break
			}
		}
		need(r.skip('}'), "text")
		return fields
	case r.skip('['):
		items := []any{}
		if r.skip(']') {
			return items
		}
		for {
			items = append(items, r.value(depth+1))
			if !r.skip(',') {
				break
			}
		}
		need(r.skip(']'), "text")
		return items
	case r.skip('"'):
		return r.quoted()
	}
	for word, value := range map[string]any{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(r.text[r.at:], word) {
			r.at += len(word)
			return value
		}
	}
	return r.number()
}

func (r *reader) quoted() string {
	begin := r.at
	for r.at < len(r.text) && r.text[r.at] != '"' && r.text[r.at] != '\\' && r.text[r.at] >= ' ' {
		r.at++
	}
	if r.peek('"') {
		r.at++
		return r.text[begin : r.at-1]
	}
	out := []byte(r.text[begin:r.at])
	for {
		c := r.next()
		if c == '"' {
			return string(out)
		}
		need(c >= ' ', "text")
		if c != '\\' {
			out = append(out, c)
			continue
		}
		c = r.next()
		if c != 'u' {
			place := strings.IndexByte(`"\/bfnrt`, c)
			need(place >= 0, "text")
			out = append(out, "\"\\/\b\f\n\r\t"[place])
			continue
		}
		point := r.unit()
		if utf16.IsSurrogate(point) {
			need(r.next() == '\\' && r.next() == 'u', "text")
			point = utf16.DecodeRune(point, r.unit())
			need(point != utf8.RuneError, "text")
		}
		out = utf8.AppendRune(out, point)
	}
}

func (r *reader) unit() rune {
	need(r.at+4 <= len(r.text), "text")
	var code rune
	for range 4 {
		digit := strings.IndexByte("0123456789abcdef", r.next()|0x20) // letters in either case
		need(digit >= 0 && (digit > 9 || r.text[r.at-1] <= '9' && r.text[r.at-1] >= '0'), "text")
		code = code<<4 | rune(digit)
	}
	return code
}

func (r *reader) digits() int {
	begin := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	need(r.at > begin, "text")
	return begin
}

func (r *reader) number() float64 {
	begin := r.at
	if r.peek('-') {
		r.at++
	}
	first := r.digits()
	need(r.text[first] != '0' || r.at == first+1, "text")
	if r.peek('.') {
		r.at++
		r.digits()
	}
	if r.peek('e') || r.peek('E') {
		r.at++
		if r.peek('+') || r.peek('-') {
			r.at++
		}
		r.digits()
	}
	need(r.at-begin < 2000, "number")
	read, err := strconv.ParseFloat(r.text[begin:r.at], 64)
	need(err == nil, "number") // it is infinite
	return read
}

// byUnits compares texts by their UTF-16 code units: a letter beyond U+FFFF comes before U+E000.
func byUnits(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if x, y := a[i] >= 0xf0, b[i] >= 0xf0; x != y && max(a[i], b[i]) >= 0xf0 && min(a[i], b[i]) >= 0xee {
				return -cmp.Compare(a[i], b[i])
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// write returns canonical JSON: keys in the order of their UTF-16 code units, no white space, the shortest
// numbers.
func write(value any) string { return string(appendValue(nil, value)) }

func appendValue(out []byte, value any) []byte {
	switch given := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, given)
	case float64:
		return appendNumber(out, given)
	case string:
		return appendQuoted(out, given)
	case object:
		keys := make([]string, 0, len(given))
		for key := range given {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, byUnits)
		out = append(out, '{')
		for i, key := range keys {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(append(appendQuoted(out, key), ':'), given[key])
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, one := range given {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, one)
		}
		return append(out, ']')
	}
	panic("dither: not JSON")
}

func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		c := text[i]
		place := strings.IndexByte("\"\\\b\f\n\r\t", c)
		switch {
		case place >= 0:
			out = append(out, '\\', `"\bfnrt`[place])
		case c < ' ':
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// appendNumber writes a finite double as ECMAScript does: the fewest digits that read back to it.
func appendNumber(out []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.AppendInt(out, int64(x), 10) // also for -0
	}
	if size := math.Abs(x); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(out, x, 'f', -1, 64)
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	out = append(append(out, digits...), 'e', exponent[0])
	return append(out, strings.TrimLeft(exponent[1:], "0")...)
}

//go:noinline
func asObject(value any) object {
	given, ok := value.(object)
	need(ok, "text")
	return given
}

// fieldsOf returns an object that has exactly these fields.
func fieldsOf(value any, names ...string) object {
	given := asObject(value)
	need(len(given) == len(names), "fields")
	for _, name := range names {
		need(has(given, name), "fields")
	}
	return given
}

func has[V any](given map[string]V, name string) bool {
	_, found := given[name]
	return found
}

//go:noinline
func asList(value any) []any {
	given, ok := value.([]any)
	need(ok, "text")
	return given
}

//go:noinline
func asString(value any) string {
	given, ok := value.(string)
	need(ok, "text")
	return given
}

// real returns a finite number; texts and truth values are not read as one.
//
//go:noinline
func real(value any) float64 {
	given, ok := value.(float64)
	need(ok, "number")
	return given
}

// integerIn returns an integer within bounds.
func integerIn(value any, least, most int64) int64 {
	given := real(value)
	need(given == math.Trunc(given) && math.Abs(given) < 1<<53 && given >= float64(least) && given <= float64(most), "number")
	return int64(given)
}

// hexadecimal returns an integer that is written as lower-case hexadecimal text without leading zeros.
func hexadecimal(value any, digits int) *big.Int {
	given := asString(value)
	need(given != "" && len(given) <= digits && isHex(given) && (given[0] != '0' || len(given) == 1), "number")
	read, _ := new(big.Int).SetString(given, 16)
	return read
}

// isHex returns whether a text has lower-case hexadecimal digits only.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// isDigest returns whether a value is a text of `digits` hexadecimal digits.
//
//go:noinline
func isDigest(value any, digits int) bool {
	text, ok := value.(string)
	return ok && len(text) == digits && isHex(text)
}

func unhex(text string) []byte {
	need(isHex(text) && len(text)%2 == 0, "number")
	bytes, _ := hex.DecodeString(text)
	return bytes
}

// digest returns the first digits of the SHA-256 of a text.
func digest(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}
