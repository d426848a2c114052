import pandas as pd
import polars as pl
import pyarrow as pa

import dither as dt

question = dt.Podium(dt.Interval(0, 180), epsilon=1)
for frame in (pd.DataFrame({"m": [1.0, 2.0]}), pl.DataFrame({"m": [1.0, 2.0]}), pa.table({"m": [1.0, 2.0]})):
    reports = dt.data.perturb(frame, {"m": question})
    assert type(reports) is type(frame)
    assert dt.data.estimate(reports, {"m": question})["m"].n == 2
pd.DataFrame({"m": [1.0, 2.0, 3.0]}).to_parquet("values.parquet")
dt.data.perturb_file("values.parquet", "reports.parquet", {"m": question})
assert dt.data.summarise_file("reports.parquet")["m"].n == 3
