"""Data frames in, data frames of reports out; and summaries of such frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dither.errors import unknown_name
from dither.estimation.api import estimate as estimate_summary
from dither.estimation.comparison.groups import (
    MINIMUM,
    GroupCounts,
    GroupedEstimates,
    check_grouping,
    check_labels,
)
from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary
from dither.files.arrow import arrow, from_column
from dither.files.choices import Missing
from dither.frames.arrow import campaign_of, perturb_batches, perturbed_schema
from dither.frames.libraries import open_stream
from dither.question import Question
from dither.randomness import Source
from dither.reports import Reports
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow

Questions = Mapping[str, Question] | Campaign


def perturb(
    frame: Any, questions: Questions, *, missing: Missing = Missing.ERROR, source: Source | None = None
) -> Any:
    """Randomise columns of a data frame, and return a frame of the same kind.

    The frame is of pandas, Polars (eager or lazy), PyArrow (a table, reader or dataset) or DuckDB. In the
    result, the columns of the questions hold reports (whole numbers). All other columns are unchanged, but
    their categories (dictionaries, enums) are those that occur: drop columns that must not be sent. A null
    raises `OutsideDomain`; with `Missing.SKIP` it stays null, and shows who did not answer. A lazy
    frame is evaluated here, once.
    """
    campaign, choice = Campaign.of(questions), Missing.check(missing)
    reader, back = open_stream(frame)
    schema = perturbed_schema(reader.schema, campaign)
    batches = perturb_batches(reader, schema, campaign, missing=choice, source=source)
    return back(arrow().RecordBatchReader.from_batches(schema, batches))


def summarise(frame: Any, questions: Questions | None = None) -> dict[str, Summary]:
    """Count the reports in a frame: a summary for each question. Nulls are not counted.

    The questions may be left out if the frame carries them: Arrow tables do; pandas, Polars and DuckDB drop
    the metadata that they are in.
    """
    reader, campaign = _opened(frame, questions)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for batch in reader:
        for name, mechanism in campaign.questions.items():
            reports = mechanism.reports(from_column(batch.column(name), mechanism))
            totals[name] = totals[name] + Summary.of(reports)
    return totals


def reports(frame: Any, questions: Questions | None = None) -> dict[str, Reports]:
    """Return the reports of each question, of the rows that have all of them: for `dt.crosstab` and others.

    So the first report of each question is of the same person, and so on.
    """
    reader, campaign = _opened(frame, questions)
    parts: dict[str, list[Reports]] = {name: [one.reports([])] for name, one in campaign.questions.items()}
    for batch in reader:
        whole = [~np.asarray(batch.column(name).is_null()) for name in campaign.questions]
        rows = arrow().array(np.logical_and.reduce(whole))
        for name, mechanism in campaign.questions.items():
            column = batch.column(name).filter(rows)
            parts[name].append(mechanism.reports(from_column(column, mechanism)))
    return {name: Reports.concatenate(found) for name, found in parts.items()}


@overload
def estimate(frame: Any, questions: Questions | None = None) -> dict[str, Estimate]: ...


@overload
def estimate(
    frame: Any,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str],
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, GroupedEstimates]: ...


def estimate(
    frame: Any,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str] | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, Estimate] | dict[str, GroupedEstimates]:
    """Return for each question of a frame of reports its mean, mean direction or frequencies.

    `by` names columns of public labels. Then the result is a table for each question, with a row for each
    group; groups with fewer than `minimum` reports are left out. The frame is read once, batch by batch.
    """
    if by is None:
        return {name: estimate_summary(summary) for name, summary in summarise(frame, questions).items()}
    columns = check_grouping(by, minimum, level)
    reader, campaign = _opened(frame, questions)
    check_labels(columns, list(campaign.questions), reader.schema.names)
    counts = {name: GroupCounts(mechanism, columns) for name, mechanism in campaign.questions.items()}
    for batch in reader:
        labels = [batch.column(column) for column in columns]
        for name, mechanism in campaign.questions.items():
            column = batch.column(name)
            there = column.is_valid()
            answers = mechanism.reports(from_column(column.filter(there), mechanism))
            counts[name].add([one.filter(there).to_pylist() for one in labels], answers)
    return {
        name: one.estimates(estimate_summary, minimum=minimum, level=level) for name, one in counts.items()
    }


def _opened(frame: Any, questions: Questions | None) -> tuple[pyarrow.RecordBatchReader, Campaign]:
    """Return the batches of a frame and its questions; raise if a question has no column."""
    reader, _ = open_stream(frame)
    campaign = campaign_of(reader.schema) if questions is None else Campaign.of(questions)
    for name in campaign.questions:
        if name not in reader.schema.names:
            raise unknown_name("column", name, reader.schema.names)
    return reader, campaign
