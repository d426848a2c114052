"""Planning before data are collected: the division of ε, the start, and the choice of the mechanism.

Only the public area and public points are used, never a person's path. Errors are predicted by a simulation
of the mechanism on random paths with a fixed seed, so that results are reproducible.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from dither.core.domains import Disk, Domain, Paths, Rectangle, Region, Sphere
from dither.core.domains.plane import Pair
from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither.mechanisms.places.base import PathMechanism, positive
from dither.mechanisms.places.rivals import Strawman
from dither.mechanisms.places.tracs import TraCSC, TraCSD

_PLACES: Final = 20_000  # number of simulated locations
_LONGEST: Final = 100  # locations of a simulated path; later locations have the same error
_SPLITS: Final = tuple(0.1 + 0.05 * step for step in range(18))


class Choice(NamedTuple):
    """A mechanism and its predicted error: the mean distance of a report to the truth."""

    mechanism: PathMechanism[Any]
    error: float


def predicted_error(
    mechanism: PathMechanism[Any],
    places: object = None,
    *,
    paths: int | None = None,
    length: int = 1,
    step: float | None = None,
) -> float:
    """Return the mean distance of a report to the truth, for paths of `length` locations.

    The locations are uniform in the area, or drawn from a public list of points. The locations of a path are
    independent, or each is `step` away from the previous one. On a sphere the distance is in the unit of its
    radius.
    """
    length = min(check_length(length), _LONGEST)
    number = _PLACES // length if paths is None else paths
    if step is None:
        chosen = _draw_places(mechanism.area, places, number * length).reshape(number, length, 2)
    else:
        begin = _draw_places(mechanism.area, places, number)
        chosen = _walks(mechanism.area, begin, length, positive("step", step))
    noisy = mechanism.perturb(chosen, source=Seeded(1)).values
    if isinstance(mechanism.domain, Sphere):
        return float(mechanism.domain.distance(chosen, noisy).mean())
    gap = noisy - chosen
    return float(np.hypot(gap[..., 0], gap[..., 1]).mean())


def best_split(
    mechanism: TraCSD | TraCSC, places: object = None, *, length: int = 1, step: float | None = None
) -> float:
    """Return the first part's share of ε with the smallest predicted error, by a quadratic fit."""
    tried = [replace(mechanism, split=split) for split in _SPLITS]
    errors = np.array([predicted_error(design, places, length=length, step=step) for design in tried])
    middle = int(np.clip(errors.argmin(), 2, len(_SPLITS) - 3))
    near = slice(middle - 2, middle + 3)
    bend, slope, _ = np.polyfit(np.array(_SPLITS)[near], errors[near], 2)
    if bend <= 0.0:
        return _SPLITS[int(errors.argmin())]
    low, high = _SPLITS[near][0], _SPLITS[near][-1]
    return round(float(np.clip(-slope / (2.0 * bend), low, high)), 3)


def best_start(mechanism: TraCSD | Strawman, points: object, *, side: int = 9) -> Pair:
    """Return the first reference with the smallest predicted error for public points [Thesis, Sec. 6.2.4].

    The search is on a grid over the area. Unless the reference is fixed, later ones are reports, and only
    the first locations of paths become more accurate.
    """
    region = mechanism.domain
    box = region.box
    steps = (np.arange(side) + 0.5) / side
    locations = [(box.x.low + a * box.x.length, box.y.low + b * box.y.length) for a in steps for b in steps]
    inside = [(float(x), float(y)) for x, y in (*locations, region.centre) if _inside(region, x, y)]
    error = {start: predicted_error(replace(mechanism, start=start), points, paths=4_000) for start in inside}
    return min(error, key=lambda start: error[start])


def designs_of_tracs(domain: Domain, length: int, **more: Any) -> list[PathMechanism[Any]]:
    """Return TraCS-C and TraCS-D on an area if they support it, for longer paths with both references."""
    kinds: list[Any] = [kind for kind in (TraCSC, TraCSD) if isinstance(domain, kind._takes)]
    if TraCSD in kinds and length > 1:
        kinds.append(partial(TraCSD, reference="fixed"))
    return [kind(domain, **more) for kind in kinds]


def ranked(
    domain: Domain,
    *,
    epsilon: float,
    places: object = None,
    length: int = 1,
    step: float | None = None,
    **more: object,
) -> list[Choice]:
    """Return TraCS-C and TraCS-D on an area if they support it, in order of accuracy.

    >>> from dither.core.domains import Interval
    >>> [type(choice.mechanism).__name__ for choice in ranked(Disk(1.0), epsilon=2)]
    ['TraCSD']
    """
    made = designs_of_tracs(domain, check_length(length), epsilon=epsilon, **more)
    if not made:
        raise InvalidParameter(
            f"an area must be a Rectangle, Disk, Parallelogram or Sphere, not {type(domain).__name__}"
        )
    choices = [Choice(design, predicted_error(design, places, length=length, step=step)) for design in made]
    return sorted(choices, key=lambda choice: choice.error)


def check_length(length: object) -> int:
    """Return the length of a path. Raise InvalidParameter unless it is an integer of at least 1."""
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise InvalidParameter(
            f"expected the length of a path to be an integer from 1 upwards, got {found(length)}"
        )
    return length


def _walks(area: object, begin: Floats, length: int, step: float) -> Floats:
    """Draw paths whose steps have one length and a random direction. A step out of the area is omitted.

    So the locations of a path are uniform in the area if the first location is.
    """
    if not isinstance(area, Region):
        raise InvalidParameter(
            "expected no step on a sphere, where steps of a given length are not simulated; leave step out"
        )
    if step > max(area.box.x.length, area.box.y.length):
        raise InvalidParameter(f"step, {step:g}, must not be longer than {area}")
    here, made = begin, [begin]
    words = Seeded(3).words((length - 1) * len(begin)).reshape(length - 1, -1)
    for turn in (words >> np.uint64(11)).astype(np.float64) * (2.0 * np.pi / 2.0**53):
        there = here + step * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        stays = np.all(np.abs(area.clip(there) - there) <= 1e-9 * step, axis=1)
        here = np.where(stays[:, None], there, here)
        made.append(here)
    return np.asarray(area.clip(np.stack(made, axis=1)))


def _inside(region: Region, x: float, y: float) -> bool:
    return bool(np.allclose(region.clip((x, y)), (x, y)))


def _draw_places(area: Any, locations: object, count: int) -> Floats:
    """Draw locations from a public list, or uniformly from an area."""
    words = Seeded(2).words(8 * count)
    if locations is not None:
        points = area.check(Paths.of(locations).points)
        return np.asarray(points[(words[:count] % np.uint64(len(points))).astype(np.int64)])
    unit = (words >> np.uint64(11)).astype(np.float64).reshape(-1, 2) / 2.0**53
    if isinstance(area, Rectangle):
        return _stretch(area, unit[:count])
    if isinstance(area, Disk):
        within = _stretch(area.box, unit)
        offset = within - np.asarray(area.centre)
        return np.asarray(within[np.hypot(offset[:, 0], offset[:, 1]) <= area.radius][:count])
    if isinstance(area, Sphere):
        latitude = np.degrees(np.arcsin(2.0 * unit[:count, 1] - 1.0))  # uniform on the surface
        return np.stack([360.0 * unit[:count, 0] - 180.0, latitude], axis=1)
    return np.asarray(area.from_axes(unit[:count]))


def _stretch(box: Rectangle, unit: Floats) -> Floats:
    return np.asarray(np.array([box.x.low, box.y.low]) + unit * np.array([box.x.length, box.y.length]))
