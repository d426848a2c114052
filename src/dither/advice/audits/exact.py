"""The exact audit: the realised privacy loss, from a mechanism's integers, probabilities and draw code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final

from dither.advice.audits.finding import Finding
from dither.advice.audits.neighbours import Listed, list_probabilities
from dither.advice.audits.sampler import MANY, can_compare, contradictions, pair_contradictions
from dither.core.combinator import Combinator
from dither.core.kernels.places.place import PlaceKernel
from dither.core.memoised import Memoised
from dither.core.question import Answering, Question, as_question, can_answer
from dither.core.question.paths import parts_of
from dither.errors import InvalidParameter
from dither.privacy import PAC, Approximate, Bound, Guarantee, Pure
from dither.privacy.guarantee import assumptions_of

_SLACK: Final = 1e-10  # tolerance of a loss in floats: far above rounding, far below a relevant difference


def exact_audit(target: object, *, assume: Iterable[str] = ()) -> Finding:
    """Recompute the privacy of a mechanism, a combinator or a campaign, without using its claims.

    The bound follows from the integers. It is compared with the least and the greatest probability of each
    report, over inputs at both ends of the domain and within it. The draw code is also run: at boundary
    words, on values that are not finite, and often enough to compare frequencies. The finding lists the
    assumptions of the promise. `finding.ok` is False unless `assume` contains them.

    >>> from dither.core.domains import Interval
    >>> from dither import PM, BoundedLaplace
    >>> exact_audit(PM(Interval(0, 1), epsilon=1)).ok
    True
    >>> near = BoundedLaplace(Interval(0, 1), epsilon=1, sensitivity=0.1)
    >>> exact_audit(near).ok, exact_audit(near, assume=near.guarantee.assumes).ok
    (False, True)
    """
    accepted = (assume,) if isinstance(assume, str) else tuple(assume)
    if isinstance(target, Answering) and isinstance(target, Combinator):
        return _combine(target, accepted)
    if can_answer(target):
        return _question(as_question(target), accepted)
    questions = getattr(target, "questions", None)
    if isinstance(questions, Mapping) and questions:
        return _campaign(target, questions, accepted)
    raise InvalidParameter(
        f"expected a mechanism, a combinator or a campaign, got {type(target).__name__}; pass one such as "
        "dt.Podium(dt.Interval(0, 1), epsilon=1)"
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
        if isinstance(question.kernel, PlaceKernel) and question.domain.examples(few=True):
            problems += dict.fromkeys(pair_contradictions(question))
        bound = _larger(bound, parts)
        how += f"; {len(parts)} parts audited"
    else:
        known = list_probabilities(question)
        if known is not None:
            loss = known.loss
            most = question.domain.count or 0
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
    """Return the bound, or a larger one if the probabilities show more, and the contradictions."""
    if isinstance(bound, Pure) and known.loss > bound.epsilon + (0.0 if known.exact else _SLACK):
        return Pure(known.loss), ["the probabilities of one report differ by more than the integers say"]
    if isinstance(bound, Approximate | PAC):
        left = known.delta(bound.epsilon)
        if left > bound.delta * (1 + 1e-6) + 1e-12:
            return replace(bound, delta=min(left, 1.0)), ["δ is larger than the integers say"]
    return bound, []


def _larger(bound: Bound, parts: list[Finding]) -> Bound:
    """Return the bound of a mechanism, or the sum of its parts if it is larger beyond rounding."""
    first, *others = (Guarantee(part.bound) for part in parts)
    together = first.compose(*others)
    return together.bound if together.epsilon > Guarantee(bound).epsilon + _SLACK else bound


def _combine(target: Any, accepted: tuple[str, ...]) -> Finding:
    """Return the finding of a combinator: its rule applied to the findings about its parts."""
    several = isinstance(getattr(target, "parts", None), Mapping)  # Each and Sampled
    named = target.parts if several else {"": getattr(target, "question", None) or target.mechanism}
    parts = tuple(exact_audit(part, assume=accepted) for part in named.values())
    found = [
        Guarantee(finding.bound, part.guarantee.unit, part.guarantee.assumes)
        for finding, part in zip(parts, named.values(), strict=True)
    ]
    names = ", ".join(named) if several else parts[0].mechanism
    how = f"the rule of {type(target).__name__}, from the findings about its parts"
    problems: tuple[str, ...] = ()
    if isinstance(target, Memoised) and not _repeats(target):
        problems = ("the same value does not have the same report",)
    return _whole(
        f"{type(target).__name__} of {names}", target, target.promise(found), how, accepted, parts, problems
    )


def _repeats(device: Memoised) -> bool:
    """Return whether a device repeats its report for the same value, at both ends of the domain."""
    known = list_probabilities(device.question)
    values = () if known is None else known.values[:2]
    return all(device.perturb(value) == device.perturb(value) for value in values)


def _campaign(target: Any, questions: Mapping[str, Any], accepted: tuple[str, ...]) -> Finding:
    parts = tuple(exact_audit(question, assume=accepted) for question in questions.values())
    found = [
        Guarantee(finding.bound, question.guarantee.unit, question.guarantee.assumes)
        for finding, question in zip(parts, questions.values(), strict=True)
    ]
    how = "the sum of the findings about each question"
    name = f"{type(target).__name__} of {', '.join(questions)}"
    return _whole(name, target, reduce(Guarantee.compose, found), how, accepted, parts)


def _whole(
    name: str,
    target: Any,
    found: Guarantee,
    how: str,
    accepted: tuple[str, ...],
    parts: tuple[Finding, ...],
    problems: tuple[str, ...] = (),
) -> Finding:
    claimed: Guarantee = target.guarantee
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
