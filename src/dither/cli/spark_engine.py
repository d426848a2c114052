"""`dither perturb --engine spark`: from a Parquet file or folder to a folder of reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.data.options import Missing
from dither.data.rows import RowCounts
from dither.errors import InvalidParameter, unknown_name
from dither.wire.campaign import Campaign


def perturb_with_spark(
    file: str, out: str, campaign: Campaign, *, keep: Sequence[str], missing: Missing, master: str
) -> RowCounts:
    """Randomise columns of Parquet files into a folder of reports; rows without an answer are left out."""
    from dither.data import spark

    session: Any = spark.session(master)
    try:
        given = _open_parquet(session, file)
        wanted = list(dict.fromkeys([*campaign.questions, *keep]))
        for name in wanted:
            if name not in given.columns:
                raise unknown_name("column", name, given.columns)
        frame = given.select(*(f"`{name.replace('`', '``')}`" for name in wanted))
        if missing is Missing.SKIP:
            for name in campaign.questions:
                frame = frame.filter(frame[f"`{name.replace('`', '``')}`"].isNotNull())
        written = spark.perturb(frame, campaign, out).count()
        return RowCounts(written=written, missing=given.count() - written)
    finally:
        session.stop()


def _open_parquet(session: Any, file: str) -> Any:
    from pyspark.errors import PySparkException

    try:
        return session.read.parquet(file)
    except PySparkException as error:
        reason = "does not exist" if error.getCondition() == "PATH_NOT_FOUND" else "is not Parquet"
        raise InvalidParameter(f"{file} {reason}; --engine spark reads Parquet files and folders") from None
