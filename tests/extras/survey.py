import pathlib
import tempfile

import pyreadstat

import dither as dt

folder = pathlib.Path(tempfile.mkdtemp())
table = {"age": [30.0, -99.0, 41.0], "sex": [1.0, 2.0, 1.0]}
try:
    import pandas
except ImportError:  # pyreadstat writes frames alone, and reads without them
    pandas = None
if pandas is not None:
    pyreadstat.write_sav(
        pandas.DataFrame(table),
        str(folder / "s.sav"),
        variable_value_labels={"sex": {1: "female", 2: "male"}},
        missing_ranges={"age": [-99]},
    )
    asked = {
        "age": dt.Podium(dt.Nullable(dt.Interval(18, 100)), epsilon=1),
        "sex": dt.KRR(dt.Categories(["female", "male"]), epsilon=1),
    }
    assert dt.data.perturb_file(folder / "s.sav", folder / "r.csv", asked).written == 3
