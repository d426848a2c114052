"""Goals about locations: single locations, maps, shares of districts, the mean location."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, get_args

import numpy as np

from dither.advice.catalogue import Candidate, on_categories, solved_candidates
from dither.advice.compare import average_variance
from dither.advice.goals.numbers import Averaged, Goal, Mean, check_people, people_of
from dither.advice.simulation import Progress
from dither.core.domains import Categories, Disk, Domain, Parallelogram, Paths, Rectangle, Routes, Sphere
from dither.errors import InvalidParameter, found
from dither.estimation.maps.density import density
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither.mechanisms.combined import Each, Sampled
from dither.mechanisms.numeric.pm import PM, Duchi, Hybrid
from dither.mechanisms.numeric.podium import Podium
from dither.mechanisms.numeric.sw import SW
from dither.mechanisms.optimal.anywhere import Anywhere
from dither.mechanisms.optimal.routes import AmongRoutes, chosen_half, public_paths
from dither.mechanisms.places.base import PathMechanism, PathUnit, positive
from dither.mechanisms.places.noise import PlanarLaplace, PlanarStaircase
from dither.mechanisms.places.planning import best_split, check_length, designs_of_tracs, predicted_error
from dither.mechanisms.places.rivals import Gridding, Strawman
from dither.mechanisms.places.tracs import TraCSC, TraCSD

_ALIKE: Final = 0.02  # two splits of ε that differ by less count as the same


@dataclass(frozen=True)
class Locations(Goal):
    """Each location of a path by itself: the mean distance of its report to the truth.

    Locations are uniform on the area, or drawn from a public list of `places`. A path has `length` locations.
    They are independent, or each is `step` away from the one before. The error is simulated with a fixed
    seed, and accurate to about one per cent. On a sphere it is in metres.
    """

    places: Sequence[tuple[float, float]] | None = field(default=None, repr=False)
    length: int = 1
    step: float | None = None

    takes = (Rectangle, Disk, Parallelogram, Sphere)
    otherwise = "for numbers use dt.goals.SingleValues"
    close = 0.02

    def __post_init__(self) -> None:
        check_length(self.length)
        if self.step is not None:
            positive("step", self.step)
        if self.places is not None:
            points = Paths.of(self.places).points.tolist()
            object.__setattr__(self, "places", tuple((x, y) for x, y in points))

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        found = [Candidate("Optimal(…)", Anywhere(domain, epsilon=epsilon))]
        if wait:
            found.append(self._fit(domain, epsilon))
        kinds: tuple[type[Any], ...] = (Strawman, PlanarLaplace, PlanarStaircase, Gridding)
        made = designs_of_tracs(domain, self.length, epsilon=epsilon)
        made += [kind(domain, epsilon=epsilon) for kind in kinds if isinstance(domain, kind._takes)]
        found += [Candidate(_name_of(design), design) for design in made]
        for design in made if wait else ():
            if isinstance(design, TraCSC | TraCSD):
                split = best_split(design, self.places, length=self.length, step=self.step)
                if abs(split - design.split) < _ALIKE:
                    continue
                divided = replace(design, split=split)
                found.append(Candidate(_name_of(divided, f"split={split:g}"), divided))
        return found

    def _fit(self, domain: Any, epsilon: float) -> Candidate:
        """Return the design for single places, fitted to the public places if some were given."""
        more = "" if self.places is None else ", prior=…"
        prior = None if self.places is None else (self.places, "the public places of the goal")
        design = Anywhere(domain, epsilon=epsilon, purpose="places", prior=prior)
        return Candidate(f"Optimal(…, purpose='places'{more})", design)

    def error(self, mechanism: Any) -> float:
        return predicted_error(mechanism, self.places, length=self.length, step=self.step)

    def sampling(self, domain: Domain) -> None:
        """Return None, because this is not an estimate for a population."""

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        raise InvalidParameter(
            "expected a target that depends on the number of people, but the error of a single place does "
            "not; use dt.goals.Maps()"
        )

    def reason(self, first: Candidate, domain: Domain) -> str:
        where = "with places spread evenly" if self.places is None else "with the places that were given"
        paths = f", on paths of {self.length} locations" if self.length > 1 else ""
        return f"the smallest error in simulations {where}{paths}"


@dataclass(frozen=True)
class CompletePaths(Goal):
    """Each complete path by itself: the mean distance between it and its report, with one ε for the path.

    `prior` are public paths with their source: the error is computed on one half of them, for mechanisms
    fitted to the other half. Mechanisms that divide ε over the places of a path are ranked with the same
    promise. Mechanisms that promise ε only for each location follow; the column `promise` shows this weaker
    promise.

    >>> from dither import Interval, recommend
    >>> lines = [[(0, a), (1, b)] for a in (0.1, 0.2, 0.8, 0.9) for b in (0.1, 0.2, 0.8, 0.9)]
    >>> routes = Routes(Rectangle(Interval(0, 1), Interval(0, 1)), points=4)
    >>> table = recommend(routes, CompletePaths((lines, "lines of the network")), epsilon=4)
    >>> table[0]["mechanism"], table[0]["promise"]
    ('Optimal(…, prior=…)', 'one trajectory')
    """

    prior: tuple[object, str] = field(repr=False)

    apart = True
    takes = (Routes,)
    otherwise = "for the locations of an area use dt.goals.Locations; paths are dt.Routes(area)"
    units = True
    instead = "with a weaker promise"
    close = 0.02

    def __post_init__(self) -> None:
        public_paths(self.prior)

    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        routes = cast("Routes", domain)
        found = [Candidate("Optimal(…, prior=…)", AmongRoutes(routes, epsilon=epsilon, prior=self.prior))]
        designs: tuple[type[Any], ...] = (TraCSC, TraCSD, Anywhere)
        kinds = [kind for kind in designs if isinstance(routes.area, kind._takes)]
        for unit in get_args(PathUnit):
            for kind in kinds:
                name = "Optimal" if kind is Anywhere else kind.__name__
                made = kind(routes.area, epsilon=epsilon, unit=unit)
                found.append(Candidate(f"{name}(area, unit={unit!r})", made))
        return found

    def error(self, mechanism: object) -> float | None:
        return mechanism.held_out_error if isinstance(mechanism, AmongRoutes) else None

    def errors(
        self, candidates: list[Candidate], *, rough: bool = False, progress: Progress | None = None
    ) -> list[tuple[Candidate, float]]:
        routes = next(each.mechanism for each in candidates if isinstance(each.mechanism, AmongRoutes))
        held_out = routes.domain.places(routes.public[~chosen_half(len(routes.public))])
        found: list[tuple[Candidate, float]] = []
        for candidate in candidates:
            error = self.error(candidate.mechanism)
            if error is None:
                noisy = candidate.mechanism.perturb(held_out, source=Seeded(1)).values
                error = routes.distance_of(held_out, routes.domain.area.clip(noisy))
            found.append((candidate, error))
        return found

    def sampling(self, domain: Domain) -> None:
        """Return None, because this is not an estimate for a population."""

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        raise InvalidParameter(
            "expected a target that depends on the number of people, but the error of a single path does "
            "not; use dt.goals.Maps()"
        )

    def reason(self, first: Candidate, domain: Domain) -> str:
        return "the smallest error on public paths that it was not fitted to, with ε for the complete path"


@dataclass(frozen=True)
class Districts(Averaged):
    """The shares of n people in the districts of an area, here the cells of a grid of `across` × `along`.

    Reports contain the district itself, as one of a list. Its shares are 2 to 5 times as accurate as a map's.

    >>> from dither import Interval, recommend
    >>> recommend(Rectangle(Interval(0, 9), Interval(0, 9)), Districts(n=10_000), epsilon=1)[0]["mechanism"]
    'SubsetIndices'
    """

    across: int = 4
    along: int = 4

    takes = (Rectangle, Disk, Parallelogram, Sphere)
    otherwise = "districts that are a list already are dt.Categories: use dt.goals.Frequencies"

    def __post_init__(self) -> None:
        super().__post_init__()
        for count in (self.across, self.along):
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 256:
                raise InvalidParameter(f"expected 1 to 256 cells along a side, got {found(count)}")
        if self.across * self.along < 2:
            raise InvalidParameter("expected at least two districts, got one")

    def candidates(self, domain: object, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        return on_categories(Categories(self.across * self.along), epsilon)

    def spread(self, mechanism: Any) -> float:
        return average_variance(mechanism)

    def sampling(self, domain: Domain) -> float:
        """Return the mean of f(1 − f) over the districts: largest if all have equally many people."""
        size = self.across * self.along
        return (size - 1) / size**2

    def reason(self, first: Candidate, domain: Domain) -> str:
        return "it reports the district itself; its shares are far more accurate than a map's"


_UNBIASED: Final = (Podium, PM, Hybrid, Duchi)


@dataclass(frozen=True)
class MeanPlace(Averaged):
    """The mean place of n people: the root mean square distance that privacy adds, for the worst places.

    Everybody reports one coordinate, drawn at random, with the complete budget, or both with half of it each.
    The people who report one coordinate are a random half. They differ from all people: this is part of the
    error, and at ε = 4 both coordinates are better. Reports of complete locations, such as reports of
    `dt.Optimal`, are biased and not ranked.

    >>> from dither import Interval, recommend
    >>> recommend(Rectangle(Interval(0, 9), Interval(0, 9)), MeanPlace(n=10_000), epsilon=1)[0]["mechanism"]
    'Sampled(x=Optimal(unbiased=True), y=Optimal(unbiased=True))'
    """

    takes = (Rectangle,)
    otherwise = "for one number use dt.goals.Mean"

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        found = []
        for kind in _UNBIASED:
            own = {side: kind(part, epsilon=epsilon) for side, part in (("x", domain.x), ("y", domain.y))}
            half = {side: part.at(epsilon / 2.0) for side, part in own.items()}
            name = kind.__name__
            found.append(Candidate(f"Sampled(x={name}(…), y={name}(…))", Sampled(own)))
            found.append(Candidate(f"Each(x={name}(…), y={name}(…))", Each(half)))
        return [*self._solve(domain, epsilon, wait), *found]

    def _solve(self, domain: Rectangle, epsilon: float, wait: bool) -> list[Candidate]:
        """Return the coordinates by the solved unbiased mechanism, or nothing if that would need a wait."""
        made = []
        for kind, budget in ((Sampled, epsilon), (Each, epsilon / 2.0)):
            lines = {"x": domain.x, "y": domain.y}
            parts = {
                side: solved.mechanism
                for side, line in lines.items()
                for solved in solved_candidates(line, budget, (), ("worst",), unbiased=True, wait=wait)
            }
            if len(parts) == len(lines):
                name = f"{kind.__name__}(x=Optimal(unbiased=True), y=Optimal(unbiased=True))"
                made.append(Candidate(name, kind(parts)))
        return made

    def spread(self, mechanism: Any) -> float:
        parts = list(mechanism.parts.values())
        spreads = [Mean().spread(part) or math.inf for part in parts]
        if not isinstance(mechanism, Sampled):
            return sum(spreads)
        # A random half reports x: its mean differs from everybody's by the variance of x, over n.
        return float(2.0 * sum(spreads) + sum(part.domain.length**2 / 4.0 for part in parts))

    def sampling(self, domain: Any) -> float:
        """Return the variances of both coordinates, of people half at each end."""
        return float(domain.x.length**2 + domain.y.length**2) / 4.0

    def reason(self, first: Candidate, domain: Domain) -> str:
        if isinstance(first.mechanism, Sampled):
            return "each person reports one coordinate, drawn at random, with the complete budget, unbiased"
        return "each person reports both coordinates, with half of the budget each, unbiased"


@dataclass(frozen=True)
class Maps(Goal):
    """A map of n people on `across` × `along` cells: the total variation of `dt.maps.density` from the truth.

    The error is simulated with a fixed seed and one population: a city with five hills, or one drawn
    from a public list of `places`; differences of a tenth are not resolved. Beyond 100 000 people the rate at
    which the error falls is extrapolated. The shape of the population matters more than the mechanism: rows
    have the range of errors of other populations, unless `places` say where people are.

    >>> Maps(n=10_000, across=8, along=8).close
    0.1
    """

    n: int | None = None
    across: int = 16
    along: int = 16
    places: Sequence[tuple[float, float]] | None = field(default=None, repr=False)

    takes = (Rectangle,)
    otherwise = "for single places use dt.goals.Locations"
    close = 0.1

    def __post_init__(self) -> None:
        check_people(self.n)

    def candidates(self, domain: Any, epsilon: float, *, wait: bool = True) -> list[Candidate]:
        first = Candidate("Optimal(…, purpose='map')", Anywhere(domain, epsilon=epsilon, purpose="map"))
        if not wait:
            return [first]
        return [
            first,
            Candidate("Optimal(…)", Anywhere(domain, epsilon=epsilon)),
            Candidate("TraCSC(…, inner=SW)", TraCSC(domain, epsilon=epsilon, inner=SW)),
        ]

    def error(self, mechanism: Any) -> float:
        area = mechanism.domain
        ends = [[area.x.low, area.x.high], [area.y.low, area.y.high]]

        def simulate(count: int) -> float:
            request = self._people(area, count)
            found = density(
                mechanism.perturb(request[:, None, :], source=Seeded(1)), self.across, self.along
            ).probabilities
            x, y = request.T
            true = np.histogram2d(x, y, bins=(self.across, self.along), range=ends)[0] / len(request)
            return float(np.abs(found - true).sum() / 2.0)

        n = people_of(self.n)
        error = simulate(min(n, _MOST_SIMULATED))
        if n <= _MOST_SIMULATED:
            return error
        fall = math.log(simulate(_MOST_SIMULATED // 8) / error) / math.log(8.0)
        return error * math.exp(-min(max(fall, 0.0), 0.5) * math.log(n / _MOST_SIMULATED))

    def span(self, mechanism: object, error: float) -> tuple[float, float] | None:
        """Return the range of measured errors over populations, or None for public places."""
        if self.places is not None:
            return None
        return _SPAN[0] * error, min(_SPAN[1] * error, 1.0)

    def _people(self, area: Rectangle, count: int) -> Floats:
        random = np.random.default_rng(1)  # the same people for every mechanism
        if self.places is not None:
            return area.check(self.places)[random.integers(0, len(self.places), count)]
        hill = random.choice(len(_HILLS), count, p=[0.3, 0.3, 0.15, 0.15, 0.1])
        unit = _HILLS[hill, :2] + _HILLS[hill, 2:] * random.normal(size=(count, 2))
        anywhere = (random.random(count) < 0.12) | ((unit < 0) | (unit > 1)).any(axis=1)
        unit[anywhere] = random.random((int(anywhere.sum()), 2))
        return np.stack([area.x.from_unit(unit[:, 0]), area.y.from_unit(unit[:, 1])], axis=1)

    def sampling(self, domain: Domain) -> None:
        """Return None: it is not derived."""

    def people(self, candidates: list[Candidate], target: float, sampling: float = 0.0) -> int | None:
        raise InvalidParameter(
            "expected n for a map, because its error is simulated; give dt.goals.Maps(n=…)"
        )

    def reason(self, first: Candidate, domain: Domain) -> str:
        return "the smallest total variation in a simulation; for shares of districts use the goal Districts"


_MOST_SIMULATED: Final = 100_000
_SPAN: Final = (0.2, 2.7)  # errors of maps of other populations, in errors of the city
_HILLS: Final = np.array(  # the middles of five hills of a city on the unit square, and their widths
    [[0.35, 0.4, 0.05], [0.5, 0.55, 0.1], [0.7, 0.3, 0.06], [0.25, 0.75, 0.04], [0.8, 0.8, 0.08]]
)


def _name_of(design: PathMechanism[Any], *changed: str) -> str:
    fixed = ('reference="fixed"',) if getattr(design, "reference", None) == "fixed" else ()
    return f"{type(design).__name__}({', '.join(('…', *fixed, *changed))})"
