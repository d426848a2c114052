package dither

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

const boundBits = 320 // bits of the bound of e^ε

// mechanisms are those that have each draw: policies list names, so that a name must be one whose mechanism
// draws so.
var mechanisms = map[string]string{
	"sliding":         "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",
	"optional":        "Podium PM SW OGPM OGPMU Focused",
	"mixture":         "Hybrid",
	"response":        "KRR RR",
	"bits":            "OUE SUE",
	"subset":          "SubsetSelection",
	"indices":         "SubsetIndices",
	"several":         "SetResponse",
	"polynomial":      "SetResponse",
	"hadamard":        "HadamardResponse",
	"projective":      "ProjectiveResponse",
	"hashed":          "OLH BLH",
	"prefix":          "PEM",
	"questions":       "Marginals",
	"lattice clamped": "Laplace Staircase",
	"lattice ring":    "Purkayastha",
	"lattice bounded": "BoundedLaplace",
	"lattice normal":  "Gaussian",
	"channel":         "Exponential Cumulative Matrix",
	"table":           "Cumulative Workload Matrix",
	"nearest":         "Optimal",
	"listing":         "Optimal",
	"box":             "Optimal",
	"directions":      "Optimal",
	"routes":          "Optimal",
	"splines":         "JointMoments",
	"pair":            "TraCSC",
	"polar":           "Polar",
	"planar":          "PlanarLaplace",
}

// A Question is one as it travels: read, verified in integers, and ready to be answered. It never changes.
type Question struct {
	Mechanism   string  // the name of its specification
	Epsilon     float64 // what one answer spends, computed from its integers and rounded up
	Delta       float64 // the δ that its integers have, or 0
	Fingerprint string  // digest of its device text

	device  object
	drawing drawing
}

// ReadQuestion reads a specification and verifies in integers that its integers keep the ε that it names.
func ReadQuestion(specification string) (q *Question, err error) {
	defer catch(&err)
	return readQuestion(specification), nil
}

// head is what a specification says of itself, whether its draw is known or not.
type head struct {
	parts, device     object
	fingerprint, kind string
}

func readHead(text string) (h head) {
	need(len(text) < 1<<24, "text")
	h.parts = asObject(parse(text))
	need(strings.Count(text, "")-1 < 1<<22, "text")
	need(h.parts["dither"] == 2.0 && len(h.parts) == 6 && has(h.parts, "codebook"), "version")
	written := asString(h.parts["device"])
	h.fingerprint = asString(h.parts["fingerprint"])
	need(h.fingerprint == digest(written, 32), "fingerprint")
	h.device = canonicalObject(written)
	h.kind = asString(h.device["draw"])
	return h
}

func readQuestion(text string) *Question {
	h := readHead(text)
	q := &Question{Mechanism: asString(h.parts["mechanism"]), Fingerprint: h.fingerprint, device: h.device}
	parameters := asObject(h.parts["parameters"])
	read, known := readers[h.kind]
	need(known, "draw")
	q.Epsilon = real(parameters["epsilon"])
	need(q.Epsilon >= 1e-6 && q.Epsilon <= 50, "epsilon")
	kind := h.kind
	if kind == "lattice" {
		shape := asObject(h.device["lattice"])
		kind += " " + asString(shape["kind"])
		if asObject(shape["noise"])["decay"] == "normal" {
			kind = "lattice normal"
		}
	}
	need(slices.Contains(strings.Fields(mechanisms[kind]), q.Mechanism), "draw")
	q.drawing = read(h.device)
	found, bound := q.drawing.about(), expBelow(q.Epsilon)
	switch {
	case found.delta != nil:
		q.Delta = found.delta(bound, parameters["delta"])
	case found.exponent != nil:
		need(found.exponent.Cmp(new(big.Rat).SetFloat64(q.Epsilon)) <= 0, "privacy")
		q.Epsilon = timesUp(found.exponent, 1)
	default:
		// This comparison in integers is the proof of privacy. A ratio below 1 is not the largest one: the input
		// would be the least likely.
		top, bottom := found.ratio.top, found.ratio.bottom
		need(top.Cmp(bottom) > 0 && shifted(top, boundBits).Cmp(times(bound, bottom)) <= 0, "privacy")
		q.Epsilon = logAbove(found.ratio)
	}
	return q
}

// logAbove returns a double that is certainly at least the logarithm of a ratio, the smallest one found.
func logAbove(r ratio) float64 {
	if r.top.Cmp(r.bottom) <= 0 {
		return 0
	}
	isAbove := func(guess float64) bool { return shifted(r.top, boundBits).Cmp(times(expBelow(guess), r.bottom)) <= 0 }
	quotient, _ := new(big.Rat).SetFrac(minus(r.top, r.bottom), r.bottom).Float64()
	guess := math.Log1p(quotient)
	for lower := math.Nextafter(guess, 0); isAbove(lower); lower = math.Nextafter(guess, 0) {
		guess = lower
	}
	for !isAbove(guess) {
		guess = math.Nextafter(guess, math.Inf(1))
	}
	return guess
}

// timesUp returns ε·times, rounded up to a double.
func timesUp(epsilon *big.Rat, times int64) float64 {
	exact := new(big.Rat).Mul(epsilon, new(big.Rat).SetInt64(times))
	near, _ := exact.Float64()
	if new(big.Rat).SetFloat64(near).Cmp(exact) < 0 {
		near = math.Nextafter(near, math.Inf(1))
	}
	return near
}

// expBelow returns a lower bound of e^ε·2^320, as docs/wire.md makes it: ε means the exact number of its
// double.
func expBelow(epsilon float64) *big.Int {
	exact := new(big.Rat).SetFloat64(epsilon)
	denominator := shifted(exact.Denom(), 8)
	term := power(boundBits)
	total := term
	for count := int64(1); term.Sign() > 0; count++ {
		term = over(times(term, exact.Num()), times(denominator, integer(count)))
		total = plus(total, term)
	}
	for range 8 {
		total = halved(times(total, total), boundBits)
	}
	return total
}
