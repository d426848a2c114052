"""Planning before data are collected: how to divide ε, where to start, which mechanism to use.

Only the public area and public points are used, never anybody's path. Errors are predicted by a simulation of
the mechanism on random paths with a fixed seed, so that results are reproducible.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from dither.arrays import Floats
from dither.domains import Disk, Domain, Paths, Rectangle, Region, Sphere
from dither.domains.plane import Pair
from dither.errors import InvalidParameter
from dither.mechanisms.places.base import PathMechanism
from dither.mechanisms.places.rivals import Strawman
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither.randomness import Seeded

_PATHS: Final = 2_000
_STEPS: Final = 10
_SPLITS: Final = tuple(0.1 + 0.05 * step for step in range(18))


class Choice(NamedTuple):
    """A mechanism and its predicted error: the mean distance of a report to the truth."""

    mechanism: PathMechanism[Any]
    error: float


def predicted_error(
    mechanism: PathMechanism[Any], places: object = None, *, paths: int = _PATHS, steps: int = _STEPS
) -> float:
    """Return the mean distance of a report to the truth, for paths of independent places.

    The places are uniform in the area, or drawn from a public list of points. On a sphere the distance is in
    the unit of its radius.
    """
    chosen = _draw_places(mechanism.area, places, paths * steps).reshape(paths, steps, 2)
    noisy = mechanism.perturb(chosen, source=Seeded(1)).values
    if isinstance(mechanism.domain, Sphere):
        return float(mechanism.domain.distance(chosen, noisy).mean())
    gap = noisy - chosen
    return float(np.hypot(gap[..., 0], gap[..., 1]).mean())


def best_split(mechanism: TraCSD | TraCSC, places: object = None) -> float:
    """Return the first part's share of ε with the smallest predicted error, by a quadratic fit."""
    errors = np.array([predicted_error(replace(mechanism, split=split), places) for split in _SPLITS])
    middle = int(np.clip(errors.argmin(), 2, len(_SPLITS) - 3))
    near = slice(middle - 2, middle + 3)
    bend, slope, _ = np.polyfit(np.array(_SPLITS)[near], errors[near], 2)
    if bend <= 0.0:
        return _SPLITS[int(errors.argmin())]
    low, high = _SPLITS[near][0], _SPLITS[near][-1]
    return round(float(np.clip(-slope / (2.0 * bend), low, high)), 3)


def best_start(mechanism: TraCSD | Strawman, points: object, *, side: int = 9) -> Pair:
    """Return the first reference with the smallest predicted error for public points [Thesis, Sec. 6.2.4].

    The search is on a grid over the area. Later references are reports, so only the first locations of paths
    become more accurate.
    """
    region = mechanism.domain
    box = region.box
    steps = (np.arange(side) + 0.5) / side
    places = [(box.x.low + a * box.x.length, box.y.low + b * box.y.length) for a in steps for b in steps]
    inside = [(float(x), float(y)) for x, y in (*places, region.centre) if _inside(region, x, y)]
    error = {
        start: predicted_error(replace(mechanism, start=start), points, paths=4_000, steps=1)
        for start in inside
    }
    return min(error, key=lambda start: error[start])


def ranked(domain: Domain, *, epsilon: float, places: object = None, **more: Any) -> list[Choice]:
    """Return TraCS-C and TraCS-D on an area, if they support it, with the more accurate one first.

    >>> from dither.domains import Interval
    >>> [type(choice.mechanism).__name__ for choice in ranked(Disk(1.0), epsilon=2)]
    ['TraCSD']
    """
    area: Any = domain
    kinds: list[type[Any]] = [kind for kind in (TraCSC, TraCSD) if isinstance(domain, kind.takes)]
    if not kinds:
        raise InvalidParameter(
            f"an area must be a Rectangle, Disk, Parallelogram or Sphere, not {type(domain).__name__}"
        )
    made: list[PathMechanism[Any]] = [kind(area, epsilon=epsilon, **more) for kind in kinds]
    choices = [Choice(mechanism, predicted_error(mechanism, places)) for mechanism in made]
    return sorted(choices, key=lambda choice: choice.error)


def _inside(region: Region, x: float, y: float) -> bool:
    return bool(np.allclose(region.clip((x, y)), (x, y)))


def _draw_places(area: Any, places: object, count: int) -> Floats:
    """Draw places from a public list, or uniformly from an area."""
    words = Seeded(2).words(8 * count)
    if places is not None:
        points = area.check(Paths.of(places).points)
        return np.asarray(points[(words[:count] % np.uint64(len(points))).astype(np.int64)])
    unit = (words >> np.uint64(11)).astype(np.float64).reshape(-1, 2) / 2.0**53
    if isinstance(area, Rectangle):
        return _stretch(area, unit[:count])
    if isinstance(area, Disk):
        found = _stretch(area.box, unit)
        offset = found - np.asarray(area.centre)
        return np.asarray(found[np.hypot(offset[:, 0], offset[:, 1]) <= area.radius][:count])
    if isinstance(area, Sphere):
        latitude = np.degrees(np.arcsin(2.0 * unit[:count, 1] - 1.0))  # uniform on the surface
        return np.stack([360.0 * unit[:count, 0] - 180.0, latitude], axis=1)
    return np.asarray(area.from_axes(unit[:count]))


def _stretch(box: Rectangle, unit: Floats) -> Floats:
    return np.asarray(np.array([box.x.low, box.y.low]) + unit * np.array([box.x.length, box.y.length]))
