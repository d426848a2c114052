"""`audit` and `audit_function`: exact audits of dither's objects, sampled audits of other randomisers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dither.advice.audits.black_box.calls import Calls, Command
from dither.advice.audits.black_box.columns import Context
from dither.advice.audits.black_box.rounds import Claim, repeats, rounds, singles
from dither.advice.audits.exact import exact_audit
from dither.advice.audits.finding import Evidence, Finding, time_calls
from dither.advice.audits.grey_box import (
    Enumerated,
    differences,
    enumerate_draws,
    has_plain_call,
    takes_source,
)
from dither.advice.audits.neighbours import Neighbours, as_numbers
from dither.core.domains import Domain
from dither.core.question import can_answer
from dither.errors import InvalidParameter, found
from dither.foundation.numerics.distributions import check_level
from dither.privacy import Approximate, Bound, Pure

_LEAST_SAMPLES, _SAMPLES, _MOST_SAMPLES = 1000, 200_000, 4_000_000
_ROUNDING: Final = 1e-12  # tolerance when an exact loss is compared with a claim in floats


def audit(mechanism: object, *, assume: Iterable[str] = ()) -> Finding:
    """Check the promise of a mechanism, combinator or questionnaire exactly: its integers and its draw code.

    `assume` lists the assumptions that are accepted. A randomiser of your own is audited by
    `dt.audit_function`.

    >>> from dither import Interval, PM
    >>> audit(PM(Interval(0, 1), epsilon=1)).ok
    True
    """
    if callable(mechanism) and not can_answer(mechanism):
        raise InvalidParameter(
            "expected a domain and an ε to audit a function: dt.audit_function(f, domain, epsilon=1)"
        )
    return exact_audit(mechanism, assume=assume)


def audit_function(
    function: object,
    domain: object,
    *,
    epsilon: float,
    delta: float = 0.0,
    samples: int | None = None,
    confidence: float = 0.99,
    each: bool = False,
    seconds: float = 40.0,
    timing: bool = True,
    seed: int = 0,
) -> Finding:
    """Check the promise of any randomiser by samples.

    The randomiser is a callable: an array of values in, the same number of reports out (with `each`, one
    value in and one report out). `domain` is a domain, a list of inputs any two of which are neighbours, or
    `dt.audits.Neighbours`. The finding has a lower bound on the spent ε. It is wrong with probability at most
    1 − confidence, and `ok` is False if it is larger than `epsilon`. With ε = ∞ nothing is claimed and all
    samples are used. `samples` counts all reports; the audit stops earlier when it is decided, or after about
    `seconds` seconds. A randomiser with a parameter `source` is also run on chosen random bytes. `seed`
    determines the audit's own choices, not the randomiser.

    >>> import numpy as np
    >>> from dither import Interval
    >>> rng = np.random.default_rng(1)
    >>> careless = lambda values: values + rng.laplace(scale=0.5, size=len(values))
    >>> found = audit_function(careless, Interval(0, 1), epsilon=1, timing=False)
    >>> found.ok, found.realised > 1
    (False, True)
    """
    if not callable(function):
        raise InvalidParameter(
            f"expected a function, got {type(function).__name__}; use dt.audit for mechanisms"
            if can_answer(function)
            else f"expected a function, got {type(function).__name__}"
        )
    claim = Claim(_epsilon(epsilon), _delta(delta), check_level(confidence))
    wanted = _samples(samples, claim.epsilon)
    calls = Calls(function, Neighbours.of(domain), each)
    name = f"{_name(function)} on {domain if isinstance(domain, Domain) else _count(calls.neighbours)}"
    return _randomiser(name, calls, claim, domain, wanted, seconds, timing, seed)


def _randomiser(
    name: str,
    calls: Calls,
    claim: Claim,
    domain: object,
    samples: int,
    seconds: float,
    timing: bool,
    seed: int,
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
    line = domain.line if isinstance(domain, Domain) else None
    scale = line.length / claim.epsilon if line is not None and line is domain and not line.circular else None
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
        # People use the call without a source; its code may differ from the enumerated code.
        plain = f"and {calls.reports} reports of calls without a source, of {tried}, refute nothing"
        return replace(exact, how=f"{exact.how}; {plain}", coverage=tuple(context.coverage.values()))
    how = (
        f"a lower bound with confidence {100 * claim.confidence:g} %, from {calls.reports} reports of {tried}"
    )
    durations = time_calls(calls, rng) if timing else None
    return Finding(
        name,
        claim.epsilon,
        bound,
        how,
        claim.delta,
        evidence=best,
        notes=notes,
        timing=durations,
        seed=seed,
        coverage=tuple(context.coverage.values()),
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


def _of_how_many(tried: int, calls: Calls, domain: object) -> str:
    """Return the number of inputs that were tried and, if the domain is finite, the number of all inputs."""
    listed = domain.count if isinstance(domain, Domain) else None
    known = len(calls.neighbours.inputs) if listed is None else listed
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


def _epsilon(epsilon: object) -> float:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.integer | np.floating):
        raise InvalidParameter(f"ε must be a number, not {type(epsilon).__name__}")
    if not epsilon > 0:
        raise InvalidParameter(f"ε must be positive, not {epsilon}; use math.inf to claim nothing")
    return float(epsilon)


def _delta(delta: object) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.floating) or not 0 <= delta < 1:
        raise InvalidParameter(f"expected δ to be a probability from 0 to below 1, got {found(delta)}")
    return float(delta)


def _samples(samples: object, epsilon: float) -> int:
    if samples is None:
        # An event that always happens under one input and never under the other proves about ln(n/20).
        grown = 1000.0 * math.exp(min(epsilon, 20.0)) if math.isfinite(epsilon) else 0.0
        return int(min(max(_SAMPLES, grown), _MOST_SAMPLES))
    if isinstance(samples, bool) or not isinstance(samples, int | np.integer) or samples < _LEAST_SAMPLES:
        raise InvalidParameter(
            f"expected samples to be an integer of at least {_LEAST_SAMPLES} reports, got {found(samples)}"
        )
    return int(samples)
