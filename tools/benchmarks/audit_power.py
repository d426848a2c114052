"""Which lower bound on ε the audit finds, beside three rivals, with equal samples on the same twelve cases.

`python -m tools.benchmarks.audit_power` prints the table, `python -m tools.benchmarks.audit_power picture`
draws docs/pictures/audit-samples.svg: how many samples a violation needs. The rivals are small
implementations of their ideas, written here, and named for what they follow:

- *histogram*: 64 bins of equal width; the bin with the largest ratio in one half is tested on the other.
- *classifier*, after DP-Sniper (Bichsel et al., 2021): logistic regression on the numbers of a report and
  their squares; reports with the largest scores, at least 1 % of those of the second input.
- *hockey stick*, after DP-Auditorium (Kong et al., 2024): the divergence P(S) − e^ε·Q(S) of a set S that one
  half suggests, estimated on the other half, with Hoeffding's bound; ε is the largest that is refuted.

All have the same pair of inputs, the same reports in number, and confidence 99 %.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dither as dt
from dither.advice.audits.black_box.calls import Calls
from dither.advice.audits.black_box.columns import Context
from dither.advice.audits.black_box.rounds import Claim, rounds
from dither.advice.audits.neighbours import as_numbers
from dither.foundation.numerics.binomial import binomial_above, binomial_below
from dither.foundation.tables import as_markdown
from tests.support.broken import randomisers as broken

SAMPLES, RUNS, ALPHA = 40_000, 10, 0.01
SIDE = ALPHA / 4  # of one bound of a rival: two bounds, and both orders of the inputs
UNIT, EIGHT = dt.Interval(0, 1), dt.Categories(8)
Randomise = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    make: Callable[[int], Randomise]
    pair: tuple[Any, Any]
    truth: str
    scale: float | None = None  # of Laplace noise that is right


def ours(mechanism: Any, source: dt.Seeded) -> Randomise:
    return lambda values: np.asarray(mechanism.perturb(values, source=source).cells)


def right(mechanism: Any) -> Callable[[int], Randomise]:
    return lambda seed: ours(mechanism, dt.Seeded(seed))


def wrong(make: Callable[[np.random.Generator], Randomise]) -> Callable[[int], Randomise]:
    return lambda seed: make(np.random.default_rng(seed))


ORIGIN, CORNER = np.array([0.0, 0.0]), np.array([1.0, 1.0])
CASES: dict[str, Case] = {
    "KRR, right": Case(right(dt.KRR(EIGHT, epsilon=1)), (0, 7), "1"),
    "PM, right": Case(right(dt.PM(UNIT, epsilon=1)), (0.0, 1.0), "1"),
    "Laplace, right": Case(right(dt.Laplace(UNIT, epsilon=1)), (0.0, 1.0), "1", 1.0),
    "OUE, right": Case(right(dt.OUE(EIGHT, epsilon=1)), (0, 7), "1"),
    "half the scale": Case(wrong(broken.half_scale), (0.0, 1.0), "2", 1.0),
    "TraCS's k-RR": Case(wrong(broken.tracs_response), (0, 5), "3.69"),
    "SW with a clamped edge": Case(wrong(broken.clamped_edge), (0.0, 1.0), "2.08"),
    "Gaussian without δ": Case(wrong(broken.gaussian), (0.0, 1.0), "∞"),
    "Laplace from doubles": Case(wrong(broken.laplace_doubles), (0.0, 1.0), "∞", 1.0),
    "Laplace from 32 bits": Case(wrong(broken.laplace_32), (0.0, 1.0), "∞", 1.0),
    "ε for every bit": Case(wrong(broken.twice_the_bits), (0, 7), "2"),
    "planar noise, wrong radius": Case(wrong(broken.planar_radius), (ORIGIN, CORNER), "∞"),
}


def rows(reports: Any) -> np.ndarray:
    array = np.asarray(reports)
    if array.dtype == np.uint8 and array.ndim == 2:
        array = np.unpackbits(array, axis=1, bitorder="little")
    return array.reshape(len(array), -1).astype(np.float64)


def proved(first: np.ndarray, second: np.ndarray) -> float:
    """Return the lower bound on ε of an event, from masks of fresh reports."""
    p = binomial_below(int(first.sum()), len(first), SIDE)
    q = binomial_above(int(second.sum()), len(second), SIDE)
    return max(0.0, math.log(p / q)) if p > 0 else 0.0


Halves = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def histogram(learn: Halves) -> float:
    a, b, fresh_a, fresh_b = learn
    best, event = -math.inf, (0, 0.0, 0.0)
    for column in range(a.shape[1]):
        both = np.concatenate([a[:, column], b[:, column]])
        edges = np.linspace(both.min(), both.max() + 1e-9, 65)
        ones, twos = (np.histogram(side[:, column], edges)[0] for side in (a, b))
        p, q = (ones + 1e-9) / len(a), (twos + 1) / len(b)
        ratio = np.where(ones >= 0.01 * len(a), p / q, 0.0)
        at = int(np.argmax(ratio))
        if ratio[at] > best:
            best, event = float(ratio[at]), (column, float(edges[at]), float(edges[at + 1]))
    column, low, high = event
    hits = [(side[:, column] >= low) & (side[:, column] < high) for side in (fresh_a, fresh_b)]
    return proved(hits[0], hits[1])


def fitted(a: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the score of a logistic regression on numbers and squares, by gradient steps of Newton's."""
    both = np.concatenate([a, b])
    mean, spread = both.mean(axis=0), both.std(axis=0) + 1e-12

    def features(reports: np.ndarray) -> np.ndarray:
        scaled = (reports - mean) / spread
        return np.concatenate([scaled, scaled**2, np.ones((len(scaled), 1))], axis=1)

    x, y = features(both), np.repeat([1.0, 0.0], [len(a), len(b)])
    weights = np.zeros(x.shape[1])
    for _ in range(12):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-3 * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, x.T @ (y - chance) - 1e-3 * weights)
    return lambda reports: features(reports) @ weights


def classifier(learn: Halves) -> float:
    a, b, fresh_a, fresh_b = learn
    score = fitted(a, b)
    limit = float(np.quantile(score(b), 0.99))  # DP-Sniper's c = 0.01
    return proved(score(fresh_a) >= limit, score(fresh_b) >= limit)


def hockey_stick(learn: Halves) -> float:
    a, b, fresh_a, fresh_b = learn
    score = fitted(a, b)
    ranked, left, right = score(np.concatenate([a, b])), score(a), score(b)
    limits = np.quantile(ranked, np.linspace(0.02, 0.98, 49))
    slack = math.sqrt(math.log(1 / SIDE) / 2)

    def refuted(epsilon: float) -> bool:
        gains = [float((left >= t).mean() - math.exp(epsilon) * (right >= t).mean()) for t in limits]
        t = limits[int(np.argmax(gains))]
        found = (score(fresh_a) >= t).mean() - math.exp(epsilon) * (score(fresh_b) >= t).mean()
        return float(found) > slack / math.sqrt(len(fresh_a)) + math.exp(epsilon) * slack / math.sqrt(
            len(fresh_b)
        )

    low, high = 0.0, 12.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def audit(case: Case, seed: int, samples: int = SAMPLES) -> float:
    neighbours = dt.audits.Neighbours([case.pair])
    calls = Calls(case.make(seed), neighbours)
    context = Context(as_numbers(neighbours.inputs), case.scale)
    claim = Claim(math.inf, 0.0, 1 - ALPHA)
    deadline = time.monotonic() + 600
    found = rounds(calls, claim, context, samples, np.random.default_rng(seed), deadline)
    return max((evidence.epsilon for evidence in found), default=0.0)


def halves(case: Case, seed: int) -> Halves:
    neighbours = dt.audits.Neighbours([case.pair])
    randomise = case.make(seed)
    a, b = (rows(randomise(neighbours.pack(np.full(SAMPLES // 2, place)))) for place in (0, 1))
    half = SAMPLES // 4
    return a[:half], b[:half], a[half:], b[half:]


RIVALS = {"histogram": histogram, "classifier": classifier, "hockey stick": hockey_stick}


def main() -> None:
    print("# The power of the audit, as measured\n")
    print(
        f"{SAMPLES} reports in all, {RUNS} runs (seeds 0 … {RUNS - 1}), confidence 99 %: means of the lower"
    )
    print(
        "bounds on ε. The rivals are implementations of their ideas in `tools/benchmarks/audit_power.py`.\n"
    )
    table = []
    for name, case in CASES.items():
        found: dict[str, list[float]] = {"dt.audit": [audit(case, seed) for seed in range(RUNS)]}
        for rival, bound in RIVALS.items():
            drawn = (halves(case, seed) for seed in range(RUNS))
            found[rival] = [max(bound(one), bound(_turned(one))) for one in drawn]
        table.append((name, case.truth, *(f"{np.mean(bounds):.2f}" for bounds in found.values())))
    print(as_markdown(["case", "true ε", "dt.audit", *RIVALS], table))


def _turned(drawn: Halves) -> Halves:
    return drawn[1], drawn[0], drawn[3], drawn[2]


def growth() -> list[tuple[float, float]]:
    """Return, for k-RR that spends 1 + gap where 1 is claimed, how many samples refute it: medians."""
    found = []
    for gap in (2.0, 1.0, 0.5, 0.25, 0.125, 0.0625):
        krr = dt.KRR(EIGHT, epsilon=1 + gap)
        found.append((gap, float(np.median([_needed(krr, seed) for seed in range(9)]))))
    return found


def _needed(krr: Any, seed: int) -> int:
    source, samples = dt.Seeded(seed), 1000
    while samples < 30_000_000:
        finding = dt.audit_function(
            ours(krr, source), EIGHT, epsilon=1, samples=samples, timing=False, seed=seed, seconds=600
        )
        if not finding.ok:
            break
        samples = int(samples * 1.5)
    return samples


def picture() -> None:
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    from dither.foundation.plotting import BLUE, dress_axes

    rcParams["svg.hashsalt"] = "dither"
    found = growth()
    gaps, samples = np.array([row[0] for row in found]), np.array([row[1] for row in found])
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax = figure.add_subplot()
    ax.loglog(gaps, samples, "o-", color=BLUE, label="measured: median of 9 runs, steps of 1.5")
    ax.loglog(gaps, samples[-1] * (gaps[-1] / gaps) ** 2, "k--", linewidth=1, label="1/gap²")
    dress_axes(
        ax,
        title="Reports until dt.audit refutes a false claim of ε = 1",
        x="gap: true ε minus claimed ε",
        y="number of reports",
    )
    ax.legend(frameon=False, fontsize=9)
    docs = Path(__file__).parents[2] / "docs"
    sys.path.insert(0, str(docs))
    from narrow import save_with_portrait  # type: ignore[import-not-found]

    save_with_portrait(figure, docs / "pictures" / "audit-samples.svg", metadata={"Date": None})
    print(as_markdown(["spent beyond", "reports"], [(f"{g:g}", f"{n:.0f}") for g, n in found]))


if __name__ == "__main__":
    picture() if sys.argv[1:] == ["picture"] else main()
