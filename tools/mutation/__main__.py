"""Mutation run: change the program at random places, one at a time, and see whether a test fails.

    python -m tools.mutation                                   a sample of core and privacy
    python -m tools.mutation --share 1 --only kernels/coin     every mutant of one module

First every test is run once, to see which functions it calls. Then each mutant has a process of its own,
which runs the tests that call the changed function, the quickest first, until one fails. The results are
lines of JSON. What an earlier run with the same files found is kept; `--again` runs its survivors once more.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.support.repository import TESTS
from tools.mutation.operators import Mutant, mutants
from tools.mutation.zygote import SOURCE, Zygote, child

SHARES = {"core": 0.03, "privacy": 0.1}  # of all mutants of a room
# Which quick tests a part of the program is tried with, besides those of its own folder.
SUITES = {
    "privacy": ("laws/test_promises.py", "proofs/test_composition.py", "collection/account"),
    "core": ("golden", "core/test_reports.py"),
    "core.kernels.window": (
        "core/kernels/test_kernel.py",
        "core/kernels/test_transition.py",
        "laws/test_exactness.py",
        "laws/test_narrow_windows.py",
        "proofs/test_lottery.py",
        "statistical",
        "golden/test_devices.py",
        "laws/test_numeric_reference.py",
    ),
    "core.kernels.lattice": (
        "core/kernels/test_kernel.py",
        "proofs/test_bounded.py",
        "golden/test_devices.py",
    ),
    "core.kernels.alias": (
        "core/kernels/test_alias.py",
        "core/kernels/test_kernel.py",
        "proofs/test_alias_table.py",
        "mechanisms/places/test_rivals.py",
    ),
    "core.kernels.channel": (
        "core/kernels/test_channel.py",
        "core/kernels/test_kernel.py",
        "mechanisms/optimal/queries",
    ),
    "core.kernels.sets": (
        "core/kernels/test_kernel.py",
        "mechanisms/frequency",
        "estimation/test_frequency.py",
    ),
    "core.kernels.places": (
        "core/kernels/test_kernel.py",
        "mechanisms/places/test_rivals.py",
        "laws/test_places.py",
    ),
    "core.kernels": (
        "core/kernels",
        "mechanisms/joint",
        "mechanisms/frequency",
        "estimation/test_frequency.py",
    ),
}


def chosen(share: float | None, seed: int, only: str) -> list[Mutant]:
    """Return the mutants of a run: of each part of the program, a share drawn at random."""
    paths = [path for room in SHARES for path in sorted((SOURCE / room).rglob("*.py"))]
    offered: dict[str, list[Mutant]] = {part: [] for part in SUITES}
    for path in paths:
        module = ".".join(("dither", *path.relative_to(SOURCE).with_suffix("").parts))
        if path.name != "__init__.py" and only in path.as_posix():
            offered[part_of(module)] += mutants(module, path)
    some: list[Mutant] = []
    for part, every in offered.items():
        usual = SHARES[part.partition(".")[0]]
        drawn = random.Random(seed).sample(every, round((usual if share is None else share) * len(every)))
        if every:
            print(f"{part}: {len(drawn)} of {len(every)} mutants, seed {seed}", flush=True)
        some += drawn
    return some


def outcomes(results: Path) -> dict[str, str]:
    """Return the last outcome of each mutant."""
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: line["outcome"] for line in lines}


def part_of(module: str) -> str:
    """Return the longest name in `SUITES` that a module begins with."""
    name = module.removeprefix("dither.")
    return max((part for part in SUITES if f"{name}.".startswith(f"{part}.")), key=len)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, help="of all mutants of a room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--again", action="store_true", help="run again what survived before")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"))
    options = parser.parse_args()
    some, known = chosen(options.share, options.seed, options.only), outcomes(options.results)
    over = {None, "survived"} if options.again else {None}
    wanted = [mutant for mutant in some if known.get(mutant.name) in over]
    for part, more in SUITES.items():
        own = [mutant for mutant in wanted if part_of(mutant.module) == part]
        if own:
            folder = TESTS.joinpath(*part.split("."))
            paths = [str(path) for path in (folder, *map(TESTS.joinpath, more)) if path.exists()]
            reach = options.results.with_suffix(f".{part}.json")
            asked = ["-q", "-m", "not slow", "-p", "no:xdist", *paths]
            child(partial(pytest.main, asked, plugins=[Zygote(own, options.results, reach)]), quiet=False)
    known = outcomes(options.results)
    counts = Counter(known.get(mutant.name, "not run") for mutant in some)
    inside = counts.total() - counts["outside of functions"]
    seen = counts["seen"] + counts["seen, no end"]
    print(f"{seen} of {inside} seen ({100 * seen / max(inside, 1):.1f} %)", dict(counts))
    for mutant in sorted(some, key=lambda chosen: chosen.name):
        if known.get(mutant.name) == "survived":
            print(mutant.name)


if __name__ == "__main__":
    main()
