"""Measure the figures of chapter 6: mechanisms, programs with their bugs, and the expected numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dither.domains import Paths, Rectangle
from dither.maps.metrics import average_error, distances
from dither.mechanisms.places.noise.planar_laplace import PlanarLaplace
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.strawman import Strawman
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.randomness import Source
from dither.reproduction.figure import ExpectedNumber, Setting
from dither.reproduction.tracs import coded
from dither.reproduction.tracs.coded import CORNER, Flaws
from dither.reproduction.tracs.data import City, sources
from dither.reproduction.tracs.published import EPSILONS
from dither.reproduction.tracs.published import PUBLISHED as PUBLISHED_CURVES
from dither.reproduction.version import CODED, RIGHT

Rows = list[dict[str, Any]]
Make = Callable[..., PathMechanism[Any]]
Told = Callable[[Paths, float, Source], float]  # the error of a program's places

PAPER: Final = "002-6"
RIGHT_ONES: Final[dict[str, Make]] = {
    "TraCS-D": TraCSD,
    "TraCS-D from the corner": partial(TraCSD, start=CORNER),
    "strawman": partial(Strawman, start=CORNER),
    "TraCS-C": TraCSC,
    "planar Laplace": PlanarLaplace,
}


def measured(
    makers: dict[str, Make],
    area: Rectangle,
    paths: Paths,
    setting: Setting,
    *,
    town: City | None = None,
    **also: Any,
) -> Rows:
    """Return the average error of mechanisms at each ε, in the area's unit or in a city's degrees."""
    told: Rows = []
    for epsilon in EPSILONS:
        for (name, make), source in zip(makers.items(), sources(setting, len(makers)), strict=True):
            noisy = paths.like(make(area, epsilon=epsilon).perturb(paths, source=source).values)
            error = average_error(*_shown(town, paths, noisy))
            told.append({"version": RIGHT, **also, "epsilon": epsilon, "mechanism": name, "error": error})
    return told


def programs(area: Rectangle, flaws: Flaws, *, town: City | None = None) -> dict[str, Told]:
    """Return the programs whose numbers were published, as functions that return their errors."""

    def walk(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = TraCSD(area, epsilon=epsilon, start=CORNER).perturb(paths, source=source).values
        return coded.walk_error(distances(*_shown(town, paths, paths.like(noisy))), paths, flaws)

    def straw(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = coded.strawman(area, paths, epsilon, flaws, source)
        return coded.walk_error(distances(*_shown(town, paths, noisy)), paths, flaws)

    def laplace(paths: Paths, epsilon: float, source: Source) -> float:
        noisy = coded.laplace(area, paths, epsilon, flaws, source)
        return average_error(*_shown(town, paths, noisy))

    return {"TraCS-D": walk, "strawman": straw, "planar Laplace": laplace}


def told_by(which: dict[str, Told], paths: Paths, setting: Setting, **also: Any) -> Rows:
    """Return the errors of programs at each ε."""
    told: Rows = []
    for epsilon in EPSILONS:
        for (name, program), source in zip(which.items(), sources(setting, len(which)), strict=True):
            error = program(paths, epsilon, source)
            told.append({"version": CODED, **also, "epsilon": epsilon, "mechanism": name, "error": error})
    return told


def expect(
    version: str,
    name: str,
    values: tuple[float, ...],
    tolerance: float,
    column: str = "error",
    *,
    source: str = "recomputed",
    absolute: bool = False,
    **where: Any,
) -> list[ExpectedNumber]:
    """Return the expected values of a curve, one for each ε."""
    return [
        ExpectedNumber(
            {"version": version, "mechanism": name, "epsilon": epsilon, **where},
            column,
            value,
            tolerance,
            source,
            absolute,
        )
        for epsilon, value in zip(EPSILONS, values, strict=True)
    ]


def expect_published(
    figure: str, tolerance: float, *names: str, column: str = "error", absolute: bool = False, **where: Any
) -> list[ExpectedNumber]:
    """Return the published numbers as the expected values of the programs with the authors' bugs."""
    return [
        one
        for name in names
        for one in expect(
            CODED,
            name,
            PUBLISHED_CURVES[figure][name],
            tolerance,
            column,
            source="published",
            absolute=absolute,
            **where,
        )
    ]


def repeated(paths: Paths, times: int) -> Paths:
    """Return the same paths several times over."""
    return Paths.of([path for _ in range(times) for path in paths])


def _shown(town: City | None, paths: Paths, noisy: Paths) -> tuple[Paths, Paths]:
    return (paths, noisy) if town is None else (town.in_degrees(paths), town.in_degrees(noisy))
