"""`dither campaign next`: the second of two campaigns, with bounds estimated from the first."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dither.collection.campaign import Campaign
from dither.collection.live import LiveCounts
from dither.collection.store.backup import backup
from dither.collection.store.opening import open_store
from dither.collection.terms import Phase, QuestionTerms
from dither.core import registry
from dither.core.counts import Counts
from dither.core.domains.calendar import Calendar
from dither.core.domains.tables import read_table
from dither.core.question import Question, as_question
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.bounds import Bounds, bounds


class NextVersion(NamedTuple):
    """The next campaign, and the bounds of its questions that were estimated from the first."""

    contract: Campaign
    found: Mapping[str, Bounds]


def stored_counts(address: str, contract: Campaign) -> dict[str, Counts]:
    """Return the counts of all reports of a campaign in a store, also while a collector writes to it."""
    with tempfile.TemporaryDirectory(prefix="dither-") as folder:
        copy = Path(folder) / "copy"
        backup(address, copy)
        with closing(open_store(str(copy))) as store:
            live = LiveCounts()
            known = [published.contract for published in store.campaigns()]
            if contract.id not in {each.id for each in known}:
                raise InvalidParameter(
                    f"cannot find the campaign {contract.name!r} version {contract.version} with these "
                    "terms in the store; give the file that was published"
                )
            for each in known:
                live.know(each)
            live.rebuild(store.folded_counts(), store.news())
            return {name: live.summary(contract.id, name) for name in contract.questions}


def next_version(
    contract: Campaign,
    counts: Mapping[str, Counts | str],
    *,
    begins: datetime.date,
    ends: datetime.date | None = None,
) -> NextVersion:
    """Return the campaign that follows a first phase: with bounded intervals instead of scales.

    Raise NotIdentifiable, with the number of missing people, unless all bounds are precise enough. All other
    questions and terms stay. `counts` may have a text in place of counts that are not shown.
    """
    if contract.phase is None or contract.phase.share is None:
        raise InvalidParameter(
            "expected a first phase, a campaign with phase = { share = 0.1 }, the share of people who "
            "answer it; only a first phase has a next version"
        )
    scales = {
        name: question
        for name, question in contract.questions.items()
        if question.domain.line is not None and question.domain.line.scale
    }
    if not scales:
        raise InvalidParameter(
            "expected a number on a scale in this campaign; declare for example interval = [0, 1440], "
            'scale = "log", or for dates with SW date = [1900-01-01, 2026-12-31], scale = "linear"'
        )
    found = {name: _bounds_of(counts[name], contract.asks.get(name)) for name in scales}
    problems = []
    for name, each in found.items():
        try:
            each.check()
        except NotIdentifiable as error:
            problems.append(f"question {name!r}: {error}")
    if problems:
        raise NotIdentifiable("; ".join(problems))
    last = contract.ends if ends is None else ends
    if last < begins:
        raise InvalidParameter(
            f"expected the next phase to end after it begins on {begins}, got {last}; give its last day"
        )
    part = {name: _next_question(question, found.get(name)) for name, question in contract.questions.items()}
    terms = {name: _terms(contract.asks.get(name), found.get(name)) for name in contract.questions}
    made = replace(
        contract,
        version=contract.version + 1,
        begins=begins,
        ends=last,
        phase=Phase(follows=contract.id),
        questions=part,
        asks={name: used for name, used in terms.items() if used.data()},
        signed_text=None,
    )
    return NextVersion(made, found)


def found_ranges(contract: Campaign) -> dict[str, str]:
    """Return a sentence about each range of a first phase, with its source."""
    if contract.phase is None or contract.phase.follows is None:
        return {}
    ranges: dict[str, str] = {}
    for name, terms in contract.asks.items():
        clipping = contract.questions[name].domain.clipping
        if terms.outside and clipping is not None:
            unit = Calendar.make(dates=True) if terms.form == "date" else ""
            source = f"by the answers to campaign {contract.phase.follows}"
            ranges[name] = f"{replace(clipping, unit=unit)}, {source}"
    return ranges


def _bounds_of(counts: Counts | str, terms: QuestionTerms | None) -> Bounds:
    if isinstance(counts, str):
        raise NotIdentifiable(counts)
    if terms is None or terms.form != "date":
        return bounds(counts)
    question = counts.question
    unit, line = Calendar.make(dates=True), question.domain.line
    dated = question.domain.read_as(unit=unit, scale=line.scale)
    return bounds(replace(counts, question=replace(question, domain=dated, made_by=None)))


def _next_question(question: Question, found: Bounds | None) -> Question:
    """Return the question on the bounds, with the default mechanism for means and the same ε."""
    if found is None:
        return question
    declared = {"clipped": True, "outside": found.outside, "optional": bool(question.domain.optional)}
    domain = read_table({"interval": [found.low, found.high], "unit": found.unit, **declared})
    kind, more = registry.adviser("ask").default_mechanism(domain, question.epsilon)
    return as_question(kind(domain, epsilon=question.epsilon, **more))


def _terms(before: QuestionTerms | None, found: Bounds | None) -> QuestionTerms:
    """Return the terms of a question: its words and the share outside, without the scale."""
    kept = QuestionTerms() if before is None else before
    if found is None:
        return kept
    outside = tuple(float(f"{part:.3g}") for part in found.outside)
    return replace(kept, scale=(), clipped=True, outside=outside)
