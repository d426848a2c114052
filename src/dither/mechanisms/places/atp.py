"""ATP: every second point by distance alone, the others among what their neighbours see in a direction."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, final

import numpy as np

from dither.arrays import Array, Integers, Mask
from dither.domains import Domain, Paths
from dither.errors import InvalidParameter
from dither.kernels.table.weighted_choice import Graded, blocks, draw
from dither.kernels.window.integers import Blocks
from dither.mechanisms.places.points import PointMechanism, Points, distances
from dither.privacy import Bound, Nothing, Pure
from dither.privacy.exact import log_above
from dither.randomness import Source

_TURN: Final = 2.0 * math.pi
_WORDS: Final = float(1 << 53)


class _Budget(NamedTuple):
    """What one location gives in one of the two copies: 1/2, or 3/16 for each direction and 1/8."""

    anchor: Graded
    sector: Blocks
    choice: Graded


@final
@dataclass(frozen=True)
class ATP(PointMechanism):
    """A public point that two noisy copies of the path agree on as well as may be.

    Promise:   pure ε for one location (or one trajectory: `unit`), ε/2 in each copy. `as_published` promises
               nothing: its sectors are centred on the true direction, which they give away.
    Reports:   the number of a point.
    Use when:  TraCS is compared with directions by k-ary randomized response. It needs the whole path first.
    Reference: [Thesis, Sec. 6.3.2] after [Zhang23]; sectors that do not depend on the secret are ours.
    """

    _: KW_ONLY
    sectors: int = 6
    centred: bool = False

    @classmethod
    def as_published(cls, domain: Domain, points: Points, *, epsilon: float, **more: Any) -> Self:
        """Give the mechanism of the authors' program: centred sectors, and lies told too seldom."""
        return cls(domain, points, epsilon=epsilon, **{"centred": True, **more})

    def _build(self) -> None:
        if isinstance(self.sectors, bool) or not isinstance(self.sectors, int) or self.sectors < 2:
            raise InvalidParameter("there are at least two sectors")
        super()._build()

    @cached_property
    def budget(self) -> _Budget:
        """The exact choices of one location in one copy."""
        return _Budget(
            Graded.largest(self.epsilon / 2.0),
            Blocks.largest(self.epsilon * 3.0 / 16.0, self.sectors),
            Graded.largest(self.epsilon / 8.0),
        )

    def _weights(self, points: Integers) -> Integers:
        return self.budget.anchor.exponential(distances(self.places[points], self.places))

    def _send(self, paths: Paths, source: Source, threads: int) -> Array:
        truth = self.nearest(paths.points)
        position = np.arange(truth.size) - np.repeat(paths.offsets[:-1], paths.lengths)
        last = position == np.repeat(paths.lengths, paths.lengths) - 1
        copies = [self._copy(truth, position, last, parity, source) for parity in (1, 0)]
        return self._merged(*copies).astype(self.dtype)[:, None]

    def _copy(self, truth: Integers, position: Integers, last: Mask, parity: int, source: Source) -> Integers:
        """Draw one copy: anchors by distance alone, then those between two anchors."""
        between = (position % 2 != parity) & (position > 0) & ~last
        copy = np.empty_like(truth)
        anchors = np.flatnonzero(~between)
        for block in blocks(anchors.size, len(self.points)):
            copy[anchors[block]] = draw(self._weights(truth[anchors[block]]), source)
        others = np.flatnonzero(between)
        for block in blocks(others.size, len(self.points)):
            rows = others[block]
            seen = [self._in_sight(copy[rows + side], truth[rows], source) for side in (-1, 1)]
            both = seen[0] & seen[1]
            both |= ~both.any(axis=1, keepdims=True)  # nothing lies in both sectors: everything is offered
            apart = distances(self.places[truth[rows]], self.places)
            copy[rows] = draw(self.budget.choice.exponential(apart, both), source)
        return copy

    def _in_sight(self, neighbours: Integers, truth: Integers, source: Source) -> Mask:
        """Give which points lie in the sector, told with noise, in which a neighbour sees the truth."""
        gaps = self.places[None, :, :] - self.places[neighbours][:, None, :]
        directions = np.arctan2(gaps[..., 1], gaps[..., 0]) % _TURN
        true = np.take_along_axis(directions, truth[:, None], axis=1)[:, 0]
        width = _TURN / self.sectors
        if self.centred:
            middle = true + self._seldom_lies(truth.size, source) * width
            off = (directions - middle[:, None] + math.pi) % _TURN - math.pi
            return np.asarray(np.abs(off) <= width / 2.0)
        sectors = np.minimum((directions / width).astype(np.int64), self.sectors - 1)
        own = np.minimum((true / width).astype(np.int64), self.sectors - 1)
        told = self.budget.sector.draw(own, source)
        return np.asarray(sectors == told[:, None])

    def _seldom_lies(self, size: int, source: Source) -> Integers:
        """Give shifts as coded: a lie with probability 1/(k − 1 + e^ε) in all, among k shifts for k − 1."""
        words = source.words(2 * size)
        chance = 1.0 / (self.sectors - 1.0 + math.exp(self.epsilon * 3.0 / 16.0))
        lies = (words[:size] >> np.uint64(11)) / _WORDS < chance
        return np.where(lies, 1 + (words[size:] % np.uint64(self.sectors)).astype(np.int64), 0)

    def _merged(self, first: Integers, second: Integers) -> Integers:
        """Give, for each location, the point with the smallest sum of distances to its two copies."""
        merged = np.empty_like(first)
        for block in blocks(first.size, len(self.points)):
            one, two = (self.places[copy[block]] for copy in (first, second))
            merged[block] = (distances(one, self.places) + distances(two, self.places)).argmin(axis=1)
        return merged

    @property
    def keeps(self) -> bool:
        """Whether ε is kept: with sectors that do not depend on the secret."""
        return not self.centred

    @property
    def most(self) -> float:
        """The sum of what the choices of a location spend."""
        anchor, sector, choice = self.budget
        return log_above(max(anchor.ratio, sector.ratio**2 * choice.ratio) ** 2)

    def _realised(self) -> tuple[Bound, str]:
        if self.centred:
            return Nothing("the candidates depend on the exact direction of the true location"), "not finite"
        how = "in each of two copies a choice by weights, or two sectors and a choice, whichever is more"
        return Pure(self.most), how

    def wire(self) -> dict[str, Any]:
        """Give the integers of one location's choices."""
        anchor, sector, choice = self.per_location(1).budget
        integers = {"anchor": anchor.low, "sector": [sector.step, sector.bits], "choice": choice.low}
        return {"kernel": integers, "codebook": {"points": len(self.points)}}
