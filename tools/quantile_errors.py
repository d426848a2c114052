"""Simulate the errors of quantiles, and write the table that `dt.recommend` reads.

python -m tools.quantile_errors          simulates what is not recorded (20 minutes of one core for all)
python -m tools.quantile_errors table    writes src/dither/advice/quantiles.json from the record alone
python -m tools.quantile_errors check    measures predictions of SW with other people, seeds, budgets and
                                         shapes, records them, and makes the table of docs/rankings.md

Every mechanism has the same people and seeds. Recorded are mean squared errors in lengths of the domain, over
the shapes of `dither.advice.simulation` and their mirror images, for each budget, number of people and share.
The mirror image of a shape has the shape's quantile of 1 − share, so that shares from a half on suffice.

SW has ten times the runs of the others, whose error is that of SW times a ratio over the runs of both: a few
shapes, such as two modes with the median between them, have most of the error and of its variance.

For each share, the logarithm of the error is a smooth surface in ε and n, and that of another mechanism than
SW differs from it by a simpler one; all are fitted together, by the likelihood of gamma-distributed numbers.
So SW and PM are simulated on the whole grid, and the others on a part of it. The table has the surface of
each mechanism, and how far it may be off.
"""

from __future__ import annotations

import itertools
import json
import sys
from functools import lru_cache
from typing import Any, Final

import numpy as np

import dither as dt
from dither import goals
from dither.advice import simulation
from dither.advice.simulation import ErrorTable, ShapeQuestion
from dither.foundation.randomness import Seeded
from tests.support.repository import ROOT
from tools.coverage import write

RECORDED: Final = ROOT / "tools" / "recorded" / "quantile_errors.json"
SHARES: Final = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99)
BUDGETS: Final = (0.25, 0.59, 1.41, 3.36, 8.0)
PEOPLE: Final = (300, 3000, 30_000, 300_000)
BETWEEN: Final = (1000, 10_000, 100_000)  # for SW alone
SEED, BLOCK, MANY, FEW = 20_000, 24, 20, 2  # a block of runs has every shape and its mirror image once
WHOLE: Final = ("SW", "PM")  # simulated on the whole grid
DEAR: Final = ("Laplace", "BoundedLaplace", "Staircase")  # take longer
UNIT: Final = dt.Interval(0, 1)
_DIFFERENCES: Final = ([0, 1, 2, 4, 6], [0, 1, 2, 4, 6], [0, 1, 2])  # terms of `ErrorTable.basis`


@lru_cache
def mechanisms(epsilon: float) -> dict[str, Any]:
    """Return the mechanisms that can tell a quantile, by the names of `dt.recommend`."""
    able = goals.Quantile(n=1).candidates(UNIT, epsilon)
    return {one.name: one.mechanism for one in able if simulation.tells_apart(one.mechanism, 64)}


def _order(name: str) -> int:
    return 0 if name in WHOLE else 2 if name.startswith(DEAR) else 1


def design(name: str) -> list[tuple[str, float, int]]:
    """Return the cells in which a mechanism is simulated: its name, budgets and numbers of people."""
    people: tuple[int, ...] = (PEOPLE, PEOPLE[::2], PEOPLE[1:2])[_order(name)]
    if name == WHOLE[0]:
        people += BETWEEN
    able = [epsilon for epsilon in BUDGETS if name in mechanisms(epsilon)]  # `Cumulative` ends before 8
    return [(name, *cell) for cell in itertools.product(able, people)]


def every() -> list[tuple[str, float, int]]:
    """Return the cells of all mechanisms."""
    return [cell for name in sorted(mechanisms(1.0), key=_order) for cell in design(name)]


def blocks(name: str, n: int = 0) -> range:
    """Return the blocks of runs of a mechanism."""
    return range(FEW if name != WHOLE[0] else MANY // 4 if n in BETWEEN else MANY)


def measure(cell: tuple[str, float, int], block: int) -> list[float]:
    """Return the mean squared errors of a mechanism in a block of runs, at each share."""
    name, epsilon, n = cell
    mechanism, squares = mechanisms(epsilon)[name], []
    for seed in range(SEED + block * BLOCK, SEED + (block + 1) * BLOCK):
        reports = mechanism.perturb(ShapeQuestion(None, 0.5).people(UNIT, n, seed), source=Seeded(seed))
        shape = simulation.estimate(reports)
        squares.append(
            [
                [ShapeQuestion(None, share).miss(shape, UNIT, seed) for share in sides]
                for sides in ((share, 1.0 - share) for share in SHARES)
            ]
        )
    return [float(f"{square:.3g}") for square in np.mean(squares, axis=(0, 2))]


def recorded() -> dict[str, list[float]]:
    """Return what was simulated: mean squared errors for each cell and block."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))) if RECORDED.exists() else {}


def record() -> None:
    """Simulate the blocks that are not recorded, and write them as they come."""
    kept = recorded()
    for cell in every():
        for block in blocks(cell[0], cell[2]):
            key = json.dumps([*cell, block])
            if key in kept:
                continue
            kept[key] = measure(cell, block)
            lines = (f"{json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in kept.items())
            RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            print(*cell, block, kept[key][0] ** 0.5, flush=True)


def errors(cell: tuple[str, float, int], kept: dict[str, list[float]]) -> Any:
    """Return the mean squared errors of a cell: SW's, times the ratio over the blocks of both."""
    name, *rest = cell
    n = cell[2]

    def mean(of: str, many: range) -> Any:
        return np.mean([kept[json.dumps([of, *rest, block])] for block in many], axis=0)

    own = mean(name, blocks(name, n))
    return own * mean(WHOLE[0], blocks(WHOLE[0], n)) / mean(WHOLE[0], blocks(name, n))


def surfaces(cells: list[tuple[str, float, int]], squares: Any) -> dict[str, list[float]]:
    """Return for each mechanism how far its surface may be off, relative to the error, and coefficients."""
    names = sorted({name for name, *_ in cells}, key=lambda name: (name != WHOLE[0], name))
    size = ErrorTable.basis(1.0, 1.0).size
    maps, used = {WHOLE[0]: np.eye(size)}, size
    for name in names[1:]:
        own = _DIFFERENCES[_order(name)]
        maps[name] = np.concatenate(
            [np.eye(size), np.zeros((size, used - size)), np.eye(size)[:, own]], axis=1
        )
        used += len(own)
    maps = {name: np.pad(made, ((0, 0), (0, used - made.shape[1]))) for name, made in maps.items()}
    rows = np.stack([ErrorTable.basis(epsilon, n) @ maps[name] for name, epsilon, n in cells])
    logs = np.log(squares)
    for _ in range(60):  # of Fisher scoring; the weights of gamma-distributed numbers are equal
        fitted, *_ = np.linalg.lstsq(rows, logs, rcond=None)
        logs = rows @ fitted + np.clip(squares / np.exp(rows @ fitted) - 1.0, -1.0, 3.0)
    gaps = squares / np.exp(rows @ fitted) - 1.0
    spread = np.linalg.inv(rows.T @ rows) * (gaps @ gaps) / (len(cells) - used)
    grid = np.stack([ErrorTable.basis(*cell) for cell in itertools.product(BUDGETS, PEOPLE)])
    found = {}
    for name, made in maps.items():
        across = grid @ made
        off = np.sqrt(np.einsum("ij,jk,ik->i", across, spread, across).mean()) / 2.0
        found[name] = [round(float(number), 3) for number in (off, *(made @ fitted))]
    return found


# Between the cells of the table, and with other seeds.
CHECKED: Final = (
    (0.5, 3000), (0.5, 100_000), (1.0, 5000), (1.0, 50_000), (2.0, 2000), (2.0, 200_000), (3.0, 10_000),
    (4.0, 20_000), (6.0, 1000),
)  # fmt: skip
TWELVE, OTHERS = "the twelve shapes", "other shapes"
AGAIN: Final = 50_000  # the first seed of the checks
CHECKS: Final = ROOT / "tools" / "recorded" / "quantile_checks.json"
_PLACES: Final = np.linspace(0.0, 1.0, 4097)


def others() -> list[Any]:
    """Return cdfs of shapes that the table does not have, on `_PLACES`."""
    x = (_PLACES[1:] + _PLACES[:-1]) / 2.0

    def cdf(*parts: tuple[float, Any]) -> Any:
        density = np.sum([share * part / part.sum() for share, part in parts], axis=0)
        return np.concatenate([[0.0], np.cumsum(density)])

    def at(place: float) -> Any:
        return (np.arange(x.size) == min(int(place * x.size), x.size - 1)) * 1.0

    def normal(centre: float, width: float) -> Any:
        return np.exp(-(((x - centre) / width) ** 2) / 2.0)

    beta = x * (1.0 - x) ** 4
    clipped = (1.0 - np.exp(-5.0), np.exp(-5.0 * x)), (np.exp(-5.0), at(1.0))
    return [
        cdf((1.0, x**-0.7 * (1.0 - x) ** 5.0)),
        cdf((0.98, beta), (0.02, at(1.0))),
        cdf((0.995, beta), (0.005, at(1.0))),
        cdf((0.7, beta), (0.3, at(0.937))),
        cdf((0.3, normal(0.2, 0.05)), (0.4, normal(0.5, 0.05)), (0.3, normal(0.8, 0.05))),
        cdf((1.0, 4.0 * x % 1.0)),
        cdf(*clipped),
        cdf((0.35, at(0.0)), (0.65, beta)),
        cdf((0.2, beta), *((0.8 * beta[int(x.size * k / 10)], at(k / 10)) for k in range(1, 10))),
        cdf((1.0, (x * (1.0 - x)) ** -0.5)),
        cdf((1.0, normal(0.41, 0.02))),
    ]  # without a gap in the middle, of which every point is a median


def check(many: int) -> None:
    """Measure the blocks of the checks that are not recorded."""
    kept = dict(json.loads(CHECKS.read_text(encoding="utf-8"))) if CHECKS.exists() else {}
    for which, (epsilon, n) in itertools.product((TWELVE, OTHERS), CHECKED):
        shapes = [simulation.population(run) for run in range(24)] if which == TWELVE else others()
        if which == OTHERS:
            shapes = [*shapes, *(1.0 - cdf[::-1] for cdf in shapes)]
        for block in range(many if which == TWELVE else many // 4):
            key = json.dumps([which, epsilon, n, block])
            if key in kept:
                continue
            squares = []
            for number, cdf in enumerate(shapes):
                seed = AGAIN + 100 * block + number
                values = np.interp(np.random.default_rng(seed).random(n), cdf / cdf[-1], _PLACES)
                reports = dt.SW(UNIT, epsilon=epsilon).perturb(values, source=Seeded(seed))
                shape: Any = simulation.estimate(reports)
                truth = np.interp([0.5, 0.9], cdf / cdf[-1], _PLACES)
                told = [float(shape.quantile(share)) for share in (0.5, 0.9)]
                squares.append((np.array(told) - truth) ** 2)
            kept[key] = [float(f"{square:.3g}") for square in np.mean(squares, axis=0)]
            lines = (f"{json.dumps(name)}: {json.dumps(numbers)}" for name, numbers in kept.items())
            CHECKS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def ratios() -> dict[tuple[str, float, int], list[tuple[float, float]]]:
    """Return predicted ÷ measured errors of the median and of the 0.9-quantile, each with its accuracy."""
    blocks_of: dict[tuple[str, float, int], list[list[float]]] = {}
    for key, squares in json.loads(CHECKS.read_text(encoding="utf-8")).items():
        which, epsilon, n, _ = json.loads(key)
        blocks_of.setdefault((which, epsilon, n), []).append(squares)
    found = {}
    for cell, each in blocks_of.items():
        means = np.mean(each, axis=0)
        off = np.std(each, axis=0, ddof=1) / np.sqrt(len(each)) / means / 2.0
        mechanism = dt.SW(UNIT, epsilon=cell[1])
        predicted = [
            simulation.simulate(mechanism, ShapeQuestion(None, share), cell[2]).error for share in (0.5, 0.9)
        ]
        rows = zip(predicted, np.sqrt(means).tolist(), off.tolist(), strict=True)
        found[cell] = [(error / measured, error / measured * spread) for error, measured, spread in rows]
    return found


def check_page() -> None:
    """Write the table of docs/rankings.md from the record of the checks."""
    found = ratios()
    lines = [
        f"| ε, n | {TWELVE}: median | 0.9-quantile | {OTHERS}: median | 0.9-quantile |",
        "|---|---|---|---|---|",
    ]
    for epsilon, n in CHECKED:
        pairs = (*found[TWELVE, epsilon, n], *found[OTHERS, epsilon, n])
        cells = " | ".join(f"{ratio:.2f} ± {spread:.2f}" for ratio, spread in pairs)
        lines.append(f"| {epsilon:g}, {f'{n:,}'.replace(',', ' ')} | {cells} |")
    write(ROOT / "docs" / "rankings.md", "\n".join(lines), "quantiles")


def table() -> None:
    """Write the table from the record."""
    kept, cells = recorded(), every()
    squares = np.array([errors(cell, kept) for cell in cells])
    each = [surfaces(cells, column) for column in squares.T]
    rows = {name: [found[name] for found in each] for name in each[0]}
    lines = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items()]
    text = f'"version": {simulation.VERSION},\n"seeds": {json.dumps([SEED, BLOCK * MANY])},\n'
    text += f'"shares": {json.dumps(SHARES)},\n"surfaces": {{\n' + ",\n".join(lines) + "\n}"
    (ROOT / "src" / "dither" / "advice" / "quantiles.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check(24)
        check_page()
    else:
        if sys.argv[1:] != ["table"]:
            record()
        table()
