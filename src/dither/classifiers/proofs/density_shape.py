"""The shape of a law's density: where it jumps, where ratios of two are extreme, and its quantiles.

Functions of a kernel's law, chosen by its class with `singledispatch`, as methods added from outside.
Everything is in units in which the domain is [0, 1].
"""

from __future__ import annotations

from functools import singledispatch
from typing import Final

import numpy as np

from dither.arrays import Floats
from dither.classifiers.feature_law import is_discrete
from dither.kernels.lattice.law import AddedLaw, CutLaw, InsideLaw, TableLaw
from dither.kernels.law import BlendedLaw, Law, MixedLaw, WindowLaw
from dither.kernels.window.codebook import Ramps
from dither.mechanisms.numeric.gaussian import NormalDensity
from dither.mechanisms.numeric.laplace import LaplaceDensity

_HALVINGS: Final = 54  # of an interval, down to the last digit of a float


@singledispatch
def jumps(law: Law, unit: float) -> Floats:
    """Return the places at which the density of the report for a value may jump, the ends among them."""
    return np.array(law.support)


@jumps.register
def _(law: WindowLaw, unit: float) -> Floats:
    start = float(law.start(np.asarray(unit)))
    ends = np.array([start, start + law.share])
    pieces = [law.codebook.left, law.codebook.right] if isinstance(law.codebook, Ramps) else []
    return np.concatenate([law.codebook(np.mod(ends, 1.0) if law.circular else ends), law.support, *pieces])


@jumps.register
def _(law: MixedLaw, unit: float) -> Floats:
    return np.concatenate([jumps(part, unit) for part in law.laws])


@jumps.register
def _(law: BlendedLaw, unit: float) -> Floats:
    return np.concatenate([jumps(part, unit) for part in (law.below, law.above)])


@singledispatch
def is_piecewise_constant(law: Law) -> bool:
    """Return whether the density is known to be constant between `jumps`."""
    return False


@is_piecewise_constant.register(WindowLaw)
@is_piecewise_constant.register(BlendedLaw)
@is_piecewise_constant.register(TableLaw)
def _(law: Law) -> bool:
    return True


@is_piecewise_constant.register
def _(law: MixedLaw) -> bool:
    return all(is_piecewise_constant(part) for part in law.laws)


@singledispatch
def has_known_extremes(law: Law) -> bool:
    """Return whether ratios of two densities of this kind are extreme at the value, at or between jumps.

    Piecewise constant densities have constant ratios between jumps. The ratio of two Laplace or of two normal
    densities with one centre is monotone on either side of it.
    """
    return is_piecewise_constant(law)


@has_known_extremes.register(AddedLaw)
@has_known_extremes.register(CutLaw)
@has_known_extremes.register(InsideLaw)
def _(law: AddedLaw | CutLaw | InsideLaw) -> bool:
    return isinstance(law.noise, LaplaceDensity | NormalDensity)


@singledispatch
def quantiles(law: Law, unit: float, shares: Floats) -> Floats:
    """Return a report for each pair (u, v) of independent uniform numbers: here the smallest with cdf ≥ u."""
    x, wanted = np.asarray(unit), shares[:, 0]
    low, high = (np.full(wanted.size, end) for end in law.support)
    atoms, masses = law.atoms(x)
    if not is_discrete(masses):
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            reached = law.cumulative(middle, x) >= wanted
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    if atoms.size:  # bisection only comes near an atom
        up_to = law.cumulative(atoms, x)
        which = np.minimum(np.searchsorted(up_to, wanted), atoms.size - 1)
        on = (up_to[which] >= wanted) & (up_to[which] - masses[which] < wanted)
        high = np.where(on, atoms[which], high)
    return high


@quantiles.register
def _(law: WindowLaw, unit: float, shares: Floats) -> Floats:
    """Return a report on the window if u is below the contrast, and anywhere otherwise: no bisection."""
    inside = float(law.start(np.asarray(unit))) + law.share * shares[:, 1]
    place = np.where(shares[:, 0] < law.contrast, inside, shares[:, 1])
    return law.codebook(np.mod(place, 1.0) if law.circular else place)
