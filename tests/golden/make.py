"""Write the golden files of this release: `python -m tests.golden.make`. Old files stay for ever."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from tests.cases import LATTICES, NUMERIC, Case
from tests.frequency.cases import KINDS
from tests.optimal.kinds import KINDS as SOLVED


def numeric(cases: list[Case]) -> list[dict[str, Any]]:
    rows = []
    for case in cases:
        mechanism = case(1.25)
        rows.append(_row(case.name, mechanism, mechanism.line.from_unit(np.linspace(0, 1, 40))))
    return rows


def frequency() -> list[dict[str, Any]]:
    rows = [
        _row(f"{kind.__name__}(11)", kind(dt.Categories(11), epsilon=1.25), np.arange(44) % 11)
        for kind in KINDS
    ]
    words = ["cat", "dog", "", "naïve"] * 5
    return [*rows, _row("PEM(Text(6))", dt.PEM(dt.Text(6), epsilon=1.25), words)]


def solved() -> list[dict[str, Any]]:
    """Solved codebooks as they are today: later versions may solve better ones and must read these."""
    rows = []
    for name, kind in SOLVED.items():
        mechanism = dt.Optimal(dt.Interval(-3, 7), epsilon=1.25, **kind)
        rows.append(_row(f"Optimal({name})", mechanism, np.linspace(-3, 7, 40)))
    circle = dt.Optimal(dt.Circle(360), epsilon=1.25)
    return [*rows, _row("Optimal(circle)", circle, np.linspace(0, 350, 40))]


def _row(name: str, mechanism: Any, values: object) -> dict[str, Any]:
    reports = mechanism.perturb(values, source=dt.Seeded(2025))
    return {
        "case": name,
        "specification": dt.to_json(mechanism),
        "bytes": base64.b64encode(dt.to_bytes(reports)).decode(),
        "values": reports.values.tolist(),
    }


def write(name: str, rows: list[dict[str, Any]]) -> None:
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    Path(__file__).with_name(name).write_text(text + "\n")


def main() -> None:
    write("wire-1.json", numeric(NUMERIC))
    write("wire-1-lattice.json", numeric(LATTICES))
    write("wire-1-frequency.json", frequency())
    write("wire-1-solved.json", solved())


if __name__ == "__main__":
    main()
