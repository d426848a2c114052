import datetime
from pathlib import Path

import pyarrow
from deltalake import write_deltalake

import dither as dt
from dither.data import sql

minutes = dt.Podium(dt.Interval(0, 180), epsilon=1)
reports = minutes.perturb([30.0, 60.0, 90.0])
columns = {
    "day": [datetime.date(2026, 11, 2)] * 3,
    "campaign": ["commute"] * 3,
    "question": ["minutes"] * 3,
    "fingerprint": [minutes.fingerprint] * 3,
    "report": [int(cell) for cell in reports.cells],
}
for rows in (pyarrow.table(columns), pyarrow.table(columns)):  # the second replaces the first
    write_deltalake("reports", rows, mode="overwrite", partition_by=["campaign", "day"])

table = sql.ReportTable().rename({"label": None, "batch": None, "place": None, "report_hex": None})
with sql.connect(Path("reports").absolute().as_uri()) as engine:
    counts = engine.counts({"minutes": minutes}, table)
assert dt.Counts.from_counts(minutes, counts) == dt.Counts.of(reports)
