package dither

import (
	"math/big"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Draws about several items of a list, several attributes, and texts.

// items are a set of a list, "select all that apply", as a fixed number of elements: thinned at random, or
// with dummies.
type items struct {
	facts
	list  list
	count int64
	most  int64
	coin  coin
}

func readItems(given object) items {
	d := items{list: readCategories(given["domain"], given["outside"], "several", "most")}
	need(d.list.count <= 1<<20, "cells")
	d.count = d.list.count
	d.most = integerIn(asObject(given["domain"])["most"], 1, d.count)
	d.coin = newCoin(given["heads"])
	d.leftOut = func(value any) (count int) {
		given, _ := value.([]any)
		for _, item := range given {
			if _, ok := d.codeOf(item); !ok {
				count++
			}
		}
		return count
	}
	return d
}

// codeOf returns the code of an item, or of "other" if it is not in the list: a person who is not counted
// would bias all shares, and the gap can be noticed.
func (d *items) codeOf(item any) (int64, bool) {
	if code, ok := d.list.code(item); ok {
		return code, true
	}
	return d.list.code("other")
}

func (d *items) input(value any) any {
	given, ok := value.([]any)
	if !ok {
		return nil
	}
	codes := []int64{}
	for _, item := range given {
		if code, ok := d.codeOf(item); ok {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// elements returns the ones of a person, ascending.
func (d *items) elements(input any, s source) []int64 {
	own := slices.Clone(input.([]int64))
	if int64(len(own)) > d.most {
		for i := range int(d.most) {
			j := i + int(s.below(uint64(len(own)-i)))
			own[i], own[j] = own[j], own[i]
		}
		own = own[:d.most]
		slices.Sort(own)
	}
	for dummy := d.count; int64(len(own)) < d.most; dummy++ {
		own = append(own, dummy)
	}
	return own
}

// passed returns how many parts, one after the other, end at a number or before it; all are looked at.
func passed(drawn *big.Int, parts []*big.Int) (count int) {
	end := new(big.Int)
	for _, part := range parts {
		if end.Add(end, part); drawn.Cmp(end) >= 0 {
			count++
		}
	}
	return count
}

type several struct {
	items
	chosen, least int64
	ways          []*big.Int
}

func readSeveral(given object) drawing {
	fieldsOf(given, "domain", "draw", "outside", "chosen", "least", "heads")
	d := &several{items: readItems(given)}
	d.chosen = integerIn(given["chosen"], 1, min(d.count, 512))
	d.least = integerIn(given["least"], 1, min(d.most, d.chosen))
	need(d.chosen*int64(d.digits()) <= 512, "cells")
	for j := range min(d.most, d.chosen) + 1 {
		d.ways = append(d.ways, times(new(big.Int).Binomial(d.most, j), new(big.Int).Binomial(d.count, d.chosen-j)))
	}
	d.ratio = ratio{times(d.coin.heads, sum(d.ways[:d.least])), times(d.coin.tails, sum(d.ways[d.least:]))}
	return d
}

// digits returns the bits of the number of an element.
func (d *several) digits() int { return bits.Len64(uint64(d.count + d.most - 1)) }

func (d *several) draw(input any, s source) []byte {
	own := d.elements(input, s)
	// Whatever the items are and whether they are met, the same numbers are drawn.
	held := d.coin.toss(s)
	met := int(d.least) + passed(s.largeBelow(sum(d.ways[d.least:])), d.ways[d.least:])
	count := passed(s.largeBelow(sum(d.ways[:d.least])), d.ways[:d.least])
	if held {
		count = met
	}
	others := different(s, int(d.chosen), d.count)
	members := different(s, int(min(d.most, d.chosen)), d.most)
	report := make([]int64, d.chosen)
	for i := range report {
		if i < count {
			report[i] = own[members[i]]
		} else {
			report[i] = past(others[i], own)
		}
	}
	slices.Sort(report)
	size := d.digits()
	row := make([]byte, (int(d.chosen)*size+7)>>3)
	for i := range int(d.chosen) * size {
		row[i>>3] |= byte(report[i/size]>>(i%size)&1) << (i & 7)
	}
	return row
}

// polynomial reports the items at which the value of a polynomial over a prime field is below a bound.
type polynomial struct {
	items
	prime, below int64
	terms, size  int
	firsts       []*big.Int // how many rows of values have the first one below the bound at each place
	misses       *big.Int
}

func readPolynomial(given object) drawing {
	fieldsOf(given, "domain", "draw", "outside", "prime", "below", "terms", "heads")
	d := &polynomial{items: readItems(given)}
	d.prime = integerIn(given["prime"], d.count+d.most, 1<<21-1)
	for trial := int64(2); trial*trial <= d.prime; trial++ {
		need(d.prime%trial != 0, "cells")
	}
	d.below = integerIn(given["below"], 1, d.prime-1)
	d.terms = int(integerIn(given["terms"], d.most+1, d.most+2))
	need(d.terms <= 2048, "cells")
	order, low, high := integer(d.prime), integer(d.below), integer(d.prime-d.below)
	d.size = (minus(raised(order, d.terms), one).BitLen() + 7) >> 3
	need(d.size <= 256, "cells")
	for i := range int(d.most) {
		d.firsts = append(d.firsts, times(times(raised(high, i), low), raised(order, int(d.most)-1-i)))
	}
	d.misses = raised(high, int(d.most))
	d.ratio = ratio{times(d.coin.heads, d.misses), times(d.coin.tails, sum(d.firsts))}
	return d
}

func (d *polynomial) draw(input any, s source) []byte {
	own, most, order := d.elements(input, s), int(d.most), integer(d.prime)
	// Whatever the items are and whether they are met, the same numbers are drawn.
	held := d.coin.toss(s)
	hit := s.largeBelow(sum(d.firsts))
	drawn := s.largeBelow(d.misses)
	rest := s.largeBelow(raised(order, d.terms-most))
	first, place := most, passed(hit, d.firsts)
	if held {
		first, drawn = place, minus(hit, sum(d.firsts[:place]))
	}
	values := make([]int64, most) // values of the polynomial at the elements
	for i := range values {
		by := order
		if i < first {
			by = integer(d.prime - d.below)
		} else if i == first {
			by = integer(d.below)
		}
		quotient, digit := new(big.Int).QuoRem(drawn, by, new(big.Int))
		if drawn, values[i] = quotient, digit.Int64(); i < first {
			values[i] += d.below
		}
	}
	for step := 1; step < most; step++ { // divided differences
		for i := most - 1; i >= step; i-- {
			gap := new(big.Int).ModInverse(integer(mod(own[i]-own[i-step], d.prime)), order)
			values[i] = mod(values[i]-values[i-1], d.prime) * gap.Int64() % d.prime
		}
	}
	row := make([]int64, d.terms)
	for i := most; i < d.terms; i++ {
		quotient, digit := new(big.Int).QuoRem(rest, order, new(big.Int))
		row[i-most], rest = digit.Int64(), quotient
	}
	for i := most - 1; i >= 0; i-- {
		for j := d.terms - 1; j >= 0; j-- {
			before := values[i]
			if j > 0 {
				before = row[j-1]
			}
			row[j] = mod(before-own[i]*row[j], d.prime)
		}
	}
	packed := new(big.Int)
	for i := d.terms - 1; i >= 0; i-- {
		packed = plus(times(packed, order), integer(row[i]))
	}
	report := packed.FillBytes(make([]byte, d.size))
	slices.Reverse(report)
	return report
}

// questions are public functions of a row of attributes and a report of its value.
type questions struct {
	facts
	names   []string
	parts   []list
	query   []function
	size    int
	columns int
}

type function struct {
	attributes []int64
	table      []int64
	draw       *codeDraw
	end        int64 // end of its weight
}

func readQuestions(given object) drawing {
	fieldsOf(given, "domain", "draw", "outside", "questions", "draws")
	d := &questions{}
	domain := fieldsOf(given["domain"], "kind", "attributes")
	need(domain["kind"] == "profile" && given["outside"] == "refuse", "domain")
	for _, attribute := range asList(domain["attributes"]) {
		two := asList(attribute)
		need(len(two) == 2 && !slices.Contains(d.names, asString(two[0])), "domain")
		d.names = append(d.names, asString(two[0]))
		d.parts = append(d.parts, readCategories(two[1], "refuse", "categories"))
	}
	need(len(d.names) >= 2 && len(d.names) <= 64, "domain")
	var draws []*codeDraw
	largest := int64(len(asList(given["questions"])))
	for _, one := range asList(given["draws"]) {
		inner := asObject(one)
		need(slices.Contains([]any{"response", "indices", "projective"}, inner["draw"]), "draw")
		draw := readCodes(inner, 0)
		draws = append(draws, draw)
		d.columns, largest = max(d.columns, draw.columns), max(largest, draw.count)
	}
	need(len(draws) > 0, "draw")
	d.size, d.ratio = sizeOf(largest), ratio{zero, one}
	total, entries := int64(0), int64(0)
	for _, question := range asList(given["questions"]) {
		four := asList(question)
		need(len(four) == 4, "fields")
		f := function{}
		combinations := int64(1)
		for _, attribute := range asList(four[0]) {
			at := integerIn(attribute, 0, int64(len(d.names)-1))
			combinations *= d.parts[at].count
			need(!slices.Contains(f.attributes, at) && combinations <= 1<<21, "cells")
			f.attributes = append(f.attributes, at)
		}
		values := asList(four[1])
		entries += combinations
		need(len(f.attributes) > 0 && int64(len(values)) == combinations && entries <= 1<<21, "cells")
		f.draw = draws[integerIn(four[3], 0, int64(len(draws)-1))]
		for _, value := range values {
			f.table = append(f.table, integerIn(value, 0, f.draw.count-1))
		}
		total += integerIn(four[2], 1, 1<<32)
		need(total <= 1<<32 && len(d.query) < 1<<14, "step")
		f.end = total
		d.query = append(d.query, f)
		d.ratio = f.draw.ratio.most(d.ratio)
	}
	need(total == 1<<32, "step")
	return d
}

func (d *questions) input(value any) any {
	given, ok := value.(object)
	if !ok {
		return nil
	}
	codes := make([]int64, len(d.names))
	for i, name := range d.names {
		one, ok := given[name]
		if ok {
			codes[i], ok = d.parts[i].code(one)
		}
		if !ok {
			return nil
		}
	}
	return codes
}

func (d *questions) draw(input any, s source) []byte {
	drawn, place := int64(s.bits(32)), 0
	for drawn >= d.query[place].end {
		place++
	}
	f, at := d.query[place], int64(0)
	for _, attribute := range f.attributes {
		at = at*d.parts[attribute].count + input.([]int64)[attribute]
	}
	row := append([]int64{int64(place)}, f.draw.numbers(f.table[at], s)...)
	return wide(d.size, append(row, make([]int64, 1+d.columns-len(row))...)...)
}

// prefix reports one prefix of a text, by local hashing.
type prefix struct {
	facts
	chance   lottery
	buckets  int64
	length   int
	alphabet []rune // nil for bytes
	ends     []int64
	shares   []int64 // of the people, one for each end
}

func readPrefix(given object) drawing {
	if has(given, "shares") {
		fieldsOf(given, "domain", "draw", "outside", "hash", "buckets", "step", "bits", "ends", "shares")
	} else {
		fieldsOf(given, "domain", "draw", "outside", "hash", "buckets", "step", "bits", "ends")
	}
	domain := fieldsOf(given["domain"], "kind", "length", "alphabet")
	need(domain["kind"] == "text" && given["outside"] == "refuse", "domain")
	d := &prefix{length: int(integerIn(domain["length"], 1, 256))}
	if domain["alphabet"] != nil {
		d.alphabet = []rune(asString(domain["alphabet"]))
		need(len(d.alphabet) >= 1 && len(d.alphabet) <= 255, "domain")
		for i, letter := range d.alphabet {
			need(slices.Index(d.alphabet, letter) == i, "domain")
		}
	}
	d.buckets, d.chance = readBuckets(given)
	for _, end := range asList(given["ends"]) {
		least := int64(1)
		if len(d.ends) > 0 {
			least = d.ends[len(d.ends)-1] + 1
		}
		d.ends = append(d.ends, integerIn(end, least, int64(d.length)))
	}
	need(len(d.ends) > 0 && d.ends[len(d.ends)-1] == int64(d.length), "cells")
	d.shares = slices.Repeat([]int64{1}, len(d.ends))
	if has(given, "shares") {
		stated := asList(given["shares"])
		need(len(stated) == len(d.ends), "cells")
		for i, share := range stated {
			d.shares[i] = integerIn(share, 1, 1<<16)
		}
	}
	d.ratio = d.chance.response()
	return d
}

func (d *prefix) input(value any) any {
	text, ok := value.(string)
	if !ok || !utf8.ValidString(text) || len(text) > 4*d.length {
		return nil
	}
	symbols := []int64{}
	if d.alphabet == nil {
		for _, c := range []byte(text) {
			symbols = append(symbols, int64(c))
		}
	} else {
		for _, letter := range text {
			symbols = append(symbols, int64(slices.Index(d.alphabet, letter)+1))
		}
	}
	if len(symbols) > d.length || slices.Contains(symbols, 0) {
		return nil
	}
	return append(symbols, make([]int64, d.length-len(symbols))...)
}

func (d *prefix) draw(input any, s source) []byte {
	seed := s.bits(47)
	key := uint64(0)
	total := int64(0)
	for _, share := range d.shares {
		total += share
	}
	left, level := int64(seed%uint64(total)), 0
	for left >= d.shares[level] {
		left -= d.shares[level]
		level++
	}
	for _, symbol := range input.([]int64)[:d.ends[level]] {
		key = mix(key ^ uint64(symbol))
	}
	return inBytes(nil, seed<<16|uint64(d.chance.other(bucket(seed, key>>32, d.buckets), s)), 8)
}
