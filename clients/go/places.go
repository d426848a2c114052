package dither

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// Draws about places, and about several numbers together.

type point = [2]float64

// pairOf returns a list of two numbers.
func pairOf(given any) point {
	two := asList(given)
	need(len(two) == 2, "domain")
	return point{real(two[0]), real(two[1])}
}

// An area has places, and two coordinates by which a pair reports them.
type area struct {
	kind     string
	clip     func(at point) point // the nearest in each coordinate, or along the radius
	axes     func(at point) point
	ends     [2]line // ends of the axes
	diameter float64
	box      [2]line // around it; zero of a sphere
	centre   point
	radius   float64
}

// extent refuses numbers whose range doubles would not hold well.
func extent(numbers ...float64) line { return lineOf(false, slices.Min(numbers), slices.Max(numbers)) }

func readArea(given, outside any) area {
	domain := asObject(given)
	need(outside == "clip", "domain")
	kind := asString(domain["kind"])
	same := func(at point) point { return at }
	switch kind {
	case "rectangle":
		fieldsOf(domain, "kind", "x", "y")
		x, y := readLine(domain["x"], "clip"), readLine(domain["y"], "clip")
		clip := func(at point) point { return point{clamp(at[0], x.low, x.high), clamp(at[1], y.low, y.high)} }
		return area{kind: kind, clip: clip, axes: same, ends: [2]line{x, y}, box: [2]line{x, y}, diameter: math.Hypot(x.high-x.low, y.high-y.low)}
	case "disk":
		fieldsOf(domain, "kind", "radius", "centre")
		radius, centre := real(domain["radius"]), pairOf(domain["centre"])
		extent(0, radius)
		need(radius > 0, "domain")
		box := [2]line{extent(centre[0]-radius, centre[0]+radius), extent(centre[1]-radius, centre[1]+radius)}
		return area{kind: kind, axes: same, diameter: 2 * radius, box: box, centre: centre, radius: radius, clip: func(at point) point {
			a, b := at[0]-centre[0], at[1]-centre[1]
			share := radius / math.Hypot(a, b)
			if share < 1 {
				return point{centre[0] + float64(a*share), centre[1] + float64(b*share)}
			}
			return at
		}}
	case "parallelogram":
		fieldsOf(domain, "kind", "corner", "first", "second")
		return parallelogram(pairOf(domain["corner"]), pairOf(domain["first"]), pairOf(domain["second"]))
	}
	fieldsOf(domain, "kind", "radius")
	need(kind == "sphere", "domain")
	extent(0, real(domain["radius"]))
	need(real(domain["radius"]) > 0, "domain")
	return area{
		kind: kind,
		ends: [2]line{{true, 0, 360}, {false, -90, 90}},
		axes: func(at point) point { return point{at[0] + 180, at[1]} },
		clip: func(at point) point {
			if math.Abs(at[0]) > 180 {
				turned := math.Mod(at[0]+180, 360)
				if turned < 0 {
					turned += 360
				}
				at[0] = turned - 180
			}
			return point{at[0], clamp(at[1], -90, 90)}
		},
	}
}

// areaOf reads the area of a draw that has exactly these fields.
func areaOf(device object, fields ...string) area {
	fieldsOf(device, fields...)
	return readArea(device["domain"], device["outside"])
}

func parallelogram(corner, first, second point) area {
	size := float64(first[0]*second[1]) - float64(first[1]*second[0])
	lengths := math.Hypot(first[0], first[1]) * math.Hypot(second[0], second[1])
	extent(0, math.Hypot(first[0], first[1]))
	extent(0, math.Hypot(second[0], second[1]))
	need(math.Abs(size) > 1e-9*lengths, "domain")
	var box [2]line
	for i := range box {
		box[i] = extent(corner[i], corner[i]+first[i], corner[i]+second[i], corner[i]+(first[i]+second[i]))
	}
	exact := func(at point) point {
		p, q := at[0]-corner[0], at[1]-corner[1]
		return point{
			(float64(p*second[1]) - float64(q*second[0])) / size,
			(float64(q*first[0]) - float64(p*first[1])) / size,
		}
	}
	axes := func(at point) point {
		st := exact(at)
		return point{clamp(st[0], 0, 1), clamp(st[1], 0, 1)}
	}
	return area{
		kind: "parallelogram", axes: axes, box: box, ends: [2]line{{false, 0, 1}, {false, 0, 1}},
		diameter: max(math.Hypot(first[0]+second[0], first[1]+second[1]), math.Hypot(first[0]-second[0], first[1]-second[1])),
		clip: func(at point) point {
			away, st := exact(at), axes(at)
			if max(math.Abs(away[0]-st[0]), math.Abs(away[1]-st[1])) <= 1e-12 {
				return at
			}
			return point{
				corner[0] + float64(st[0]*first[0]) + float64(st[1]*second[0]),
				corner[1] + float64(st[0]*first[1]) + float64(st[1]*second[1]),
			}
		},
	}
}

// placeOf returns two finite numbers of a plain value.
func placeOf(value any) (at point, ok bool) {
	two, ok := value.([]any)
	if !ok || len(two) != 2 {
		return at, false
	}
	for i := range at {
		if at[i], ok = asNumber(two[i]); !ok || !finite(at[i]) {
			return at, false
		}
		at[i] += 0 // -0 is 0
	}
	return at, true
}

// A pathDraw is about a list of places: for each numbers, preceded by 1 for the first and 0 for the others,
// all equally wide.
type pathDraw struct {
	facts
	area    area
	size    int
	numbers func(at point, s source) []int64
}

func (d *pathDraw) input(value any) any {
	if path := d.area.path(value); path != nil {
		return path
	}
	return nil
}

// path returns the places of a list, moved into the area; nil for other values.
func (a area) path(value any) []point {
	given, _ := value.([]any)
	var path []point
	for i := range given {
		at, ok := placeOf(given[i])
		if !ok {
			return nil
		}
		path = append(path, a.clip(at))
	}
	return path
}

func (d *pathDraw) draw(input any, s source) []byte {
	var out []byte
	for i, at := range input.([]point) {
		first := int64(0)
		if i == 0 {
			first = 1
		}
		out = append(out, wide(d.size, append([]int64{first}, d.numbers(at, s)...)...)...)
	}
	return out
}

// readParts reads the two draws of a pair about given lines.
func readParts(device object, ends [2]line) (parts [2]*cellDraw, size int, most ratio) {
	for i, name := range []string{"first", "second"} {
		part := asObject(device[name])
		need(!has(part, "outside"), "fields")
		outside := "clip"
		if asObject(part["domain"])["kind"] == "circle" {
			outside = "wrap"
		}
		parts[i] = readCells(part, outside)
		need(parts[i].delta == nil, "draw")
		need(parts[i].line == ends[i], "domain")
	}
	most = ratio{times(parts[0].ratio.top, parts[1].ratio.top), times(parts[0].ratio.bottom, parts[1].ratio.bottom)}
	return parts, sizeOf(max(parts[0].cells, parts[1].cells)), most
}

func readPair(device object) drawing {
	place := areaOf(device, "domain", "draw", "outside", "first", "second")
	need(place.kind != "disk", "domain")
	parts, size, most := readParts(device, place.ends)
	return &pathDraw{facts{ratio: most, path: true}, place, size, func(at point, s source) []int64 {
		axes := place.axes(at)
		return cellsOf(parts, axes[0], axes[1], s)
	}}
}

func cellsOf(parts [2]*cellDraw, x, y float64, s source) []int64 {
	first := parts[0].cell(parts[0].line.moved(x), s)
	return []int64{first, parts[1].cell(parts[1].line.moved(y), s)}
}

// readPolar reads the distance from the centre of a disk, and the direction.
func readPolar(device object) drawing {
	disk := areaOf(device, "domain", "draw", "outside", "first", "second")
	need(disk.kind == "disk", "domain")
	parts, size, most := readParts(device, [2]line{{false, 0, disk.radius}, {true, 0, 2 * math.Pi}})
	return &polar{pathDraw{facts{ratio: most, path: true}, disk, size, func(at point, s source) []int64 {
		across, up := at[0]-disk.centre[0], at[1]-disk.centre[1]
		angle := math.Atan2(up, across)
		if angle < 0 {
			angle += 2 * math.Pi
		}
		return cellsOf(parts, min(math.Hypot(across, up), disk.radius), angle, s)
	}}}
}

// polar is about one place: a value is a path of one place, or the place itself. Its report has no mark of
// the first place.
type polar struct{ pathDraw }

func (d *polar) input(value any) any {
	if at, ok := placeOf(value); ok {
		return []point{d.area.clip(at)}
	}
	if path := d.area.path(value); len(path) == 1 {
		return path
	}
	return nil
}

func (d *polar) draw(input any, s source) []byte {
	return wide(d.size, d.numbers(input.([]point)[0], s)...)
}

func readNearest(device object) drawing {
	place := areaOf(device, "domain", "draw", "outside", "cells", "width", "step", "bits", "selector")
	axes := 2
	if place.kind == "sphere" {
		axes = 0
	}
	chosen := readSelector(device, axes)
	return &pathDraw{facts{ratio: chosen.window.ratio, path: true}, place, sizeOf(chosen.window.cells),
		func(at point, s source) []int64 { return []int64{chosen.draw(at[:], s)} }}
}

// box reports several numbers together: a value is a list in the order of the sides, or an object by their
// names.
type box struct {
	facts
	names    []string
	sides    []line
	selector selector
}

// readSides returns the names and the ends of the sides of a box.
func readSides(device object) (names []string, sides []line) {
	domain := fieldsOf(device["domain"], "kind", "sides")
	need(domain["kind"] == "box" && device["outside"] == "clip", "domain")
	for _, one := range asList(domain["sides"]) {
		side := asList(one)
		need(len(side) == 3 && !slices.Contains(names, asString(side[0])), "domain")
		names = append(names, asString(side[0]))
		sides = append(sides, lineOf(false, real(side[1]), real(side[2])))
	}
	need(len(names) >= 2 && len(names) <= 8, "domain")
	return names, sides
}

func readBox(device object) drawing {
	fieldsOf(device, "domain", "draw", "outside", "cells", "width", "step", "bits", "selector")
	d := &box{}
	d.names, d.sides = readSides(device)
	d.selector = readSelector(device, len(d.names))
	need(slices.Equal(d.sides, d.selector.box), "selector")
	d.ratio = d.selector.window.ratio
	return d
}

func (d *box) input(value any) any { return record(value, d.names, d.sides) }

// record returns the numbers of a list or of an object, moved into their sides; nil if one is missing.
func record(value any, names []string, sides []line) any {
	if by, ok := value.(object); ok {
		ordered := make([]any, len(names))
		for i, name := range names {
			ordered[i] = by[name]
		}
		value = ordered
	}
	given, ok := value.([]any)
	if !ok || len(given) != len(sides) {
		return nil
	}
	numbers := make([]float64, len(sides))
	for i, side := range sides {
		x, ok := asNumber(given[i])
		if !ok || !finite(x) && len(sides) > 1 {
			return nil
		}
		numbers[i] = side.moved(x)
	}
	return numbers
}

func (d *box) draw(input any, s source) []byte {
	return wide(sizeOf(d.selector.window.cells), d.selector.draw(input.([]float64), s))
}

// A selector is the rule from a value to its K nearest points: a box has axes, and a sphere three.
type selector struct {
	window near
	box    []line // nil of a sphere
	scales []int64
	grain  int64
	points [][]int64
}

func readSelector(device object, count int) selector {
	given := asObject(device["selector"])
	grid := given["kind"] == "grid"
	if grid {
		fieldsOf(given, "kind", "box", "scales", "grain", "per", "scale")
	} else {
		fieldsOf(given, "kind", "box", "scales", "grain", "points")
	}
	need(grid || given["kind"] == "points", "selector")
	need((count == 0) == (given["box"] == nil), "selector")
	r := selector{window: newNear(device), grain: 1 << integerIn(given["grain"], 0, 12)}
	axes := 3
	if count > 0 {
		axes = count
		need(len(asList(given["box"])) == count, "selector")
		for _, side := range asList(given["box"]) {
			ends := pairOf(side)
			r.box = append(r.box, lineOf(false, ends[0], ends[1]))
		}
	}
	need(len(asList(given["scales"])) == axes, "selector")
	for _, scale := range asList(given["scales"]) {
		r.scales = append(r.scales, integerIn(scale, 1, 511))
	}
	if grid {
		r.points = gridded(given, axes)
	} else {
		flat := unpack(given["points"])
		need(len(flat)%axes == 0, "selector")
		r.points = slices.Collect(slices.Chunk(flat, axes))
	}
	need(int64(len(r.points)) == r.window.cells, "selector")
	return r
}

func gridded(given object, axes int) [][]int64 {
	per, scale := asList(given["per"]), integerIn(given["scale"], 0, 1<<16)
	need(given["box"] != nil && len(per) == axes, "selector")
	counts, every := make([]int64, axes), int64(1)
	for i := range counts {
		counts[i] = integerIn(per[i], 1, 1<<16)
		every *= counts[i]
		need(every <= 1<<16, "selector")
	}
	points := make([][]int64, every)
	for j := range points {
		points[j] = make([]int64, axes)
		rest := int64(j)
		for i := axes - 1; i >= 0; i-- {
			ahead := (2*(rest%counts[i]) + 1 - counts[i]) * scale
			points[j][i] = min(1<<15+(ahead-mod(ahead, 2*counts[i]))/(2*counts[i]), 1<<16-1)
			rest /= counts[i]
		}
	}
	return points
}

// cellOf returns a number as one from 0 to 65535 along a side.
func cellOf(x float64, side line) int64 {
	return int64(clamp(math.Floor((x-side.low)/(side.high-side.low)*65536), 0, 1<<16-1))
}

func (r *selector) integers(at []float64) []int64 {
	clamped := func(x float64) int64 { return int64(clamp(math.Floor(x), 0, 1<<16-1)) }
	if r.box != nil {
		numbers := make([]int64, len(at))
		for i, side := range r.box {
			numbers[i] = cellOf(at[i], side)
		}
		return numbers
	}
	across, up := at[0]*(math.Pi/180), at[1]*(math.Pi/180)
	level := math.Cos(up)
	return []int64{
		clamped(float64(32767*(level*math.Cos(across))) + 32768.5),
		clamped(float64(32767*(level*math.Sin(across))) + 32768.5),
		clamped(float64(32767*math.Sin(up)) + 32768.5),
	}
}

func (r *selector) draw(at []float64, s source) int64 {
	own := r.integers(at)
	far := make([]int64, len(r.points))
	for i := range own {
		x := own[i] - own[i]%r.grain + r.grain/2
		for j := range r.points {
			gap := r.scales[i] * (x - r.points[j][i])
			far[j] += gap * gap
		}
	}
	order := func(a, b int64) int { return cmp.Compare(far[a], far[b]) }
	return r.window.draw(ranked(len(far), r.window.width, order), s)
}

// readPlanar reads noise in the plane that is added to the nearest point of a lattice.
func readPlanar(device object) drawing {
	place := areaOf(device, "domain", "draw", "outside", "origin", "spacing", "fall", "per", "reach")
	need(place.kind != "sphere", "domain")
	origin, spacing := pairOf(device["origin"]), real(device["spacing"])
	reach := integerIn(device["reach"], 1, 1<<53-1)
	need(spacing > 0 && float64(reach) >= math.Ceil(float64(place.diameter/spacing*(1+1e-9))+math.Sqrt2), "cells")
	fall, per := uint64(integerIn(device["fall"], 1, 1<<53-1)), uint64(integerIn(device["per"], 1, 1<<52))
	// The exponent is rational: fall·reach/per over the complete area.
	exponent := new(big.Rat).SetFrac(times(integer(int64(fall)), integer(reach)), integer(int64(per)))
	return &pathDraw{facts{ratio: noRatio, path: true, exponent: exponent}, place, 4, func(at point, s source) []int64 {
		offset := planarOffset(fall, per, s)
		for i := range offset {
			near := int64(math.RoundToEven((at[i]-origin[i])/spacing)) + offset[i]
			offset[i] = min(max(near, -math.MaxInt32), math.MaxInt32)
		}
		return offset
	}}
}

func planarOffset(fall, per uint64, s source) []int64 {
	heads := func(h, m uint64) bool {
		k := uint64(1)
		for s.word(m*k) < h {
			k++
		}
		return k&1 == 1
	}
	geometric := func() uint64 {
		low := s.word(per)
		for !heads(low, per) {
			low = s.word(per)
		}
		count := uint64(0)
		for heads(1, 1) {
			count++
		}
		return (low + per*count) / fall
	}
	for {
		g := geometric()
		g += geometric()
		g += geometric()
		right := int64(s.ticket(2*g+2)) - int64(g) - 1
		up := int64(s.ticket(2*g+4)) - int64(g) - 2
		square := plus(times(integer(right), integer(right)), times(integer(up), integer(up)))
		if square.Cmp(times(integer(int64(g)), integer(int64(g+2)))) <= 0 {
			return []int64{right, up}
		}
	}
}
