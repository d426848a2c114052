"""Vectors of specifications that every device must refuse, and of certified bounds of e^ε.

`python -m tests.conformance.refused` writes clients/conformance/2/refused.json and
clients/conformance/2/bounds.json anew.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import dither as dt
from dither.core.question import ask
from dither.extensions.classifiers.indicator import RawRelease
from dither.privacy.exact import exp_above, exp_below
from tests.conformance.draws import DISK, SLANTED, nearest
from tests.support.repository import ROOT
from tests.support.travel import changed

FOLDER: Final = ROOT / "clients" / "conformance" / "2"
REFUSED, BOUNDS = FOLDER / "refused.json", FOLDER / "bounds.json"

LINE, CIRCLE = dt.Interval(-3, 7.5), dt.Circle(360)
WORDS = dt.Categories(["firefox", "chrome", "safari", "other"])
CODES: Final = {"kind": "categories", "count": 4}
MISSING: Final = object()


def _base() -> dict[str, Any]:
    spare = dt.Podium(dt.Nullable(LINE), epsilon=0.3)
    return {
        "window": dt.Podium(LINE, epsilon=1),
        "circle": dt.OGPM(CIRCLE, epsilon=1),
        "steps": dt.Optimal(LINE, epsilon=1),
        "knots": dt.Optimal(LINE, epsilon=1, unbiased=True),
        "mixture": dt.Hybrid(LINE, epsilon=1),
        "response": dt.KRR(WORDS, epsilon=1),
        "bits": dt.OUE(dt.Categories(37), epsilon=2),
        "hashed": dt.OLH(dt.Categories(5000), epsilon=2),
        "prefix": dt.PEM(dt.Text(4), epsilon=2),
        "hadamard": dt.HadamardResponse(dt.Categories(100), epsilon=1),
        "lattice": dt.Laplace(LINE, epsilon=1),
        "subset": dt.SubsetSelection(dt.Categories(20), epsilon=1),
        "largest subset": dt.SubsetSelection(dt.Categories(1 << 16), epsilon=1),
        "several": dt.SetResponse(dt.Several(20, most=3), epsilon=1),
        "polynomial": dt.SetResponse(dt.Several(1000, most=4), epsilon=1),  # 1 009 is prime
        "optional": dt.Podium(dt.Nullable(LINE), epsilon=1),
        "optional, ε to spare": ask(
            spare.domain,
            spare.question.kernel,
            spare.question.book,
            epsilon=1.0,
            name="Podium",
            parameters={"epsilon": 1.0},
        ),
        "optional circle": dt.OGPM(dt.Nullable(dt.Circle(360)), epsilon=1),
        "nearest": nearest()["disk"],
        "equal points": nearest()["equal points"],
        "listing": nearest()["listing"],
        "box": nearest()["box"],
        "sectors": dt.rivals.Sectors(CIRCLE, epsilon=1),
        "fine cells": dt.PM(LINE, epsilon=1, cells=1 << 20),
        "pair": dt.TraCSC(dt.Rectangle(LINE, dt.Interval(0, 1)), epsilon=2),
        "pair, slanted": dt.TraCSC(SLANTED, epsilon=2),
        "pair, sphere": dt.TraCSC(dt.Sphere(), epsilon=2),
        "walk": dt.TraCSD(dt.Rectangle(LINE, dt.Interval(0, 1)), epsilon=2),
        "walk, disk": dt.TraCSD(DISK, epsilon=2),
        "walk, slanted": dt.TraCSD(SLANTED, epsilon=2),
    }


def _more(text: str) -> str:
    """Return a step that is larger by one part in 2^20."""
    return format(int(text, 16) + (int(text, 16) >> 20) + 1, "x")


# base, the places in the device text, what is put there (a function is applied), why it must be refused
DEVICE: Final[tuple[tuple[str, str, Any, str], ...]] = (
    ("window", "step", _more, "the integers spend more than ε"),
    ("window", "step", "0", "the step is 0: nothing would be told, or all of it"),
    ("window", "step", 1 << 50, "a JSON number for hexadecimal text"),
    ("window", "step", str.upper, "hexadecimal digits are lower case"),
    ("window", "step", lambda text: "0" + text, "a leading zero"),
    ("window", "step", "f" * 24, "the step is larger than the word"),
    ("window", "step", "-1", "a sign"),
    ("window", "step", "", "an empty number"),
    ("window", "step", "٣", "digits of another script"),
    ("window", "bits", 63, "words have 64 or 96 bits"),
    ("window", "bits", 128, "words have 64 or 96 bits"),
    ("window", "bits", "64", "a text for a number"),
    ("window", "width", 0, "a window without cells"),
    ("window", "width", 65536, "a window of all cells"),
    ("window", "width", -1, "a negative width"),
    ("window", "width", 28.5, "a fraction for a whole number"),
    ("window", "width", "28", "a text for a number"),
    ("window", "width", True, "a truth value for a number"),
    ("window", "width", lambda width: width + 1000, "a wider window spends more than ε"),
    ("window", "cells", 65535, "the number of cells is a power of two"),
    ("window", "cells", 1 << 33, "more than 2^32 cells"),
    ("window", "cells", 1 << 17, "more cells under the same step spend more than ε"),
    ("window", "cells", None, "null for a number"),
    ("window", "cells", MISSING, "a field is missing"),
    ("window", "note", "x", "a field that nobody knows"),
    ("window", "start", MISSING, "the start rule is missing"),
    ("window", "start", [], "the start rule is a list"),
    ("window", "start.kind", "curve", "a start rule that nobody knows"),
    ("window", "start.scale", 0, "a scale of 0"),
    ("window", "start.scale", -1, "a negative scale"),
    ("window", "start.scale", 1e308, "starts beyond all integers"),
    ("window", "start.scale", "1", "a text for a number"),
    ("window", "start.origin", 1e308, "starts beyond all integers"),
    ("window", "start.origin", None, "null for a number"),
    ("window", "start.fraction", 31, "more than 30 bits of rounding"),
    ("window", "start.fraction", -1, "a negative number of bits"),
    ("window", "start.fraction", 10**14, "more than 30 bits of rounding"),
    ("window", "start.last", -1, "a negative last start"),
    ("window", "start.last", 0.5, "a fraction for a whole number"),
    ("window", "domain", MISSING, "the domain is missing"),
    ("window", "domain.kind", "line", "a domain that nobody knows"),
    ("window", "domain.kind", "circle", "a circle with the fields of an interval"),
    ("window", "domain.high", -3, "an interval without length"),
    ("window", "domain.high", -4, "an interval whose ends are exchanged"),
    ("window", "domain.high", "7.5", "a text for a number"),
    ("window", "domain.high", 1e300, "a domain beyond 1e30"),
    ("window", "domain", CODES, "a window on a list of answers"),
    ("window", "domain.step", 1, "a field that nobody knows, in the domain"),
    ("window", "outside", "drop", "a dropped answer tells"),
    ("window", "outside", "wrap", "an interval does not wrap"),
    ("window", "outside", MISSING, "what to do outside is missing"),
    ("window", "draw", "windows", "a draw that nobody knows"),
    ("window", "draw", "constructor", "a draw that is a name of the language"),
    ("window", "draw", "__proto__", "a draw that is a name of the language"),
    ("window", "draw", ["sliding"], "a list for a text"),
    ("window", "start.last", (1 << 31) - (1 << 15) + 1, "a start beyond 2^31 - 2^fraction"),
    ("window", "start.last", 1 << 52, "a start beyond 2^31 - 2^fraction"),
    ("window", "start.fraction", 30, "a start beyond 2^31 - 2^fraction"),
    ("window", "start.scale", (1 << 31) / 10.5, "an end at 2^31"),
    ("fine cells", "start.last", (1 << 52) - (1 << 15) + 1, "a start beyond 2^52 - 2^fraction"),
    ("fine cells", "start.scale", (1 << 52) / 10.5, "an end at 2^52"),
    (
        *("circle", "start", lambda rule: rule | {"fraction": 30, "scale": 0.9 * (1 << 31) / 360}),
        "starts that are not clamped, beyond 2^31 - 2^fraction",
    ),
    ("circle", "domain.period", 0, "a circle without length"),
    ("circle", "domain.period", -360, "a negative period"),
    ("circle", "outside", "clip", "a circle has no ends"),
    ("circle", "start.scale", 1e17, "starts beyond all integers"),
    ("steps", "start.starts", lambda starts: starts[:-1], "a count without a start"),
    ("steps", "start.counts", lambda counts: [0, *counts[1:]], "a start that stands nowhere"),
    ("steps", "start.counts", lambda counts: [10**14, *counts[1:]], "a table of 10^14 entries"),
    ("steps", "start.starts", lambda starts: [-1, *starts[1:]], "a start below 0"),
    ("steps", "start.starts", lambda starts: [1 << 32, *starts[1:]], "a start beyond the cells"),
    ("steps", "start.starts", {}, "an object for a list"),
    ("knots", "start.bits", lambda text: text[:-2], "a bit for each knot is missing"),
    ("knots", "start.bits", lambda text: text + "00", "more bits than knots"),
    ("knots", "start.first", -1, "a knot below 0"),
    ("knots", "start.pieces", lambda pieces: [[10**14, 1], *pieces], "a table of 10^14 entries"),
    ("knots", "start.pieces", lambda pieces: [[*pieces[0], 1], *pieces[1:]], "a piece of three numbers"),
    ("knots", "start.pieces", lambda pieces: [[9, 1 << 40], *pieces[1:]], "knots beyond the cells"),
    ("mixture", "draw", ["mixture"], "a list for a text"),
    ("mixture", "first.start.last", (1 << 31) - (1 << 15) + 1, "a start beyond 2^31 - 2^fraction"),
    ("mixture", "heads", 1 << 32, "a probability above 1"),
    ("mixture", "heads", -1, "a probability below 0"),
    ("mixture", "heads", "1", "a text for a number"),
    ("mixture", "first.draw", "response", "a mixture of other draws"),
    ("mixture", "first.step", _more, "the first window spends more than ε"),
    ("mixture", "second.step", _more, "the second window spends more than ε"),
    ("mixture", "second", MISSING, "a part is missing"),
    ("response", "cells", 3, "fewer cells than categories"),
    ("response", "cells", 5, "more cells than categories"),
    ("response", "width", 2, "categories have a width of 1"),
    ("response", "step", lambda text: format(int(text, 16) // 2, "x"), "the integers spend more than ε"),
    ("response", "domain.labels", ["a", "a", "b", "c"], "a label that stands twice"),
    ("response", "domain.labels", "abcd", "a text for a list"),
    ("response", "domain.labels", [], "a list without labels"),
    ("response", "domain.labels", ["a", "b", "c", 0.5], "a fraction that is not written as a number"),
    ("response", "domain.labels", ["a", "b", "c", 1e300], "a label beyond 2^53"),
    ("response", "domain.labels", ["a", "b", "c", 2.0**53], "a label of 2^53"),
    ("response", "domain.labels", ["a", "b", True, 1], "true is 1"),
    ("response", "domain.labels", ["a", "b", 0, False], "false is 0"),
    ("response", "domain.labels", ["a", "b", True, {"number": 1}], "true is 1"),
    ("response", "domain.labels", ["a", "b", 1, {"number": 1}], "two labels that are 1"),
    ("response", "domain.labels", ["a", "b", "c", {"number": "1"}], "a text for a number"),
    ("response", "domain.labels", ["a", "b", "c", {"number": 1, "valueOf": 1}], "a field that nobody knows"),
    ("response", "domain.labels", ["a", "b", "c", ["d"]], "a list for a label"),
    ("response", "domain.labels", ["a", "b", "c", {}], "an object for a label"),
    ("response", "domain.labels", ["a", "b", "c", {"integer": "1f"}], "a small whole number as a large one"),
    (
        *("response", "domain.labels", ["a", "b", {"integer": "20000000000000"}, {"number": 2.0**53}]),
        "two labels that are 2^53",
    ),
    ("response", "outside", "clip", "a list has no ends"),
    ("sectors", "width", 0, "blocks without cells"),
    ("sectors", "width", 3, "a width that is no power of two"),
    ("sectors", "width", lambda width: width * 2, "fewer blocks under the same step spend more than ε"),
    ("sectors", "cells", lambda cells: cells + 1, "cells that are no whole blocks"),
    ("sectors", "cells", 1 << 33, "more than 2^32 cells"),
    ("sectors", "start.fraction", 1, "a start that is rounded at random"),
    ("sectors", "start.kind", "steps", "a table of starts"),
    ("sectors", "draw", ["sectors"], "a list for a text"),
    ("pair", "first.domain.low", -4, "another domain than the side's"),
    ("pair", "second.domain.high", 2, "another domain than the side's"),
    ("pair", "second.domain", {"kind": "circle", "period": 1}, "a circle for a side"),
    ("pair", "domain.x.high", 1e31, "a side beyond 1e30"),
    ("pair", "domain.x.low", 8, "an interval whose ends are exchanged"),
    ("pair", "first.outside", "clip", "a rule that parts do not have"),
    ("pair", "first.draw", ["sliding"], "a list for a text"),
    ("pair", "first.draw", "response", "a part about categories"),
    ("pair, slanted", "first.domain.high", 2, "another domain than 0 to 1"),
    ("pair, slanted", "domain.corner", [1e31, 0], "a corner beyond 1e30"),
    ("pair, slanted", "domain.corner", [1e30, 0], "a corner so far that rounding makes a side empty"),
    ("pair, slanted", "domain.first", [2e30, 0], "a side beyond 1e30"),
    ("pair, slanted", "domain.second", [0, 1e-31], "a side below 1e-30"),
    ("pair, slanted", "domain.second", [4, 2], "parallel sides"),
    ("pair, sphere", "first.domain.period", 361, "another domain than a circle of 360"),
    ("pair, sphere", "second.domain.high", 91, "another domain than -90 to 90"),
    ("pair, sphere", "domain.radius", 1e31, "a radius beyond 1e30"),
    ("pair, sphere", "domain.radius", -1, "a negative radius"),
    ("walk", "first.domain.period", 6, "another domain than a circle of 2π"),
    ("walk", "second.domain.high", 2, "another domain than 0 to 1"),
    ("walk", "start", [9, 0], "a start outside of the area"),
    ("walk", "start", [0, 0, 0], "a start of three numbers"),
    ("walk", "domain.y.low", -1.1e30, "a side beyond 1e30"),
    ("walk", "codebooks", lambda books: books[:1], "one codebook of two"),
    ("walk", "codebooks", lambda books: [{"runs": [3], "values": [0]}, books[1]], "a codebook of 3 cells"),
    ("walk", "reference", "last", "a reference that nobody knows"),
    ("walk, disk", "start", [4, -1], "a start outside of the area"),
    ("walk, disk", "domain.radius", 1e31, "a radius beyond 1e30"),
    ("walk, disk", "domain.radius", 1e-31, "a radius below 1e-30"),
    ("walk, disk", "domain.centre", [1e31, 0], "a centre beyond 1e30"),
    ("walk, slanted", "start", [0, 2], "a start outside of the area"),
    ("walk, slanted", "domain.first", [1e300, 0], "a side beyond 1e30"),
    ("bits", "own", _more, "the own bit is likelier than ε allows"),
    ("bits", "other", "0", "a bit that is never 1 tells everything"),
    ("bits", "own", "f" * 33, "a probability above 1"),
    ("bits", "size", 36, "fewer bits than categories"),
    ("bits", "size", 1 << 30, "more bits than categories"),
    ("bits", "domain.count size", (1 << 24) + 1, "more than 2^24 bits"),
    ("hashed", "hash", "affine 2", "a hash family that nobody knows"),
    ("hashed", "buckets", 1, "one bucket"),
    ("hashed", "buckets", 65537, "more than 2^16 buckets"),
    ("hashed", "buckets", lambda buckets: buckets - 1, "fewer buckets under the same step spend more than ε"),
    ("prefix", "ends", [1, 2, 4, 3], "lengths of prefixes that do not increase"),
    ("prefix", "shares", [11, 15, 22], "levels without a share of the people"),
    ("prefix", "shares", [11, 15, 0, 22], "a level without people"),
    ("prefix", "shares", [11, 15, 16, 65_537], "a share above 2^16"),
    ("prefix", "shares", [], "no shares of the people"),
    ("hadamard", "order", 127, "the order is a power of two"),
    ("hadamard", "order", 64, "fewer rows than categories"),
    ("hadamard", "heads", _more, "the integers spend more than ε"),
    ("several", "heads", _more, "the integers spend more than ε"),
    ("several", "heads", "1", "sets that meet the person's are the less likely ones"),
    ("several", "chosen", 0, "nothing is told"),
    ("several", "chosen", 21, "more elements than items"),
    ("several", "chosen", 1, "the integers are those of two elements"),
    ("several", "least", 0, "every set would meet the person's"),
    ("several", "least", 3, "more elements must meet than are told"),
    ("several", "outside", "clip", "items have no nearest one"),
    ("several", "domain.most", 0, "nobody could tell about an item"),
    ("several", "domain.most", 21, "people with more items than there are"),
    ("several", "domain.most", 2, "the integers are those of larger sets"),
    ("several", "domain.most", "3", "a text for a number"),
    ("several", "domain.most", MISSING, "it is not said how many items a person tells about"),
    ("several", "domain.kind", "categories", "one answer for a set"),
    ("several", "domain.more", 1, "a field that nobody knows"),
    ("several", "domain.labels", ["a", "b"], "a count and labels"),
    ("several", "domain.count", 1, "a single item"),
    ("polynomial", "heads", _more, "the integers spend more than ε"),
    ("polynomial", "heads", "1", "polynomials that meet the person's set are the less likely ones"),
    ("polynomial", "prime", 1005, "a number that is not prime: some sets are met more often than others"),
    ("polynomial", "prime", 997, "fewer numbers than items and dummies"),
    ("polynomial", "prime", 1013, "the integers are those of another prime"),
    ("polynomial", "prime", 2097169, "a prime beyond 2^21"),
    ("polynomial", "below", 0, "no polynomial has an item"),
    ("polynomial", "below", 1009, "every polynomial has every item"),
    ("polynomial", "below", lambda below: below - 1, "fewer polynomials meet a set under the same coin"),
    ("polynomial", "terms", 4, "items that the person does not have depend on those that they have"),
    ("polynomial", "terms", 7, "more coefficients than pairs need"),
    ("polynomial", "terms", 1 << 40, "a polynomial of 10^12 coefficients"),
    ("polynomial", "terms", MISSING, "it is not said how many coefficients there are"),
    ("polynomial", "domain.most", 3, "the integers are those of larger sets"),
    ("polynomial", "domain.kind", "categories", "one answer for a set"),
    ("polynomial", "outside", "clip", "items have no nearest one"),
    ("polynomial", "chosen", 1, "a field of another draw"),
    ("optional", "step", _more, "the integers spend more than ε"),
    ("optional, ε to spare", "width", 40_000, "windows that wrap around fewer cells than they have"),
    ("optional", "width", 65535, "windows that wrap around a single cell"),
    ("optional", "cells", 1 << 17, "more cells than a report of two bytes tells"),
    ("optional", "cells", 60000, "the number of cells is a power of two"),
    ("optional", "draw", "sliding", "the draw of numbers that are never missing"),
    ("optional", "outside", "wrap", "numbers of an interval are not turned"),
    ("optional", "start.kind", "knots", "a start rule with tables"),
    ("optional", "start.scale", 1e300, "starts beyond all integers"),
    ("optional", "domain.kind", "interval", "numbers that are never missing"),
    ("optional", "domain.of.kind", "optional", "what is optional already"),
    ("optional", "domain.of", {"kind": "categories", "count": 4}, "categories have one more instead"),
    ("optional", "domain.of.high", -4, "an empty interval"),
    ("optional", "domain.more", 1, "a field that nobody knows"),
    ("optional", "domain.of", MISSING, "it is not said what is optional"),
    ("optional circle", "outside", "clip", "angles are not clipped"),
    ("window", "draw", "optional", "the draw of numbers that may be missing"),
    ("subset", "chosen", 0, "an empty set"),
    ("subset", "chosen", 20, "a set of all categories"),
    ("subset", "heads", _more, "the integers spend more than ε"),
    ("subset", "size", 19, "fewer elements than categories"),
    ("largest subset", "domain.count size chosen", lambda n: n + 1, "sets of more than 2^16 categories"),
    ("lattice", "lattice.fraction", 10**14, "a fraction of 10^14 bits"),
    ("lattice", "lattice.last", 10**14, "a lattice of 10^14 places"),
    ("lattice", "lattice.last", lambda last: last // 2, "a start rule that leads beyond the lattice"),
    ("lattice", "lattice.noise.reach", 10**14, "noise that reaches 10^14 steps"),
    ("lattice", "lattice.noise.reach", 0, "noise without a step"),
    ("lattice", "lattice.noise.base", "0", "a base of 0"),
    ("lattice", "lattice.noise.base", "1" + "0" * 64, "a base of 1"),
    ("lattice", "lattice.noise.base", _more, "the digest of other weights"),
    ("lattice", "lattice.noise.digest", "0" * 16, "the digest of other weights"),
    ("lattice", "lattice.noise.decay", "cubic", "a decay that nobody knows"),
    ("lattice", "lattice.kind", "open", "a lattice that nobody knows"),
    ("lattice", "start.scale", 1e308, "starts beyond all integers"),
    ("lattice", "start.last", None, "starts that are not clamped to the lattice"),
    ("lattice", "start.fraction", 3, "another rounding than the lattice's"),
    ("nearest", "step", _more, "the integers spend more than ε"),
    ("nearest", "width", 8, "more likelier points under the same step spend more than ε"),
    ("nearest", "width", 25, "all points are likelier"),
    ("nearest", "width", 26, "more likelier points than points"),
    ("nearest", "cells", 26, "more numbers than points"),
    ("nearest", "cells", 24, "fewer numbers than points"),
    ("nearest", "selector", MISSING, "the selector is missing"),
    ("nearest", "selector.kind", "ring", "a selector that nobody knows"),
    ("nearest", "selector.kind", "points", "points with the fields of a grid"),
    ("nearest", "selector.per", [25], "one axis of two"),
    ("nearest", "selector.per", [5, 5, 1], "three axes of two"),
    ("nearest", "selector.per", [0, 5], "an axis without points"),
    ("nearest", "selector.per", [65536, 65536], "more than 2^16 points"),
    ("nearest", "selector.per", [2.5, 10], "a fraction for a whole number"),
    ("nearest", "selector.scale", 65537, "points outside the box"),
    ("nearest", "selector.scale", -1, "a negative scale"),
    ("nearest", "selector.scales", [1, 512], "a scale beyond 2^9"),
    ("nearest", "selector.scales", [0, 1], "a scale of 0"),
    ("nearest", "selector.scales", [1], "the scale of an axis is missing"),
    ("nearest", "selector.scales", [1, 1, 1], "the scale of no axis"),
    ("nearest", "selector.grain", 13, "a grain of 13 bits"),
    ("nearest", "selector.grain", -1, "a negative grain"),
    ("nearest", "selector.box", None, "a disk without a box"),
    ("nearest", "selector.box", [[0, 1]], "one side of two"),
    ("nearest", "selector.box", [[0, 1], [1, 1]], "an empty side"),
    ("nearest", "selector.box", [[0, 1], [0, 1e31]], "a side beyond 1e30"),
    ("nearest", "selector.box", [[0, 1], [0, 1, 2]], "a side of three numbers"),
    ("nearest", "selector.box", [[0, 1], ["0", 1]], "a text for a number"),
    ("nearest", "selector.note", 1, "a field that nobody knows, in the selector"),
    ("nearest", "domain", CODES, "points on a list of answers"),
    ("nearest", "domain.radius", -1, "a negative radius"),
    ("nearest", "outside", "refuse", "an area has a border"),
    ("equal points", "selector.points", lambda text: text[4:], "half a point"),
    ("equal points", "selector.points", lambda text: text + "00000000", "more points than numbers"),
    ("equal points", "selector.points", lambda text: text[:-1] + "G", "a letter that is no digit"),
    ("equal points", "selector.points", lambda text: text[:-4] + "FFFF", "hexadecimal digits are lower case"),
    ("equal points", "selector.points", lambda text: text + "\n", "a line's end"),
    ("equal points", "selector.points", "", "no points"),
    ("equal points", "selector.points", [], "a list for a text"),
    ("nearest", "domain.radius", 1e31, "a radius beyond 1e30"),
    ("nearest", "domain.centre", [1e30, 0], "a centre so far that rounding makes a side empty"),
    ("box", "step", _more, "the integers spend more than ε"),
    ("box", "cells", 25, "more numbers than points"),
    ("box", "width", 6, "more likelier points under the same step spend more than ε"),
    ("box", "draw", ["box"], "a list for a text"),
    ("box", "outside", "refuse", "numbers are moved to the nearer end"),
    ("box", "domain.kind", "profile", "numbers for categories"),
    ("box", "domain.sides", [], "no sides"),
    ("box", "domain.sides", lambda sides: sides[:2], "two sides, and three of the selector"),
    ("box", "domain.sides", lambda sides: [*sides[:2], ["age", 0, 24]], "a name that stands twice"),
    ("box", "domain.sides", lambda sides: [*sides[:2], [1, 0, 24]], "a number for a name"),
    ("box", "domain.sides", lambda sides: [*sides[:2], ["sleep", 0, 25]], "another side than the selector's"),
    ("box", "domain.sides", lambda sides: [*sides[:2], ["sleep", 0, 24, 1]], "a side of four parts"),
    ("box", "domain.sides", lambda sides: [*sides[:2], ["sleep", 0]], "a side of two parts"),
    ("box", "domain.sides", lambda sides: [*sides[:2], ["sleep", "0", 24]], "a text for a number"),
    ("box", "domain.sides", {}, "an object for a list"),
    ("box", "domain.more", 1, "a field that nobody knows"),
    ("box", "selector.box", None, "a box without its sides"),
    ("box", "selector.box", lambda box: [*box[:2], [0, 1e31]], "a side beyond 1e30"),
    ("box", "selector.box", lambda box: [box[1], box[0], box[2]], "sides in another order"),
    ("box", "selector.scales", [1, 1], "the scale of an axis is missing"),
    ("box", "selector.per", [3, 8], "two axes of three"),
    ("listing", "lists", lambda text: "0000" + text[:4] + text[8:], "a number that stands twice in a list"),
    ("listing", "lists", lambda text: "0004" + text[4:], "a number beyond N"),
    ("listing", "lists", lambda text: text[4:], "a list that is too short"),
    ("listing", "lists", lambda text: text + text[:8], "a list of no category"),
    ("listing", "width", 1, "two lists for each category"),
    ("listing", "cells", 5, "more numbers under the same step spend more than ε"),
    ("listing", "step", _more, "the integers spend more than ε"),
    ("listing", "outside", "clip", "a list has no ends"),
)  # fmt: skip

WHOLE: Final[tuple[tuple[str, str, Any, str], ...]] = (
    ("window", "dither", 3, "a version that nobody knows"),
    ("window", "dither", "2", "a text for the version"),
    ("window", "dither", True, "a truth value for the version"),
    ("window", "dither", MISSING, "the version is missing"),
    ("window", "mechanism", [], "a list for the mechanism"),
    ("window", "mechanism", MISSING, "the mechanism is missing"),
    ("lattice", "mechanism", "Purkayastha", "a name of another kind of lattice"),
    ("lattice", "mechanism", "Gaussian", "a name of another kind of noise"),
    ("window", "fingerprint", "0" * 32, "the fingerprint of another text"),
    ("window", "fingerprint", str.upper, "hexadecimal digits are lower case"),
    ("window", "fingerprint", lambda text: text[:16], "a short fingerprint"),
    ("window", "device", lambda text: " " + text, "a text that is not canonical"),
    ("window", "device", json.loads, "an object for a text"),
    ("window", "device", "[]", "a device text that is a list"),
    ("window", "parameters", None, "parameters are missing"),
    ("window", "parameters.epsilon", 0.9, "the integers spend more than ε"),
    ("lattice", "parameters.epsilon", 0.9, "the integers spend more than ε"),
    ("window", "parameters.epsilon", "1", "a text for ε"),
    ("window", "parameters.epsilon", True, "a truth value for ε"),
    ("window", "parameters.epsilon", [1.0], "a list for ε"),
    ("window", "parameters.epsilon", None, "ε is missing"),
    ("window", "parameters.epsilon", 0, "an ε of 0"),
    ("window", "parameters.epsilon", -1, "a negative ε"),
    ("window", "parameters.epsilon", 51, "an ε above 50"),
    ("window", "parameters.epsilon", 1 << 200, "an ε of 2^200"),
)


def put(data: dict[str, Any], place: str, value: Any) -> None:
    *outer, last = place.split(".")
    for name in outer:
        data = data[name]
    if value is MISSING:
        del data[last]
    else:
        data[last] = value(data[last]) if callable(value) else value


def _texts(good: str) -> Iterator[tuple[str, str]]:
    """Yield whole texts that are no specification, and why."""
    yield "", "an empty text"
    yield "null", "not an object"
    yield "[]", "not an object"
    yield "{}", "nothing in it"
    yield good[:-1], "a text that was cut"
    yield "[" * 10_000, "very many brackets"
    yield good.replace('"epsilon": 1.0', '"epsilon": NaN'), "NaN"
    yield good.replace('"epsilon": 1.0', '"epsilon": 1e999'), "an infinite ε"
    yield '{"dither": 2, "mechanism": ' + "9" * 10_000 + "}", "an integer of 10 000 digits"


def _composed() -> Iterator[tuple[str, str, str]]:
    """Yield the name of a draw that does not travel, a specification of it, and why it is refused."""
    age, mood = dt.Podium(LINE, epsilon=1), dt.KRR(WORDS, epsilon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawRelease)
        raw = dt.classifiers.Indicator(age, delta=0.001, allow_raw_release=True)
    several = "several attributes travel as one question each"
    for made, reason in (
        (dt.Each(age=age, mood=mood), several),
        (dt.Sampled(age=age, mood=mood), several),
        (raw, "a device that sends raw records"),
    ):
        kind = type(made).__name__
        for mechanism in (kind, "Podium"):
            whole = json.loads(age.to_json()) | {
                "mechanism": mechanism,
                "device": made.device_text,
                "fingerprint": made.fingerprint,
            }
            yield f"{kind} as {mechanism}", json.dumps(whole), reason


def refused() -> list[dict[str, str]]:
    """Return specifications that must be refused, with the reason."""
    bases = _base()
    made = []
    for kind, rows in (("device", DEVICE), ("whole", WHOLE)):
        for base, place, value, reason in rows:

            def change(data: dict[str, Any], place: str = place, value: Any = value) -> None:
                for one in place.split(" "):
                    put(data, one, value)

            text = changed(bases[base], **{kind: change})
            made.append({"name": f"{base}: {place}", "reason": reason, "specification": text})
    made += [
        {"name": "text", "reason": reason, "specification": text}
        for text, reason in _texts(bases["window"].to_json())
    ]
    made += [{"name": name, "reason": reason, "specification": text} for name, text, reason in _composed()]
    return made


def bounds() -> list[dict[str, Any]]:
    """Return certified bounds of e^ε: whole numbers, over 2^320."""
    picked = random.Random("bounds")
    epsilons = [
        1e-6,
        0.001,
        0.01,
        0.1,
        0.25,
        0.5,
        0.6931471805599453,
        1,
        1.0986122886681098,
        2,
        3,
        5,
        10,
        20,
        50,
    ]
    epsilons += [picked.uniform(0, 10) for _ in range(85)]
    made = []
    for epsilon in epsilons:
        below, above = exp_below(Fraction(epsilon)), exp_above(Fraction(epsilon))
        lowest, highest = below * (1 << 320), above * (1 << 320)
        assert lowest.denominator == highest.denominator == 1
        made.append({"epsilon": epsilon, "below": f"{int(lowest):x}", "above": f"{int(highest):x}"})
    return made


def text(name: str, rows: list[dict[str, Any]]) -> str:
    """Return rows as the text of a file."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in rows)
    return f'{{"dither": 2, "{name}": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    REFUSED.write_text(text("refused", refused()), encoding="utf-8")
    BOUNDS.write_text(text("bounds", bounds()), encoding="utf-8")
