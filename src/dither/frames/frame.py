"""Data frames in, data frames of reports out; and summaries of such frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.campaigns.campaign import Campaign
from dither.campaigns.collection import Missing, Tally, refuse_kept
from dither.errors import InvalidParameter
from dither.estimation import Estimate, Summary
from dither.estimation import estimate as natural
from dither.frames.arrow import (
    BATCH,
    arrow,
    campaign_of,
    checked,
    perturb_batches,
    perturbed_schema,
    read_reports,
)
from dither.frames.kinds import open_stream
from dither.mechanisms.mechanism import Mechanism
from dither.randomness import Source

if TYPE_CHECKING:
    import pyarrow

Questions = Mapping[str, Mechanism] | Campaign


def perturb(
    frame: Any, questions: Questions, *, nulls_are_public: bool = False, source: Source | None = None
) -> Any:
    """Randomise columns of a data frame and give a frame of the same kind back.

    Takes pandas, Polars (eager and lazy), PyArrow tables, readers and datasets, DuckDB relations. Columns
    that are asked about hold reports (whole numbers) afterwards; the others pass as they are, so drop first
    what should not leave. A lazy frame is evaluated here, once.
    """
    campaign = checked(questions)
    reader, back = open_stream(frame)
    schema = perturbed_schema(reader.schema, campaign)
    batches = perturb_batches(reader, schema, campaign, nulls_are_public=nulls_are_public, source=source)
    return back(arrow().RecordBatchReader.from_batches(schema, batches))


def summarise(frame: Any, questions: Questions | None = None) -> dict[str, Summary]:
    """Count the reports in a frame: a summary for each question.

    The questions may be left out where the frame carries them: Arrow tables and Parquet files do, pandas,
    Polars and DuckDB drop them on the way.
    """
    reader, _ = open_stream(frame)
    campaign = campaign_of(reader.schema) if questions is None else checked(questions)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    for batch in reader:
        for name, mechanism in campaign.questions.items():
            totals[name] = totals[name] + Summary.of(read_reports(batch.column(name), mechanism))
    return totals


def estimate(frame: Any, questions: Questions | None = None) -> dict[str, Estimate]:
    """Estimate from a frame of reports: for each question its mean, mean direction or frequencies."""
    return {name: natural(summary) for name, summary in summarise(frame, questions).items()}


def perturb_parquet(
    path: Path | str,
    out: Path | str,
    questions: Questions,
    *,
    keep: Sequence[str] = (),
    person: str | None = None,
    missing: Missing = Missing.ERROR,
    source: Source | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> Tally:
    """Randomise columns of a Parquet file into another, a batch at a time.

    The rules are those of `dither perturb`: only the columns asked about and those that `keep` names are
    written, the first row of each `person` counts, and a missing answer is an error unless it is declared
    public. The file appears under its name when it is whole.
    """
    arrow()
    from pyarrow import parquet  # noqa: PLC0415  (an extra)

    campaign = checked(questions)
    refuse_kept(campaign, keep)
    file = parquet.ParquetFile(path)
    written = [*campaign.questions, *keep]
    read = list(dict.fromkeys([*written, *([person] if person is not None else [])]))
    absent = [name for name in read if name not in file.schema_arrow.names]
    if absent:
        raise InvalidParameter(f"{Path(path).name} has no column {absent[0]!r}")
    schema = perturbed_schema(arrow().schema([file.schema_arrow.field(name) for name in written]), campaign)
    tally = Tally()

    def kept() -> Iterator[pyarrow.RecordBatch]:
        for batch in file.iter_batches(batch_size=BATCH, columns=read):
            yield _answered(batch, campaign, person, missing, tally)
            progress(batch.num_rows)

    out = Path(out)
    part = out.with_name(f".{out.name}.part")
    try:
        with parquet.ParquetWriter(part, schema) as writer:
            for batch in perturb_batches(kept(), schema, campaign, nulls_are_public=False, source=source):
                writer.write_batch(batch, row_group_size=1 << 20)
                tally.written += batch.num_rows
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return tally


def _answered(
    batch: pyarrow.RecordBatch, campaign: Campaign, person: str | None, missing: Missing, tally: Tally
) -> pyarrow.RecordBatch:
    """Give the rows that count: all answers there, and the first of their person."""
    mask = np.ones(batch.num_rows, dtype=np.bool_)
    if missing is Missing.SKIP:
        for name in campaign.questions:
            mask &= batch.column(name).is_valid().to_numpy(zero_copy_only=False)
        tally.missing += int((~mask).sum())
    if person is not None:
        first = tally.first_answers(batch.column(person).to_pylist())
        tally.repeated += int((mask & ~first).sum())
        mask &= first
    return batch if mask.all() else batch.filter(arrow().array(mask))


def summarise_parquet(path: Path | str, questions: Questions | None = None) -> dict[str, Summary]:
    """Count a Parquet file of reports, a batch at a time."""
    arrow()
    from pyarrow import parquet  # noqa: PLC0415  (an extra)

    file = parquet.ParquetFile(path)
    campaign = campaign_of(file.schema_arrow) if questions is None else checked(questions)
    batches = file.iter_batches(batch_size=BATCH, columns=list(campaign.questions))
    reader = arrow().RecordBatchReader.from_batches(
        arrow().schema([file.schema_arrow.field(name) for name in campaign.questions]), batches
    )
    return summarise(reader, campaign)
