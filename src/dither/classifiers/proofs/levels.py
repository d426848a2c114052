"""Densities of several laws of one feature side by side, atoms included, and how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dither.arrays import Floats
from dither.kernels.lattice.law import AddedLaw, CutLaw, InsideLaw, TableLaw
from dither.kernels.law import Law
from dither.kernels.window.codebook import Ramps
from dither.kernels.window.law import BlendedLaw, MixedLaw, WindowLaw
from dither.mechanisms.numeric.gaussian import NormalDensity
from dither.mechanisms.numeric.laplace import LaplaceDensity


@final
@dataclass(frozen=True, eq=False)
class Levels:
    """The laws of one value's reports under several mechanisms, against one common measure.

    That is length, and one for each place where *some* law has an atom (`marked`): there a law counts with
    its probability, which is 0 for one that has only a density. A row of `masses` is a law's.
    """

    laws: tuple[Law, ...]
    unit: float
    marked: Floats
    masses: Floats

    @staticmethod
    def of(laws: Sequence[Law], unit: float) -> Levels:
        """Find the atoms of all laws for a value, in units in which its domain is [0, 1]."""
        x = np.asarray(unit)
        atoms = {id(law): law.atoms(x) for law in laws}
        marked = np.unique(np.concatenate([places for places, _ in atoms.values()]))
        masses = np.zeros((len(laws), marked.size))
        for row, law in enumerate(laws):
            places, chances = atoms[id(law)]
            np.add.at(masses[row], np.searchsorted(marked, places), chances)
        return Levels(tuple(laws), unit, marked, masses)

    def logarithms(self, places: Floats) -> Floats:
        """Give the logarithm of each law's density at places, a row for each law."""
        x = np.asarray(self.unit)
        levels = np.empty((len(self.laws), places.size))
        at = np.minimum(np.searchsorted(self.marked, places), max(self.marked.size - 1, 0))
        on = self.marked[at] == places if self.marked.size else np.zeros(places.size, dtype=bool)
        some, all_ = bool(on.any()), bool(on.all())
        for row, law in enumerate(self.laws):
            if not all_:
                levels[row] = law.density(places, x)
            if some:
                levels[row, on] = self.masses[row, at[on]]
        with np.errstate(divide="ignore"):
            return np.log(levels, out=levels)

    def least_ratios(self, own: slice = slice(None), others: slice = slice(None)) -> Floats:
        """Bound from below log(density of one of `others` / that of one of `own`), a row for each of `own`.

        Of a shape about which nothing is known, a law is known to be as dense as itself.
        """
        if not all(map(_simple, self.laws)):
            rows = [
                [0.0 if law is other else -np.inf for other in self.laws[others]] for law in self.laws[own]
            ]
            return np.array(rows)
        above, rows = self._looks[others], []
        for level in self._looks[own]:
            here = np.isfinite(level)
            rows.append((above[:, here] - level[here]).min(axis=1))
        return np.array(rows)

    @cached_property
    def _looks(self) -> Floats:
        """The logarithms where densities are extreme: at every atom, at and between jumps, at the centre."""
        known: dict[int, Floats] = {id(law): _jumps(law, self.unit) for law in self.laws}
        steps = np.unique(np.concatenate([[self.unit], *known.values()]))
        beside = [np.nextafter(steps, -np.inf), steps, np.nextafter(steps, np.inf)]
        places = np.unique(np.concatenate([*beside, (steps[1:] + steps[:-1]) / 2.0, self.marked]))
        return self.logarithms(places)


def _simple(law: Law) -> bool:
    """Say whether the ratio of two such densities is least at one of the places that are looked at.

    Windows are level between jumps. The ratio of two Laplace or two normal densities rises or falls from the
    centre to either end.
    """
    if isinstance(law, MixedLaw):
        return all(isinstance(part, WindowLaw) for part in law.laws)
    if isinstance(law, AddedLaw | CutLaw | InsideLaw):
        return isinstance(law.noise, LaplaceDensity | NormalDensity)
    return isinstance(law, WindowLaw | BlendedLaw | TableLaw)


def _jumps(law: Law, unit: float) -> Floats:
    """Give where a window begins and ends, in the numbers that reports stand for, and where the law ends."""
    if isinstance(law, MixedLaw):
        return np.concatenate([_jumps(part, unit) for part in law.laws])
    if isinstance(law, BlendedLaw):
        return np.concatenate([_jumps(part, unit) for part in (law.below, law.above)])
    if not isinstance(law, WindowLaw):
        return np.array(law.support)
    start = float(law.start(np.asarray(unit)))
    ends = np.array([start, start + law.share])
    pieces = [law.codebook.left, law.codebook.right] if isinstance(law.codebook, Ramps) else []
    return np.concatenate([law.codebook(np.mod(ends, 1.0) if law.circular else ends), law.support, *pieces])
