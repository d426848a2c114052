package dither

import (
	"math"
	"math/big"
)

// Draws about a number or an angle: windows, noise on a lattice, channels, splines.

// A cellDraw reports a cell.
type cellDraw struct {
	facts
	line  line
	cells int64
	cell  func(x float64, s source) int64
}

func (d *cellDraw) input(value any) any { return d.line.input(value) }

func (d *cellDraw) draw(input any, s source) []byte {
	return wide(sizeOf(d.cells), d.cell(input.(float64), s))
}

func readNumber(device object) drawing {
	if device["draw"] == "optional" {
		return readOptional(device)
	}
	return readCells(device, device["outside"], "outside")
}

// readCells reads a draw; the part of a pair has no rule for values outside, because its inputs are inside.
func readCells(device object, outside any, more ...string) *cellDraw {
	l := readLine(device["domain"], outside)
	names := append(more, "domain", "draw")
	switch asString(device["draw"]) {
	case "sliding":
		return readWindow(l, fieldsOf(device, append(names, "cells", "width", "step", "bits", "start")...))
	case "mixture":
		fieldsOf(device, append(names, "first", "second", "heads")...)
		first := readWindow(l, fieldsOf(device["first"], "draw", "cells", "width", "step", "bits", "start"))
		second := readWindow(l, fieldsOf(device["second"], "draw", "cells", "width", "step", "bits", "start"))
		heads := uint64(integerIn(device["heads"], 0, 1<<32-1))
		return &cellDraw{facts{ratio: first.ratio.most(second.ratio)}, l, first.cells + second.cells,
			func(x float64, s source) int64 {
				if s.bits(32) < heads {
					return first.cell(x, s)
				}
				return first.cells + second.cell(x, s)
			}}
	case "lattice":
		return readLattice(l, fieldsOf(device, append(names, "lattice", "start")...))
	}
	need(device["draw"] == "channel", "draw")
	return readChannel(l, fieldsOf(device, append(names, "values", "rows", "start")...))
}

func readWindow(l line, given object) *cellDraw {
	need(given["draw"] == "sliding", "cells")
	cells := integerIn(given["cells"], 2, 1<<32)
	need(isPower(cells), "cells")
	size := log2(cells)
	chance := newLottery(integerIn(given["width"], 1, cells-1), given)
	begin := readStart(given["start"], cells, l)
	return &cellDraw{facts{ratio: chance.window(cells)}, l, cells, func(x float64, s source) int64 {
		first := begin(x, s)
		ticket, is, uniform := chance.draw(s, size)
		// No branch on the value, and no division. A start below 0 wraps, on circles only.
		var mask int64
		if is {
			mask = -1
		}
		return (int64(uniform) + (first+int64(ticket)-int64(uniform))&mask) & (cells - 1)
	}}
}

// optional is a window with cells of its own for no answer; it is NaN as an input and null as a value.
type optional struct{ *cellDraw }

func (d optional) input(value any) any {
	if value == nil {
		return math.NaN()
	}
	return d.line.input(value)
}

func readOptional(given object) drawing {
	fieldsOf(given, "domain", "draw", "outside", "cells", "width", "step", "bits", "start")
	domain := fieldsOf(given["domain"], "kind", "of")
	need(domain["kind"] == "optional", "domain")
	l := readLine(domain["of"], given["outside"])
	cells := integerIn(given["cells"], 2, 1<<16)
	need(isPower(cells) && asObject(given["start"])["kind"] == "line", "cells")
	// Windows of numbers wrap around the other cells, and would meet themselves if they were wider than half of
	// all.
	width := integerIn(given["width"], 1, cells/2)
	chance := newLottery(width, given)
	begin := readStart(given["start"], cells, l)
	room, size := cells-width, log2(cells)
	return optional{&cellDraw{facts{ratio: chance.window(cells)}, l, cells, func(x float64, s source) int64 {
		missing := math.IsNaN(x)
		if missing { // the same bytes are taken
			x = l.low
		}
		first := begin(x, s)
		ticket, is, uniform := chance.draw(s, size)
		own := mod(first+int64(ticket), room)
		if missing {
			own = room + int64(ticket)
		}
		if is {
			return own
		}
		return int64(uniform)
	}}}
}

// rows are a table of integers: a row for each input, scaled to weights of total 2^128.
type rows struct {
	rows    []alias
	columns int
	ratio   ratio
}

func readRows(given object) rows {
	values, table := asList(given["values"]), asList(given["rows"])
	need(len(table) > 0 && len(table) <= 1<<10, "cells")
	columns := len(asList(table[0]))
	need(columns > 0 && columns <= 1<<16 && columns*len(table) <= 1<<21, "cells")
	known, used := make([]*big.Int, len(values)), make([]bool, len(values))
	for i := range values { // each once, the largest first
		known[i] = hexadecimal(values[i], 1<<10)
		need(known[i].Sign() > 0 && (i == 0 || known[i].Cmp(known[i-1]) < 0), "number")
	}
	read := rows{columns: columns, ratio: ratio{zero, one}}
	most, least := make([]*big.Int, columns), make([]*big.Int, columns)
	for _, row := range table {
		need(len(asList(row)) == columns, "cells")
		weights := weigh(asList(row), known, used)
		read.rows = append(read.rows, newAlias(weights))
		for i, weight := range weights {
			if most[i] == nil || weight.Cmp(most[i]) > 0 {
				most[i] = weight
			}
			if least[i] == nil || weight.Cmp(least[i]) < 0 {
				least[i] = weight
			}
		}
	}
	for _, once := range used {
		need(once, "fields")
	}
	for i := range most {
		read.ratio = ratio{most[i], least[i]}.most(read.ratio)
	}
	return read
}

func weigh(places []any, known []*big.Int, used []bool) []*big.Int {
	weights, total, largest := make([]*big.Int, len(places)), new(big.Int), 0
	for i := range places {
		at := integerIn(places[i], 0, int64(len(known)-1))
		used[at], weights[i] = true, known[at]
		total.Add(total, known[at])
		if known[at].Cmp(weights[largest]) > 0 {
			largest = i
		}
	}
	rest := new(big.Int).Set(all)
	for i := range weights {
		weights[i] = upwards(shifted(weights[i], 128), total)
		rest.Sub(rest, weights[i])
	}
	weights[largest] = plus(weights[largest], rest)
	need(weights[largest].Sign() > 0, "step")
	return weights
}

func readChannel(l line, device object) *cellDraw {
	table := readRows(device)
	made := &cellDraw{facts: facts{ratio: table.ratio}, line: l, cells: int64(table.columns)}
	rule := asObject(device["start"])
	if rule["kind"] == "points" {
		listed := asList(fieldsOf(rule, "kind", "points")["points"])
		need(!l.turns && len(listed) > 1 && len(listed) == len(table.rows), "start")
		points := make([]float64, len(listed))
		for i := range listed {
			points[i] = real(listed[i])
			need(i == 0 && points[i] == l.low || i > 0 && points[i] > points[i-1], "start")
		}
		need(points[len(points)-1] == l.high, "start")
		made.cell = func(x float64, s source) int64 {
			at := countUpTo(points[1:len(points)-1], x)
			share := float64((x-points[at])/(points[at+1]-points[at])*(1<<32)) + 0.5
			if s.bits(32) < uint64(share) {
				at++
			}
			return int64(table.rows[at].draw(s))
		}
		return made
	}
	fieldsOf(rule, "kind", "edges", "labels")
	given, named := asList(rule["edges"]), asList(rule["labels"])
	need(rule["kind"] == "edges" && len(named) == len(given)+1, "start")
	edges, labels := make([]float64, len(given)), make([]int64, len(named))
	for i := range named {
		labels[i] = integerIn(named[i], 0, int64(len(table.rows)-1))
		if i < len(given) {
			edges[i] = real(given[i])
			need(i == 0 || edges[i] >= edges[i-1], "start")
		}
	}
	made.cell = func(x float64, s source) int64 { return int64(table.rows[labels[countUpTo(edges, x)]].draw(s)) }
	return made
}

// countUpTo returns how many numbers are at most x; all are looked at.
func countUpTo(numbers []float64, x float64) int {
	count := 0
	for _, one := range numbers {
		if one <= x {
			count++
		}
	}
	return count
}

// splines are quadratic B-splines of each axis that select a row of a channel.
type splines struct {
	facts
	table  rows
	ends   []line
	single bool // a value is one number
	names  []string
	pieces int64
}

func readSplines(device object) drawing {
	fieldsOf(device, "domain", "draw", "outside", "values", "rows", "ends", "pieces")
	d := &splines{table: readRows(device), pieces: integerIn(device["pieces"], 1, 16)}
	if asObject(device["domain"])["kind"] == "box" {
		d.names, d.ends = readSides(device)
	} else {
		d.single, d.ends = true, []line{readLine(device["domain"], device["outside"])}
		need(!d.ends[0].turns, "domain")
	}
	listed := asList(device["ends"])
	need(len(listed) == len(d.ends), "domain")
	count := int64(1)
	for i := range listed {
		need(pairOf(listed[i]) == [2]float64{d.ends[i].low, d.ends[i].high}, "domain")
		count *= d.pieces + 2
	}
	need(int64(len(d.table.rows)) == count, "cells")
	d.ratio = d.table.ratio
	return d
}

func (d *splines) input(value any) any {
	if d.single {
		value = []any{value}
	}
	return record(value, d.names, d.ends)
}

func (d *splines) draw(input any, s source) []byte {
	const size = 1 << 15
	row := int64(0)
	for i, x := range input.([]float64) {
		ends := d.ends[i]
		z := int64(math.Floor(float64((x-ends.low)/(ends.high-ends.low)*float64(d.pieces*size)) + 0.5))
		z = min(max(z, 0), d.pieces*size)
		part := min(z/size, d.pieces-1)
		t := z - part*size
		low, high := (size-t)*(size-t), t*t
		if part == 0 {
			low *= 2
		}
		if part == d.pieces-1 {
			high *= 2
		}
		u := int64(s.bits(32) >> 1)
		spline := part
		if u >= low {
			spline++
		}
		if u >= 2*size*size-high {
			spline++
		}
		row = row*(d.pieces+2) + spline
	}
	return wide(sizeOf(int64(d.table.columns)), int64(d.table.rows[row].draw(s)))
}
