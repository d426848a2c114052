"""The verb `audit`: dither's own objects go to the exact audit, any other randomiser to the black box.

`dt.audit`: the realised privacy loss, from a mechanism's integers, probabilities and draw code.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final

import numpy as np

from dither.advice.audits.black_box.calls import Calls, Command
from dither.advice.audits.black_box.columns import Context
from dither.advice.audits.black_box.rounds import Claim, repeats, rounds, singles
from dither.advice.audits.finding import Evidence, Finding, time_calls
from dither.advice.audits.grey_box import (
    Enumerated,
    differences,
    enumerate_draws,
    has_plain_call,
    takes_source,
)
from dither.advice.audits.neighbours import Listed, Neighbours, as_numbers, list_probabilities
from dither.advice.audits.sampler import MANY, can_compare, contradictions, pair_contradictions
from dither.core.domains import Categories, Domain, Interval, Region
from dither.core.kernels.places.place import PlaceKernel
from dither.core.question import Answering, Question, as_question, can_answer
from dither.core.question.paths import parts_of
from dither.core.repetition import Memoised
from dither.errors import InvalidParameter, found
from dither.foundation.numerics.distributions import check_level
from dither.privacy import PAC, Approximate, Bound, Guarantee, Pure
from dither.privacy.guarantee import Combinator, assumptions_of

_SLACK: Final = 1e-10  # tolerance of a loss in floats: far above rounding, far below a relevant difference


def exact_audit(asked: Any, *, assume: Iterable[str] = ()) -> Finding:
    """Recompute the privacy of a mechanism, a combinator or a campaign, without using what it claims.

    The bound follows from the integers. It is compared with the least and the greatest probability of each
    report, over inputs at both ends of the domain and within it; and the draw code itself is run: at boundary
    words, on values that are not finite, and often enough to compare frequencies. What the promise assumes is
    reported; `finding.ok` is False unless `assume` names it.

    >>> from dither.core.domains import Interval
    >>> from dither import PM, BoundedLaplace
    >>> audit(PM(Interval(0, 1), epsilon=1)).ok
    True
    >>> near = BoundedLaplace(Interval(0, 1), epsilon=1, sensitivity=0.1)
    >>> audit(near).ok, audit(near, assume=near.guarantee.assumes).ok
    (False, True)
    """
    accepted = (assume,) if isinstance(assume, str) else tuple(assume)
    if isinstance(asked, Answering) and isinstance(asked, Combinator):
        return _combine(asked, accepted)
    if can_answer(asked):
        return _question(as_question(asked), accepted)
    questions = getattr(asked, "questions", None)
    if isinstance(questions, Mapping) and questions:
        return _campaign(asked, questions, accepted)
    raise InvalidParameter(
        f"a mechanism, a combinator or a campaign was expected, not {type(asked).__name__}"
    )


def _question(question: Question, accepted: tuple[str, ...]) -> Finding:
    bound, how = question.promise[:2]
    assumptions = question.guarantee.assumes
    delta = float(question.parameters.get("delta", 0.0))
    problems: list[str] = []
    loss: float | None = None
    if parts_of(question):
        parts = [_question(part, accepted) for part in parts_of(question)]
        problems += [problem for part in parts for problem in part.problems]
        if isinstance(question.kernel, PlaceKernel) and isinstance(question.domain, Region):
            problems += dict.fromkeys(pair_contradictions(question))
        bound = _larger(bound, parts)
        how += f"; {len(parts)} parts audited"
    else:
        known = list_probabilities(question)
        if known is not None:
            loss = known.loss
            most = len(question.domain) if isinstance(question.domain, Categories) else 0
            of = f" of {most}" if most > len(known.inputs) else ""
            how += f"; every report under {len(known.inputs)}{of} inputs"
            if not assumptions:
                bound, found = _compare(bound, known)
                problems += found
        drawn = f"{MANY} draws of an input" if can_compare(question, known) else "its draws were not compared"
        how += f"; {drawn}"
        problems += dict.fromkeys(contradictions(question, known))
    name = f"{question.name} on {question.domain}"
    return Finding(name, question.epsilon, bound, how, delta, assumptions, accepted, tuple(problems), loss)


def _compare(bound: Bound, known: Listed) -> tuple[Bound, list[str]]:
    """Return the bound, or a larger one if the probabilities show more, and what was wrong."""
    if isinstance(bound, Pure) and known.loss > bound.epsilon + (0.0 if known.exact else _SLACK):
        return Pure(known.loss), ["the probabilities of one report differ by more than the integers say"]
    if isinstance(bound, Approximate | PAC):
        left = known.delta(bound.epsilon)
        if left > bound.delta * (1 + 1e-6) + 1e-12:
            return replace(bound, delta=min(left, 1.0)), ["δ is larger than the integers say"]
    return bound, []


def _larger(bound: Bound, parts: list[Finding]) -> Bound:
    """Return the bound of a whole, or the sum of its parts' if they spend more than rounding explains."""
    first, *others = (Guarantee(part.bound) for part in parts)
    together = first.compose(*others)
    return together.bound if together.epsilon > Guarantee(bound).epsilon + _SLACK else bound


def _combine(asked: Any, accepted: tuple[str, ...]) -> Finding:
    """Return the finding of a combinator: its rule on what was found about its parts."""
    several = isinstance(getattr(asked, "parts", None), Mapping)  # Each and Sampled
    named = asked.parts if several else {"": getattr(asked, "question", None) or asked.mechanism}
    parts = tuple(exact_audit(part, assume=accepted) for part in named.values())
    found = [
        Guarantee(finding.bound, part.guarantee.unit, part.guarantee.assumes)
        for finding, part in zip(parts, named.values(), strict=True)
    ]
    names = ", ".join(named) if several else parts[0].mechanism
    how = f"the rule of {type(asked).__name__}, from what was found about its parts"
    problems: tuple[str, ...] = ()
    if isinstance(asked, Memoised) and not _repeats(asked):
        problems = ("the same value does not have the same report",)
    return _whole(
        f"{type(asked).__name__} of {names}", asked, asked.promise(found), how, accepted, parts, problems
    )


def _repeats(device: Memoised) -> bool:
    """Return whether a device repeats its report for the same value, at both ends of the domain."""
    known = list_probabilities(device.question)
    values = () if known is None else known.values[:2]
    return all(device.perturb(value) == device.perturb(value) for value in values)


def _campaign(asked: Any, questions: Mapping[str, Any], accepted: tuple[str, ...]) -> Finding:
    parts = tuple(exact_audit(question, assume=accepted) for question in questions.values())
    found = [
        Guarantee(finding.bound, question.guarantee.unit, question.guarantee.assumes)
        for finding, question in zip(parts, questions.values(), strict=True)
    ]
    how = "the sum of what was found about each question"
    name = f"{type(asked).__name__} of {', '.join(questions)}"
    return _whole(name, asked, reduce(Guarantee.compose, found), how, accepted, parts)


def _whole(
    name: str,
    asked: Any,
    found: Guarantee,
    how: str,
    accepted: tuple[str, ...],
    parts: tuple[Finding, ...],
    problems: tuple[str, ...] = (),
) -> Finding:
    claimed: Guarantee = asked.guarantee
    missing = [line for line in found.assumes if line not in claimed.assumes]
    if missing:
        problems += (f"the promise does not say that it assumes that {'; '.join(missing)}",)
    assumptions = assumptions_of((claimed, found))
    return Finding(
        name,
        claimed.epsilon,
        found.bound,
        how,
        claimed.delta,
        assumptions,
        accepted,
        problems,
        parts=parts,
    )


_LEAST_SAMPLES, _SAMPLES, _MOST_SAMPLES = 1000, 200_000, 4_000_000
_ROUNDING: Final = 1e-12  # tolerance when an exact loss is compared with a claim in floats


def audit(
    mechanism: Any,
    domain: Any = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    samples: int | None = None,
    confidence: float = 0.99,
    each: bool = False,
    seconds: float = 40.0,
    timing: bool = True,
    seed: int = 0,
    assume: Iterable[str] = (),
) -> Finding:
    """Check a promise: of a mechanism, combinator or campaign exactly, of any other randomiser by samples.

    An object of dither's is audited from its integers and its draw code; pass it alone. `assume` lists the
    assumptions that are accepted.

    Any other randomiser is a callable: an array of values in, as many reports out (with `each`, one value in
    and one report out). `domain` is a domain, a list of inputs any two of which are neighbours, or
    `Neighbours`. The finding has a lower bound on the ε that is spent, which is wrong with probability at
    most 1 − confidence, and `ok` is False if it is larger than `epsilon`. With ε = ∞ nothing is claimed and
    all samples are used. `samples` counts all reports; the audit stops earlier when it is decided, or after
    about so many `seconds`. A randomiser with a parameter `source` is also run on chosen random bytes. `seed`
    is of the audit's own choices, not of the randomiser.

    >>> import numpy as np
    >>> from dither import Interval, PM
    >>> audit(PM(Interval(0, 1), epsilon=1)).ok
    True
    >>> rng = np.random.default_rng(1)
    >>> careless = lambda values: values + rng.laplace(scale=0.5, size=len(values))
    >>> found = audit(careless, Interval(0, 1), epsilon=1, timing=False)
    >>> found.ok, found.realised > 1
    (False, True)
    """
    if can_answer(mechanism) or not callable(mechanism):
        if domain is not None or epsilon is not None:
            raise InvalidParameter(
                "an object of dither's has its own domain and ε: give it alone; to audit it as a black box "
                "give its method: audit(mechanism.perturb, domain, epsilon=…)"
            )
        return exact_audit(mechanism, assume=assume)
    if domain is None or epsilon is None:
        raise InvalidParameter("a randomiser is audited on a domain for an ε: audit(f, domain, epsilon=1)")
    claim = Claim(_epsilon(epsilon), _delta(delta), check_level(confidence))
    wanted = _samples(samples, claim.epsilon)
    calls = Calls(mechanism, Neighbours.of(domain), each)
    name = f"{_name(mechanism)} on {domain if isinstance(domain, Domain) else _count(calls.neighbours)}"
    return _randomiser(name, calls, claim, domain, wanted, seconds, timing, seed)


def _randomiser(
    name: str, calls: Calls, claim: Claim, domain: Any, samples: int, seconds: float, timing: bool, seed: int
) -> Finding:
    notes: tuple[str, ...] = ()
    exact: Finding | None = None
    if takes_source(calls.randomiser) and not calls.each:
        notes = differences(calls.randomiser, calls.neighbours)
        known = None if claim.delta else enumerate_draws(calls.randomiser, calls.neighbours)
        if known is not None:
            exact = _exact(name, claim, known, _of_how_many(known.inputs, calls, domain), notes)
            if not exact.ok or not has_plain_call(calls.randomiser):
                return exact
    rng = np.random.default_rng(seed)
    scale = domain.length / claim.epsilon if isinstance(domain, Interval) else None
    context = Context(as_numbers(calls.neighbours.inputs), scale if scale else None)
    best: Evidence | None = None
    for evidence in _experiments(calls, claim, context, samples, rng, time.monotonic() + seconds):
        if best is None or evidence.epsilon > best.epsilon:
            best = evidence
        if best.epsilon > claim.epsilon:
            break
    found = 0.0 if best is None else best.epsilon
    bound: Bound = Approximate(found, claim.delta) if claim.delta else Pure(found)
    tried = _of_how_many(len(calls.tried), calls, domain)
    if exact is not None and found <= claim.epsilon:
        # The call without a source is what people use; it may be other code than what was enumerated.
        plain = f"and {calls.reports} reports of calls without a source, of {tried}, refute nothing"
        return replace(exact, how=f"{exact.how}; {plain}")
    how = (
        f"a lower bound with confidence {100 * claim.confidence:g} %, from {calls.reports} reports of {tried}"
    )
    durations = time_calls(calls, rng) if timing else None
    return Finding(
        name, claim.epsilon, bound, how, claim.delta, evidence=best, notes=notes, timing=durations, seed=seed
    )


def _experiments(
    calls: Calls, claim: Claim, context: Context, samples: int, rng: np.random.Generator, deadline: float
) -> Iterable[Evidence]:
    # Dependent reports first: the rounds count reports as independent trials.
    shared = repeats(calls, claim)
    if shared is not None:
        yield shared
    yield from rounds(calls, claim, context, samples, rng, deadline)
    alone = singles(calls, claim, context)
    if alone is not None:
        yield alone


def _of_how_many(tried: int, calls: Calls, domain: Any) -> str:
    """Return how many inputs were tried, and of how many where the domain is finite."""
    known = len(domain) if isinstance(domain, Categories) else len(calls.neighbours.inputs)
    return f"{tried} of {known} inputs"


def _exact(name: str, claim: Claim, known: Enumerated, tried: str, notes: tuple[str, ...]) -> Finding:
    loss = known.loss
    if loss <= claim.epsilon + _ROUNDING * max(1.0, claim.epsilon):
        loss = min(loss, claim.epsilon)
    how = f"exact: every random byte was tried, for {tried}"
    problems = () if loss <= claim.epsilon else (str(known),)
    return Finding(name, claim.epsilon, Pure(loss), how, 0.0, problems=problems, notes=notes)


def _name(randomiser: Callable[..., Any]) -> str:
    named = getattr(randomiser, "__qualname__", None)
    if named is None:
        named = str(randomiser) if isinstance(randomiser, Command) else type(randomiser).__name__
    return str(named).replace("<locals>.", "")


def _count(neighbours: Neighbours) -> str:
    return f"{len(neighbours.inputs)} inputs"


def _epsilon(epsilon: Any) -> float:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.integer | np.floating):
        raise InvalidParameter(f"ε must be a number, not {type(epsilon).__name__}")
    if not epsilon > 0:
        raise InvalidParameter(f"ε must be positive, not {epsilon}; ∞ claims nothing")
    return float(epsilon)


def _delta(delta: Any) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.floating) or not 0 <= delta < 1:
        raise InvalidParameter(f"δ is a probability from 0 to below 1, not {found(delta)}")
    return float(delta)


def _samples(samples: Any, epsilon: float) -> int:
    if samples is None:
        # An event that always happens under one input and never under the other proves about ln(n/20).
        grown = 1000.0 * math.exp(min(epsilon, 20.0)) if math.isfinite(epsilon) else 0.0
        return int(min(max(_SAMPLES, grown), _MOST_SAMPLES))
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < _LEAST_SAMPLES:
        raise InvalidParameter(
            f"samples is a whole number of at least {_LEAST_SAMPLES} reports, not {found(samples)}"
        )
    return int(samples)
