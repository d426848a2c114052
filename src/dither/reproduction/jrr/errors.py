"""Paper 002, chapter 4: the errors of the counts of JRR, on the data sets and on generated data."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dither.arrays import Floats
from dither.domains import Categories
from dither.mechanisms.joint.accounting import INFORMED, PARTNER_REVEALED
from dither.mechanisms.joint.jrr import JRR
from dither.reproduction.figure import Setting
from dither.reproduction.version import CODED, PUBLISHED, RIGHT

Rows = list[dict[str, Any]]

YES_NO: Final = Categories(2)
DELTA: Final = 1e-6

# People, and how many of them say yes: the results depend on the data sets through these alone [Table 4.3].
DATASETS: Final = {
    "Kosarak": (20_000, 659),
    "Amazon": (10_000, 762),
    "E-commerce": (23_486, 19_314),
    "Census": (10_000, 9_528),
}
_COLLUDERS: Final = 5  # in all of the authors' scripts for Figures 4.3 to 4.6
_FINE: Final = 1e-4  # the step of their search for Figures 4.3 and 4.4
_COARSE: Final = 3e-4  # and for Figures 4.5 and 4.6


# --- mechanisms ---------------------------------------------------------------------------------------------


def plain(epsilon: float, n: int) -> JRR:
    """Return plain randomized response, whose coins are independent."""
    return JRR.tuned(YES_NO, epsilon=epsilon, mode=PARTNER_REVEALED, n=n)


def coded(epsilon: float, n: int, step: float) -> JRR:
    """Return the coins of the authors' scripts, which are not those of the printed heuristic.

    p is one step below that of plain response, and ρ the first of 1 − 1/p, 1 − 1/p + step, … for which
    Theorem 3 states at most ε with 5 colluders: p(1 − ρm/(n−1)) ≤ e^ε/(1+e^ε).
    """
    top = 1.0 / (1.0 + math.exp(-epsilon))
    p = top - step
    end = 1.0 - 1.0 / p
    least = (1.0 - top / p) * (n - 1) / _COLLUDERS
    return JRR(YES_NO, p=p, rho=min(end + step * max(math.ceil((least - end) / step), 0), 0.0), n=n)


def spent(jrr: JRR) -> float:
    """Return the ε at δ = 10⁻⁶ against an adversary who knows all other answers, but not the pairs."""
    return jrr.accounting(INFORMED, delta=DELTA).epsilon


def rivals(epsilon: float, n: int, step: float) -> list[tuple[str, str, JRR]]:
    """Return the mechanisms that are compared at a nominal ε: version, name and coins."""
    heuristic = JRR.heuristic(YES_NO, epsilon=epsilon, n=n)
    kinds = [
        (RIGHT, "RR", plain(epsilon, n)),
        (PUBLISHED, "JRR", heuristic),
        (CODED, "JRR", coded(epsilon, n, step)),
    ]
    real = spent(heuristic)
    if math.isfinite(real):
        kinds.append((RIGHT, "RR at what JRR spends", plain(real, n)))
    return kinds


def estimates(jrr: JRR, holders: int, runs: int, seed: int) -> Floats:
    """Draw estimates of the number of yes answers among an even number of people, with the exact law.

    Two people with the same answer have one law of reports, two with different answers another. So it is
    enough to draw the number of pairs of each kind, and their coins.
    """
    draw, half = np.random.default_rng(seed), jrr.n // 2
    first = draw.hypergeometric(holders, jrr.n - holders, half, runs)  # holders who are first in their pair
    both = draw.hypergeometric(first, half - first, holders - first)
    table = jrr.pairs
    chances = np.array([table.both, table.one, table.one, table.neither], dtype=object) / table.total
    weights = chances.astype(np.float64)
    yes = draw.multinomial(both, weights) @ np.array([2, 1, 1, 0])
    yes += draw.multinomial(half - holders + both, weights) @ np.array([0, 1, 1, 2])
    yes += draw.multinomial(holders - 2 * both, weights) @ np.array([1, 2, 0, 1])
    p = float(jrr.p)
    return np.asarray((yes - jrr.n * (1.0 - p)) / (2.0 * p - 1.0))


def relative(guesses: Floats, n: int, holders: int) -> Floats:
    """Return the average relative error of the two counts, eq. (4.2); a true count of 0 is left out."""
    counts = [count for count in (holders, n - holders) if count]
    return np.asarray(np.mean([np.abs(guesses - holders) / count for count in counts], axis=0))


def _runs(setting: Setting) -> int:
    return setting.runs(20_000, 4_000)  # the thesis has 1 000


# --- experiments --------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _real(name: str, epsilon: float, runs: int, seed: int) -> list[tuple[str, str, JRR, Floats]]:
    n, holders = DATASETS[name]
    return [
        (version, kind, jrr, estimates(jrr, holders, runs, seed))
        for version, kind, jrr in [*rivals(epsilon, n, _FINE), *_informed(epsilon, n, holders)]
    ]


def _informed(epsilon: float, n: int, holders: int) -> list[tuple[str, str, JRR]]:
    tuned = JRR.tuned(YES_NO, epsilon=epsilon, mode=INFORMED, delta=DELTA, n=n, n1=holders)
    return [(RIGHT, "JRR, best if informed", tuned)]


def figure_4_3(setting: Setting) -> Rows:
    """Return the mean squared errors on the four data sets, and the ε that is spent."""
    rows: Rows = []
    for name, (n, holders) in DATASETS.items():
        for epsilon in (0.01, 0.1, 1.0):
            base = plain(epsilon, n).count_variance(holders)
            for version, kind, jrr, guesses in _real(name, epsilon, _runs(setting), setting.seed):
                row = {"version": version, "panel": name, "ε": epsilon, "mechanism": kind}
                variance = jrr.count_variance(holders)
                found = {"MSE": float(np.mean((guesses - holders) ** 2)), "variance": variance}
                rows.append({**row, **found, "ratio": variance / base, "spends": spent(jrr)})
    return rows


def figure_4_4(setting: Setting) -> Rows:
    """Return the percentiles of the average relative error on the four data sets."""
    rows: Rows = []
    for epsilon in (0.01, 0.1, 1.0):
        for name, (n, holders) in DATASETS.items():
            for version, kind, _, guesses in _real(name, epsilon, _runs(setting), setting.seed):
                errors = np.quantile(relative(guesses, n, holders), np.arange(0.05, 1.0, 0.05))
                row = {"version": version, "panel": f"{name}, ε = {epsilon:g}", "mechanism": kind}
                rows += [
                    {**row, "percentile": 5 * (place + 1), "ARE": error} for place, error in enumerate(errors)
                ]
    printed = {"version": PUBLISHED, "claim": "Kosarak, ε = 0.1, percentile 80"}
    return [*rows, {**printed, "JRR": 0.7, "RR": 1.45}]


_BUDGETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_SIZES: Final = (10_000, 40_000, 80_000)


def figure_4_5(setting: Setting) -> Rows:
    """Return the mean squared errors against ε on generated data."""
    rows: Rows = []
    for n in _SIZES:
        for epsilon in _BUDGETS:
            kinds = [(*kind, spent(kind[2])) for kind in rivals(epsilon, n, _COARSE)]
            for share in (0.01, 0.1, 0.5, 0.9, 1.0):
                holders = round(share * n)
                base = kinds[0][2].count_variance(holders)
                for version, kind, jrr, real in kinds:
                    guesses = estimates(jrr, holders, _runs(setting), setting.seed)
                    row = {"version": version, "panel": f"n = {n}, n1/n = {share:g}", "ε": epsilon}
                    variance = jrr.count_variance(holders)
                    found = {"MSE": float(np.mean((guesses - holders) ** 2)), "variance": variance}
                    rows.append({**row, "mechanism": kind, **found, "ratio": variance / base, "spends": real})
    return rows


def figure_4_6(setting: Setting) -> Rows:
    """Return the average relative errors against ε on generated data, and JRR's as a share of RR's."""
    rows: Rows = []
    for n in _SIZES:
        for share in (0.01, 0.1):
            holders = round(share * n)
            for epsilon in _BUDGETS:
                base = math.nan
                for version, kind, jrr in rivals(epsilon, n, _COARSE):
                    guesses = estimates(jrr, holders, _runs(setting), setting.seed)
                    error = float(np.mean(relative(guesses, n, holders)))
                    base = error if kind == "RR" else base
                    row = {"version": version, "panel": f"n = {n}, n1/n = {share:g}", "ε": epsilon}
                    rows.append({**row, "mechanism": kind, "ARE": error, "ratio": error / base})
    for n, claimed in zip(_SIZES, (0.211, 0.203, 0.202), strict=True):
        rows.append({"version": PUBLISHED, "claim": f"mean ratio, n = {n}, n1/n = 0.01", "ratio": claimed})
    return rows
