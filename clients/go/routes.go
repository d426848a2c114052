package dither

import (
	"cmp"
	"math"
	"slices"
)

// routes is the draw of a complete path: the K public paths nearest to the one next to it are likelier. See
// docs/wire.md.
type routes struct {
	facts
	window   near
	area     area
	scales   [2]int64
	points   int
	distance string
	byOrder  bool
	paths    [][]place
}

type place = [2]int64

const mostPlaces = 1 << 20 // places of a path

func readRoutes(device object) drawing {
	fieldsOf(device, "domain", "draw", "outside", "cells", "width", "step", "bits", "paths")
	domain := fieldsOf(device["domain"], "kind", "area", "points", "distance", "by")
	need(domain["kind"] == "routes", "domain")
	d := &routes{area: readArea(domain["area"], device["outside"]), window: newNear(device)}
	need(d.area.kind != "sphere", "domain")
	d.points = int(integerIn(domain["points"], 2, 64))
	d.distance = asString(domain["distance"])
	d.byOrder = domain["by"] == "order"
	need(slices.Contains([]string{"mean", "warped", "frechet"}, d.distance) && (d.byOrder || domain["by"] == "length"), "domain")
	box := d.area.box
	longest := max(box[0].high-box[0].low, box[1].high-box[1].low)
	for i, side := range box {
		d.scales[i] = max(1, int64(math.RoundToEven(256*(side.high-side.low)/longest)))
	}
	flat := unpack(device["paths"])
	need(int64(len(flat)) == 2*int64(d.points)*d.window.cells, "paths")
	for path := range slices.Chunk(flat, 2*d.points) {
		read := make([]place, d.points)
		for i := range read {
			read[i] = place{path[2*i], path[2*i+1]}
		}
		d.paths = append(d.paths, read)
	}
	d.ratio = d.window.ratio
	return d
}

func (d *routes) input(value any) any {
	path := d.area.path(value)
	if path == nil || len(path) > mostPlaces {
		return nil
	}
	own := make([]place, len(path))
	for i, at := range path {
		for axis, side := range d.area.box {
			own[i][axis] = cellOf(at[axis], side)
		}
	}
	return d.resampled(own)
}

// resampled returns places at equal shares of the sum of steps, each between the two locations of its step.
func (d *routes) resampled(path []place) []place {
	sums, last := make([]int64, len(path)), len(path)-1
	for i := 1; i <= last; i++ {
		sums[i] = sums[i-1] + 1
		if !d.byOrder {
			sums[i] = sums[i-1] + d.apart(path[i-1], path[i])
		}
	}
	found, parts, at := make([]place, d.points), int64(d.points-1), 0
	for i := range found {
		target := int64(i) * sums[last]
		for at < last-1 && sums[at+1]*parts <= target {
			at++
		}
		after := min(at+1, last)
		along, size := target-sums[at]*parts, (sums[after]-sums[at])*parts
		if size == 0 {
			along, size = 1, 1
		}
		for axis := range found[i] {
			found[i][axis] = (path[at][axis]*(size-along) + path[after][axis]*along) / size
		}
	}
	return found
}

func (d *routes) apart(one, other place) int64 {
	x, y := d.scales[0]*(one[0]-other[0]), d.scales[1]*(one[1]-other[1])
	return int64(math.Sqrt(float64(x*x + y*y))) // exact: below 2^50
}

func (d *routes) far(one, other []place) (sum int64) {
	if d.distance == "mean" {
		for i := range one {
			sum += d.apart(one[i], other[i])
		}
		return sum
	}
	row := make([]int64, d.points) // the distances to the last place, and then those to the present one
	for i := range one {
		corner := int64(math.MaxInt64)
		for j := range row {
			before := corner // i − 1, j − 1
			corner = row[j]
			if i > 0 {
				before = min(before, row[j])
			} else {
				corner = math.MaxInt64
			}
			if j > 0 {
				before = min(before, row[j-1])
			}
			step := d.apart(one[i], other[j])
			switch {
			case i+j == 0:
				row[j] = step
			case d.distance == "frechet":
				row[j] = max(step, before)
			default:
				row[j] = step + before
			}
		}
	}
	return row[d.points-1]
}

func (d *routes) nearest(path []place) []int64 {
	away := make([]int64, len(d.paths))
	for j := range d.paths {
		away[j] = d.far(path, d.paths[j])
	}
	return ranked(len(away), d.window.width, func(a, b int64) int { return cmp.Compare(away[a], away[b]) })
}

func (d *routes) draw(input any, s source) []byte {
	next := d.nearest(input.([]place))[0]
	return wide(sizeOf(d.window.cells), d.window.draw(d.nearest(d.paths[next]), s))
}
