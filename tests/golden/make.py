"""Write the golden file of this release: `python -m tests.golden.make`. Old files stay for ever."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np

import dither as dt
from tests.cases import NUMERIC


def main() -> None:
    rows = []
    for case in NUMERIC:
        mechanism = case(1.25)
        values = mechanism.line.from_unit(np.linspace(0, 1, 40))
        reports = mechanism.perturb(values, source=dt.Seeded(2025))
        rows.append(
            {
                "case": case.name,
                "specification": dt.to_json(mechanism),
                "bytes": base64.b64encode(dt.to_bytes(reports)).decode(),
                "values": reports.values.tolist(),
            }
        )
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    Path(__file__).with_name("wire-1.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
