"""Solve the designs that ship with the package: `python -m dither.optimal.queries.build_shipped`.

Designs that the archive already holds are kept, so an interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import math
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from dither.atomic import renamed
from dither.optimal.queries import store
from dither.optimal.queries.bound import lower_bound
from dither.optimal.queries.solve import solve
from dither.optimal.queries.weights import Master, Moments

ARCHIVE: Final = Path(store.__file__).with_name(store.SHIPPED)  # the file that `store` reads
_SIZES: Final = {4: 0.002, 8: 0.002, 16: 0.002, 32: 0.004, 64: 0.006, 128: 0.015}  # inputs: the target gap
_FIRST: Final = (0.5, 1.0, 2.0, 4.0)
_MORE: Final = (0.25, 1.5, 3.0, 6.0)


def problems() -> Iterator[tuple[int, float, float]]:
    """Return the inputs, ε and target of every design that ships."""
    for budgets in (_FIRST, _MORE):
        for size, target in _SIZES.items():
            for epsilon in budgets:
                yield size, epsilon, target


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve what the archive lacks, and write it after each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=400.0, help="for one design")
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    asked = parser.parse_args(arguments)
    kept: dict[str, bytes] = {}
    if asked.archive.exists():
        with zipfile.ZipFile(asked.archive) as archive:
            kept = {name: archive.read(name) for name in archive.namelist()}
    for size, epsilon, target in problems():
        name = store.name(size, epsilon)
        if name in kept:
            continue
        begin = time.monotonic()
        matrix = store.prefixes(size)
        gram = matrix.T @ matrix
        made = solve(gram, epsilon, target=target, seconds=asked.seconds)
        kept[name] = made.to_bytes()
        with renamed(asked.archive) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for one in sorted(kept):
                archive.writestr(zipfile.ZipInfo(one), kept[one])
        value = Master(Moments(gram), made.patterns, math.exp(epsilon)).value(made.weights)
        value += float(gram.sum()) / size**2 - float(gram.trace()) / size
        gap = value / lower_bound(gram, math.exp(epsilon), made.multipliers) - 1.0
        spent = time.monotonic() - begin
        print(
            f"{name}: variance {value:.6g}, gap {100 * gap:.3f} %, {len(made.weights)} patterns, "
            f"{spent:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
