"""Solve the designs that ship with the package: `python -m dither.optimal.solver.build_shipped`.

Designs that an archive already holds are kept, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dither.atomic import renamed
from dither.losses import absolute, average, squared, worst
from dither.optimal.design import Design
from dither.optimal.problem import LEAST, MOST, Problem
from dither.optimal.solver.solve import design
from dither.optimal.store import SHIPPED

_KINDS: Final = (
    {"loss": absolute, "criterion": worst},
    {"loss": squared, "criterion": worst},
    {"loss": absolute, "criterion": average},
    {"loss": squared, "criterion": average},
    {"loss": squared, "criterion": worst, "unbiased": True},
    {"loss": squared, "criterion": average, "unbiased": True},
)


def problems(step: float) -> Iterator[Problem]:
    """Give every problem whose design ships: the smallest ε, multiples of a step, and of two from ε = 4."""
    multiples = [step * number for number in range(1, round(MOST / step) + 1)]
    for epsilon in (LEAST, *(one for one in multiples if one <= 4.0 or one % (2.0 * step) == 0.0)):
        for kind in _KINDS:
            yield Problem(epsilon, **kind)  # type: ignore[arg-type]


def main() -> None:
    """Write the archive, one design at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=float, default=0.125, help="distance between two ε")
    parser.add_argument("--effort", type=float, default=1.0, help="how fine the grid is; users get 1")
    parser.add_argument("--target", type=float, default=2e-3, help="a gap at which to stop; users get 0.004")
    parser.add_argument("--archive", type=Path, default=Path(__file__).with_name(SHIPPED))
    asked = parser.parse_args()
    kept: dict[str, bytes] = {}
    if asked.archive.exists():
        with zipfile.ZipFile(asked.archive) as archive:
            kept = {name: archive.read(name) for name in archive.namelist()}
    for problem in problems(asked.step):
        if problem.name in kept and Design.from_bytes(kept[problem.name], problem):
            continue
        made = design(problem, effort=asked.effort, target=asked.target)
        if made.gap > asked.target:
            made = min(made, design(problem, effort=1.4 * asked.effort), key=lambda one: one.gap)
        kept[problem.name] = made.to_bytes()
        write(asked.archive, kept)
        print(f"{problem.name}: error {made.error:.6g}, gap {100 * made.gap:.3f} %", flush=True)


def write(path: Path, designs: dict[str, bytes]) -> None:
    """Write an archive whose bytes depend on nothing but the designs; they are compressed already."""
    with renamed(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(designs):
            archive.writestr(zipfile.ZipInfo(name), designs[name])


if __name__ == "__main__":
    main()
