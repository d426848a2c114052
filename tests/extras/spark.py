import tempfile
from pathlib import Path

import dither as dt

question = dt.Podium(dt.Interval(0, 180), epsilon=1)
with tempfile.TemporaryDirectory() as folder:
    spark = dt.data.spark.session("local[1]")
    trips = spark.range(500).selectExpr("CAST(id % 180 AS double) AS m")
    reports = dt.data.spark.perturb(trips, {"m": question}, Path(folder) / "reports")
    assert dt.data.spark.estimate(reports)["m"].n == 500
    assert dt.central.spark.tally(trips, "m", dt.Interval(0, 180)).secret()[1] == 500
    spark.stop()
