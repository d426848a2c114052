package dither

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Draws about one answer of a list.

// A codeDraw is a draw about a code: it reports numbers of equal width.
type codeDraw struct {
	facts
	list    list
	count   int64 // codes
	size    int   // bytes of a number
	columns int   // numbers of a report
	numbers func(code int64, s source) []int64
}

func (d *codeDraw) input(value any) any {
	if code, ok := d.list.code(value); ok {
		return code
	}
	return nil
}

func (d *codeDraw) draw(input any, s source) []byte {
	return wide(d.size, d.numbers(input.(int64), s)...)
}

func readList(device object) drawing {
	answers := readCategories(device["domain"], device["outside"], "categories")
	read := readCodes(device, answers.count, "domain", "outside")
	read.list = answers
	return read
}

// readCodes reads a draw about one of `listed` codes; 0 if the text says how many.
func readCodes(given object, listed int64, around ...string) *codeDraw {
	kind := asString(given["draw"])
	sized := func(name string, most int64) int64 {
		if listed == 0 {
			return integerIn(given[name], 2, most)
		}
		return integerIn(given[name], listed, min(listed, most))
	}
	fields := func(names ...string) { fieldsOf(given, append(append(names, "draw"), around...)...) }
	switch kind {
	case "response":
		fields("cells", "width", "step", "bits")
		integerIn(given["width"], 1, 1)
		count := sized("cells", 1<<32)
		chance := newLottery(count, given)
		return simple(count, sizeOf(count), chance.response(), func(code int64, s source) int64 { return chance.other(code, s) })
	case "bits":
		fields("size", "own", "other")
		return readBits(given, sized("size", 1<<24))
	case "subset":
		fields("size", "chosen", "heads")
		return readSubset(given, sized("size", 1<<16))
	case "indices":
		fields("size", "chosen", "heads")
		return readIndices(given, sized("size", 1<<16))
	case "hadamard":
		fields("order", "heads")
		order := integerIn(given["order"], listed+1, 1<<32)
		toss := newCoin(given["heads"])
		need(listed > 0 && isPower(order) && order <= 2*listed, "cells")
		return simple(listed, sizeOf(order), ratio{toss.heads, toss.tails}, func(code int64, s source) int64 {
			row := uint64(code + 1)
			column := s.bits(log2(order))
			if odd := bits.OnesCount64(row&column)&1 == 1; odd == toss.toss(s) {
				column ^= row & -row
			}
			return int64(column)
		})
	case "projective":
		fields("order", "dimension", "polynomial", "set", "own", "other", "bits")
		return readProjective(given, listed)
	case "hashed":
		fields("hash", "buckets", "step", "bits")
		buckets, chance := readBuckets(given)
		return simple(listed, 8, chance.response(), func(code int64, s source) int64 {
			seed := s.bits(47)
			return int64(seed<<16) | chance.other(bucket(seed, uint64(code), buckets), s)
		})
	case "table":
		fields("values", "rows")
		table := readRows(given)
		need(listed == 0 || int64(len(table.rows)) == listed, "cells")
		return simple(int64(len(table.rows)), sizeOf(int64(table.columns)), table.ratio,
			func(code int64, s source) int64 { return int64(table.rows[code].draw(s)) })
	}
	need(kind == "listing", "draw")
	fields("cells", "width", "step", "bits", "lists")
	window := newNear(given)
	lists := unpack(given["lists"])
	need(int64(len(lists)) == listed*window.width, "lists")
	for row := range slices.Chunk(lists, int(window.width)) {
		seen := map[int64]bool{} // a number that stood twice in a list would be likelier than ε allows
		for _, one := range row {
			need(!seen[one] && one < window.cells, "lists")
			seen[one] = true
		}
	}
	return simple(listed, sizeOf(window.cells), window.ratio,
		func(code int64, s source) int64 { return window.draw(lists[code*window.width:], s) })
}

// simple returns a draw that reports one number.
func simple(count int64, size int, most ratio, number func(code int64, s source) int64) *codeDraw {
	return &codeDraw{facts{ratio: most}, list{}, count, size, 1, func(code int64, s source) []int64 { return []int64{number(code, s)} }}
}

// other returns a drawn ticket, otherwise the own code.
func (l lottery) other(own int64, s source) int64 {
	ticket, is, _ := l.draw(s, 0)
	if is {
		return int64(ticket)
	}
	return own
}

// pack returns the bits of a report as its bytes, lowest bit first.
func pack(row []bool) []int64 {
	out := make([]int64, (len(row)+7)>>3)
	for i, set := range row {
		if set {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return out
}

func readBits(given object, size int64) *codeDraw {
	own, other := newCoin(given["own"]), newCoin(given["other"])
	need(other.heads.Sign() > 0 && other.heads.Cmp(own.heads) < 0, "step")
	most := ratio{times(own.heads, other.tails), times(own.tails, other.heads)}
	return &codeDraw{facts{ratio: most}, list{}, size, 1, int(size+7) >> 3, func(code int64, s source) []int64 {
		row := make([]bool, size)
		for i := range row {
			if int64(i) == code {
				row[i] = own.toss(s)
			} else {
				row[i] = other.toss(s)
			}
		}
		return pack(row)
	}}
}

func readSubset(given object, size int64) *codeDraw {
	chosen := integerIn(given["chosen"], 1, size-1)
	toss := newCoin(given["heads"])
	return &codeDraw{facts{ratio: setRatio(toss, size, chosen)}, list{}, size, 1, int(size+7) >> 3, func(code int64, s source) []int64 {
		held := toss.toss(s)
		row, wanted := make([]bool, size), uint64(chosen)
		if held {
			wanted--
		}
		for i := range size - 1 {
			if row[i] = s.below(uint64(size-1-i)) < wanted; row[i] {
				wanted--
			}
		}
		// The others were drawn as 0 … k − 2: the element at the input's place becomes k − 1.
		row[size-1] = row[code]
		row[code] = held
		return pack(row)
	}}
}

func setRatio(toss coin, size, chosen int64) ratio {
	return ratio{times(toss.heads, integer(size-chosen)), times(toss.tails, integer(chosen))}
}

// past moves a number past others that ascend: it is a place among the numbers that are not these.
func past(place int64, others []int64) int64 {
	for _, other := range others {
		if place >= other {
			place++
		}
	}
	return place
}

// different returns `count` different numbers below a bound, in the order in which they are drawn.
func different(s source, count int, bound int64) []int64 {
	drawn, taken := make([]int64, 0, count), make([]int64, 0, count)
	for i := range count {
		number := past(int64(s.below(uint64(bound-int64(i)))), taken)
		at, _ := slices.BinarySearch(taken, number)
		taken = slices.Insert(taken, at, number)
		drawn = append(drawn, number)
	}
	return drawn
}

func readIndices(given object, size int64) *codeDraw {
	chosen := integerIn(given["chosen"], 2, min(8, size-1))
	toss := newCoin(given["heads"])
	return &codeDraw{facts{ratio: setRatio(toss, size, chosen)}, list{}, size, sizeOf(size), int(chosen), func(code int64, s source) []int64 {
		held := toss.toss(s)
		row := different(s, int(chosen), size-1)
		for i := range row {
			if row[i] >= code {
				row[i]++
			}
		}
		if held {
			row[chosen-1] = code
		}
		slices.Sort(row)
		return row
	}}
}

// readProjective reads the set D of a projective draw, whose digest is checked.
func readProjective(given object, listed int64) *codeDraw {
	order := integerIn(given["order"], 2, 1<<21)
	dimension := integerIn(given["dimension"], 2, 21)
	prime := int64(2)
	for prime*prime <= order && order%prime != 0 {
		prime++
	}
	if order%prime != 0 {
		prime = order
	}
	degree, reached := int64(1), prime
	for ; reached < order; reached *= prime {
		degree++
	}
	count := (math.Pow(float64(order), float64(dimension)) - 1) / float64(order-1)
	need(reached == order && count >= float64(listed) && count <= 1<<21, "cells")
	points := int64(count)
	block := (points - 1) / order // (q^(t−1) − 1)/(q − 1)
	length := int(degree * dimension)
	listedFactors := asList(given["polynomial"])
	need(len(listedFactors) == length, "cells")
	factors := make([]int64, length)
	for i := range factors {
		factors[i] = integerIn(listedFactors[i], 0, prime-1)
	}
	own, other := hexadecimal(given["own"], 32), hexadecimal(given["other"], 32)
	size := integerIn(given["bits"], 64, 128)
	likely := times(own, integer(block))
	total := plus(likely, times(other, integer(points-block)))
	need((size == 64 || size == 128) && other.Sign() > 0 && other.Cmp(own) < 0, "step")
	need(total.Cmp(power(uint(size))) <= 0 && total.BitLen() >= int(size), "step")
	need(slices.Equal(factors, firstPrimitive(prime, length)), "cells") // another one has another set
	members := setOf(prime, degree, points, factors)
	inside := int64(0)
	var content []byte
	for i := range points {
		if members[i] {
			content = inBytes(content, uint64(i), 4)
			inside++
		}
	}
	need(inside == block && digest(string(content), 32) == given["set"], "fingerprint")
	both := make([]int64, 0, points) // the set in ascending order, then all others
	for _, wanted := range []bool{true, false} {
		for i := range points {
			if members[i] == wanted {
				both = append(both, i)
			}
		}
	}
	if listed == 0 {
		listed = points
	}
	return simple(listed, sizeOf(points), ratio{own, other}, func(code int64, s source) int64 {
		drawn := s.large(int(size))
		for drawn.Cmp(total) >= 0 {
			drawn = s.large(int(size))
		}
		at := over(drawn, own)
		if drawn.Cmp(likely) >= 0 {
			at = plus(integer(block), over(minus(drawn, likely), other))
		}
		return mod(both[at.Int64()]-code, points)
	})
}

// setOf returns which points are in the set: those i with s_i = s_(i+K) = … = 0 of the sequence of a
// polynomial.
func setOf(prime, degree, points int64, factors []int64) []bool {
	values := make([]int64, degree*points+int64(len(factors)))
	values[len(factors)-1] = 1
	for i := range values[:len(values)-len(factors)] {
		sum := int64(0)
		for j, factor := range factors {
			sum += factor * values[i+j]
		}
		values[i+len(factors)] = (prime - sum%prime) % prime
	}
	members := make([]bool, points)
	for i := range members {
		members[i] = true
		for j := range degree {
			members[i] = members[i] && values[int64(i)+j*points] == 0
		}
	}
	return members
}

// firstPrimitive returns c_0 … c_(n−1) of the first primitive polynomial x^n + Σ c_j·x^j modulo a prime p, in
// the order of Σ c_j·p^j: modulo it, x has the order p^n − 1. p^n is below 2^43.
func firstPrimitive(prime int64, length int) []int64 {
	order := int64(1)
	for range length {
		order *= prime
	}
	order--
	var exponents []int64
	rest := order
	for trial := int64(2); rest > 1; trial++ {
		if trial*trial > rest {
			trial = rest
		}
		if rest%trial == 0 {
			exponents = append(exponents, order/trial)
		}
		for rest%trial == 0 {
			rest /= trial
		}
	}
	for number := prime + 1; ; number++ {
		digits, left := make([]int64, length), number
		for j := range digits {
			digits[j] = left % prime
			left /= prime
		}
		if isUnit(order, prime, digits) && !slices.ContainsFunc(exponents, func(e int64) bool { return isUnit(e, prime, digits) }) {
			return digits
		}
	}
}

// isUnit returns whether x^exponent is 1 modulo a polynomial.
func isUnit(exponent, prime int64, modulus []int64) bool {
	length := len(modulus)
	byX := func(given []int64) []int64 {
		found := make([]int64, length)
		for j := range found {
			if j > 0 {
				found[j] = given[j-1]
			}
			found[j] = (found[j] + given[length-1]*(prime-modulus[j])) % prime
		}
		return found
	}
	unit := make([]int64, length)
	unit[0] = 1
	raised := unit
	for bit := bits.Len64(uint64(exponent)) - 1; bit >= 0; bit-- {
		square := make([]int64, length)
		for i := length - 1; i >= 0; i-- {
			square = byX(square)
			for j := range square {
				square[j] = (square[j] + raised[i]*raised[j]) % prime
			}
		}
		raised = square
		if exponent>>bit&1 == 1 {
			raised = byX(square)
		}
	}
	return slices.Equal(raised, unit)
}

// mix returns the word of a seed: SplitMix64's finaliser.
func mix(seed uint64) uint64 {
	word := (seed + 1) * 0x9e3779b97f4a7c15
	word = (word ^ word>>30) * 0xbf58476d1ce4e5b9
	word = (word ^ word>>27) * 0x94d049bb133111eb
	return word ^ word>>31
}

// bucket returns the bucket of an item under a seed: the hash family "affine 1".
func bucket(seed, item uint64, buckets int64) int64 {
	word := mix(seed)
	return int64(((word>>32)*item + word) & 0xffffffff * uint64(buckets) >> 32)
}

func readBuckets(given object) (int64, lottery) {
	need(given["hash"] == "affine 1", "draw")
	buckets := integerIn(given["buckets"], 2, 1<<16)
	return buckets, newLottery(buckets, given)
}

// unpack returns numbers of 16 bits, written as four hexadecimal digits each.
func unpack(text any) []int64 {
	given := asString(text)
	need(len(given) <= 1<<17 && len(given)%4 == 0, "number")
	taken := unhex(given)
	out := make([]int64, len(taken)/2)
	for i := range out {
		out[i] = int64(taken[2*i])<<8 | int64(taken[2*i+1])
	}
	return out
}

// A near draws one of K given numbers with probability K·d/2^w, otherwise any number below N.
type near struct {
	cells, width int64
	ratio        ratio
	chance       lottery
}

func newNear(given object) near {
	cells := integerIn(given["cells"], 2, 1<<16)
	width := integerIn(given["width"], 1, cells-1)
	chance := newLottery(width, given)
	return near{cells, width, chance.window(cells), chance}
}

func (n near) draw(some []int64, s source) int64 {
	ticket, is, _ := n.chance.draw(s, 0)
	drawn := int64(s.below(uint64(n.cells))) // whichever way it falls
	if is {
		return some[ticket]
	}
	return drawn
}

// ranked returns the first of the numbers 0 … count − 1 by an order; equal ones stay as they are.
func ranked(count int, first int64, order func(a, b int64) int) []int64 {
	row := make([]int64, count)
	for i := range row {
		row[i] = int64(i)
	}
	slices.SortFunc(row, func(a, b int64) int { return cmp.Or(order(a, b), cmp.Compare(a, b)) })
	return row[:first]
}

func sum(numbers []*big.Int) *big.Int {
	total := new(big.Int)
	for _, one := range numbers {
		total.Add(total, one)
	}
	return total
}
