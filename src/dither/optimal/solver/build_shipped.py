"""Solve the designs that ship with the package: `python -m dither.optimal.solver.build_shipped`.

Designs that the archive already holds are kept, so an interrupted run continues where it stopped. With the
default options and the shipped archive there is nothing left to solve.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from dither.atomic import renamed
from dither.losses import absolute, average, squared, worst
from dither.optimal import store
from dither.optimal.design import Design
from dither.optimal.problem import LEAST, MOST, Problem
from dither.optimal.solver.solve_design import solve_design

ARCHIVE: Final = Path(store.__file__).with_name(store.SHIPPED)  # the file that `store` reads
_KINDS: Final = (
    {"loss": absolute, "criterion": worst},
    {"loss": squared, "criterion": worst},
    {"loss": absolute, "criterion": average},
    {"loss": squared, "criterion": average},
    {"loss": squared, "criterion": worst, "unbiased": True},
    {"loss": squared, "criterion": average, "unbiased": True},
)


def problems(step: float) -> Iterator[Problem]:
    """Yield every problem whose design ships: the least ε, then multiples of a step, of two above ε = 4."""
    multiples = [step * number for number in range(1, round(MOST / step) + 1)]
    for epsilon in (LEAST, *(one for one in multiples if one <= 4.0 or one % (2.0 * step) == 0.0)):
        for kind in _KINDS:
            yield Problem(epsilon, **kind)  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve what the archive lacks, and write it after each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=float, default=0.125, help="distance between two ε")
    parser.add_argument("--effort", type=float, default=1.0, help="how fine the grid is; users get 1")
    parser.add_argument("--target", type=float, default=2e-3, help="a gap at which to stop; users get 0.004")
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    asked = parser.parse_args(arguments)
    kept: dict[str, bytes] = {}
    if asked.archive.exists():
        with zipfile.ZipFile(asked.archive) as archive:
            kept = {name: archive.read(name) for name in archive.namelist()}
    for problem in problems(asked.step):
        if problem.name in kept and Design.from_bytes(kept[problem.name], problem):
            continue
        made = solve_design(problem, effort=asked.effort, target=asked.target)
        if made.gap > asked.target:
            made = min(made, solve_design(problem, effort=1.4 * asked.effort), key=lambda one: one.gap)
        kept[problem.name] = made.to_bytes()
        write(asked.archive, kept)
        print(f"{problem.name}: error {made.error:.6g}, gap {100 * made.gap:.3f} %", flush=True)


def write(path: Path, designs: dict[str, bytes]) -> None:
    """Write an archive whose bytes depend on the designs alone; the designs are compressed already."""
    with renamed(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(designs):
            archive.writestr(zipfile.ZipInfo(name), designs[name])


if __name__ == "__main__":
    main()
