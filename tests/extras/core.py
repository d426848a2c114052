"""Run where only the core is installed: five lines work, and what is missing is named with its extra."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np

import dither as dt
from dither.collection.server import ServerPlan, serve
from dither.data.sql import connect

readme = Path(sys.argv[1]).read_text(encoding="utf-8")
block = readme.partition("```pycon\n")[2].partition("```")[0]
lines = [line.removeprefix(">>> ") for line in block.splitlines() if line.startswith(">>> ")]
assert len(lines) == 5
names: dict[str, object] = {}
exec("\n".join(lines[:-1]), names)
assert eval(lines[-1], names).covers(43.95, 0.999999)

unit = dt.Interval(0, 1)
podium = dt.Podium(unit, epsilon=1)
assert dt.audit(podium).ok
assert dt.from_bytes(podium.perturb([0.2, 0.7]).to_bytes()).question == podium.question
assert dt.Optimal(unit, epsilon=1).gap < 0.01  # one that ships with the library
assert len(dt.compare(unit, epsilon=1)) > 10
assert dt.distribution(podium.perturb(np.full(1000, 0.5)), bins=8).probabilities.size == 8
assert dt.central.mean([1.0, 2.0, 3.0] * 100, dt.Interval(0, 4), epsilon=1) is not None
assert (
    dt.classifiers.utility(
        dt.classifiers.LinearClassifier([[1.0]], [-0.5]), [0.9], dt.OGPM(unit, epsilon=4)
    ).lower
    > 0.5
)
assert dt.classifiers.utility(lambda rows: rows[:, 0] > 0.5, [0.9], dt.OGPM(unit, epsilon=4)).lower > 0.5


def ungiven() -> object:
    return dt.Optimal(unit, epsilon=0.7317, loss=lambda gap: np.abs(gap) ** 1.37, fresh=True).perturb([0.5])


def between_devices() -> object:
    return dt.protocols.local_pairs(dt.JRR(dt.Categories(2), p=0.75, rho=-0.2, n=2), 2)


def collector() -> None:
    serve(ServerPlan(("campaign.toml",), "collector.sqlite", port=0, new_key=True), print)


square = dt.Rectangle(unit, unit)
missing = {
    "plot": [lambda: podium.plot(0.5), lambda: dt.compare(dt.Categories(4), epsilon=1).plot()],
    "frames": [
        lambda: dt.data.perturb(object(), {"x": podium}),
        lambda: dt.data.summarise_file("x.parquet"),
    ],
    "optimal": [ungiven],
    "solver": [
        lambda: __import__("dither_papers.ogpm.programs").ogpm.programs.solve(1, "absolute", pieces=3)
    ],
    "geo": [
        lambda: (
            dt.TraCSC(square, epsilon=1, reading=dt.maps.Rounded([(0, 0), (1, 1)])).perturb([(0, 0)]).values
        )
    ],
    "classifiers": [lambda: import_module("dither.sklearn")],
    "protocols": [between_devices],
    "service": [collector],
    "spark": [lambda: dt.data.spark.session("local[1]")],
    "sql": [lambda: connect("duckdb://reports.db")],
    "formulas": [lambda: dt.stats.regression("x ~ y", {"x": [1.0], "y": [2.0]})],
    "survey": [lambda: dt.data.check_file("x.sav", {"x": podium})],
}
for extra, attempts in missing.items():
    for attempt in attempts:
        said = "nothing was missing"
        try:
            attempt()
        except dt.errors.MissingExtra as error:
            said = str(error)
        assert f"pip install '.[{extra}]' in a clone" in said, (extra, said)
assert not list(Path().glob("collector.*"))  # a collector that cannot start leaves nothing behind
