"""The shuffle model: the guarantee for a person whose anonymous report is one of n in random order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dither.core.combinator import Combinator
from dither.core.domains import Categories, Circle, Disk, Domain, Line, Places, Rectangle, Sphere
from dither.core.kernels.kernel import MOST_LISTED
from dither.core.kernels.places.nearest import NearestNumbers
from dither.core.kernels.places.routes import RouteKernel
from dither.core.kernels.window.kernel import ResponseKernel, WindowKernel
from dither.core.question import MOST_EPSILON, Question, can_answer, check_epsilon, plain_of
from dither.errors import InvalidParameter, by_name, found
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import decreasing_root
from dither.mechanisms.combined import Each
from dither.privacy import Approximate, Guarantee, Pure
from dither.privacy.composition import Failure, repeat
from dither.privacy.guarantee import UNCHANGED
from dither.privacy.shuffling import (
    CELLS,
    FEWER_CELLS,
    LEAST_DELTA,
    MOST_PEOPLE,
    Blanket,
    least_epsilon,
    lower_pair,
    proven_epsilon,
    two_report_failure,
    two_reports,
    upper,
)

SHUFFLER: Final = "somebody trusted mixes the reports before the collector sees them"
NAMELESS: Final = "a report carries no name, address or time that tells whose it is"
ONE_PLACE: Final = "a person tells one place alone"
UNLINKABLE: Final = "reports of one person on different days cannot be linked"
_CLOSE: Final = 2e-3  # largest difference between the ln δ of a device's ε and the required one
_MOST_TIMES: Final = 10_000
_POINTS, _FEW_POINTS = 96, 40  # points of a composed curve; the second number for slow points
_MOST_CURVE: Final = 10**6  # largest number of people for a curve of two reports
_FEW_REPORTS: Final = 1 << 12  # up to this number, reports of sets are also listed
_MOST_RATIO: Final = 1e15  # e^34: beyond it shuffling up to MOST_PEOPLE reports does not amplify

_WINDOWS: Final = (WindowKernel, ResponseKernel)  # kernels with one window


@by_name
def shuffled(mechanism: object, *, n: int, delta: float, times: int = 1) -> Guarantee:
    """Return the central (ε, δ) of n shuffled reports of different people by a pure mechanism.

    `mechanism` is a mechanism, or its ε. Mechanisms whose blanket is known, such as windows, KRR, OLH, subset
    selection and projective response, have bounds from their own integers. For every other pure mechanism the
    bound of randomized response is used. If `times` is above 1, all n people answer that many times with
    independent randomness, and δ is for all answers together. Bounds are rounded up.

    Promise:   (ε, δ) against a collector who sees the n reports in random order and knows the values of all
               others, under the assumptions that the guarantee lists.
    Reference: [Balle19], [FMT21], [Doroshenko22]; docs/crowd.md has the proofs.

    >>> shuffled(1.0, n=10_000, delta=1e-6)
    Guarantee: (ε, δ) ≤ (0.0432106, 1e-06) for one person, assuming that 10000 people answer as they were \
asked to; somebody trusted mixes the reports before the collector sees them; a report carries no name, \
address or time that tells whose it is
    """
    return _mix(_pure(mechanism), _blanket(mechanism), n, delta, times, binary=_is_binary(mechanism))


def shuffled_records(parts: Mapping[str, Any], guarantee: Guarantee, *, n: int, delta: float) -> Guarantee:
    """Return the central (ε, δ) of n shuffled records of answers to several questions.

    `guarantee` is the guarantee of one record, the sum over its answers. Records are convolved instead of
    added.
    """
    return _mix(guarantee, _join(parts), n, delta, 1)


def _mix(
    guarantee: Guarantee, blanket: Blanket | None, n: int, delta: float, times: int, *, binary: bool = False
) -> Guarantee:
    people, delta, times = (
        _count("n", n, 2, MOST_PEOPLE),
        _delta(delta),
        _count("times", times, 1, _MOST_TIMES),
    )
    assumes = [*guarantee.assumes, f"{people} people answer as they were asked to", SHUFFLER, NAMELESS]
    if times > 1:
        if UNCHANGED in guarantee.assumes:
            raise InvalidParameter(
                "expected fresh answers to shuffle on several days, because a memoised report links the "
                "days of a person, and then shuffled days do not compose; shuffle fresh answers, or ask "
                "once (times=1)"
            )
        assumes.append(UNLINKABLE)
    most = guarantee.epsilon
    bounds = [
        guarantee.repeated(times).epsilon,
        _least(people, math.exp(most), 0.5, delta, times, most),
    ]
    if blanket is not None:
        bounds.append(_own(blanket, people, delta, times, most))
        if binary:
            bounds.append(_two(people, blanket.ratio, delta, times, most))
        elif blanket.share < 0.5:
            bounds.append(_least(people, blanket.ratio, blanket.share, delta, times, most))
    return Guarantee(Approximate(min(bounds), delta), "person", tuple(dict.fromkeys(assumes)))


@by_name
def shuffled_lower_bound(mechanism: object, *, n: int, delta: float) -> float:
    """Return a lower bound on the ε of every (ε, δ) guarantee of n shuffled reports of this mechanism.

    It compares two values of a person while all others hold one value: the first, the second or a third one.
    The difference to `shuffled` is the largest possible slack of that bound. Other values are not examined.
    Known for mechanisms with up to 2^16 reports, and for sets (subset selection, OUE).

    >>> import dither as dt
    >>> question = dt.SW(dt.Interval(0, 1), epsilon=1)
    >>> 0.031 < shuffled_lower_bound(question, n=10_000, delta=1e-6) < 0.04
    True
    """
    guarantee, people, delta = _pure(mechanism), _count("n", n, 2, MOST_PEOPLE), _delta(delta)
    proved, rounding = 0.0, 2.0**-48
    # Float rounding changes the others' distribution, and thus δ, by a factor, and the ratio of both by a few
    # units.
    request = delta * (1.0 + people * rounding)
    for laws in _arrangements(mechanism):
        failure = lower_pair(people, laws)
        if failure(proved) > request:
            proved = max(proved, proven_epsilon(failure, request, guarantee.epsilon))
    return max(0.0, proved - rounding)


def _arrangements(mechanism: object) -> Iterator[Floats]:
    """Yield distributions of reports: for a person's two values, and for the value of everybody else."""
    plain = None if isinstance(mechanism, Combinator) or not can_answer(mechanism) else plain_of(mechanism)
    if not isinstance(plain, Question):
        raise InvalidParameter(
            "expected a single question, because a lower bound of shuffled reports is known only for single "
            "questions; pass one part"
        )
    inputs, blanket, laws = _inputs_of(plain.domain), plain.kernel.blanket, list[Floats]()
    if plain.outcomes <= (_FEW_REPORTS if blanket and blanket.reached else MOST_LISTED):
        with suppress(InvalidParameter):  # some kernels list fewer reports
            laws = [plain.kernel.chances(value) for value in inputs]
    if not laws and blanket and blanket.reached:
        laws = [np.array(blanket.masses) * row for row in blanket.ratios]
    if not laws:
        raise InvalidParameter(
            "expected a mechanism with up to 2^16 reports, or one for sets, because a lower bound of "
            "shuffled reports is known only for these"
        )
    for others in laws:
        yield np.array([laws[0], laws[1], others])


def _inputs_of(domain: Domain) -> list[Any]:
    """Return two distant inputs of a kernel and a third input; empty if the domain is of another kind."""
    if isinstance(domain, Categories):
        return list(range(min(len(domain), 3)))
    if isinstance(domain, Circle):
        return [domain.low + part * (domain.high - domain.low) for part in (0.0, 0.5, 0.25)]
    if isinstance(domain, Line):
        return [domain.low, domain.high, domain.low + (domain.high - domain.low) / 2.0]
    if isinstance(domain, Rectangle):
        x, y = domain.x, domain.y
        return [np.array(corner) for corner in ((x.low, y.low), (x.high, y.high), (x.low, y.high))]
    if isinstance(domain, Disk):
        rays = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        return list(np.array(domain.centre) + 0.999 * domain.radius * rays)
    if isinstance(domain, Sphere):
        return [np.array([latitude, 0.0]) for latitude in (-90.0, 90.0, 0.0)]
    if domain.protects == "trajectory":
        return list(domain.check(np.stack(domain.examples()[:3])))
    if isinstance(domain, Places):
        far = np.unravel_index(int(np.argmax(domain.distances)), domain.distances.shape)
        return [int(index) for index in dict.fromkeys([*far, *range(len(domain.categories))])][:3]
    return []


def epsilon_on_device(central: float, *, n: int, delta: float, design: Any = None) -> float:
    """Return nearly the largest ε of a device such that every mechanism has at most `central` among n people.

    It is the inverse of `shuffled(epsilon, n=n, delta=delta)`, rounded down, and at least `central`. With a
    `design` it is the ε of this design; it may be larger.
    """
    device = _device_of_all(central, n=n, delta=delta)
    if design is None or _blanket(design) is None or device >= MOST_EPSILON / 2.0:
        return device

    def shortfall(log_epsilon: float, cells: int = CELLS) -> float:
        try:
            blanket = _blanket(design.at(math.exp(log_epsilon)))
        except InvalidParameter:  # this ε is too large for the design
            blanket = None
        failure = 1.0 if blanket is None else blanket.failure(n, cells)(central)
        if blanket is not None and n <= _MOST_CURVE and _is_binary(design):
            failure = min(failure, two_report_failure(n, blanket.ratio)(central))
        return math.log(delta) - 1.1 * _CLOSE - math.log(max(failure, 1e-300))

    start, top = math.log(device), math.log(MOST_EPSILON)
    rough = decreasing_root(
        lambda position: shortfall(position, FEWER_CELLS), start, top, close=_CLOSE, start=start, step=0.2
    )
    if rough is None:
        return device
    fine = decreasing_root(shortfall, start, top, close=_CLOSE, start=rough, step=1e-3)
    position = start if fine is None else fine
    # The bound jumps where the design changes its integers: reduce ε until the promise holds.
    while position > start and shortfall(position) < -_CLOSE:
        position -= 1e-3
    return max(device, math.exp(position))


def _device_of_all(central: float, *, n: int, delta: float) -> float:
    """Return nearly the largest ε of a device, for every mechanism."""
    people, delta = _count("n", n, 2, MOST_PEOPLE), _delta(delta)
    goal, top = check_epsilon(central), math.log(MOST_EPSILON)

    def shortfall(log_epsilon: float) -> float:  # decreasing, because a larger ε on the device has a larger δ
        ratio = math.exp(min(math.exp(log_epsilon), math.log(_MOST_RATIO)))
        return math.log(delta) - math.log(max(upper(people, ratio, 0.5)(goal), 1e-300))

    start = math.log(goal)
    found = decreasing_root(shortfall, start, top, close=1e-4, start=start, step=0.5)
    device = MOST_EPSILON if found is None else max(goal, math.exp(found))
    # The root is just beyond the goal, and bounds are rounded up: reduce ε until the promise holds.
    while device > goal and shuffled(device, n=people, delta=delta).epsilon > goal:
        device = max(goal, device * (1.0 - 2e-5))
    return device


def can_be_shuffled(mechanism: object) -> bool:
    """Return whether `shuffled` has a bound for the mechanism."""
    try:
        _pure(mechanism)
    except InvalidParameter:
        return False
    return True


def _pure(mechanism: Any) -> Guarantee:
    """Return the pure guarantee of one report. Raise InvalidParameter if shuffling has no bound for it."""
    if not can_answer(mechanism):
        return Guarantee(Pure(check_epsilon(mechanism)))
    guarantee: Guarantee = mechanism.guarantee
    if not isinstance(guarantee.bound, Pure):
        raise InvalidParameter(
            f"expected a pure guarantee to amplify by shuffling, got {guarantee.bound}; use a mechanism with "
            "pure ε"
        )
    if guarantee.unit == "trajectory" and not isinstance(_kernel_of(mechanism), RouteKernel):
        raise InvalidParameter(
            "expected one report for each person, because shuffling needs it; this mechanism protects one "
            "trajectory"
        )
    if guarantee.unit == "location":
        if not isinstance(_kernel_of(mechanism), NearestNumbers):
            raise InvalidParameter(
                "expected one report for each person, because shuffling needs it; this mechanism protects "
                "one location of a path"
            )
        guarantee = replace(guarantee, assumes=(*guarantee.assumes, ONE_PLACE))
    if not getattr(plain_of(mechanism), "alone", True):
        raise InvalidParameter(
            "expected independent reports, because shuffling gives no bound for reports that share coins; "
            "use a mechanism of one person, such as dt.KRR"
        )
    return guarantee


def _kernel_of(mechanism: object) -> object:
    return getattr(plain_of(mechanism), "kernel", None)


def _blanket(mechanism: object) -> Blanket | None:
    """Return the blanket of the kernel that draws a report, or None if it is not known."""
    plain = plain_of(mechanism) if can_answer(mechanism) else None
    if isinstance(plain, Each):
        return _join(plain.parts)
    return plain.kernel.blanket if isinstance(plain, Question) else None


def _join(parts: Mapping[str, Any]) -> Blanket | None:
    """Return the blanket of records of several answers, or None if one is unknown or there are too many."""
    record: Blanket | None = None
    for number, part in enumerate(parts.values()):
        own = _blanket(part)
        if own is None:
            return None
        record = own if not number else record and record.join(own)
    return record


def _is_binary(mechanism: object) -> bool:
    """Return whether there are only two reports, as for RR and Duchi."""
    plain = plain_of(mechanism) if can_answer(mechanism) else None
    return isinstance(plain, Question) and isinstance(plain.kernel, _WINDOWS) and plain.outcomes == 2


@lru_cache(maxsize=256)
def _two(n: int, ratio: float, delta: float, times: int, most: float) -> float:
    """Return the ε of n shuffled reports with two outcomes; for several days, up to a number of people."""
    if ratio >= _MOST_RATIO or (times > 1 and n > _MOST_CURVE):
        return times * most
    if times == 1:
        return two_reports(n, ratio, delta, most)
    return least_epsilon(repeat(two_report_failure(n, ratio), times, most, _POINTS), delta, times * most)


@lru_cache(maxsize=256)
def _own(blanket: Blanket, n: int, delta: float, times: int, most: float) -> float:
    """Return the ε of n shuffled reports with this blanket."""
    if math.exp(min(most, 40.0)) >= _MOST_RATIO:
        return times * most
    if times == 1:
        return least_epsilon(blanket.failure(n), delta, most)
    return least_epsilon(repeat(blanket.failure(n, FEWER_CELLS), times, most, _POINTS), delta, times * most)


def _least(n: int, ratio: float, share: float, delta: float, times: int, most: float) -> float:
    if ratio >= _MOST_RATIO:
        return times * most
    failure: Failure = upper(n, ratio, share)
    if times > 1:
        failure = repeat(failure, times, most, _POINTS if share == 0.5 else _FEW_POINTS)
    return least_epsilon(failure, delta, times * most)


def _count(name: str, given: object, least: int, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InvalidParameter(f"{name} must be an integer from {least} to {most}, not {found(given)}")
    return given


def _delta(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not LEAST_DELTA <= given < 1.0:
        raise InvalidParameter(f"delta must be at least {LEAST_DELTA:g} and below 1, not {found(given)}")
    return float(given)
