"""Draw what an audit found: `python docs/draw_audit.py` writes pictures/audit-evidence.svg (extra: plot).

The picture of the samples that a violation needs is drawn by `python -m tools.benchmarks.audit_power
picture`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import rcParams
from narrow import save_with_portrait

import dither as dt
from dither.foundation.plotting import dress_axes

PICTURES = Path(__file__).with_name("pictures")


def main() -> None:
    rcParams["svg.hashsalt"] = "dither"
    rng = np.random.default_rng(1)

    def careless(values: np.ndarray) -> np.ndarray:
        return np.round(values + rng.laplace(scale=20, size=len(values)))

    finding = dt.audit_function(careless, dt.Interval(0, 50), epsilon=1, timing=False)
    axes = dress_axes(
        finding.plot(),
        title=f"A randomiser that claims ε = 1: ε ≥ {finding.realised:.2f} with confidence 99 %",
        x="report, in minutes; the reports that prove it are shaded",
    )
    figure = axes.figure
    save_with_portrait(figure, PICTURES / "audit-evidence.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
