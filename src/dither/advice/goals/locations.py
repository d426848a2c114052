"""The goal of single places: the distance of a report to the true place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

from dither.advice.catalogue import Candidate
from dither.advice.goals.goal import Goal
from dither.domains import Disk, Parallelogram, Paths, Rectangle, Sphere
from dither.errors import InvalidParameter
from dither.mechanisms.places.gridding import Gridding
from dither.mechanisms.places.noise.planar_laplace import PlanarLaplace
from dither.mechanisms.places.noise.planar_staircase import PlanarStaircase
from dither.mechanisms.places.planning import best_split, predicted_error
from dither.mechanisms.places.strawman import Strawman
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD

_ALIKE: Final = 0.02  # two splits of ε that differ by less count as the same


@final
@dataclass(frozen=True)
class Locations(Goal):
    """Each location of a path by itself: the mean distance of its report to the truth.

    Locations are uniform on the area, or drawn from a public list of `places`. The error is simulated with a
    fixed seed on paths of ten locations, and accurate to about one per cent. On a sphere it is in metres.
    """

    places: Sequence[tuple[float, float]] | None = field(default=None, repr=False)

    takes = (Rectangle, Disk, Parallelogram, Sphere)
    otherwise = "for numbers use dt.goals.SingleValues"
    close = 0.02

    def __post_init__(self) -> None:
        if self.places is not None:
            points = Paths.of(self.places).points.tolist()
            object.__setattr__(self, "places", tuple((x, y) for x, y in points))

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        found = []
        kinds: tuple[type[Any], ...] = (TraCSC, TraCSD, Strawman, PlanarLaplace, PlanarStaircase, Gridding)
        for kind in kinds:
            if isinstance(domain, kind.takes):
                found.append(Candidate(f"{kind.__name__}(…)", kind(domain, epsilon=epsilon)))
        for one in list(found):
            if isinstance(one.mechanism, TraCSC | TraCSD):
                split = best_split(one.mechanism, self.places)
                if abs(split - one.mechanism.split) < _ALIKE:
                    continue
                name = f"{type(one.mechanism).__name__}(…, split={split:g})"
                found.append(Candidate(name, replace(one.mechanism, split=split), variant=True))
        return found

    def error(self, mechanism: Any) -> float:
        return predicted_error(mechanism, self.places)

    def people(self, candidates: list[Candidate], target: float) -> int | None:
        raise InvalidParameter("the error of a single place does not depend on how many people there are")

    def reason(self, first: Candidate, domain: Any) -> str:
        where = "with places spread evenly" if self.places is None else "with the places that were given"
        return f"the smallest error in simulations {where}"
