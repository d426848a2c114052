"""The cells behind the claims about tests and intervals, each with what it has to reach.

python -m tools.coverage_answers               measures every cell and records it
python -m tools.coverage_answers tables …      measures the sections that are named
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import dither as dt
from tests.support.repository import ROOT

RECORDED: Final = ROOT / "tools" / "recorded" / "coverage_answers.json"
Rng = np.random.Generator


@dataclass(frozen=True)
class Cell:
    """A setting, and a function that runs it once and returns whether (or which share of) intervals hold."""

    section: str
    name: str
    run: Callable[[Rng, dt.Seeded], Any]
    least: float = 0.93
    most: float = 0.98
    repetitions: int = 400

    def measure(self, repetitions: int | None = None, seed: int = 1) -> tuple[float, float]:
        """Return the share that held over seeded repetitions, and its standard error."""
        rng, source = np.random.default_rng(seed), dt.Seeded(seed)
        many = self.repetitions if repetitions is None else repetitions
        held = np.array([np.mean(np.asarray(self.run(rng, source), dtype=float)) for _ in range(many)])
        floor = self.least * (1.0 - self.least) / many if set(np.unique(held)) <= {0.0, 1.0} else 0.0
        return float(held.mean()), float(np.sqrt(max(held.var() / many, floor)))


def zipf(size: int) -> np.ndarray:
    shares = 1.0 / np.arange(1.0, size + 1) ** 1.5
    return np.asarray(shares / shares.sum())


def fitting(kind: Any, size: int, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    shares, asked = zipf(size), kind(dt.Categories(size), epsilon=epsilon)
    expected = dict(enumerate(shares))

    def run(rng: Rng, source: dt.Seeded) -> Any:
        reports = asked.perturb(rng.choice(size, n, p=shares), source=source)
        return dt.goodness_of_fit(reports, expected).p_value > 0.05

    return run


def equal(kind: Any, size: int, n: int, epsilon: float) -> Callable[[Rng, dt.Seeded], Any]:
    shares, asked = zipf(size), kind(dt.Categories(size), epsilon=epsilon)

    def run(rng: Rng, source: dt.Seeded) -> Any:
        groups = [asked.perturb(rng.choice(size, m, p=shares), source=source) for m in (n, n // 2)]
        return dt.same_distribution(*groups).p_value > 0.05

    return run


_PROTOCOLS: Final = (
    dt.KRR, dt.OUE, dt.SUE, dt.OLH, dt.HadamardResponse, dt.SubsetSelection, dt.ProjectiveResponse,
)  # fmt: skip
_SIZES: Final = ((2, 100), (24, 200), (50, 1000), (200, 100))


def _tests() -> list[Cell]:
    cells = []
    for what, made in (("as expected", fitting), ("two equal groups", equal)):
        for size, n in _SIZES:
            for epsilon in (0.3, 2.5, 8.0):
                for kind in _PROTOCOLS:
                    name = f"{what}, {kind.__name__}, k = {size}, n = {n}, ε = {epsilon:g}"
                    cells.append(Cell("tests", name, made(kind, size, n, epsilon), 0.93, 0.97, 200))
    return cells


def cells() -> list[Cell]:
    """Return every cell."""
    return _tests()


def find(name: str) -> Cell:
    """Return the cell of a name."""
    return next(cell for cell in cells() if cell.name == name)


def recorded() -> dict[str, Any]:
    """Return what was recorded: for each cell its share, standard error and number of repetitions."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record(sections: list[str]) -> None:
    """Measure the cells of some sections, or of all, and write them to the record as they come."""
    for cell in cells():
        if sections and cell.section not in sections:
            continue
        share, error = cell.measure()
        kept = {**recorded(), cell.name: [round(share, 4), round(error, 4), cell.repetitions]}
        RECORDED.parent.mkdir(exist_ok=True)
        RECORDED.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{cell.section} · {cell.name}: {100 * share:.1f} ± {100 * error:.1f} %", flush=True)


if __name__ == "__main__":
    record(sys.argv[1:])
