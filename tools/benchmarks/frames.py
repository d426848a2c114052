"""Data frames: 10^7 rows through Arrow and Polars, against the bare kernel on the same array."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import dither as dt
from tools.benchmarks.timing import minima, table

COUNT = 10**7
CSV_ROWS = 10**6


def main() -> None:
    try:
        import polars
        import pyarrow

        import dither.data.frames.polars  # noqa: F401
    except ImportError:
        print("needs the extra `frames`")
        return
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1)
    values = np.random.default_rng(1).random(COUNT)
    arrow, frame = pyarrow.table({"x": values}), polars.DataFrame({"x": values})
    questions = {"x": mechanism}
    column: Any = polars.col("x")  # with the namespace that dither adds
    best = minima(
        {
            "kernel": lambda: mechanism.perturb(values),
            "Arrow table": lambda: dt.data.perturb(arrow, questions),
            "Polars frame": lambda: dt.data.perturb(frame, questions),
            "Polars expression": lambda: frame.select(column.dither.perturb(mechanism)),
        },
        repetitions=5,
    )
    rows = [(name, best[name] / best["kernel"], 1.4) for name in best if name != "kernel"]
    print(table(rows, "kernel"))
    print(table(category_rows(), "text"))
    with TemporaryDirectory() as folder:
        print(table(csv_rows(Path(folder)), "Polars"))
        print(table(parquet_rows(Path(folder)), "without --person"))


def category_rows() -> list[tuple[str, float, float | None]]:
    """Return the time of categories of Polars, which are dictionaries, against texts of the same answers."""
    import polars

    labels = [f"label {number}" for number in range(8)]
    answers = polars.Series(
        "x", [labels[code] for code in np.random.default_rng(4).integers(8, size=CSV_ROWS)]
    )
    asked = {"x": dt.KRR(dt.Categories(labels), epsilon=1)}
    kinds = {"text": polars.String, "Categorical": polars.Categorical, "Enum": polars.Enum(labels)}
    frames = {name: polars.DataFrame({"x": answers.cast(kind)}) for name, kind in kinds.items()}
    best = minima({name: partial(dt.data.perturb, frames[name], asked) for name in frames}, repetitions=5)
    return [(f"Polars {name}", best[name] / best["text"], 1.0) for name in frames if name != "text"]


def csv_rows(folder: Path) -> list[tuple[str, float, float | None]]:
    """Return the time of `perturb_file` from CSV to CSV against Polars' own read and write of that file."""
    import polars

    rng = np.random.default_rng(2)
    raw, out = folder / "in.csv", folder / "out.csv"
    browsers = rng.choice(["firefox", "chrome", "safari", "other"], CSV_ROWS)
    columns = {"minutes": rng.gamma(4, 10, CSV_ROWS).clip(0, 180), "browser": browsers}
    polars.DataFrame({"id": np.arange(CSV_ROWS), **columns}).write_csv(raw)
    minutes = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
    browser = {"browser": dt.KRR(dt.Categories(["firefox", "chrome", "safari", "other"]), epsilon=1)}
    ours = partial(dt.data.perturb_file, raw, out, force=True)
    best = minima(
        {
            "Polars": lambda: polars.read_csv(raw).write_csv(out),
            "CSV, numbers": lambda: ours(minutes, keep=["browser"]),
            "CSV, categories": lambda: ours(browser, keep=["id"]),
            "CSV, both": lambda: ours({**minutes, **browser}),
            "CSV, one row a person": lambda: ours(minutes, keep=["browser"], person="id"),
        },
        repetitions=5,
    )
    once = best.pop("CSV, one row a person")
    print(table([("CSV, one row a person", once / best["CSV, numbers"], 3.0)], "without --person"))
    return [(name, best[name] / best["Polars"], 3.0) for name in best if name != "Polars"]


def parquet_rows(folder: Path) -> list[tuple[str, float, float | None]]:
    """Return the time of `perturb_file` with one row a person, for kinds of ids, against that without."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(3)
    raw, out = folder / "in.parquet", folder / "out.parquet"
    random, repeated = rng.integers(0, 2**62, CSV_ROWS), rng.integers(0, CSV_ROWS // 3, CSV_ROWS)
    kinds = {
        "numbers, three rows a person": repeated,
        "numbers, one row a person": random,
        "texts, three rows a person": pyarrow.array(repeated).cast("string"),
        "texts, one row a person": pyarrow.array(random).cast("string"),
    }
    parquet.write_table(pyarrow.table({"minutes": rng.gamma(4, 10, CSV_ROWS).clip(0, 180), **kinds}), raw)
    minutes = {"minutes": dt.Podium(dt.Interval(0, 180), epsilon=1)}
    ours = partial(dt.data.perturb_file, raw, out, minutes, force=True)
    best = minima({"none": ours, **{name: partial(ours, person=name) for name in kinds}}, repetitions=5)
    return [(f"Parquet, {name}", best[name] / best["none"], 3.0) for name in kinds]


if __name__ == "__main__":
    main()
