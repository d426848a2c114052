package dither

import (
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"strings"
)

// How a device turns one value into one report. Products of doubles that are added are in float64(…) because
// Go may otherwise compute both in one step with another rounding, and draw what no other client draws.

// A drawing is a draw with its integers. A value becomes an input once, and then a report.
type drawing interface {
	input(value any) any             // input of a plain value; nil if nobody may answer with it
	draw(input any, s source) []byte // the report, lowest byte first
	about() *facts
}

// facts describe a draw.
type facts struct {
	ratio    ratio
	path     bool                                     // a value is a list of places, and the ε is the one of each
	exponent *big.Rat                                 // in place of the ratio: its logarithm
	delta    func(bound *big.Int, stated any) float64 // for a promise with a δ; it panics unless the integers keep it
	leftOut  func(value any) int                      // items of a set that are not in the list
}

func (f *facts) about() *facts { return f }

// A ratio is the largest of the probabilities of one report under two inputs, top over bottom.
type ratio struct{ top, bottom *big.Int }

var noRatio = ratio{one, zero} // no bound

func (r ratio) most(other ratio) ratio {
	if larger(r.top, r.bottom, other.top, other.bottom) {
		return r
	}
	return other
}

// sizeOf returns the bytes of a number below a bound.
func sizeOf(cells int64) int {
	switch {
	case cells <= 1<<8:
		return 1
	case cells <= 1<<16:
		return 2
	case cells <= 1<<32:
		return 4
	}
	return 8
}

// wide returns numbers of `size` bytes each.
func wide(size int, numbers ...int64) []byte {
	out := make([]byte, 0, size*len(numbers))
	for _, number := range numbers {
		out = inBytes(out, uint64(number), size)
	}
	return out
}

var readers map[string]func(device object) drawing

func init() {
	readers = map[string]func(device object) drawing{
		"response": readList, "bits": readList, "subset": readList, "indices": readList, "hadamard": readList,
		"projective": readList, "hashed": readList, "table": readList, "listing": readList, "several": readSeveral,
		"polynomial": readPolynomial, "questions": readQuestions, "prefix": readPrefix,
		"sliding": readNumber, "optional": readNumber, "mixture": readNumber, "lattice": readNumber, "channel": readNumber,
		"splines": readSplines, "pair": readPair, "polar": readPolar, "nearest": readNearest, "box": readBox,
		"planar": readPlanar, "directions": readDirections, "routes": readRoutes,
	}
}

// large is an integer that doubles do not hold, in decimal digits.
type large string

// plain returns a value of any Go type as nil, bool, float64, large, string, []any or object. What else there
// is becomes a value that no question has.
func plain(value any) any {
	switch given := value.(type) {
	case nil, bool, string, large:
		return given
	case float64:
		return number(given)
	}
	return plainOf(reflect.ValueOf(value), 0)
}

type strange struct{} // no value

func plainOf(v reflect.Value, depth int) any {
	if depth > deepest {
		return strange{}
	}
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decimal(big.NewInt(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return decimal(new(big.Int).SetUint64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		return number(v.Float())
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plainOf(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plainOf(v.Index(i), depth+1)
		}
		return list
	case reflect.Map:
		fields := object{}
		for _, key := range v.MapKeys() {
			if name, ok := plainOf(key, depth+1).(string); ok {
				fields[name] = plainOf(v.MapIndex(key), depth+1)
			}
		}
		return fields
	}
	return strange{}
}

// number returns a double by which a label is found.
func number(x float64) any {
	if x == math.Trunc(x) && math.Abs(x) >= 1<<53 && !math.IsInf(x, 0) {
		exact, _ := big.NewFloat(x).Int(nil)
		return large(exact.String())
	}
	return x + 0 // -0 is 0
}

func decimal(x *big.Int) any {
	if x.BitLen() > 53 {
		return large(x.String())
	}
	near, _ := x.Float64()
	return near
}

// asNumber returns a plain value that is a number.
func asNumber(value any) (float64, bool) {
	switch given := value.(type) {
	case float64:
		return given, !math.IsNaN(given)
	case large:
		exact, _ := new(big.Int).SetString(string(given), 10)
		near, _ := new(big.Float).SetInt(exact).Float64()
		return near, true
	}
	return 0, false
}

func finite(x float64) bool { return x-x == 0 }

func clamp(x, low, high float64) float64 { return min(max(x, low), high) + 0 }

// A line is an interval or a circle: numbers outside are moved to the end, or turned.
type line struct {
	turns     bool
	low, high float64
}

func readLine(domain, outside any) line {
	given := asObject(domain)
	if given["kind"] == "circle" {
		fieldsOf(given, "kind", "period")
		need(outside == "wrap", "domain")
		return lineOf(true, 0, real(given["period"]))
	}
	fieldsOf(given, "kind", "low", "high")
	need(given["kind"] == "interval" && outside == "clip", "domain")
	return lineOf(false, real(given["low"]), real(given["high"]))
}

// lineOf refuses ends that doubles would not hold well.
func lineOf(turns bool, low, high float64) line {
	need(low >= -1e30 && high <= 1e30 && high-low >= 1e-30, "domain")
	return line{turns, low, high}
}

func (l line) input(value any) any {
	x, ok := asNumber(value)
	if !ok || l.turns && !finite(x) {
		return nil
	}
	return l.moved(x)
}

func (l line) moved(x float64) float64 {
	if !l.turns {
		return clamp(x, l.low, l.high)
	}
	turned := math.Mod(x, l.high)
	if turned < 0 {
		turned += l.high
	}
	return math.Mod(turned, l.high) + 0 // just below 0 rounds to the period, and that is 0
}

// A list has answers: a count, or labels. A device works with the code, the place in the list.
type list struct {
	count int64
	codes map[any]int64 // label → code; nil for a count
}

func readCategories(domain, outside any, kind string, more ...string) list {
	given := asObject(domain)
	need(given["kind"] == kind && outside == "refuse", "domain")
	if has(given, "count") {
		fieldsOf(given, append(more, "kind", "count")...)
		return list{count: integerIn(given["count"], 2, 1<<32)}
	}
	fieldsOf(given, append(more, "kind", "labels")...)
	labels := asList(given["labels"])
	codes := make(map[any]int64, len(labels))
	for _, label := range labels {
		codes[labelOf(label)] = int64(len(codes))
	}
	need(len(labels) > 1 && len(codes) == len(labels), "domain")
	for truth, x := range map[bool]float64{true: 1, false: 0} { // some languages take truth values for numbers
		_, named := codes[truth]
		_, counted := codes[x]
		need(!named || !counted, "domain")
	}
	return list{int64(len(labels)), codes}
}

// labelOf returns a label as values are looked up by: {"number": x} and {"integer": "-1f"} mean numbers.
func labelOf(label any) any {
	switch given := label.(type) {
	case object:
		if !has(given, "integer") {
			return number(real(fieldsOf(given, "number")["number"]))
		}
		text := asString(fieldsOf(given, "integer")["integer"])
		exact := hexadecimal(strings.TrimPrefix(text, "-"), 1<<10)
		need(exact.BitLen() > 53, "number")
		if strings.HasPrefix(text, "-") {
			exact.Neg(exact)
		}
		return large(exact.String())
	case float64:
		return float64(integerIn(given, 1-1<<53, 1<<53-1))
	case []any:
		panic(refusal("domain"))
	}
	return label
}

// code returns the place of a plain value in the list.
func (l list) code(value any) (int64, bool) {
	switch value.(type) {
	case []any, object:
		return 0, false
	}
	if l.codes != nil {
		code, ok := l.codes[value]
		return code, ok
	}
	x, ok := value.(float64)
	if !ok || x != math.Trunc(x) || x < 0 || x >= float64(l.count) {
		return 0, false
	}
	return int64(x), true
}

// A start brings a value to the first cell of its window; random rounding takes bytes.
type start func(x float64, s source) int64

func readStart(rule any, cells int64, l line) start {
	given := asObject(rule)
	kind := asString(given["kind"])
	origin, scale := real(given["origin"]), real(given["scale"])
	most := float64(1 << 31)
	if cells > 1<<16 {
		most = 1 << 52
	}
	far := max(math.Abs((l.low-origin)*scale), math.Abs((l.high-origin)*scale))
	need(scale > 0 && far*(1+0x1p-19) < most, "start")
	place := func(x float64, last int64) int64 { return min(max(int64((x-origin)*scale), 0), last) }
	switch kind {
	case "line":
		fieldsOf(given, "kind", "origin", "scale", "last", "fraction")
		fraction := int(integerIn(given["fraction"], 0, 30))
		room := most - float64(int64(1)<<fraction)
		if given["last"] == nil {
			need(far <= room, "start")
			return func(x float64, s source) int64 {
				return (int64((x-origin)*scale) + int64(s.bits(fraction))) >> fraction
			}
		}
		last := integerIn(given["last"], 0, int64(room))
		return func(x float64, s source) int64 { return (place(x, last) + int64(s.bits(fraction))) >> fraction }
	case "steps":
		fieldsOf(given, "kind", "origin", "scale", "starts", "counts")
		starts, counts := asList(given["starts"]), asList(given["counts"])
		need(len(starts) == len(counts) && len(starts) > 0, "start")
		var table []int64
		for i := range starts {
			first := integerIn(starts[i], 0, cells-1)
			for range integerIn(counts[i], 1, int64(1<<16-len(table))) {
				table = append(table, first)
			}
		}
		return func(x float64, _ source) int64 { return table[place(x, int64(len(table)-1))] }
	}
	need(kind == "knots" && cells <= 1<<16, "start")
	fieldsOf(given, "kind", "origin", "scale", "first", "pieces", "bits")
	knots := readKnots(given, cells<<16)
	end := int64(len(knots)-1)<<16 - 1
	return func(x float64, s source) int64 {
		knot := knots[(place(x, end)+int64(s.bits(16)))>>16]
		return (knot + int64(s.bits(16))) >> 16
	}
}

func readKnots(given object, most int64) []int64 {
	rises := unhex(asString(given["bits"]))
	table := []int64{integerIn(given["first"], 0, most-1)}
	for _, piece := range asList(given["pieces"]) {
		two := asList(piece)
		need(len(two) == 2, "start")
		base := integerIn(two[1], -most, most)
		for range integerIn(two[0], 1, int64(1<<15-len(table))) {
			at := len(table) - 1
			need(at>>3 < len(rises), "start")
			next := table[at] + base + int64(rises[at>>3]>>(at&7)&1)
			need(next >= 0 && next < most, "start")
			table = append(table, next)
		}
	}
	size := len(table) - 1
	need(size > 0 && len(rises) == (size+7)>>3 && rises[len(rises)-1]>>((size-1)&7)>>1 == 0, "start")
	return table
}

func isPower(x int64) bool { return bits.OnesCount64(uint64(x)) == 1 }

func log2(x int64) int { return bits.TrailingZeros64(uint64(x)) }

func mod(x, by int64) int64 { return ((x % by) + by) % by }
