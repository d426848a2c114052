"""Solve the designs that ship with the package: of `Optimal`, of `Cumulative` and of `JointMoments`.

    python -m tools.shipped numbers       src/dither/mechanisms/optimal/designs.zip
    python -m tools.shipped prefixes      src/dither/mechanisms/optimal/queries/prefixes.zip

Designs that the archive already holds are kept, so an interrupted run continues where it stopped. With the
default options and the shipped archives there is nothing left to solve.
"""

from __future__ import annotations

import argparse
import math
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from dither.foundation.arrays import Floats
from dither.foundation.atomic import rename_after
from dither.foundation.losses import absolute, squared
from dither.mechanisms.optimal import store
from dither.mechanisms.optimal.design import Design
from dither.mechanisms.optimal.problem import LEAST, MOST, Problem
from dither.mechanisms.optimal.queries import store as prefix_store
from dither.mechanisms.optimal.queries.bound import lower_bound, matched_bound
from dither.mechanisms.optimal.queries.moments import (
    FINE,
    PIECES,
    TARGET,
    moment_family,
    moment_gram,
    solve_moments,
)
from dither.mechanisms.optimal.queries.solve import Master, Moments, solve
from dither.mechanisms.optimal.solver.solve_design import solve_design

NUMBERS: Final = Path(store.__file__).with_name(store.SHIPPED)  # the file that `store` reads
PREFIXES: Final = Path(prefix_store.__file__).with_name(prefix_store.SHIPPED)
_KINDS: Final = (
    {"loss": absolute, "criterion": "worst"},
    {"loss": squared, "criterion": "worst"},
    {"loss": absolute, "criterion": "average"},
    {"loss": squared, "criterion": "average"},
    {"loss": squared, "criterion": "worst", "unbiased": True},
    {"loss": squared, "criterion": "average", "unbiased": True},
)
_SIZES: Final = {4: 0.002, 8: 0.002, 16: 0.002, 32: 0.004, 64: 0.006, 128: 0.015}  # inputs: the target gap
_FIRST: Final = (0.5, 1.0, 2.0, 4.0)
_MORE: Final = (0.25, 1.5, 3.0, 6.0)


def problems(step: float) -> Iterator[Problem]:
    """Yield every problem whose design ships: the least ε, then multiples of a step, of two above ε = 4."""
    multiples = [step * number for number in range(1, round(MOST / step) + 1)]
    for epsilon in (
        LEAST,
        *(epsilon for epsilon in multiples if epsilon <= 4.0 or epsilon % (2.0 * step) == 0.0),
    ):
        for kind in _KINDS:
            yield Problem(epsilon, **kind)  # type: ignore[arg-type]


def query_problems() -> Iterator[tuple[str, Floats, float, float]]:
    """Yield the family, WᵀW, ε and target of every design of prefix sums and of moments that ships."""
    for budgets in (_FIRST, _MORE):
        for size, target in _SIZES.items():
            matrix = prefix_store.prefixes(size)
            for epsilon in budgets:
                yield str(size), matrix.T @ matrix, epsilon, target
    for axes in PIECES:
        for epsilon in (*_FIRST, *_MORE, 8.0) if axes < 4 else (*_FIRST, 8.0):
            yield f"moments{axes}", moment_gram(axes, PIECES[axes]), epsilon, TARGET
    for axes, pieces in FINE.items():
        for epsilon in (*_FIRST, *_MORE, 8.0):
            yield moment_family(axes, pieces), moment_gram(axes, pieces), epsilon, TARGET


def read(path: Path) -> dict[str, bytes]:
    """Return the designs of an archive by name; none if there is no such file."""
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, designs: dict[str, bytes]) -> None:
    """Write an archive whose bytes depend on the designs alone; the designs are compressed already."""
    with rename_after(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(designs):
            archive.writestr(zipfile.ZipInfo(name), designs[name])


def solve_numbers(archive: Path, step: float, effort: float, target: float) -> None:
    """Solve the designs of `Optimal` that an archive lacks, and write it after each."""
    kept = read(archive)
    for problem in problems(step):
        if problem.name in kept and Design.from_bytes(kept[problem.name], problem):
            continue
        made = solve_design(problem, effort=effort, target=target)
        if made.gap > target:
            made = min(made, solve_design(problem, effort=1.4 * effort), key=lambda design: design.gap)
        kept[problem.name] = made.to_bytes()
        write(archive, kept)
        print(f"{problem.name}: error {made.error:.6g}, gap {100 * made.gap:.3f} %", flush=True)


def solve_prefixes(archive: Path, seconds: float) -> None:
    """Solve the designs of `Cumulative` and `JointMoments` that an archive lacks, and write it after each."""
    kept = read(archive)
    for family, gram, epsilon, target in query_problems():
        name, size = prefix_store.name(family, epsilon), len(gram)
        if name in kept:
            continue
        begin = time.monotonic()
        if family.isdecimal():
            made = solve(gram, epsilon, target=target, seconds=seconds)
        else:
            made = solve_moments(gram, epsilon, seconds)
        kept[name] = made.to_bytes()
        write(archive, kept)
        value = Master(Moments(gram), made.patterns, math.exp(epsilon)).value(made.weights)
        value += float(gram.sum()) / size**2 - float(gram.trace()) / size
        ratio = math.exp(epsilon)
        gap = value / max(lower_bound(gram, ratio, made.multipliers), matched_bound(gram, ratio)) - 1.0
        spent = time.monotonic() - begin
        print(
            f"{name}: variance {value:.6g}, gap {100 * gap:.3f} %, {len(made.weights)} patterns, "
            f"{spent:.0f} s",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve what one of the two archives lacks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    numbers = kinds.add_parser("numbers")
    numbers.add_argument("--archive", type=Path, default=NUMBERS)
    numbers.add_argument("--step", type=float, default=0.125, help="distance between two ε")
    numbers.add_argument("--effort", type=float, default=1.0, help="how fine the grid is; users get 1")
    numbers.add_argument("--target", type=float, default=2e-3, help="a gap at which to stop; users get 0.004")
    prefixes = kinds.add_parser("prefixes")
    prefixes.add_argument("--archive", type=Path, default=PREFIXES)
    prefixes.add_argument("--seconds", type=float, default=400.0, help="for one design")
    asked = parser.parse_args(arguments)
    if asked.kind == "numbers":
        solve_numbers(asked.archive, asked.step, asked.effort, asked.target)
    else:
        solve_prefixes(asked.archive, asked.seconds)


if __name__ == "__main__":
    main()
