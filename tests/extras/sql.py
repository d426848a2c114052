import datetime
from pathlib import Path

import duckdb

import dither as dt
from dither.data import sql

minutes = dt.Podium(dt.Interval(0, 180), epsilon=1)
reports = minutes.perturb([30.0, 60.0, 90.0])
base = duckdb.connect("reports.db")
base.execute("CREATE TABLE reports (day DATE, question TEXT, fingerprint TEXT, report BIGINT)")
row = [datetime.date(2026, 11, 2), "minutes", minutes.fingerprint]
base.executemany("INSERT INTO reports VALUES (?, ?, ?, ?)", [[*row, int(cell)] for cell in reports.cells])
base.close()

table = sql.ReportTable().rename({"label": None, "batch": None, "place": None, "report_hex": None})
with sql.connect("duckdb://reports.db") as engine:
    counts = engine.counts({"minutes": minutes}, table)
assert dt.Counts.from_counts(minutes, counts) == dt.Counts.of(reports)
assert Path("reports.db").exists()
