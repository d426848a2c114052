"""Compare ways to ask for vectors on the same data: the length of the error of an estimated mean.

    python -m tools.vectors

Both data sets have vectors of length 1: made-up embeddings of 384 numbers about a common topic, and images
of digits (64 pixels) of scikit-learn. Numbers in parentheses are that length over the smallest possible: the
root of `dt.Optimal(dt.Vectors(d, exact=True), …).bound` over the number of people.

- Optimal: this library's.
- PrivUnit [Bhowmick18], with the best cap [Asi22]: a random vector of real numbers, d doubles; its error is
  the bound.
- RRSC [Isik23]: the number of a vertex of a rotated simplex of N ≤ d + 1 vertices, N a power of two; the K
  nearest are likelier, with the best K. The rotation is shared by the device and the collector.
- one number: one of the d numbers at random, by Duchi's mechanism or by `dt.Optimal(…, unbiased=True)`.

PrivUnit and RRSC are simulated here in floats, without any promise of privacy. Only the product of a report
and the vector depends on the vector. So a report is drawn as its product and a uniform direction across the
vector. This has the same distribution as a rotation of the complete space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import numpy as np

import dither as dt
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.vectors import InBall, best_gain, caps

BUDGETS: Final = (1.0, 2.0, 4.0)
_DRAWS: Final = 100_000  # rotations over which the gain of a simplex is averaged
_ROWS: Final = 1 << 12  # people whose reports are drawn together


class Rival(NamedTuple):
    """A way to ask: its name, the bytes of a report, and an estimate of the mean of vectors from a seed."""

    name: str
    bytes: int
    mean: Callable[[Floats, int], Floats]


def across(vectors: Floats, products: Floats, rng: np.random.Generator) -> Floats:
    """Return unit vectors with given products with given unit vectors, uniform otherwise."""
    noise = rng.standard_normal(vectors.shape)
    noise -= (noise * vectors).sum(axis=1, keepdims=True) * vectors
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.asarray(products[:, None] * vectors + np.sqrt(1.0 - products[:, None] ** 2) * noise)


def in_blocks(vectors: Floats, draw: Callable[[Floats], Floats]) -> Floats:
    """Return the mean of what a function makes of vectors, block by block."""
    blocks = range(0, len(vectors), _ROWS)
    return np.asarray(sum(draw(vectors[at : at + _ROWS]).sum(axis=0) for at in blocks) / len(vectors))


def privunit(axes: int, epsilon: float) -> Rival:
    """Return PrivUnit with the share of the sphere that has the largest gain."""
    law, odds = caps(axes), math.expm1(epsilon)
    gains = odds * law.first / (1.0 + odds * law.share)
    share = float(law.share[gains.argmax()])
    inside = share * math.exp(epsilon) / (1.0 + odds * share)
    # The product at which a share of the sphere is passed; the table is in angles from the pole.
    products = np.diff(law.first, prepend=0.0) / np.maximum(np.diff(law.share, prepend=0.0), 1e-300)

    def draw(vectors: Floats, rng: np.random.Generator) -> Floats:
        hit = rng.random(len(vectors)) < inside
        level = np.where(
            hit, share * rng.random(len(vectors)), share + (1 - share) * rng.random(len(vectors))
        )
        along = np.interp(level, law.share, products)
        return across(vectors, along, rng) / best_gain(axes, epsilon)

    def mean(vectors: Floats, seed: int) -> Floats:
        rng = np.random.default_rng(seed)
        return in_blocks(vectors, lambda block: draw(block, rng))

    return Rival("PrivUnit", 8 * axes, mean)


def simplex(axes: int, epsilon: float) -> Rival:
    """Return RRSC with the most vertices, and the number of nearest ones that has the largest gain."""
    cells, ratio = 1 << int(math.log2(axes + 1)), math.exp(epsilon)

    def rotate(count: int, rng: np.random.Generator) -> Floats:
        """Return the products of a unit vector with the vertices of randomly rotated simplices."""
        free = rng.standard_normal((count, cells))
        rest = rng.chisquare(axes - cells, count) if axes > cells else 0.0
        if axes + 1 == cells:  # the simplex spans all of the space
            free -= free.mean(axis=1, keepdims=True)
        lengths = np.sqrt((free**2).sum(axis=1) + rest)
        return np.asarray(
            (free - free.mean(axis=1, keepdims=True)) / lengths[:, None] * math.sqrt(cells / (cells - 1))
        )

    rng, total = np.random.default_rng(0), np.zeros(cells)
    for _ in range(_DRAWS // _ROWS):
        total += -np.sort(-rotate(_ROWS, rng), axis=1).sum(axis=0)
    nearest = np.cumsum(total / (_DRAWS // _ROWS * _ROWS))
    widths = np.arange(1, cells)
    gains = (ratio - 1.0) * nearest[:-1] / (cells + (ratio - 1.0) * widths)
    width = int(widths[gains.argmax()])

    def draw(vectors: Floats, rng: np.random.Generator) -> Floats:
        ordered = -np.sort(-rotate(len(vectors), rng), axis=1)
        near = rng.random(len(vectors)) < ratio * width / (ratio * width + cells - width)
        rank = np.where(
            near, rng.integers(width, size=len(vectors)), rng.integers(width, cells, size=len(vectors))
        )
        along = ordered[np.arange(len(vectors)), rank]
        return across(vectors, along, rng) / float(gains.max())

    def mean(vectors: Floats, seed: int) -> Floats:
        rng = np.random.default_rng(seed)
        return in_blocks(vectors, lambda block: draw(block, rng))

    return Rival("RRSC", (int(math.log2(cells)) + 7) // 8, mean)


def one_number(axes: int, epsilon: float, kind: Any, name: str) -> Rival:
    """Return one of the numbers of a vector at random, by a mechanism for numbers from −1 to 1."""
    made = dt.Sampled({f"x{at}": kind(dt.Interval(-1, 1), epsilon=epsilon) for at in range(axes)})

    def mean(vectors: Floats, seed: int) -> Floats:
        records = made.perturb(vectors, source=dt.Seeded(seed))
        return np.array([float(dt.mean(records[number])) for number in records])

    return Rival(f"one number, {name}", next(iter(made.parts.values())).report_bytes + 2, mean)


def ours(axes: int, epsilon: float) -> Rival:
    """Return this library's mechanism."""
    design = dt.Optimal(dt.Vectors(axes, exact=True), epsilon=epsilon)

    def mean(vectors: Floats, seed: int) -> Floats:
        return np.asarray(dt.mean(design.perturb(vectors, source=dt.Seeded(seed))).value)

    return Rival("Optimal", design.report_bytes, mean)


def rivals(axes: int, epsilon: float) -> list[Rival]:
    """Return all ways to ask, this library's first."""

    def unbiased(domain: dt.Interval, epsilon: float) -> Any:
        return dt.Optimal(domain, epsilon=epsilon, unbiased=True)

    return [
        ours(axes, epsilon),
        privunit(axes, epsilon),
        simplex(axes, epsilon),
        one_number(axes, epsilon, unbiased, "Optimal"),
        one_number(axes, epsilon, dt.Duchi, "Duchi"),
    ]


def measured(rival: Rival, vectors: Floats, seeds: Iterable[int]) -> float:
    """Return the root mean squared length of the error of the mean, over seeds."""
    truth = vectors.mean(axis=0)
    return math.sqrt(np.mean([((rival.mean(vectors, seed) - truth) ** 2).sum() for seed in seeds]))


def bound(axes: int, epsilon: float) -> float:
    """Return the smallest possible mean squared error of one report, for unit vectors."""
    return InBall(dt.Vectors(axes, exact=True), epsilon=epsilon).bound


def embeddings(people: int) -> Floats:
    """Return made-up embeddings about a common topic, as on the page."""
    rng = np.random.default_rng(1)
    topic = rng.standard_normal(384)
    rows = rng.standard_normal((people, 384)) + 0.65 * topic
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def digits(people: int) -> Floats:
    """Return images of handwritten digits, drawn with repetition, of length 1."""
    from sklearn.datasets import load_digits

    images = load_digits(return_X_y=True)[0]
    rows = images[np.random.default_rng(1).integers(len(images), size=people)]
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def main() -> None:
    """Print the table of docs/vectors.md."""
    print("| vectors, people | way | bytes | " + " | ".join(f"ε = {epsilon:g}" for epsilon in BUDGETS) + " |")
    print("|---" * (3 + len(BUDGETS)) + "|")
    for title, vectors, runs in (("embeddings", embeddings(5_000), 3), ("digits", digits(2_000), 4)):
        people, axes = vectors.shape
        cells: dict[str, list[str]] = {}
        for budget, epsilon in enumerate(BUDGETS):
            least = math.sqrt(bound(axes, epsilon) / people)
            for way, rival in enumerate(rivals(axes, epsilon)):
                first = 1_000 * (10 * budget + way)  # other seeds everywhere: equal ones give equal luck
                error = measured(rival, vectors, range(first, first + runs))
                row = cells.setdefault(rival.name, [str(rival.bytes)])
                row.append(f"{error:.3g} ({error / least:.2f})")
        for name, row in cells.items():
            print(f"| {title}, {people} × {axes} | {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
