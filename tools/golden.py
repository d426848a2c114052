"""Write golden files: what devices are told, and what files and reports of this release look like.

    python -m tools.golden devices      the cases of tests/golden/devices.py that device-2.json lacks
    python -m tools.golden files        a table and trips in every format, and reports as bytes

What devices were told is never written again. The other files are written anew: run it for a new format only.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.data.formats.format import Columns, table_format
from dither.mechanisms.mechanism import Mechanism
from tests.conformance.draws import even_levels
from tests.golden.devices import CASES, FILE
from tests.support.cases.frequency import KINDS
from tests.support.cases.numbers import LATTICES, NUMERIC, Case
from tests.support.cases.optimal import KINDS as SOLVED

GOLDEN = FILE.parent
WIRE = GOLDEN / "wire-2.json"


def numeric(cases: list[Case]) -> list[dict[str, Any]]:
    rows = []
    for case in cases:
        mechanism = case(1.25)
        rows.append(_row(case.name, mechanism, mechanism.line.from_unit(np.linspace(0, 1, 16))))
    return rows


def frequency() -> list[dict[str, Any]]:
    kinds: list[Any] = list(KINDS)
    rows = [
        _row(f"{kind.__name__}(11)", kind(dt.Categories(11), epsilon=1.25), np.arange(16) % 11)
        for kind in kinds
    ]
    words = ["cat", "dog", "", "naïve"] * 2
    texts = {
        "PEM(Text(6))": dt.PEM(dt.Text(6), epsilon=1.25),
        "PEM(Text(6)), levels alike": even_levels(1.25),
    }
    return [*rows, *(_row(name, question, words) for name, question in texts.items())]


def solved() -> list[dict[str, Any]]:
    """Solved codebooks as they are today: later versions may solve better ones and must read these."""
    rows = []
    for name, kind in SOLVED.items():
        mechanism = dt.Optimal(dt.Interval(-3, 7), epsilon=1.25, **kind)
        rows.append(_row(f"Optimal({name})", mechanism, np.linspace(-3, 7, 16)))
    circle = dt.Optimal(dt.Circle(360), epsilon=1.25)
    return [*rows, _row("Optimal(circle)", circle, np.linspace(0, 350, 16))]


def files(folder: Path) -> None:
    """Write a table of reports and randomised trips in every format, and the reports that they hold."""
    tags, browsers = ["a", "b", "c"] * 8, ["firefox", "chrome"] * 12
    values = {"minutes": np.linspace(0, 180, 24).tolist(), "tag": tags, "browser": browsers}
    questions: dict[str, Mechanism[Any]] = {
        "minutes": dt.Podium(dt.Interval(0, 180), epsilon=1.25),
        "tag": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1.25),
        "browser": dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=1.25),
    }
    source = dt.Seeded(2025)
    reports = {name: question.perturb(values[name], source=source) for name, question in questions.items()}
    columns: Columns = {**reports, "city": ["Bern"] * 24}
    for ending in (".csv", ".jsonl", ".parquet", ".arrow"):
        path = folder / f"table-2{ending}"
        path.unlink(missing_ok=True)
        table_format(path).write(path, dt.Questionnaire(questions).to_json(), iter([columns]))
    box, random = dt.Rectangle(dt.Interval(139.4, 140.0), dt.Interval(35.5, 36.0)), np.random.default_rng(1)
    paths = dt.Paths.of([random.normal((139.7, 35.7), 0.03, (length, 2)) for length in (3, 1, 5)])
    times = tuple(f"2026-05-01T08:0{minute}:00Z" for minute in range(9))
    trips = dt.data.Trips(paths, ("ride 1", "b & <c>", "ü"), times)
    local, system = dt.maps.LocalMap.of(box), dt.maps.ReferenceMap("EPSG:32654")
    in_metres = dt.TraCSD(local.rectangle(box), epsilon=4)
    timed = dt.data.TripReports.draw(
        trips, in_metres, projection=local, keep_times=True, source=dt.Seeded(2025)
    )
    for ending in (".gpx", ".geojson", ".csv", ".parquet"):
        timed.write(folder / f"trips-2-local{ending}")
    other = dt.TraCSC(system.rectangle(box), epsilon=4)
    untimed = dt.data.TripReports.draw(trips, other, projection=system, source=dt.Seeded(2025))
    untimed.write(folder / "trips-2-crs.csv")
    held = {**reports, "local": timed.reports, "crs": untimed.reports}
    expected = {name: reports.cells.tolist() for name, reports in held.items()}
    (folder / "expected-2.json").write_text(json.dumps(expected) + "\n")


def _row(name: str, mechanism: Any, values: object) -> dict[str, Any]:
    reports = mechanism.perturb(values, source=dt.Seeded(2025))
    return {
        "case": name,
        "bytes": base64.b64encode(reports.to_bytes()).decode(),
        "values": reports.values.tolist(),
    }


def devices() -> None:
    """Add the cases that the file of devices lacks; those that stand there are never written again."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name, make in CASES.items():
        if name not in known:
            made = make()
            known[name] = {"fingerprint": made.fingerprint, "device": made.question.device_text}
    text = json.dumps(dict(sorted(known.items())), ensure_ascii=False, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")


def main(which: str) -> None:
    if which == "devices":
        devices()
        return
    rows = [*numeric(NUMERIC), *frequency(), *numeric(LATTICES), *solved()]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    WIRE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    files(GOLDEN / "files")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write golden files.")
    parser.add_argument("which", choices=["devices", "files"])
    main(parser.parse_args().which)
