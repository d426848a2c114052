"""`dt.ask`: the default mechanism for a domain and a budget.

The terminal and questionnaires use the same function. It compares closed formulas and stored designs, and
does not run a solver.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from dither.advice.catalogue import default_protocol, solved_candidates
from dither.core.domains import Domain, check_domain
from dither.core.question import Answering, Question, check_epsilon
from dither.core.registry import design_of
from dither.errors import InvalidParameter, by_name, found

if TYPE_CHECKING:
    from dither.advice.goals.numbers import Goal
    from dither.core.reports import Reports
    from dither.foundation.randomness import Source
    from dither.mechanisms.mechanism import Mechanism
    from dither.mechanisms.optimal.mechanism import Optimal
    from dither.privacy import Guarantee

MOST_SPECIFIED: Final = 1 << 14  # bytes; the largest specification of a default mechanism
FEWER_OUTPUTS: Final = 128  # cells of a solved default whose complete codebook is longer


class LittleProtection(UserWarning):
    """The budget is so large that one report nearly reveals the answer."""


_warned: list[bool] = []  # not empty after the warning: it is given once in a process


@dataclass(frozen=True, repr=False)
class Chosen(Answering):
    """A mechanism that `dt.ask` chose, with the reason. Use it like the mechanism."""

    mechanism: Mechanism[Any]
    why: str

    @property
    def question(self) -> Question:
        """The question: it is sent to devices, draws, counts, decodes and promises."""
        question: Question = self.mechanism.question
        return question

    @property
    def domain(self) -> Domain:
        """The domain of the answers."""
        return self.mechanism.domain

    @property
    def epsilon(self) -> float:
        """The budget ε."""
        return self.mechanism.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers once, computed from the integers that are sampled."""
        return self.question.guarantee

    def device(self) -> dict[str, Any]:
        """Return what a device needs in order to answer, as JSON-compatible data."""
        return self.question.device()

    def perturb(self, values: object, *, source: Source | None = None, threads: int = 1) -> Reports:
        """Return the reports of people with these values, one each, as their devices draw them."""
        drawn: Reports = self.mechanism.perturb(values, source=source, threads=threads)
        return drawn

    def reports(self, raw: object) -> Reports:
        """Return reports that came from outside, checked."""
        return self.question.reports(raw)

    def at(self, epsilon: float) -> Mechanism[Any]:
        """Return the same mechanism with another ε."""
        return self.mechanism.at(epsilon)

    def describe(self) -> str:
        """Return a description in words: the mechanism, the guarantee, the size of a report, the reason."""
        return f"{self.question.describe()} It was chosen because {self.why}."

    def to_json(self) -> str:
        """Return the specification as JSON for `dt.from_json`."""
        return self.question.to_json()

    def __repr__(self) -> str:
        return f"{self.question.name} on {self.domain}, ε = {self.epsilon:g}: {self.why}"


@by_name
def ask(domain: Domain, *, epsilon: float, goal: Goal | None = None) -> Chosen:
    """Return a question about a domain: the best mechanism for its usual goal that every client can draw.

    The usual goal of numbers and vectors is their mean, of angles the direction, of lists and sets the
    frequencies. With another `goal`, such as `dt.goals.Distribution()`, it is the mechanism for that goal;
    `dt.recommend` ranks all mechanisms for a goal and may solve for one. A budget that protects little is
    warned about once.

    >>> from dither import Interval, ask
    >>> ask(Interval(18, 100), epsilon=1).mechanism.question.name
    'Optimal'
    """
    known, budget = check_domain(domain), check_epsilon(epsilon)
    mechanism, why = _usual(known, budget) if goal is None else _for_goal(known, budget, goal)
    _warn_once(mechanism.guarantee)
    return Chosen(mechanism, why)


def _usual(domain: Domain, epsilon: float) -> tuple[Mechanism[Any], str]:
    """Return the default mechanism of a question, and the reason.

    On categories it is the one with the smallest variance in short reports (`default_protocol`), on a circle
    OGPM. On an interval it is the one of three with the smallest predicted error of a mean in the worst case:
    the solved unbiased mechanism (if its design ships, with 128 outputs if its specification is above 16 kB),
    Hybrid or Podium.
    """
    if domain.usual_mechanism is not None:
        kind = design_of(domain.usual_mechanism)
        return kind(domain, epsilon=epsilon), _WHY.get(domain.usual_mechanism, _WHY["OGPM"])
    if domain.listed is not None:
        return default_protocol(domain.listed, epsilon), "the smallest variance of a share in a short report"
    line = domain.line
    if line is None:
        raise InvalidParameter(
            f"expected numbers, angles, lists or sets for dt.ask, got {domain}; name a mechanism, such as "
            "dt.Optimal for a place, or use dt.recommend"
        )
    if line.scale:
        return design_of("SW")(domain, epsilon=epsilon), _WHY["SW"]
    for candidate in solved_candidates(line, epsilon, (), ("worst",), unbiased=True, wait=False):
        for mechanism in (candidate.mechanism, replace(candidate.mechanism, outputs=FEWER_OUTPUTS)):
            if len(mechanism.to_json().encode()) <= MOST_SPECIFIED:
                return mechanism, "the smallest error of a mean of all unbiased mechanisms"
    # This import loads the estimators. A solved design does not need them.
    from dither.advice.goals.numbers import Mean

    spread = Mean().spread
    closed: list[Any] = [design_of(name) for name in ("Hybrid", "Podium")]
    made = [kind(domain, epsilon=epsilon) for kind in closed]
    best = min(made, key=lambda each: float(spread(each) or math.inf))
    return best, "the smallest error of a mean among closed formulas"


_WHY: Final = {
    "OGPM": "the smallest error of a direction",
    "SW": "the smallest error of a quantile among closed formulas",
    "Podium": "an unbiased mean of those who answer, and silence is hidden",
    "Optimal": "the smallest error of a mean vector",
    "SetResponse": "the smallest variance of the share of an item",
}


def _for_goal(domain: Domain, epsilon: float, goal: object) -> tuple[Mechanism[Any], str]:
    from dither.advice.goals.numbers import Goal

    if not isinstance(goal, Goal):
        raise InvalidParameter(f"expected a goal of dt.goals, such as dt.goals.Mean(), got {found(goal)}")
    name, number = type(goal).__name__, domain.kind == "interval"
    chosen: dict[str, tuple[str, str]] = {
        "Distribution": ("SW", "the smallest error of a distribution among closed formulas"),
        "Quantile": ("SW", "the smallest error of a quantile among closed formulas"),
        "SingleValues": ("OGPM", "the smallest worst-case error of single values among closed formulas"),
    }
    if name in chosen and (number or domain.kind == "circle"):
        kind = design_of(chosen[name][0])
        more: dict[str, Any] = {"loss": goal.loss} if hasattr(goal, "loss") else {}
        return kind(domain, epsilon=epsilon, **more), chosen[name][1]
    if name in ("Mean", "Frequencies"):
        wants_numbers = name == "Mean"
        if wants_numbers == (domain.listed is None):
            return _usual(domain, epsilon)
    raise InvalidParameter(
        f"expected a goal that dt.ask can serve on {domain}, got {name}; dt.recommend ranks all mechanisms"
    )


def default_mechanism(domain: Domain, epsilon: object) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the default mechanism of a domain and ε: its class, and its parameters other than ε."""
    budget = check_epsilon(epsilon)
    if domain.usual_mechanism is not None:  # it is not made here: one on routes needs public paths
        return design_of(domain.usual_mechanism), {}
    mechanism, _ = _usual(domain, budget)
    solved = mechanism.question.name == "Optimal" and domain.line is not None
    if not solved:
        return type(mechanism), {}
    outputs = cast("Optimal", mechanism).outputs
    return type(mechanism), {"unbiased": True, **({} if outputs is None else {"outputs": outputs})}


def _warn_once(guarantee: Guarantee) -> None:
    from dither.advice.explain import caution

    warning = caution(guarantee)
    if warning is not None and not _warned:
        _warned.append(True)
        warnings.warn(f"{warning} This warning is given once.", LittleProtection, stacklevel=4)
