"""Data frames in, data frames of reports out; and summaries of such frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import unknown_name
from dither.estimation.api import estimate as estimate_summary
from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary
from dither.files.arrow import arrow, from_column
from dither.files.choices import Missing
from dither.frames.arrow import campaign_of, perturb_batches, perturbed_schema
from dither.frames.libraries import open_stream
from dither.mechanisms.base import Mechanism
from dither.randomness import Source
from dither.wire.campaign import Campaign

Questions = Mapping[str, Mechanism[Any]] | Campaign


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
    reader, _ = open_stream(frame)
    campaign = campaign_of(reader.schema) if questions is None else Campaign.of(questions)
    for name in campaign.questions:
        if name not in reader.schema.names:
            raise unknown_name("column", name, reader.schema.names)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for batch in reader:
        for name, mechanism in campaign.questions.items():
            reports = mechanism.reports(from_column(batch.column(name), mechanism))
            totals[name] = totals[name] + Summary.of(reports)
    return totals


def estimate(frame: Any, questions: Questions | None = None) -> dict[str, Estimate]:
    """Return for each question of a frame of reports its mean, mean direction or frequencies."""
    return {name: estimate_summary(summary) for name, summary in summarise(frame, questions).items()}
