import tempfile
from pathlib import Path

import dither as dt

question = dt.Podium(dt.Interval(0, 180), epsilon=1)
with tempfile.TemporaryDirectory() as folder:
    spark = dt.frames.spark.session("local[1]")
    trips = spark.range(500).selectExpr("CAST(id % 180 AS double) AS m")
    reports = dt.frames.spark.perturb(trips, {"m": question}, Path(folder) / "reports")
    assert dt.frames.spark.estimate(reports)["m"].n == 500
    assert dt.frames.spark.tally(trips, "m", dt.Interval(0, 180)).secret()[1] == 500
    spark.stop()
