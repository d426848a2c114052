package dither

import (
	"math/big"
)

// Noise on a lattice: docs/wire.md has the weights.

// readNoise returns the weights w_0 … w_R of a noise after checking the digest.
func readNoise(noise object, kind string) []*big.Int {
	stairs := noise["decay"] == "stairs"
	if stairs {
		fieldsOf(noise, "base", "decay", "digest", "reach", "run", "first")
	} else {
		fieldsOf(noise, "base", "decay", "digest", "reach")
	}
	unit := power(256)
	base := hexadecimal(noise["base"], 64)
	reach := integerIn(noise["reach"], 1, 1<<15)
	need(base.Sign() > 0, "step")
	values := make([]*big.Int, reach+1)
	value := unit
	var tail *big.Int
	if noise["decay"] == "normal" {
		factor := base
		for z := range values {
			values[z] = value
			value = halved(times(value, factor), 256)
			factor = halved(times(times(factor, base), base), 512)
		}
		// Quotients of successive terms decrease, so a geometric series with the first one is an upper bound.
		quotient, square := unit, base
		for exponent := 2*reach + 1; exponent > 0; exponent >>= 1 {
			if exponent&1 == 1 {
				quotient = halved(times(quotient, square), 256)
			}
			square = halved(times(square, square), 256)
		}
		tail = over(shifted(values[reach], 256), minus(unit, quotient))
	} else {
		need(stairs || noise["decay"] == "geometric", "draw")
		run, first := int64(1), int64(1) // geometric weights are stairs of one step
		if stairs {
			run = integerIn(noise["run"], 1, 1<<52)
			first = integerIn(noise["first"], 1, run)
		}
		for z := range values {
			if int64(z) >= first && (int64(z)-first)%run == 0 {
				value = halved(times(value, base), 256)
			}
			values[z] = value
		}
		rest := mod(first-reach, run)
		if rest == 0 {
			rest = run
		}
		tail = plus(times(values[reach], integer(rest)), times(over(times(values[reach], base), minus(unit, base)), integer(run)))
	}
	if kind == "clamped" {
		values[reach] = tail
	}
	return scaled(values, kind, noise["digest"])
}

func scaled(values []*big.Int, kind string, expected any) []*big.Int {
	reach := len(values) - 1
	copies := integer(2)
	if kind == "ring" {
		copies = one
	}
	mass := minus(times(values[reach], copies), power(256))
	for _, value := range values[:reach] {
		mass.Add(mass, shifted(value, 1))
	}
	most := minus(all, power(40))
	weights := make([]*big.Int, reach+1)
	rest := new(big.Int).Set(all)
	for z := 1; z <= reach; z++ {
		weights[z] = upwards(times(values[z], most), mass)
		if kind == "bounded" && weights[z].BitLen() <= 32 {
			weights[z] = power(32)
		}
		if z < reach {
			rest.Sub(rest, shifted(weights[z], 1))
		} else {
			rest.Sub(rest, times(weights[z], copies))
		}
	}
	weights[0] = rest
	content := make([]byte, 17*len(weights))
	for z, weight := range weights {
		need(weight.Sign() > 0 && weight.BitLen() <= 136, "step")
		need(z == 0 || z == reach && kind == "clamped" || weights[z-1].Cmp(weight) >= 0, "step")
		row := weight.FillBytes(content[17*z : 17*z+17])
		for i := range 8 {
			row[i], row[16-i] = row[16-i], row[i]
		}
	}
	need(digest(string(content), 16) == expected, "fingerprint")
	return weights
}

func readLattice(l line, device object) *cellDraw {
	shape, rule := asObject(device["lattice"]), asObject(device["start"])
	noise := asObject(shape["noise"])
	kind := asString(shape["kind"])
	normal := noise["decay"] == "normal"
	need(kind == "clamped" || (kind == "ring" || kind == "bounded") && !normal, "draw")
	need(rule["kind"] == "line", "start")
	w := readNoise(noise, kind)
	reach := int64(len(w) - 1)
	begin := readStart(rule, 2*reach, l)
	made := &cellDraw{facts: facts{ratio: ratio{w[0], w[reach]}}, line: l}
	if kind == "ring" {
		fieldsOf(shape, "kind", "noise")
		need(rule["fraction"] == 0.0, "start")
		row := make([]*big.Int, 2*reach)
		for z := range reach + 1 {
			row[z], row[(2*reach-z)%(2*reach)] = w[z], w[z]
		}
		table := newAlias(row)
		made.cells = 2 * reach
		made.cell = func(x float64, s source) int64 { return mod(begin(x, s)+int64(table.draw(s)), made.cells) }
		return made
	}
	row := make([]*big.Int, 2*reach+1)
	for z := range w {
		row[reach+int64(z)], row[reach-int64(z)] = w[z], w[z]
	}
	if kind == "bounded" {
		return readBounded(made, shape, rule, begin, newAlias(row), w)
	}
	return readClamped(made, shape, rule, begin, newAlias(row), w, normal)
}

func readBounded(made *cellDraw, shape, rule object, begin start, table alias, w []*big.Int) *cellDraw {
	reach := int64(len(w) - 1)
	fieldsOf(shape, "kind", "noise", "shift")
	need(rule["fraction"] == 0.0 && rule["last"] == float64(reach), "start")
	integerIn(shape["shift"], reach, reach) // a smaller one assumes that two values are near
	need(real(rule["scale"]) <= float64(reach)/(made.line.high-made.line.low), "start")
	// The total weight inside the domain, by step: between inputs k steps apart the ratio is at most the one of
	// two weights times the one of two totals, and it grows with k if these two products are at most 1.
	sums, sum := make([]*big.Int, reach+1), new(big.Int).Neg(w[0])
	for z := range w {
		sum = plus(sum, w[z])
		sums[z] = sum
	}
	weight, total := ratio{zero, one}, ratio{zero, one}
	for z := range reach {
		weight = ratio{w[z+1], w[z]}.most(weight)
		here, next := plus(sums[z], sums[reach-z]), plus(sums[z+1], sums[reach-z-1])
		total = ratio{plus(here, w[0]), plus(next, w[0])}.most(total)
	}
	need(w[reach].Cmp(power(32)) > 0, "step")
	need(times(weight.top, total.top).Cmp(times(weight.bottom, total.bottom)) <= 0, "step")
	made.cells = reach + 1
	made.cell = func(x float64, s source) int64 {
		step := begin(x, s) - reach
		for {
			if place := step + int64(table.draw(s)); place >= 0 && place <= reach {
				return place
			}
		}
	}
	return made
}

func readClamped(made *cellDraw, shape, rule object, begin start, table alias, w []*big.Int, normal bool) *cellDraw {
	reach := int64(len(w) - 1)
	fieldsOf(shape, "kind", "noise", "fraction", "last")
	fraction := integerIn(shape["fraction"], 1, 30)
	step := int64(1) << fraction
	last := integerIn(shape["last"], 1, 1<<31-step)
	steps := (last + step - 1) >> fraction
	need(rule["last"] == float64(last) && rule["fraction"] == float64(fraction), "start")
	need(steps < reach && (last < step || last%step == 0), "cells")
	// The largest ratio is between the two ends of the domain: of two weights, or of the sums at the last
	// report.
	pile := new(big.Int)
	for _, weight := range w[reach-steps:] {
		pile.Add(pile, weight)
	}
	most := ratio{pile, w[reach]}
	for z := range reach - steps {
		most = ratio{w[z], w[steps+z]}.most(most)
	}
	whole, share := integer(step), integer(min(last, step))
	made.cells = 2*reach - steps + 1
	made.cell = func(x float64, s source) int64 {
		return min(max(begin(x, s)+int64(table.draw(s)), steps), 2*reach) - steps
	}
	made.ratio = ratio{plus(times(minus(whole, share), most.bottom), times(share, most.top)), times(whole, most.bottom)}
	if normal {
		made.delta = func(bound *big.Int, stated any) float64 {
			return deltaOf(bound, stated, w, steps, last >= step, whole, share, pile)
		}
	}
	return made
}

// deltaOf returns the largest P(S | x) − e^ε·P(S | x'), between the two ends of the domain; outermost sums
// count fully.
func deltaOf(bound *big.Int, stated any, w []*big.Int, steps int64, far bool, whole, share, pile *big.Int) float64 {
	reach := int64(len(w) - 1)
	at := func(z int64) *big.Int { return w[max(z, -z)] }
	first, second := new(big.Int), new(big.Int)
	add := func(sum, gain *big.Int) {
		if gain.Sign() > 0 {
			sum.Add(sum, gain)
		}
	}
	if far {
		for z := steps - reach + 1; z <= steps>>1; z++ {
			add(first, times(whole, minus(shifted(at(z), boundBits), times(bound, at(steps-z)))))
		}
	} else {
		for z := 2 - reach; z < reach; z++ {
			own := times(whole, at(z))
			mixed := plus(times(minus(whole, share), at(z)), times(share, at(z-1)))
			add(first, minus(shifted(own, boundBits), times(bound, mixed)))
			add(second, minus(shifted(mixed, boundBits), times(bound, own)))
		}
	}
	if second.Cmp(first) > 0 {
		first = second
	}
	spent := plus(first, shifted(times(whole, pile), boundBits))
	total := shifted(whole, boundBits+128)
	delta := real(stated)
	need(delta > 0 && delta < 1, "privacy")
	exact := new(big.Rat).SetFloat64(delta)
	need(times(exact.Num(), total).Cmp(times(exact.Denom(), spent)) >= 0, "privacy")
	units, _ := new(big.Float).SetInt(upwards(shifted(spent, 128), total)).Float64()
	return units * 0x1p-128
}
