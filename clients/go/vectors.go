package dither

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// directions is the draw of a vector: the nearest of public directions, by a public seed. See docs/wire.md.
type directions struct {
	facts
	window near
	exact  bool
	length float64
	centre []float64
	axes   int
	size   int
}

const equalAxes = 128 // up to which directions have equal lengths

func readDirections(device object) drawing {
	fieldsOf(device, "domain", "draw", "outside", "cells", "width", "step", "bits")
	domain := fieldsOf(device["domain"], "kind", "dimension", "length", "centre", "exact")
	exact, ok := domain["exact"].(bool)
	need(ok && domain["kind"] == "vectors" && device["outside"] == "clip", "domain")
	least := int64(1)
	if exact {
		least = 2
	}
	d := &directions{exact: exact, centre: make([]float64, integerIn(domain["dimension"], least, 1<<16)), length: real(domain["length"])}
	need(d.length >= 1e-30 && d.length <= 1e30, "domain")
	if domain["centre"] != nil {
		given, some := asList(domain["centre"]), false
		need(len(given) == len(d.centre), "domain")
		for i := range given {
			d.centre[i] = real(given[i])
			need(math.Abs(d.centre[i]) <= 1e30, "domain")
			some = some || d.centre[i] != 0
		}
		need(some, "domain")
	}
	d.window = newNear(device)
	need(isPower(d.window.cells) && d.window.cells >= 64 && d.window.cells <= 1<<12, "cells")
	d.axes = len(d.centre)
	if !exact {
		d.axes++
	}
	d.size = int(d.window.cells)
	if d.axes > equalAxes {
		d.size = 1 << bits.Len(uint(d.axes-1))
	}
	d.ratio = d.window.ratio
	return d
}

func (d *directions) input(value any) any {
	listed, ok := value.([]any)
	if !ok || len(listed) != len(d.centre) {
		return nil
	}
	given, own, most := make([]float64, len(listed)), make([]float64, len(listed)), 0.0
	for i := range listed {
		x, ok := asNumber(listed[i])
		if !ok {
			return nil
		}
		given[i] = x + 0
		own[i] = (given[i] - d.centre[i]) / d.length
		if !finite(own[i]) {
			return nil
		}
		most = max(most, math.Abs(own[i]))
	}
	if d.exact && most == 0 {
		return nil // it has no direction
	}
	unit := 1.0
	if most > 2 || d.exact {
		unit = most
	}
	squares := 0.0
	for _, x := range own {
		squares += float64(x / unit * (x / unit))
	}
	far := math.Sqrt(squares) * unit
	if d.exact && math.Abs(far-1) <= 1e-2 || !d.exact && far <= 1+1e-5 {
		return given
	}
	for i := range given {
		moved := own[i] / far
		if d.exact {
			moved = own[i] / unit / math.Sqrt(squares)
		}
		given[i] = d.centre[i] + float64(d.length*moved) + 0
	}
	return given
}

func (d *directions) draw(input any, s source) []byte {
	seed := s.bits(32) // before the vector is looked at
	number := d.window.draw(d.nearest(d.lift(input.([]float64)), seed), s)
	return inBytes(nil, seed<<16|uint64(number), 8)
}

// lift returns a vector relative to the centre, in units of the length; one of a ball on a sphere.
func (d *directions) lift(vector []float64) []float64 {
	own, squares := make([]float64, d.axes), 0.0
	for i := range vector {
		own[i] = (vector[i] - d.centre[i]) / d.length
		squares += float64(own[i] * own[i])
	}
	if !d.exact {
		own[d.axes-1] = math.Sqrt(max(1-squares, 0))
	}
	return own
}

// nearest returns the numbers of the K directions with the largest products, ascending; of equal ones the first.
func (d *directions) nearest(vector []float64, seed uint64) []int64 {
	own, first := signs(seed<<16, d.size), signs(1<<48+seed%256<<16, d.axes)
	products := make([]float64, d.window.cells)
	if d.axes > equalAxes {
		spread := make([]float64, d.size)
		for i := range vector {
			spread[i] = vector[i] * first[i]
		}
		transform(spread)
		products = d.fold(spread, own)
	} else {
		squares, row := make([]float64, len(products)), make([]float64, d.size)
		for axis := range vector {
			for k := range row {
				row[k] = 1
				if bits.OnesCount(uint(axis&k))&1 == 1 {
					row[k] = -1
				}
			}
			for i, g := range d.fold(row, own) {
				products[i] += float64(g * first[axis] * vector[axis])
				squares[i] += float64(g * g)
			}
		}
		for i := range products {
			products[i] /= math.Sqrt(max(squares[i], 1))
		}
	}
	near := ranked(len(products), d.window.width, func(a, b int64) int { return cmp.Compare(products[b], products[a]) })
	slices.Sort(near)
	return near
}

// signs returns `count` signs of the bits of words that begin with a number.
func signs(first uint64, count int) []float64 {
	made := make([]float64, count)
	for i := range made {
		made[i] = 1
		if mix(first+uint64(i>>6))>>(i&63)&1 == 1 {
			made[i] = -1
		}
	}
	return made
}

func (d *directions) fold(row, own []float64) []float64 {
	folded := make([]float64, d.window.cells)
	for k := range row {
		folded[1+619*k%(len(folded)-1)] += float64(row[k] * own[k])
	}
	transform(folded)
	return folded
}

// transform replaces a row by its product with the Hadamard matrix, by butterflies of 1, 2, 4, …: the order is specified.
func transform(row []float64) {
	for half := 1; half < len(row); half *= 2 {
		for begin := 0; begin < len(row); begin += 2 * half {
			for i := begin; i < begin+half; i++ {
				left, right := row[i], row[i+half]
				row[i], row[i+half] = left+right, left-right
			}
		}
	}
}
