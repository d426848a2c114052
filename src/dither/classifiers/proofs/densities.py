"""Densities of several laws of one feature at the same places, atoms included, and bounds on their ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dither.arrays import Floats
from dither.kernels.law import Law


@final
@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of one value's report under several laws, with respect to one common measure.

    The measure is length plus one point mass at each of `marked`, the places at which *some* law has an atom.
    There the density of a law is the probability of its own atom, 0 if it has none: `masses`, one row a law.
    """

    laws: tuple[Law, ...]
    unit: float
    marked: Floats
    masses: Floats

    @staticmethod
    def of(laws: Sequence[Law], unit: float) -> Densities:
        """Return the densities for a value, given in units in which its domain is [0, 1]."""
        x = np.asarray(unit)
        atoms = {id(law): law.atoms(x) for law in laws}
        marked = np.unique(np.concatenate([places for places, _ in atoms.values()]))
        masses = np.zeros((len(laws), marked.size))
        for row, law in enumerate(laws):
            places, chances = atoms[id(law)]
            np.add.at(masses[row], np.searchsorted(marked, places), chances)
        return Densities(tuple(laws), unit, marked, masses)

    def logarithms(self, places: Floats) -> Floats:
        """Return the logarithm of each law's density at places, one row a law."""
        x = np.asarray(self.unit)
        densities = np.empty((len(self.laws), places.size))
        at = np.minimum(np.searchsorted(self.marked, places), max(self.marked.size - 1, 0))
        on = self.marked[at] == places if self.marked.size else np.zeros(places.size, dtype=bool)
        some, all_ = bool(on.any()), bool(on.all())
        for row, law in enumerate(self.laws):
            if not all_:
                densities[row] = law.density(places, x)
            if some:
                densities[row, on] = self.masses[row, at[on]]
        with np.errstate(divide="ignore"):
            return np.log(densities, out=densities)

    def least_ratios(self, own: slice = slice(None), others: slice = slice(None)) -> Floats:
        """Return lower bounds of log(density under one of `others` / density under one of `own`).

        There is a row for each of `own` and a column for each of `others`. Where the extremes of a ratio are
        not known, the bound is 0 for a law and itself, and −∞ for any two others.
        """
        if not all(law.monotone_ratios for law in self.laws):
            rows = [
                [0.0 if law is other else -np.inf for other in self.laws[others]] for law in self.laws[own]
            ]
            return np.array(rows)
        above, rows = self._extremes[others], []
        for density in self._extremes[own]:
            here = np.isfinite(density)
            rows.append((above[:, here] - density[here]).min(axis=1))
        return np.array(rows)

    @cached_property
    def _extremes(self) -> Floats:
        """The logarithms where ratios can be extreme: at atoms, at the value, beside and between jumps."""
        found: dict[int, Floats] = {id(law): law.jumps(self.unit) for law in self.laws}
        steps = np.unique(np.concatenate([[self.unit], *found.values()]))
        beside = [np.nextafter(steps, -np.inf), steps, np.nextafter(steps, np.inf)]
        places = np.unique(np.concatenate([*beside, (steps[1:] + steps[:-1]) / 2.0, self.marked]))
        return self.logarithms(places)
