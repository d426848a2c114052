"""Repaired baselines for TraCS: NGram, L-SRR, ATP, the strawman, gridding and sectors."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, Self, cast

import numpy as np

from dither.core.domains import Circle, Disk, Parallelogram, Rectangle, Region
from dither.core.domains.plane import Pair
from dither.core.kernels.alias import Grades, blocks
from dither.core.kernels.places.points import (
    FallingWeights,
    GridKernel,
    PointKernel,
    RingWeights,
    distances,
    ring,
)
from dither.core.kernels.places.two_copies import TwoCopies
from dither.core.kernels.places.walk import TURN, UNIT
from dither.core.kernels.window.codebook import IDENTITY, AffineDecoder
from dither.core.kernels.window.integers import Blocks
from dither.core.kernels.window.kernel import SectorKernel
from dither.core.kernels.window.start import LineStart
from dither.errors import InvalidParameter, check_choice, found
from dither.foundation.arrays import Array, Floats, Integers
from dither.foundation.numerics.roots import largest_float
from dither.mechanisms.analysis.window import WindowLaw
from dither.mechanisms.numeric.base import NumberMechanism
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.places.base import (
    PairMechanism,
    PathMechanism,
    Points,
    PublicPoints,
    StepByStep,
    make_part,
    positive,
)
from dither.mechanisms.places.tracs import HEURISTIC
from dither.privacy.exact import exp_below


@dataclass(frozen=True)
class ATP(PublicPoints):
    """The public point with the smallest total distance to two noisy copies of the path.

    Promise:   pure ε for one location (or one trajectory: `unit`), ε/2 in each copy. `as_published` has no
               guarantee: its sectors are centred on the true direction and reveal it.
    Reports:   the index of a point.
    Use when:  TraCS is compared with directions by k-ary randomized response. It needs the complete path
               first.
    Reference: [Thesis, Sec. 6.3.2] after [Zhang23]; sectors that do not depend on the secret are ours.
    """

    _draws = ("two copies",)

    _: KW_ONLY
    sectors: int = 6
    centred: bool = False

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the authors' program: centred sectors, false ones drawn too rarely."""
        return cls(domain, points, epsilon=epsilon, **{"centred": True, **more})

    def _check(self) -> None:
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or self.sectors < 2:
            raise InvalidParameter(f"sectors must be an integer from 2 upwards, not {found(self.sectors)}")

    def _kernel(self) -> TwoCopies:
        # Each copy has ε/2: ε/2 for an anchor, or 3/16 of ε for each direction and 1/8 for the choice.
        reported = self.epsilon * 3.0 / 16.0
        return TwoCopies(
            self._pairs,
            Grades.largest(self.epsilon / 2.0),
            Blocks.largest(reported, self.sectors),
            Grades.largest(self.epsilon / 8.0),
            math.exp(reported) if self.centred else None,
        )


@dataclass(frozen=True)
class Gridding(PathMechanism[Rectangle]):
    """A uniform location in a cell of a grid; cells with a centre near the true cell's centre are likelier.

    Promise:   pure ε for one location (or one trajectory: `unit`); `as_published` spends about half of it.
    Reports:   two cells for each location, of a grid 256 times as fine, uniform within a coarse cell.
    Use when:  TraCS is compared with dividing the area first. A coarse grid limits the resolution; a fine
               grid has many cells far from the truth.
    Reference: [Thesis, D.2.3]; the scale is ours, the largest that keeps ε.
    """

    _draws = ("grid",)

    _: KW_ONLY
    side: int = 10
    as_published: bool = False

    _takes = (Rectangle,)

    def _codebook(self, kernel: GridKernel) -> None:
        """Return None: the grid is part of the kernel."""

    def _kernel(self) -> GridKernel:
        half = GridKernel(self.domain, self.side, Grades.largest(self.epsilon))
        if self.as_published:
            return half
        return replace(half, grades=_fullest(tuple(map(tuple, half.centres.tolist())), self.epsilon))


# The ratio of the weights of a near and a far point: as large as ε allows, e^ε, or ε.
Contrast = Literal["kept", "meant", "coded"]


@dataclass(frozen=True)
class LSRR(PublicPoints):
    """A public point, likeliest near the true location, less likely in a middle ring, and least beyond it.

    Promise:   pure ε for one location (or one trajectory: `unit`): the ratio of the weights of near and far
               points is the largest that ε allows, given the number of points near each point.
    Reports:   the index of a point.
    Use when:  TraCS is compared with staircase randomized response. The rings are shares of the longer side.
    Reference: [Thesis, Sec. 6.3.2] after [Wang22]. There the ratio e^ε is claimed to spend ε. It spends more
               because rows have different normalising sums (`as_meant`). In the authors' program the ratio is
               ε (`as_published`).
    """

    _draws = ("points",)

    _: KW_ONLY
    rings: tuple[float, float] = (0.3, 0.6)
    contrast: Contrast = "kept"

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the authors' program: near points weigh ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": "coded", **more})

    @classmethod
    def as_meant(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the paper: near points weigh e^ε times as much as far ones."""
        return cls(domain, points, epsilon=epsilon, **{"contrast": "meant", **more})

    def _check(self) -> None:
        if not (isinstance(self.rings, tuple) and len(self.rings) == 2):
            raise InvalidParameter("rings must be a pair of radii: where near ends and where far begins")
        near, far = (positive("a ring", ring) for ring in self.rings)
        if not near < far:
            raise InvalidParameter(
                f"the first ring must be smaller than the second, not {near:g} and {far:g}"
            )
        check_choice("contrast", self.contrast, Contrast)
        object.__setattr__(self, "rings", (near, far))

    @property
    def _radii(self) -> tuple[float, float]:
        side = max(self.domain.box.x.length, self.domain.box.y.length)
        return self.rings[0] * side, self.rings[1] * side

    @cached_property
    def levels(self) -> Integers:
        """The weights of near points, of points in the middle ring, and of far points."""
        match self.contrast:
            case "coded":
                return self._levels(self.epsilon)
            case "meant":
                return self._levels(math.exp(self.epsilon))
        return self._levels(self._largest)

    def _levels(self, contrast: float) -> Integers:
        # [Thesis, Sec. 6.3.2] c, (1 + c)/2 and 1, for groups of any sizes
        parts = np.array([contrast, (1.0 + contrast) / 2.0, 1.0]) / max(contrast, 1.0)
        return np.maximum(np.rint(self.grades.high * parts), 1.0).astype(np.int64)

    @cached_property
    def _largest(self) -> float:
        """The largest contrast c that spends at most ε, by bisection from e^(ε/2), which always does.

        Let a row have a near points, with points of the middle ring counted half. Its weights add up to N +
        (c − 1)·a. So among all rows in which a point is near, in the middle or far, only the rows with the
        smallest and the largest a matter.
        """
        count = len(self.points)
        least, most = _extremes(tuple(self.points), self._radii)
        bound = float(exp_below(Fraction(self.epsilon)))

        def keeps(contrast: float) -> bool:
            levels = np.array([contrast, (1.0 + contrast) / 2.0, 1.0])[:, None]
            likeliest = (levels / (count + (contrast - 1.0) * least)).max(
                axis=0, initial=0.0, where=least < np.inf
            )
            unlikeliest = (levels / (count + (contrast - 1.0) * most)).min(
                axis=0, initial=np.inf, where=most > -np.inf
            )
            rounding = 1.0 - 8.0 * contrast / self.grades.high  # room for rounding the levels to integers
            return bool((likeliest / unlikeliest).max() <= bound * rounding)

        low, high = math.exp(self.epsilon / 2.0) * (1.0 - 1e-6), math.exp(self.epsilon)
        return largest_float(keeps, low, high, tolerance=1e-12)

    def _kernel(self) -> PointKernel:
        near, between, far = self.levels.tolist()
        return PointKernel(self._pairs, RingWeights((near, between, far), self._radii))


def _group(locations: Floats, rows: Integers, radii: tuple[float, float]) -> Array:
    """Return for some points whether every point is near (0), in the middle ring (1) or far (2)."""
    return ring(distances(locations[rows], locations), radii)


@lru_cache(maxsize=4)
def _extremes(points: Points, radii: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return, for each group and point, the fewest and the most near points of rows with it in the group.

    Points of the middle ring count half. If a point is never in a group, the values are infinite.
    """
    locations, count = np.asarray(points), len(points)
    numbers = np.arange(count)
    least, most = np.full((3, count), np.inf), np.full((3, count), -np.inf)
    for block in blocks(count, count):
        groups = _group(locations, numbers[block], radii)
        near = ((2 - groups).sum(axis=1, dtype=np.int64) / 2.0)[:, None]
        for kind in range(3):
            own = groups == kind
            np.minimum(least[kind], np.where(own, near, np.inf).min(axis=0), out=least[kind])
            np.maximum(most[kind], np.where(own, near, -np.inf).max(axis=0), out=most[kind])
    return least, most


@dataclass(frozen=True)
class NGram(PublicPoints):
    """A public point; points nearer to the true location are likelier.

    Promise:   pure ε for one location (or one trajectory: `unit`). `as_published` reports only points near
               the true location, so it has no guarantee.
    Reports:   the index of a point.
    Use when:  TraCS is compared with the exponential mechanism. The time per location grows with the number
               of points.
    Reference: [Thesis, Def. 8, Sec. 6.3.2] after [Cunningham21]: the reachable set is a ball. Without a
               `reach` the scale is ours, the largest that keeps ε; the paper's spends about half of it.
    """

    _draws = ("points",)

    _: KW_ONLY
    reach: float | None = None

    @classmethod
    def as_published(cls, domain: Region, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Return the mechanism of the thesis: only points within 0.75 diameters of the truth are possible."""
        return cls(domain, points, epsilon=epsilon, **{"reach": 0.75, **more})

    def _check(self) -> None:
        if self.reach is not None:
            object.__setattr__(self, "reach", positive("the reach", self.reach))

    def _kernel(self) -> PointKernel:
        if self.reach is None:
            return PointKernel(self._pairs, FallingWeights(_fullest(self._pairs, self.epsilon)))
        return PointKernel(self._pairs, FallingWeights(self.grades, self.reach * self.domain.diameter))


@lru_cache(maxsize=64)
def _fullest(points: tuple[Pair, ...], epsilon: float) -> Grades:
    """Return the bounds of weights by distance that spend all of ε on these points."""
    locations = np.asarray(points)
    return Grades.fullest(
        epsilon, len(points), lambda grades, rows: grades.exponential(distances(locations[rows], locations))
    )


@dataclass(frozen=True)
class Sectors(NumberMechanism):
    """A uniform direction in a sector of the circle; the sector of the true direction is likelier.

    Promise:   pure ε. The sectors are fixed; sectors centred on the true direction would reveal it.
    Reports:   cells of the circle; cells of one sector are equally likely.
    Use when:  the strawman of the thesis is reproduced; `OGPM` on the circle has a smaller error.
    Reference: [Thesis, Sec. 6.2.2]. In the authors' program a false sector is k − 1 times too rare: see
               deviations.
    """

    _draws = ("sectors",)

    _: KW_ONLY
    sectors: int = 6
    cells: int = 1 << 16

    _takes = (Circle,)

    def _check(self) -> None:
        whole_number = isinstance(self.sectors, int) and not isinstance(self.sectors, bool)
        if not (whole_number and isinstance(self.cells, int) and 2 <= self.sectors <= self.cells <= 1 << 32):
            raise InvalidParameter(
                f"expected 2 ≤ sectors ≤ cells ≤ 2^32, got {found(self.sectors)} sectors and "
                f"{found(self.cells)} cells"
            )

    def _kernel(self) -> SectorKernel:
        # a power of two of cells for each sector
        width = 1 << ((self.cells // self.sectors).bit_length() - 1)
        window = Blocks.largest(self.epsilon, self.sectors * width, width)
        return SectorKernel(self.line, window, LineStart(0.0, window.cells / self.line.length, None))

    def _codebook(self, kernel: SectorKernel) -> AffineDecoder:
        step = self.line.length / kernel.window.cells
        return AffineDecoder(step / 2.0, step)

    @cached_property
    def law(self) -> WindowLaw:
        """The distribution of the continuous mechanism that the cells approximate."""
        k, window = self.sectors, cast(SectorKernel, self.question.kernel).window
        return WindowLaw(
            share=1.0 / k,
            contrast=window.contrast,
            rest=window.rest,
            start=lambda x: np.floor(np.mod(x, 1.0) * k) / k,
            codebook=IDENTITY,
            circular=True,
            kinks=tuple(step / (2.0 * k) for step in range(2 * k)),
        )


@dataclass(frozen=True)
class Strawman(StepByStep, PairMechanism[Region]):
    """A location reported as in TraCS-D, but with the sector of the direction instead of the direction.

    Promise:   pure ε for one location (or one trajectory: `unit`).
    Reports:   two cells for each location.
    Use when:  TraCS-D is compared with a simpler mechanism, whose error is larger at every ε.
    Reference: [Thesis, Sec. 6.2.2, 6.3.1].
    """

    _draws = ("walk",)

    _: KW_ONLY
    sectors: int = 6
    split: float = HEURISTIC

    _takes = (Rectangle, Disk, Parallelogram)

    def _split(self) -> float:
        return self.split

    def _make(self, first: float, second: float) -> tuple[NumberMechanism, NumberMechanism]:
        direction = Sectors(TURN, epsilon=first, sectors=self.sectors, cells=self.cells)
        return direction, make_part(OGPM, UNIT, second, self.cells)
