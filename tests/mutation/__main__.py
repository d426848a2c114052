"""Mutation run: change the program at random places, one at a time, and see whether a test fails.

    python -m tests.mutation                                   a sample of kernels, privacy and wire
    python -m tests.mutation --share 1 --only kernels/coin     every mutant of one module

First every test is run once, to see which functions it calls. Then each mutant has a process of its own,
which runs the tests that call the changed function, the quickest first, until one fails. The results are
lines of JSON. What an earlier run with the same files found is kept; `--again` runs its survivors once more.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation.operators import Mutant, mutants
from tests.mutation.zygote import SOURCE, Zygote
from tests.support.repository import TESTS

SHARES = {"kernels": 0.03, "privacy": 0.1, "wire": 0.1}  # of all mutants of a room
SUITE = (
    "kernels",
    "privacy",
    "wire",
    "laws",
    "proofs",
    "golden",
    "statistical",
    "test_reports.py",
    "audits",
    "mechanisms",
    "maps",
    "central",
    "estimation/test_frequency.py",
    "estimation/test_heavy_hitters.py",
)


def chosen(share: float | None, seed: int, only: str) -> list[Mutant]:
    """Return the mutants of a run: of each room, a share drawn at random."""
    some: list[Mutant] = []
    for room, usual in SHARES.items():
        paths = [path for path in sorted((SOURCE / room).rglob("*.py")) if path.name != "__init__.py"]
        every = [
            mutant
            for path in paths
            if only in path.as_posix()
            for mutant in mutants(".".join(("dither", *path.relative_to(SOURCE).with_suffix("").parts)), path)
        ]
        drawn = random.Random(seed).sample(every, round((usual if share is None else share) * len(every)))
        print(f"{room}: {len(drawn)} of {len(every)} mutants, seed {seed}", flush=True)
        some += drawn
    return some


def outcomes(results: Path) -> dict[str, str]:
    """Return the last outcome of each mutant."""
    if not results.exists():
        return {}
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return {line["mutant"]: line["outcome"] for line in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--share", type=float, help="of all mutants of a room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--again", action="store_true", help="run again what survived before")
    parser.add_argument("--results", type=Path, default=Path("mutation.jsonl"))
    parser.add_argument("--suite", nargs="*", default=SUITE, help="folders of tests/")
    options = parser.parse_args()
    some, known = chosen(options.share, options.seed, options.only), outcomes(options.results)
    over = {None, "survived"} if options.again else {None}
    wanted = [mutant for mutant in some if known.get(mutant.name) in over]
    reach = options.results.with_suffix(".reach.json")
    asked = ["-q", "-m", "not slow", "-p", "no:xdist", *(str(TESTS / name) for name in options.suite)]
    pytest.main(asked, plugins=[Zygote(wanted, options.results, reach)])
    known = outcomes(options.results)
    counts = Counter(known[mutant.name] for mutant in some)
    inside = counts.total() - counts["outside of functions"]
    seen = counts["seen"] + counts["seen, no end"]
    print(f"{seen} of {inside} seen ({100 * seen / max(inside, 1):.1f} %)", dict(counts))
    for mutant in sorted(some, key=lambda one: one.name):
        if known[mutant.name] == "survived":
            print(mutant.name)


if __name__ == "__main__":
    main()
