"""Data frames in, data frames of reports out; and summaries of such frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.estimation.api import estimate as natural
from dither.estimation.estimate import Estimate
from dither.estimation.summary import Summary
from dither.files.arrow import arrow, campaign_of, perturb_batches, perturbed_schema, read_reports
from dither.frames.libraries import open_stream
from dither.mechanisms.base import Mechanism
from dither.randomness import Source
from dither.wire.campaign import Campaign

Questions = Mapping[str, Mechanism[Any]] | Campaign


def perturb(
    frame: Any, questions: Questions, *, nulls_are_public: bool = False, source: Source | None = None
) -> Any:
    """Randomise columns of a data frame and give a frame of the same kind back.

    Takes pandas, Polars (eager and lazy), PyArrow tables, readers and datasets, DuckDB relations. Columns
    that are asked about hold reports (whole numbers) afterwards; the others pass as they are, so drop first
    what should not leave. A lazy frame is evaluated here, once.
    """
    campaign = Campaign.of(questions)
    reader, back = open_stream(frame)
    schema = perturbed_schema(reader.schema, campaign)
    batches = perturb_batches(reader, schema, campaign, nulls_are_public=nulls_are_public, source=source)
    return back(arrow().RecordBatchReader.from_batches(schema, batches))


def summarise(frame: Any, questions: Questions | None = None) -> dict[str, Summary]:
    """Count the reports in a frame: a summary for each question.

    The questions may be left out where the frame carries them: Arrow tables do, pandas,
    Polars and DuckDB drop them on the way.
    """
    reader, _ = open_stream(frame)
    campaign = campaign_of(reader.schema) if questions is None else Campaign.of(questions)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for batch in reader:
        for name, mechanism in campaign.questions.items():
            totals[name] = totals[name] + Summary.of(read_reports(batch.column(name), mechanism))
    return totals


def estimate(frame: Any, questions: Questions | None = None) -> dict[str, Estimate]:
    """Estimate from a frame of reports: for each question its mean, mean direction or frequencies."""
    return {name: natural(summary) for name, summary in summarise(frame, questions).items()}
