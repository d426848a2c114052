"""Counts of reports, and tallies of values, made where the data are and added up by Spark."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from dither.central.tally import CELLS, RecordGrid, Tally
from dither.central.tally import tally as tally_values
from dither.domains import Interval
from dither.errors import InvalidParameter, unknown_name
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
from dither.frames.batches import cached_campaign
from dither.frames.spark.frame import Questions, campaign_for, check_frame, worker_errors
from dither.question import Question
from dither.wire.campaign import Campaign

if TYPE_CHECKING:
    import pyarrow

    from dither.arrays import Array

_COUNT: Final = ("place", "count")  # columns of counts
_GROUPS: Final = 1000  # groups in a batch of counts
_N: Final = -1  # the place of the number of reports, beside those of the counts
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "decimal")


def summarise(df: Any, questions: Questions | None = None) -> dict[str, Summary]:
    """Count the reports in a Spark frame: a summary for each question. Nulls are not counted.

    Each task counts its rows, Spark adds the counts, and the driver receives one number for each count. The
    questions may be left out if the frame carries them, as those do that `perturb` wrote.
    """
    frame = check_frame(df)
    campaign = campaign_for(frame, questions)
    found = dict(_merged(frame, campaign, []))
    return {
        name: found.get(((), name), Summary.empty(mechanism))
        for name, mechanism in campaign.questions.items()
    }


@overload
def estimate(df: Any, questions: Questions | None = None) -> dict[str, Estimate]: ...


@overload
def estimate(
    df: Any,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str],
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, GroupedEstimates]: ...


def estimate(
    df: Any,
    questions: Questions | None = None,
    *,
    by: str | Sequence[str] | None = None,
    minimum: int = MINIMUM,
    level: float = 0.95,
) -> dict[str, Estimate] | dict[str, GroupedEstimates]:
    """Return for each question of a Spark frame of reports its mean, mean direction or frequencies.

    `by` names columns of public labels. Then the result is a table for each question, with a row for each
    group; groups with fewer than `minimum` reports are left out.
    """
    if by is None:
        return {name: estimate_summary(one) for name, one in summarise(df, questions).items()}
    columns = check_grouping(by, minimum, level)
    frame = check_frame(df)
    campaign = campaign_for(frame, questions)
    check_labels(columns, list(campaign.questions), frame.columns)
    counts = {name: GroupCounts(mechanism, columns) for name, mechanism in campaign.questions.items()}
    for (label, name), summary in _merged(frame, campaign, columns):
        counts[name].add_summary(label, summary)
    return {
        name: one.estimates(estimate_summary, minimum=minimum, level=level) for name, one in counts.items()
    }


def tally(df: Any, column: str, domain: Interval, *, cells: int = CELLS) -> Tally:
    """Return the exact sum and count of a column, one row per person, for `dt.central`.

    For example `dt.central.mean(tally(df, "salary", dt.Interval(0, 300_000)), epsilon=1)`. Each task makes a
    tally of its rows, and the driver adds them. A tally is as secret as the values. Values outside the domain
    count as its nearer end; nulls and NaN as its middle.
    """
    frame, grid = check_frame(df), RecordGrid(domain, cells)
    if column not in frame.columns:
        raise unknown_name("column", column, frame.columns)
    kind = frame.schema[column].dataType.simpleString()
    if not kind.startswith(_NUMBERS):
        raise InvalidParameter(f"column {column!r} holds no numbers: it is of type {kind}")
    # A backtick in a name is written twice; a point in it would otherwise mean a field of a struct.
    values = frame.select(f"`{column.replace('`', '``')}`")
    empty = tally_values([], domain, cells=cells).secret_bytes()
    with worker_errors():
        rows = values.mapInArrow(partial(_tallied, empty=empty), "tally binary").collect()
    total = Tally(grid, 0, 0)
    for row in rows:
        total = total + Tally.from_secret_bytes(bytes(row[0]))
    return total


def _tallied(batches: Iterator[pyarrow.RecordBatch], *, empty: bytes) -> Iterator[pyarrow.RecordBatch]:
    """Yield the tally of a partition's values. Spark calls this in its workers."""
    pa = arrow()
    total = Tally.from_secret_bytes(empty)
    grid = total.grid
    for batch in batches:
        values = _numbers(batch.column(0))
        total = total + tally_values(values, grid.domain, cells=grid.cells)
    yield pa.RecordBatch.from_arrays([pa.array([total.secret_bytes()], pa.binary())], names=["tally"])


def _numbers(column: pyarrow.Array) -> Array:
    """Return a column of numbers as floats, with NaN for null."""
    numbers: Array = column.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def _merged(
    frame: Any, campaign: Campaign, by: Sequence[str]
) -> Iterator[tuple[tuple[tuple[Hashable, ...], str], Summary]]:
    """Yield the summary of each group and question; without labels there is one group, ()."""
    from pyspark.sql import functions
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    labels = [StructField(f"label_{index}", frame.schema[name].dataType) for index, name in enumerate(by)]
    schema = StructType(
        [*labels, StructField("question", StringType()), *(StructField(name, LongType()) for name in _COUNT)]
    )
    names = [f"`{name.replace('`', '``')}`" for name in (*campaign.questions, *by)]
    count = partial(_counted, specification=campaign.to_json(), by=tuple(by))
    with worker_errors():
        parts = frame.select(*names).mapInArrow(count, schema)
        keys = [*(field.name for field in labels), "question", "place"]
        total = functions.sum("count").alias("count")
        # Sorted, so that the rows of a group follow each other and one summary is built at a time.
        table = parts.groupBy(*keys).agg(total).sort(*keys).toArrow()
    yield from _summaries(table, campaign, len(by))


def _counted(
    batches: Iterator[pyarrow.RecordBatch], *, specification: str, by: tuple[str, ...]
) -> Iterator[pyarrow.RecordBatch]:
    """Yield the counts of a partition's reports, by question and group. Spark calls this in its workers."""
    campaign = cached_campaign(specification)
    totals = {name: Summary.empty(mechanism) for name, mechanism in campaign.questions.items()}
    groups = {name: GroupCounts(one, by) for name, one in campaign.questions.items()} if by else {}
    kinds: list[Any] = []
    for batch in batches:
        kinds = [batch.schema.field(name).type for name in by]
        for name, mechanism in campaign.questions.items():
            column = batch.column(name)
            there = column.is_valid()
            answers = mechanism.reports(from_column(column.filter(there), mechanism))
            if by:
                labels = [batch.column(label).filter(there).to_pylist() for label in by]
                groups[name].add(labels, answers)
            else:
                totals[name] = totals[name] + Summary.of(answers)
    for name in campaign.questions:
        counted = list(groups[name].summaries()) if by else [((), totals[name])]
        for begin in range(0, len(counted), _GROUPS):
            yield _rows(counted[begin : begin + _GROUPS], kinds, name)


def _rows(
    counted: Sequence[tuple[Sequence[Hashable], Summary]], kinds: Sequence[Any], question: str
) -> pyarrow.RecordBatch:
    """Return, for each of some groups, the counts that are not zero and the number of reports."""
    pa = arrow()
    where = [np.flatnonzero(summary.counts) for _, summary in counted]
    group = np.repeat(np.arange(len(counted)), [len(one) + 1 for one in where])
    places = [np.append(one, _N) for one in where]
    counts = [np.append(one.counts[at], one.n) for (_, one), at in zip(counted, where, strict=True)]
    labels = [
        pa.array(column, kind)
        for column, kind in zip(zip(*(label for label, _ in counted), strict=True), kinds, strict=True)
    ]
    columns = [column.take(pa.array(group)) for column in labels]
    columns += [pa.array([question] * len(group)), *map(pa.array, map(np.concatenate, (places, counts)))]
    names = [*(f"label_{index}" for index in range(len(kinds))), "question", *_COUNT]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _summaries(
    table: pyarrow.Table, campaign: Campaign, labels: int
) -> Iterator[tuple[tuple[tuple[Hashable, ...], str], Summary]]:
    """Yield the summaries of a table of counts whose rows are sorted by group and question."""
    places = table.column("place").to_numpy()
    counts = table.column("count").to_numpy()
    begins = np.flatnonzero(places == _N)  # the smallest place: every group begins with it
    keys = [table.column(index).take(arrow().array(begins)).to_pylist() for index in range(labels + 1)]
    for begin, end, *key in zip(begins, [*begins[1:], len(places)], *keys, strict=True):
        *label, name = key
        mechanism: Question = campaign.questions[name]
        whole = np.zeros(mechanism.counting.size, dtype=np.int64)
        whole[places[begin + 1 : end]] = counts[begin + 1 : end]
        yield (tuple(label), name), Summary(mechanism, whole, int(counts[begin]))
