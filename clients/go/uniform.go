package dither

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"math/big"
	"math/bits"
)

// Whole numbers that are made of random bytes, by the names of docs/wire.md.

// A source takes random bytes of a reader: uniform and unpredictable, as the ones of crypto/rand are.
type source struct{ io.Reader }

var system = source{rand.Reader}

func (s source) take(size int) []byte {
	taken := make([]byte, size)
	_, err := io.ReadFull(s.Reader, taken)
	need(err == nil, "source")
	return taken
}

// little returns bytes, lowest first, as a number of at most 8 bytes.
func little(taken []byte) uint64 {
	var eight [8]byte
	copy(eight[:], taken)
	return binary.LittleEndian.Uint64(eight[:])
}

// inBytes appends the lowest bytes of a number, lowest first.
//
//go:noinline
func inBytes(out []byte, value uint64, size int) []byte {
	for i := range size {
		out = append(out, byte(value>>(8*min(i, 8))))
	}
	return out
}

// bits returns a uniform number of at most 64 bits.
func (s source) bits(size int) uint64 {
	return little(s.take((size+7)>>3)) >> (-size & 7)
}

// large returns a uniform number of any number of bits.
func (s source) large(size int) *big.Int {
	taken := s.take((size + 7) >> 3)
	for i, j := 0, len(taken)-1; i < j; i, j = i+1, j-1 {
		taken[i], taken[j] = taken[j], taken[i]
	}
	drawn := new(big.Int).SetBytes(taken)
	return drawn.Rsh(drawn, uint(-size&7))
}

func (s source) below(bound uint64) uint64 {
	size := bits.Len64(bound - 1)
	for {
		if drawn := s.bits(size); drawn < bound {
			return drawn
		}
	}
}

func (s source) largeBelow(bound *big.Int) *big.Int {
	size := new(big.Int).Sub(bound, one).BitLen()
	for {
		if drawn := s.large(size); drawn.Cmp(bound) < 0 {
			return drawn
		}
	}
}

// word returns a uniform number below a bound of at most 2^63, from eight bytes.
func (s source) word(bound uint64) uint64 {
	most := -(-bound % bound) // 2^64 less the rest; 0 means 2^64
	for {
		if drawn := s.bits(64); most == 0 || drawn < most {
			return drawn % bound
		}
	}
}

// ticket returns a uniform number below a bound of at most 2^62, from eight bytes.
func (s source) ticket(bound uint64) uint64 {
	most := (1 << 62) / bound * bound
	for {
		if drawn := s.bits(62); drawn < most {
			return drawn % bound
		}
	}
}

var (
	zero = new(big.Int)
	one  = big.NewInt(1)
	all  = power(128) // the sum of the weights of a coin, and of a row
)

func power(exponent uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), exponent) }

//go:noinline
func integer(x int64) *big.Int { return big.NewInt(x) }

//go:noinline
func plus(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }

//go:noinline
func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

//go:noinline
func times(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

//go:noinline
func over(a, b *big.Int) *big.Int { return new(big.Int).Quo(a, b) }

//go:noinline
func shifted(a *big.Int, by uint) *big.Int { return new(big.Int).Lsh(a, by) }

//go:noinline
func halved(a *big.Int, by uint) *big.Int     { return new(big.Int).Rsh(a, by) }
func raised(a *big.Int, to int) *big.Int      { return new(big.Int).Exp(a, integer(int64(to)), nil) }
func upwards(a, b *big.Int) *big.Int          { return over(minus(plus(a, b), one), b) }
func larger(a, b, other, under *big.Int) bool { return times(a, under).Cmp(times(other, b)) > 0 } // a/b > other/under

// A coin shows heads with probability heads/2^128: 64 bits decide, and 64 more only if they are equal.
type coin struct {
	heads, tails *big.Int
	high, low    uint64
}

func newCoin(text any) coin {
	heads := hexadecimal(text, 32)
	return coin{heads, minus(all, heads), halved(heads, 64).Uint64(), new(big.Int).And(heads, minus(power(64), one)).Uint64()}
}

func (c coin) toss(s source) bool {
	if first := s.bits(64); first != c.high {
		return first < c.high
	}
	return s.bits(64) < c.low
}

// A lottery draws a ticket, each with probability step/2^bits, or none.
type lottery struct {
	step, room *big.Int // room is 2^bits
	tickets    uint64
	high, low  uint64 // parts of the step; low are its last 32 bits
	early      int    // bytes that nearly always decide
}

func newLottery(tickets int64, given object) lottery {
	size := integerIn(given["bits"], 64, 96)
	step := hexadecimal(given["step"], 24)
	first := halved(step, 32)
	need(size == 96 && step.Sign() > 0 || size == 64 && first.Sign() > 0, "step")
	need(times(integer(tickets), plus(first, one)).Cmp(power(uint(size-32))) <= 0, "step")
	low := new(big.Int).And(step, integer(1<<32-1)).Uint64()
	return lottery{step, power(uint(size)), uint64(tickets), first.Uint64(), low, int(size/8 - 4)}
}

// window sets the ratio of a draw of one of K of N cells with probability K·d/2^w, otherwise of any.
func (l lottery) window(cells int64) ratio {
	outside := minus(l.room, times(l.step, new(big.Int).SetUint64(l.tickets)))
	return ratio{plus(outside, times(l.step, integer(cells))), outside}
}

// response sets the ratio of a draw of each of N with probability d/2^w, otherwise of the own one.
func (l lottery) response() ratio {
	return ratio{minus(l.room, times(l.step, integer(int64(l.tickets)-1))), l.step}
}

// draw returns a ticket and whether there is one, and `extra` uniform bits next to it.
func (l lottery) draw(s source, extra int) (ticket uint64, is bool, uniform uint64) {
	taken := s.take(l.early + (extra+7)>>3)
	drew := little(taken[:l.early])
	is = drew < l.tickets*l.high
	ticket = drew / max(l.high, 1)
	rest := taken[l.early:]
	begin := -l.tickets // first of the values that the late word decides
	if l.early == 4 {
		begin += 1 << 32
	}
	if drew >= begin {
		rest = append(rest, s.take(4)...)
		is = little(rest[:4]) < l.low
		ticket = drew - begin
		rest = rest[4:]
	}
	if extra == 0 {
		return ticket, is, 0
	}
	return ticket, is, little(rest) >> (-extra & 7)
}

// An alias table draws an outcome by its weight, of weights of total 2^128: a column, and a coin between its
// two outcomes.
type alias struct {
	size       int
	thresholds []*big.Int
	others     []int
}

func newAlias(row []*big.Int) alias {
	size := max(1, bits.Len(uint(len(row)-1)))
	capacity := power(uint(128 - size))
	count := 1 << size
	left, small, large := make([]*big.Int, count), []int{}, []int{}
	made := alias{size, make([]*big.Int, count), make([]int, count)}
	for i := range left {
		left[i], made.thresholds[i], made.others[i] = zero, zero, i
		if i < len(row) {
			left[i] = row[i]
		}
		if left[i].Cmp(capacity) < 0 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 {
		column, giver := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		made.thresholds[column], made.others[column] = left[column], giver
		left[giver] = minus(left[giver], minus(capacity, left[column]))
		if left[giver].Cmp(capacity) < 0 {
			small, large = append(small, giver), large[:len(large)-1]
		}
	}
	return made
}

func (a alias) draw(s source) int {
	column := int(s.bits(a.size))
	if s.large(128-a.size).Cmp(a.thresholds[column]) < 0 {
		return column
	}
	return a.others[column]
}
