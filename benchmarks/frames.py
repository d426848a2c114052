"""Data frames: 10^7 rows through Arrow and Polars, against the bare kernel on the same array."""

from __future__ import annotations

import numpy as np

import dither as dt
from benchmarks.timing import minima, table

COUNT = 10**7


def main() -> None:
    try:
        import polars
        import pyarrow

        import dither.frames.polars  # noqa: F401
    except ImportError:
        print("needs the extra `frames`")
        return
    mechanism = dt.Podium(dt.Interval(0, 1), epsilon=1)
    values = np.random.default_rng(1).random(COUNT)
    arrow, frame = pyarrow.table({"x": values}), polars.DataFrame({"x": values})
    questions = {"x": mechanism}
    best = minima(
        {
            "kernel": lambda: mechanism.perturb(values),
            "Arrow table": lambda: dt.frames.perturb(arrow, questions),
            "Polars frame": lambda: dt.frames.perturb(frame, questions),
            "Polars expression": lambda: frame.select(polars.col("x").dither.perturb(mechanism)),
        },
        repetitions=5,
    )
    rows = [(name, best[name] / best["kernel"], 1.3) for name in best if name != "kernel"]
    print(table(rows, "kernel"))


if __name__ == "__main__":
    main()
