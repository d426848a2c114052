"""Privacy guarantees: a bound on the privacy loss, the unit it protects, and its assumptions.

    Bound = Pure | Approximate | PAC | Metric | Nothing

A guarantee is computed from the integers that the sampler uses, not copied from the requested ε. Its
arithmetic rounds upwards: the stated bound is never below the true one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Final, Literal

from dither.errors import InvalidParameter, found
from dither.privacy.exact import float_at_least

UNCHANGED: Final = "the value never changes"
PUBLIC_LENGTH: Final = "how many locations a trajectory has, and when they were sent, is public"

# What a bound protects: one value, one location, …
Unit = Literal["value", "location", "trajectory", "record", "person"]


@dataclass(frozen=True)
class Pure:
    """Pure ε-LDP: no report is more than e^ε times as likely under one value as under another."""

    epsilon: float

    def __post_init__(self) -> None:
        _check(self.epsilon)

    def __str__(self) -> str:
        return f"ε ≤ {_show(self.epsilon)}"


@dataclass(frozen=True)
class Approximate:
    """Approximate (ε, δ)-LDP: P(S | x) ≤ e^ε · P(S | x′) + δ for every set S of reports."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _check(self.epsilon, self.delta)

    def __str__(self) -> str:
        return f"(ε, δ) ≤ ({_show(self.epsilon)}, {_show(self.delta)})"


@dataclass(frozen=True)
class PAC:
    """Probabilistic LDP: with probability at least 1 − δ the privacy loss of a report is at most ε.

    It is not closed under post-processing. It implies (ε, δ)-LDP.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _check(self.epsilon, self.delta)

    def __str__(self) -> str:
        return f"loss ≤ {_show(self.epsilon)} with probability ≥ 1 − {_show(self.delta)}"


@dataclass(frozen=True)
class Metric:
    """Metric privacy: for values at distance d, the ratio of probabilities is at most e^(ε·d)."""

    epsilon: float
    distance: str = "unit of distance"

    def __post_init__(self) -> None:
        _check(self.epsilon)

    def __str__(self) -> str:
        return f"ε ≤ {_show(self.epsilon)} per {self.distance}"


@dataclass(frozen=True)
class Nothing:
    """No finite bound exists; `reason` says why."""

    reason: str

    def __str__(self) -> str:
        return f"no privacy guarantee: {self.reason}"


Bound = Pure | Approximate | PAC | Metric | Nothing


@dataclass(frozen=True)
class Guarantee:
    """A bound, the unit it protects, and its assumptions. Without assumptions it holds for every adversary.

    >>> Guarantee(Pure(1.0)).repeated(3)
    Guarantee: ε ≤ 3 for one value
    """

    bound: Bound
    unit: Unit = "value"
    assumes: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The ε of the bound; infinite if there is no bound."""
        return math.inf if isinstance(self.bound, Nothing) else self.bound.epsilon

    @property
    def delta(self) -> float:
        """The δ of the bound: 0 if it is pure, 1 if there is no bound."""
        if isinstance(self.bound, Nothing):
            return 1.0
        return self.bound.delta if isinstance(self.bound, Approximate | PAC) else 0.0

    @property
    def if_changing(self) -> Bound:
        """The bound that remains if the value changes between answers: `Nothing` if it is assumed constant.

        A permanent answer is drawn once for each value. Two different permanent answers prove two different
        values, whatever ε is: `Memoised.change_proved` returns how often that happens.
        """
        if UNCHANGED not in self.assumes:
            return self.bound
        return Nothing(
            "a permanent answer that changes proves that the value changed; dt.Once promises ε for a value "
            "that changes"
        )

    def compose(self, *others: Guarantee) -> Guarantee:
        """Return the guarantee of releasing this and all the others (basic composition).

        The result protects the smallest unit of the parts, and has the assumptions of all parts. Proved
        without δ: composition (proofs/Combine.v) and ratios_add (proofs/Exponential.v).
        """
        together = (self, *others)
        return Guarantee(
            _compose([guarantee.bound for guarantee in together]),
            _weakest(together),
            assumptions_of(together),
        )

    def either(self, *others: Guarantee) -> Guarantee:
        """Return the guarantee of releasing only one of these, chosen independently of the value.

        Proved without δ: one_of_several (proofs/Combine.v).
        """
        together = (self, *others)
        return Guarantee(
            _either([guarantee.bound for guarantee in together]), _weakest(together), assumptions_of(together)
        )

    def repeated(self, times: int) -> Guarantee:
        """Return the guarantee of `times` releases with independent randomness.

        Several locations are a trajectory; their number is not protected. Proved without δ: repetition
        (proofs/Combine.v).
        """
        if isinstance(times, bool) or not isinstance(times, int) or times < 1:
            raise InvalidParameter(f"times must be an integer from 1 upwards, not {found(times)}")
        bound = _repeat(self.bound, times)
        if self.unit != "location" or times == 1:
            return replace(self, bound=bound)
        assumes = dict.fromkeys((*self.assumes, PUBLIC_LENGTH))
        return Guarantee(bound, "trajectory", tuple(assumes))

    def of_record(self) -> Guarantee:
        """Return a guarantee for all values of a record as a guarantee for the record."""
        return replace(self, unit="record") if self.unit == "value" else self

    def implies(self, other: Guarantee) -> bool:
        """Return whether this guarantee implies the other; False if their units differ."""
        if self.unit != other.unit or not set(self.assumes) <= set(other.assumes):
            return False
        return _implies(self.bound, other.bound)

    def unaccepted(self, assume: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the assumptions that are not in `assume`; a public length of paths is always accepted."""
        accepted = {PUBLIC_LENGTH, *((assume,) if isinstance(assume, str) else assume)}
        return tuple(line for line in self.assumes if line not in accepted)

    def mutual_information(self, values: float = math.inf) -> float:
        """Return an upper bound, in nats, on the mutual information of a value and its report, for any prior.

        `values` is the number of possible values. [Thesis, Thm 19] proves min(ε, ln values). This is the best
        bound that ε alone allows: given a report, the posterior is the prior times factors within e^ε of each
        other, and the relative entropy of such a posterior is at most t − 1 − ln t with t = ε/(1 − e^−ε),
        about ε²/8.
        """
        if not isinstance(self.bound, Pure):
            raise InvalidParameter(
                f"expected a pure guarantee to bound mutual information, got: {self}; use a "
                "mechanism with pure ε"
            )
        if not values >= 1:
            raise InvalidParameter(f"values, the number of possible values, must be ≥ 1, not {found(values)}")
        epsilon = self.bound.epsilon
        bounds = [_up(math.log(values), 2)]
        if epsilon < math.inf:
            t = epsilon / -math.expm1(-epsilon) if epsilon else 1.0
            # The difference cancels for small ε; there Hoeffding's lemma yields ε²/8.
            bounds += [t - 1.0 - math.log(t) + 8.0 * math.ulp(t), float_at_least(Fraction(epsilon) ** 2 / 8)]
        return min(bounds)

    def posterior(self, prior: float) -> float:
        """Return the largest probability, after a report, of a statement whose probability before is `prior`.

        A pure ε in Bayesian terms [Thesis, Sec. 2.1]: whatever an adversary knew before, the odds of
        any two values change by at most e^ε, so p becomes at most p·e^ε/(p·e^ε + 1 − p).

        >>> round(Guarantee(Pure(1.0)).posterior(0.5), 4)
        0.7311
        """
        if not isinstance(self.bound, Pure):
            raise InvalidParameter(
                f"expected a pure guarantee to bound a posterior, got: {self}; use a mechanism with pure ε"
            )
        if not 0.0 <= prior <= 1.0:
            raise InvalidParameter(f"expected a prior probability from 0 to 1, got {found(prior)}")
        return largest_posterior(self.bound.epsilon, prior)

    def __str__(self) -> str:
        text = f"{self.bound}" if isinstance(self.bound, Nothing) else f"{self.bound} for one {self.unit}"
        return text + ("" if not self.assumes else ", assuming that " + "; ".join(self.assumes))

    def __repr__(self) -> str:
        return f"Guarantee: {self}"

    def _repr_html_(self) -> str:
        """Return the guarantee as HTML for notebooks."""
        return f"<p><b>Guarantee:</b> {escape(str(self))}</p>"


def largest_posterior(epsilon: float, prior: float) -> float:
    """Return p·e^ε/(p·e^ε + 1 − p), the largest probability after a report of ε, for p = `prior`."""
    if prior in (0.0, 1.0):
        return prior
    return 1.0 / (1.0 + math.exp(-epsilon) * (1.0 - prior) / prior)


def assumptions_of(guarantees: Iterable[Guarantee]) -> tuple[str, ...]:
    """Return the assumptions of all guarantees, each once."""
    return tuple(dict.fromkeys(line for guarantee in guarantees for line in guarantee.assumes))


def _weakest(guarantees: Sequence[Guarantee]) -> Unit:
    """Return the largest unit that all of the guarantees protect.

    A bound for one person holds for all of their answers, hence also for one record. A bound for one record
    does not cover a second record of the same person.
    """
    units = {guarantee.unit for guarantee in guarantees}
    if len(units) == 1:
        return units.pop()
    if "location" in units:
        return "location"
    return "record" if units & {"value", "record"} else "trajectory"


def _compose(bounds: Sequence[Bound]) -> Bound:
    mixed = _incomparable(bounds)
    if mixed is not None:
        return mixed
    finite = [bound for bound in bounds if not isinstance(bound, Nothing)]
    epsilon = _sum([bound.epsilon for bound in finite])
    deltas = [bound.delta for bound in finite if isinstance(bound, Approximate | PAC)]
    if isinstance(finite[0], Metric):
        return replace(finite[0], epsilon=epsilon)
    if not deltas:
        return Pure(epsilon)
    if not any(isinstance(bound, Approximate) for bound in bounds):
        return PAC(epsilon, _union(deltas))  # independent losses: 1 − Π(1 − δ) [Thesis, Thm 16]
    return Approximate(epsilon, min(1.0, _sum(deltas)))


def _either(bounds: Sequence[Bound]) -> Bound:
    mixed = _incomparable(bounds)
    if mixed is not None:
        return mixed
    finite = [bound for bound in bounds if not isinstance(bound, Nothing)]
    epsilon = max(bound.epsilon for bound in finite)
    deltas = [bound.delta for bound in finite if isinstance(bound, Approximate | PAC)]
    if isinstance(finite[0], Metric):
        return replace(finite[0], epsilon=epsilon)
    if not deltas:
        return Pure(epsilon)
    kind = Approximate if any(isinstance(bound, Approximate) for bound in bounds) else PAC
    return kind(epsilon, max(deltas))


def _incomparable(bounds: Sequence[Bound]) -> Nothing | None:
    """Return `Nothing` with the reason if these bounds cannot be combined into one number, else None."""
    for bound in bounds:
        if isinstance(bound, Nothing):
            return bound
    distances = {bound.distance if isinstance(bound, Metric) else None for bound in bounds}
    if len(distances) > 1:
        return Nothing("a bound per distance and a bound of another kind cannot be added")
    return None


def _repeat(bound: Bound, times: int) -> Bound:
    if isinstance(bound, Nothing) or times == 1:
        return bound
    epsilon = _sum([bound.epsilon], times)
    if isinstance(bound, PAC):
        return PAC(epsilon, _union([bound.delta], times))
    if isinstance(bound, Approximate):
        return Approximate(epsilon, min(1.0, _sum([bound.delta], times)))
    return replace(bound, epsilon=epsilon)


def _implies(bound: Bound, other: Bound) -> bool:
    if isinstance(other, Nothing):
        return True
    if isinstance(bound, Nothing) or isinstance(bound, Metric) != isinstance(other, Metric):
        return False
    if isinstance(bound, Metric) and isinstance(other, Metric):
        return bound.distance == other.distance and bound.epsilon <= other.epsilon
    delta = 0.0 if isinstance(bound, Pure | Metric) else bound.delta
    if isinstance(other, Pure | Metric):
        return delta == 0.0 and bound.epsilon <= other.epsilon
    if isinstance(other, PAC) and isinstance(bound, Approximate) and delta > 0:
        return False
    return bound.epsilon <= other.epsilon and delta <= other.delta


def _union(deltas: list[float], times: int = 1) -> float:
    if max(deltas) >= 1.0:
        return 1.0
    return min(1.0, _up(-math.expm1(times * math.fsum(math.log1p(-delta) for delta in deltas)), 4))


def _sum(numbers: Sequence[float], times: int = 1) -> float:
    """Return the smallest double that is at least the exact sum of the numbers, times `times`."""
    if math.inf in numbers:
        return math.inf
    return float_at_least(sum(map(Fraction, numbers), Fraction(0)) * times)


def _up(number: float, steps: int) -> float:
    """Return the float that is `steps` floats higher: this exceeds the rounding error of the formula."""
    for _ in range(steps):
        number = math.nextafter(number, math.inf)
    return number


def _check(epsilon: float, delta: float = 0.0) -> None:
    if not epsilon >= 0.0:
        raise InvalidParameter(f"ε of a bound must be a number from 0 upwards, not {found(epsilon)}")
    if not 0.0 <= delta <= 1.0:
        raise InvalidParameter(f"δ of a bound must be from 0 to 1, not {found(delta)}")


def _show(number: float) -> str:
    """Return a number with at most six digits, rounded up, so that the printed number is still a bound."""
    if number in (0.0, math.inf):
        return f"{number:g}"
    digits = 5 - math.floor(math.log10(number))
    shown = float(f"{number:.6g}")
    if shown < number * (1 - 1e-9):
        shown += 10.0**-digits
    return f"{shown:.6g}"
