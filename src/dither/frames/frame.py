"""Data frames in, data frames of reports out; and summaries of such frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dither.campaigns.campaign import Campaign
from dither.errors import InvalidParameter
from dither.estimation import Summary
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


def perturb_parquet(
    path: Path | str,
    out: Path | str,
    questions: Questions,
    *,
    keep: tuple[str, ...] = (),
    nulls_are_public: bool = False,
    source: Source | None = None,
) -> int:
    """Randomise columns of a Parquet file into another, a batch at a time, and give the number of rows.

    Only the columns asked about and those that `keep` names are written. The file appears under its name when
    it is whole.
    """
    arrow()
    from pyarrow import parquet  # noqa: PLC0415  (an extra)

    campaign = checked(questions)
    clash = set(keep) & set(campaign.questions)
    if clash:
        raise InvalidParameter(f"column {min(clash)!r} cannot be kept: it is a question, and would leak")
    out = Path(out)
    part, rows = out.with_name(f".{out.name}.part"), 0
    file = parquet.ParquetFile(path)
    columns = [*campaign.questions, *keep]
    missing = [name for name in columns if name not in file.schema_arrow.names]
    if missing:
        raise InvalidParameter(f"{Path(path).name} has no column {missing[0]!r}")
    asked = arrow().schema([file.schema_arrow.field(name) for name in columns])
    schema = perturbed_schema(asked, campaign)
    batches = file.iter_batches(batch_size=BATCH, columns=columns)
    try:
        with parquet.ParquetWriter(part, schema) as writer:
            for batch in perturb_batches(
                batches, schema, campaign, nulls_are_public=nulls_are_public, source=source
            ):
                writer.write_batch(batch, row_group_size=1 << 20)
                rows += batch.num_rows
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return rows


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
