"""The search for point masses ("atoms"): their number, locations and weights.

At a mode, an atom at x with weight w changes the log-likelihood by s·w − v·w²/2 to second order. Here s is
the score, and v is the information about w after the bins have adapted. The gain in evidence is the integral
of the likelihood ratio over w under its prior. An atom is added at the location with the largest gain. The
path is followed again, and the atom is kept if the evidence of the complete model rose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from dither.core.kernels.transition import Operator
from dither.core.question import NumberQuestion
from dither.estimation.density import ATOM_CENTRE, ATOM_SPREAD, DensityMode, DensityModel, Path, climb_to_mode
from dither.foundation.arrays import Floats
from dither.foundation.numerics.matrices import dot, solve_lower, solve_upper

_WEIGHT_STEPS: Final = 6


def without_atom(model: DensityModel, mode: DensityMode, number: int | None) -> tuple[Floats, float]:
    """Return the distribution of all reports except those of one atom, and the atom's weight."""
    if number is None:
        return mode.expected, 0.05
    weight = float(mode.shares[model.bins + number])
    rest = np.maximum(mode.expected - weight * model.atoms[:, number], 1e-300) / max(1.0 - weight, 1e-9)
    return rest, weight


def best_height(counts: Floats, rest: Floats, law: Floats, weight: float) -> float:
    """Return the log-likelihood of reports when an atom with distribution `law` has its best weight."""
    for _ in range(_WEIGHT_STEPS):
        ratio = (law - rest) / ((1.0 - weight) * rest + weight * law)
        step = dot(counts, ratio) / max(dot(counts, ratio**2), 1e-300)
        weight = min(max(weight + step, 1e-5), 0.9999)
    return dot(counts, np.log((1.0 - weight) * rest + weight * law))


def unseen_mass(model: DensityModel, mode: DensityMode, law: Floats) -> tuple[Floats, float, float]:
    """Return the direction in which a new mass changes the shares of a mode, its mean and root mean square.

    `law` is the distribution of the mass's reports. The mass w has the posterior N(s/v, 1/v) on w ≥ 0. Here s
    is the score, and v is the information after the bins have adapted. Shares change by w times the
    direction.
    """
    score = dot(law, model.counts / mode.expected) - model.n
    weighted = law * (model.n / mode.expected)
    cross = mode.shares * (model.backward(weighted) - model.n)
    root = solve_lower(mode.factor, cross)
    left = max(dot(weighted, law) - model.n - dot(root, root), 1e-9 * model.n)
    logs = -solve_upper(mode.factor, root)
    direction = mode.shares * (logs - float(mode.shares @ logs)) - mode.shares
    clear = score / math.sqrt(left)
    # `mean` and `square` are the moments of a normal variable (mean `clear`, variance 1) truncated to > 0.
    above = max(math.erfc(-clear / math.sqrt(2.0)) / 2.0, 1e-300)
    dense = math.exp(-(clear**2) / 2.0) / math.sqrt(2.0 * math.pi)
    mean = max(clear + dense / above, 0.0) if clear > -8.0 else -1.0 / clear
    square = max(1.0 + clear * mean, 0.0) if clear > -8.0 else 2.0 / clear**2
    return direction, mean / math.sqrt(left), math.sqrt(square / left)


_EMPTY: Final = 0.1  # times the mean density; in emptier bins a fit may miss an even mass
_SEEN: Final = 3.0  # standard errors; a mass that exceeds this is added to the estimate


def thin_masses(model: DensityModel, mode: DensityMode, *, circular: bool) -> list[tuple[Floats, Floats]]:
    """Return the estimated and possible change of all shares by an even mass in each nearly empty stretch.

    The log-density of a narrow majority falls as a parabola, so the fit gives the regions around it almost no
    mass and almost no uncertainty. A mass is added if it exceeds `_SEEN` standard errors. Its error is always
    its root mean square, because people in such a tail need not be spread evenly.
    """
    low = mode.shares[: model.bins] < _EMPTY / model.bins
    starts = np.flatnonzero(low & ~np.roll(low, 1))
    if low[0] and not circular:
        starts = np.union1d(starts, [0])
    if not starts.size:
        return []
    found, first = [], int(starts[0])
    for stretch in np.split(np.roll(np.arange(model.bins), -first), starts[1:] - first):
        even = np.zeros(mode.shares.size)
        even[stretch[low[stretch]]] = 1.0 / np.count_nonzero(low[stretch])
        direction, mean, size = unseen_mass(model, mode, model.operator.forward(even[: model.bins]))
        deviation = math.sqrt(max(size**2 - mean**2, 0.0))
        added = mean if mean > _SEEN * deviation else 0.0
        found.append(((direction + even) * added, (direction + even) * size))
    return found


def lengths_of_line(gaps: Floats) -> Floats:
    """Return the length of line that each of several unordered points represents."""
    order = np.argsort(gaps, kind="stable")
    steps = np.zeros(gaps.size)
    steps[order] = np.gradient(gaps[order]) if gaps.size > 1 else 1.0
    return np.maximum(steps, 0.0)


KNOWN: Final = 3e-4  # lengths of the domain; with a smaller spread there is only one maximum
_FARTHEST: Final = 0.06
_FACTOR: Final = 1.6  # ratio of successive distances in the search
_REFUTED: Final = 6.0  # nats of evidence below the best at which the search of a side ends
_STEPS: Final = 3  # steps of Fisher scoring towards each mode


def likely_place(
    model: DensityModel,
    mode: DensityMode,
    number: int,
    place: float,
    spread: float,
    law: Callable[[float], Floats | None],
) -> tuple[float, float]:
    """Return the posterior mean and standard deviation of an atom's location; all else is refitted at each.

    `law(place)` is the distribution of reports from a location, or None if the atom cannot be there. The
    search starts from a location and a spread that were found with the bins fixed. Reports of a window have
    sharp ends, so the evidence may have several maxima. With few reports they are about equally high.
    """
    gaps, evidence = [0.0], [mode.evidence]
    for side in (-1.0, 1.0):
        distance = 2.0 * spread
        while distance < _FARTHEST:
            column = law(place + side * distance)
            if column is None:
                break
            atoms = model.atoms.copy()
            atoms[:, number] = column
            found = climb_to_mode(model.with_atoms(atoms), mode.strength, mode.logs, _STEPS).evidence
            gaps.append(side * distance)
            evidence.append(found)
            if found < mode.evidence - _REFUTED:
                break
            distance *= _FACTOR
    offsets, heights = np.array(gaps), np.array(evidence)
    likely = np.exp(heights - heights.max()) * lengths_of_line(offsets)
    likely /= likely.sum()
    mean = float(likely @ offsets)
    around = float(likely @ (offsets - mean) ** 2)
    return place + mean, math.sqrt(around + spread**2)


PLACES: Final = 257  # grid points for the search of an atom, before its location is refined
_END_ODDS: Final = math.log(0.2)  # prior odds of an atom at an end
_INNER_ODDS: Final = math.log(0.2 / 255.0)  # prior odds of an atom at one of the grid points between the ends
_WORTH: Final = 1.0  # nats; an atom with a smaller estimated gain is not tried
_NEARLY: Final = 1.0  # nats; the full path may add this much to the evidence at one smoothness
_GLIMPSE: Final = 6  # steps towards a mode with one more atom
_STEEP: Final = 4.0  # nats; the gain at an end is underestimated by this, as bins have risen there
_NEAR_END: Final = 2.5 / 256.0  # lengths of the domain; an atom nearer to an end is first tried at the end
_APART: Final = 1.0 / 512.0  # lengths of the domain; the least distance between two atoms
CLOSE: Final = 1.0 / 32.0  # lengths of the domain; the shares of two closer atoms are correlated
_ROUNDS: Final = 6
_STAGES: Final = 4  # stages of refinement, each four times finer
_SHARP: Final = 5.0  # least ratio of a peak to the next valley if the peak may be an atom
_HIGH: Final = 0.05  # least height of such a peak relative to the highest peak
_NARROW: Final = 8  # largest number of bins at least half as high as such a peak
_CLEAR: Final = 5.0  # standard errors; an atom with a larger share is kept without a test
_LEAST_WIDTH, _MOST_WIDTH, _WIDTHS = 1e-4, 0.1, 24  # range and number of standard deviations that are tried
_LOWER_PARTS: Final = (0.2, 0.35, 0.5, 0.65, 0.8)  # tried shares of an atom's people below its mean
_UNLIKELY: Final = 1e-5  # divisions with a smaller probability are dropped
_ROUNDED: Final = 0.3  # standard deviation of rounding to integer cells


@dataclass(frozen=True)
class Atom:
    """A point mass: its location, and the standard deviation of the location, in lengths of the domain.

    `divided` lists distances from the location at which its people may be, each with its probability. Reports
    of values that are so close together cannot be distinguished.
    """

    place: float
    spread: float = 0.0
    divided: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class _Found:
    """A model with its path, the prior log-odds of its atoms, and the gain of one more atom."""

    model: DensityModel
    path: Path
    atoms: list[Atom]
    odds: float
    watch: _Watch

    @property
    def evidence(self) -> float:
        return self.path.best.evidence + self.odds


@dataclass(frozen=True, eq=False)
class AtomSearch:
    """Search for atoms in the reports to one question, counted in `rows` rows."""

    question: NumberQuestion
    rows: int

    @cached_property
    def places(self) -> Floats:
        """The grid of the search on [0, 1]; on a circle 1 is left out because it equals 0."""
        points = np.linspace(0.0, 1.0, PLACES)
        return points[:-1] if self._circular else points

    @cached_property
    def _circular(self) -> bool:
        return self.question.line.circular

    @cached_property
    def _points(self) -> Operator:
        return self.laws(self.places)

    def laws(self, places: Floats) -> Operator:
        """Return the operator from points on [0, 1] to the distributions of their reports."""
        line = self.question.line
        return self.question.likelihood(np.clip(line.from_unit(places), line.low, line.high), self.rows)

    def columns(self, atoms: list[Atom]) -> Floats:
        """Return the report distributions of atoms as columns."""
        if not atoms:
            return np.zeros((self._points.shape[0], 0))
        return self.laws(np.array([atom.place for atom in atoms])).dense()

    def search(self, model: DensityModel, most: int) -> tuple[DensityModel, Path, list[Atom]]:
        """Return the model with up to `most` atoms, its path, and the atoms."""
        empty, watch = model, _Watch(self, model, [])
        path = Path.down(model, seen=watch.look if most else None)
        found = _Found(model, path, [], 0.0, watch)
        peaks = self._peaks(path.best.shares)
        if 1 <= len(peaks) <= most:  # a single atom of a comb would not raise the evidence
            comb = self._prune(empty, self._try(empty, path.best, peaks))
            found = max(found, comb, key=lambda option: option.evidence)
        while len(found.atoms) < most and (larger := self._enlarge(empty, found)) is not None:
            found = larger
        model, best = found.model, found.path.best
        atoms = self._refine_all(model, best, found.atoms)
        atoms = [self._widen(model, best, atom, number) for number, atom in enumerate(atoms)]
        return model, found.path, [self._place(model, best, atoms, number) for number in range(len(atoms))]

    def _enlarge(self, model: DensityModel, found: _Found) -> _Found | None:
        """Return the path with one more atom, or None if no atom raises the evidence."""
        for gain, position, mode in found.watch.candidates():
            if gain <= found.path.best.evidence + _WORTH:
                break
            added = [*found.atoms, self._refine(found.model, found.path.best, Atom(position), None)]
            if self._glimpse(model, mode, added) < found.evidence - _NEARLY:
                continue
            larger = self._try(model, None, added)
            if larger.evidence > found.evidence:
                return larger
        return None

    def _try(self, model: DensityModel, mode: DensityMode | None, atoms: list[Atom]) -> _Found:
        """Return the path with atoms at the likeliest locations near the given ones."""
        if mode is not None:
            atoms = [self._refine(model, mode, atom, None) for atom in atoms]
        odds = self._odds(atoms)
        points = sorted(atom.place for atom in atoms)
        close = any(second - first < CLOSE for first, second in pairwise(points))
        for _ in range(_ROUNDS if close else 2):  # the locations of close atoms depend on each other
            larger = model.with_atoms(self.columns(atoms))
            watch = _Watch(self, larger, atoms)
            path = Path.down(larger, seen=watch.look)
            moved = self._refine_all(larger, path.best, atoms)
            far = max(abs(new.place - old.place) for new, old in zip(moved, atoms, strict=True))
            if far < 1e-5:
                break
            atoms = moved
        return _Found(larger, path, atoms, odds, watch)

    def _odds(self, atoms: list[Atom]) -> float:
        """Return the prior log-odds of atoms at their locations."""
        return sum(_END_ODDS if self._at_end(atom.place) else _INNER_ODDS for atom in atoms)

    def _glimpse(self, model: DensityModel, mode: DensityMode, atoms: list[Atom]) -> float:
        """Return the evidence with one more atom at the smoothness at which it seemed to gain most."""
        logs = np.append(mode.logs, math.log(float(np.exp(mode.logs).sum())) + ATOM_CENTRE)
        larger = model.with_atoms(self.columns(atoms))
        return climb_to_mode(larger, mode.strength, logs, _GLIMPSE).evidence + self._odds(atoms)

    def _prune(self, model: DensityModel, found: _Found) -> _Found:
        """Return the path without atoms that do not raise the evidence, the weakest first."""
        while len(found.atoms) > 1:
            best, bins = found.path.best, model.bins
            clear = best.shares[bins:] / np.sqrt(np.diagonal(best.covariance)[bins:])
            weakest = int(np.argmin(clear))
            if clear[weakest] > _CLEAR:
                break
            fewer = self._try(model, None, [*found.atoms[:weakest], *found.atoms[weakest + 1 :]])
            if fewer.evidence < found.evidence:
                break
            found = fewer
        return found

    def _at_end(self, point: float) -> bool:
        return not self._circular and point in (0.0, 1.0)

    def _peaks(self, shares: Floats) -> list[Atom]:
        """Return the peaks of a fit that are much higher than the neighbouring valleys."""
        bins = shares.size
        padded = np.concatenate([[0.0], shares, [0.0]])
        tops = np.flatnonzero((shares > padded[:-2]) & (shares >= padded[2:]))
        ends = np.concatenate([[0], (tops[1:] + tops[:-1] + 1) // 2, [bins]]) if tops.size else np.zeros(1)
        found = []
        for number, top in enumerate(tops):
            basin = shares[int(ends[number]) : int(ends[number + 1])]
            high = shares[top] > max(_SHARP * float(basin.min()), _HIGH * float(shares.max()))
            if high and np.count_nonzero(basin > shares[top] / 2.0) <= _NARROW:
                position = 0.0 if top == 0 else 1.0 if top == bins - 1 else (top + 0.5) / bins
                found.append(Atom(position % 1.0 if self._circular else position))
        return found

    def _refine_all(self, model: DensityModel, mode: DensityMode, atoms: list[Atom]) -> list[Atom]:
        return [self._refine(model, mode, atom, number) for number, atom in enumerate(atoms)]

    def _refine(self, model: DensityModel, mode: DensityMode, atom: Atom, number: int | None) -> Atom:
        """Return an atom at its likeliest nearby location; atoms at an end do not move."""
        if self._at_end(atom.place):
            return atom
        rest, weight = without_atom(model, mode, number)
        position, width = atom.place, 1.0 / (PLACES - 1)
        tried: list[tuple[float, float]] = []
        # Narrow windows need a finer first grid; otherwise no grid point explains the reports.
        count = 2 * min(max(math.ceil(4.0 * width / self.question.window_share), 4), 256) + 1
        for _ in range(_STAGES):
            points = position + width * np.linspace(-1.0, 1.0, count)
            points = points % 1.0 if self._circular else np.clip(points, 1e-6, 1.0 - 1e-6)
            heights = [best_height(model.counts, rest, law, weight) for law in self.laws(points).dense().T]
            tried.extend(zip(points.tolist(), heights, strict=True))
            position = float(points[int(np.argmax(heights))])
            width, count = 3.0 * width / (count - 1), 13
        where, heights_all = np.array(tried).T
        gaps = where - position
        gaps -= np.round(gaps) if self._circular else 0.0
        likely = np.exp(heights_all - heights_all.max()) * lengths_of_line(gaps)
        spread = math.sqrt(float(likely @ gaps**2) / float(likely.sum()))
        return Atom(position, math.hypot(spread, _ROUNDED / self.question.outcomes))

    def end_masses(
        self, model: DensityModel, mode: DensityMode, atoms: list[Atom]
    ) -> list[tuple[Atom, Floats]]:
        """Return an atom for each end without an atom, with the possible change of all shares, its own last.

        Clipped values may put a few people at an end. The search may miss them, and a smooth curve hides
        them.
        """
        if self._circular:
            return []
        found = []
        for position in (0.0, 1.0):
            if any(atom.place == position for atom in atoms):
                continue
            direction, _, size = unseen_mass(model, mode, self.laws(np.array([position])).dense()[:, 0])
            found.append((Atom(position), size * np.append(direction, 1.0)))
        return found

    def _place(self, model: DensityModel, mode: DensityMode, atoms: list[Atom], number: int) -> Atom:
        """Return an atom at its posterior mean location, with the spread of its location."""
        atom = atoms[number]
        others = np.array([other.place for other in atoms if other is not atom])
        close = bool(
            (np.abs(others - atom.place) < CLOSE).any()
        )  # the shares of close atoms adapt to their locations
        if self._at_end(atom.place) or (atom.spread < KNOWN and not close):
            return atom

        def law(point: float) -> Floats | None:
            point = point % 1.0 if self._circular else point
            if not 0.0 < point < 1.0 or (np.abs(others - point) < _APART).any():
                return None
            return np.asarray(self.laws(np.array([point])).dense()[:, 0])

        point, spread = likely_place(model, mode, number, atom.place, atom.spread, law)
        return replace(atom, place=point % 1.0 if self._circular else point, spread=spread)

    def _widen(self, model: DensityModel, mode: DensityMode, atom: Atom, number: int) -> Atom:
        """Return the atom with the likely locations of its people, if it is two atoms with the same mean.

        The widths and several unequal shares of the two atoms have a uniform prior. The likelihood is
        computed for the divided atom. Unequal shares are needed because reports of close values reveal only
        the variance, and an unequal pair can have the same variance as an equal one.
        """
        if self._at_end(atom.place):
            return atom
        rest, weight = without_atom(model, mode, number)
        widths = np.concatenate([[0.0], np.geomspace(_LEAST_WIDTH, _MOST_WIDTH, _WIDTHS)])
        lower = np.repeat(_LOWER_PARTS, widths.size)
        deviations = np.tile(widths, len(_LOWER_PARTS))
        odds = np.sqrt((1.0 - lower) / lower)
        offsets = np.stack([-deviations * odds, deviations / odds])
        positions = atom.place + offsets.ravel()
        positions = positions % 1.0 if self._circular else np.clip(positions, 0.0, 1.0)
        below, above = np.split(self.laws(positions).dense(), 2, axis=1)
        laws = (lower * below + (1.0 - lower) * above).T
        heights = np.array([best_height(model.counts, rest, law, weight) for law in laws])
        likely = np.exp(heights - heights.max()) * np.tile(np.gradient(widths), len(_LOWER_PARTS))
        likely /= likely.sum()
        kept = likely > _UNLIKELY
        chances = likely * np.stack([lower, 1.0 - lower])
        divided = zip(offsets[:, kept].ravel().tolist(), chances[:, kept].ravel().tolist(), strict=True)
        return replace(atom, divided=tuple(divided))


class _Watch:
    """The best candidates for one more atom over the modes of a path: at each end, and between the ends."""

    def __init__(self, search: AtomSearch, model: DensityModel, atoms: list[Atom]) -> None:
        self.search, self.model = search, model
        self.best: dict[bool, tuple[float, float, DensityMode]] = {}
        self.taken = np.zeros(search.places.size, dtype=np.bool_)
        for atom in atoms:
            self.taken |= np.abs(search.places - atom.place) < _APART

    def candidates(self) -> list[tuple[float, float, DensityMode]]:
        """Return the expected evidence, the location and the mode of each candidate, the best first."""
        return sorted(self.best.values(), key=lambda candidate: -candidate[0])

    def look(self, mode: DensityMode) -> None:
        """Update the best candidates with the gain of one more atom at each grid point of a mode."""
        gains, positions = self._gains(mode), self.search.places
        inner = gains.copy()
        if not self.search._circular:
            for end in (0, -1):
                near = np.abs(positions - positions[end]) < _NEAR_END
                if not self.taken[end]:  # a candidate near an end is first tried at the end itself
                    self._offer(True, float(gains[near].max()), float(positions[end]), mode)
                    inner[near] = -math.inf
        at = int(np.argmax(inner))
        self._offer(False, float(inner[at]), float(positions[at]), mode)

    def _offer(self, end: bool, gain: float, point: float, mode: DensityMode) -> None:
        hoped = mode.evidence + gain
        if math.isfinite(gain) and (end not in self.best or hoped > self.best[end][0]):
            self.best[end] = hoped, point, mode

    def _gains(self, mode: DensityMode) -> Floats:
        model, points, n = self.model, self.search._points, self.model.n
        weights = n / mode.expected
        score = points.backward(model.counts / mode.expected) - n
        own = points.squares(weights) - n
        with_bins = points.products(weights, model.operator)
        with_atoms = [points.backward(weights * column) for column in model.atoms.T]
        cross = mode.shares * (np.column_stack([with_bins, *with_atoms]) - n)
        root = solve_lower(mode.factor, cross.T)
        left = np.maximum(own - np.square(root).sum(axis=0), 1e-9 * n)
        weight = np.clip(score / left, 1e-12, 1.0)
        odds = np.full(score.size, _INNER_ODDS)
        if not self.search._circular:
            odds[[0, -1]] = _END_ODDS
        # The prior of ln w is normal, so w has the prior density φ((ln w − centre)/spread)/(spread·w).
        distance = (np.log(weight) - ATOM_CENTRE) / ATOM_SPREAD
        prior = -(distance**2) / 2.0 - np.log(weight * ATOM_SPREAD * math.sqrt(2.0 * math.pi))
        gain = score * weight - left * weight**2 / 2.0 + np.log(2.0 * math.pi / left) / 2.0 + prior + odds
        if not self.search._circular:
            gain[[0, -1]] += _STEEP
        return np.where((score > 0.0) & ~self.taken, gain, -math.inf)
