"""Joint randomized response, chapter 4 of the dissertation: its errors, its claimed and actual privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories
from dither.foundation.arrays import Floats
from dither.foundation.numerics.roots import largest_integer
from dither.mechanisms.joint.joint import JRR
from dither_papers.drawing import CODED, PUBLISHED, RIGHT, Lines, Panels, Picture, Rows
from dither_papers.figure import Figure, Setting, expected

YES_NO: Final = Categories(2)
DELTA: Final = 1e-6

# People, and how many of them say yes: the results depend on the data sets through these alone [Table 4.3].
DATASETS: Final = {
    "Kosarak": (20_000, 659),
    "Amazon": (10_000, 762),
    "E-commerce": (23_486, 19_314),
    "Census": (10_000, 9_528),
}
_COLLUDERS: Final = 5  # colluders in all of the authors' scripts for Figures 4.3 to 4.6
_FINE: Final = 1e-4  # the step of their search for Figures 4.3 and 4.4
_COARSE: Final = 3e-4  # and for Figures 4.5 and 4.6


# --- mechanisms ---------------------------------------------------------------------------------------------


def plain(epsilon: float, n: int) -> JRR:
    """Return plain randomized response, whose coins are independent."""
    return JRR.tuned(YES_NO, epsilon=epsilon, mode="partner revealed", n=n)


def coded(epsilon: float, n: int, step: float) -> JRR:
    """Return the coins of the authors' scripts; the printed heuristic has others.

    p is one step below plain response's, and ρ the first of 1 − 1/p, 1 − 1/p + step, … for which
    Theorem 3 states at most ε with 5 colluders: p(1 − ρm/(n−1)) ≤ e^ε/(1+e^ε).
    """
    top = 1.0 / (1.0 + math.exp(-epsilon))
    p = top - step
    end = 1.0 - 1.0 / p
    least = (1.0 - top / p) * (n - 1) / _COLLUDERS
    return JRR(YES_NO, p=p, rho=min(end + step * max(math.ceil((least - end) / step), 0), 0.0), n=n)


def spent(jrr: JRR) -> float:
    """Return the ε at δ = 10⁻⁶ against an adversary who knows all other answers, but not the pairs."""
    return jrr.accounting("informed", delta=DELTA).epsilon


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
    """Draw estimates of the number of yes answers among an even number of people, exactly distributed.

    The distribution of a pair's reports depends only on whether the two answers are the same. So it is enough
    to draw the number of pairs of each kind, and their coins.
    """
    draw, half = np.random.default_rng(seed), jrr.n // 2
    first = draw.hypergeometric(holders, jrr.n - holders, half, runs)  # holders first in their pair
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
    tuned = JRR.tuned(YES_NO, epsilon=epsilon, mode="informed", delta=DELTA, n=n, n1=holders)
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
                    {**row, "percentile": 5 * (index + 1), "ARE": error} for index, error in enumerate(errors)
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


# --- tables -------------------------------------------------------------------------------------------------


def table_4_1(setting: Setting) -> Rows:
    """Return the two coins of Example 3, and the variances of Examples 2 and 3."""
    jrr = JRR(YES_NO, p=Fraction(4, 5), rho=Fraction(-1, 4), n=2)
    alone = JRR(YES_NO, p=Fraction(4, 5), rho=Fraction(0), n=2)
    rows = _cells(jrr)
    rows.append({"version": RIGHT, "claim": "variance, Example 2", "value": alone.count_variance(2)})
    rows.append({"version": RIGHT, "claim": "variance, Example 3", "value": jrr.count_variance(2)})
    return rows


def table_4_2(setting: Setting) -> Rows:
    """Return the joint probabilities for several p and ρ: p² + ρpq, (1 − ρ)pq, q² + ρpq."""
    return [
        row
        for p in (Fraction(3, 5), Fraction(4, 5))
        for rho in (1 - 1 / p, Fraction(0), Fraction(1, 2))
        for row in _cells(JRR(YES_NO, p=p, rho=rho, n=2))
    ]


def _cells(jrr: JRR) -> Rows:
    table = jrr.pairs
    weights = {(1, 1): table.both, (1, 0): table.one, (0, 1): table.one, (0, 0): table.neither}
    row = {"version": RIGHT, "p": float(jrr.p), "ρ": float(jrr.rho)}
    return [
        {**row, "T1": first, "T2": second, "probability": weight / table.total}
        for (first, second), weight in weights.items()
    ]


def table_4_3(setting: Setting) -> Rows:
    """Return the data sets by their counts."""
    return [
        {"version": RIGHT, "data": name, "n": n, "n1": holders, "share": holders / n}
        for name, (n, holders) in DATASETS.items()
    ]


# --- parameters ---------------------------------------------------------------------------------------------


def figure_4_1(setting: Setting) -> Rows:
    """Return the variance over p and ρ, and the allowed pairs: by Theorem 3, and with known partners."""
    n, holders, size = 10_000, 100, setting.runs(61, 31)
    rows: Rows = []
    for p in np.linspace(0.55, 0.85, size):
        for share in np.linspace(0.0, 1.0, size):
            jrr = JRR(YES_NO, p=float(p), rho=share * (1.0 - 1.0 / float(p)), n=n)
            row = {"p": p, "ρ": float(jrr.rho), "variance": jrr.count_variance(holders)}
            for colluders in (0, 500):
                allowed = jrr.theorem_3(colluders) <= 1.0
                rows.append(
                    {"version": PUBLISHED, "panel": f"m = {colluders}", **row, "allowed": int(allowed)}
                )
            allowed = jrr.guarantee.epsilon <= 1.0
            rows.append({"version": RIGHT, "panel": "partner known", **row, "allowed": int(allowed)})
    for version, name, jrr in (
        (RIGHT, "RR", plain(1.0, n)),
        (PUBLISHED, "best, m = 0", JRR.heuristic(YES_NO, epsilon=1.0, n=n)),
        (PUBLISHED, "best, m = 500", _best(n, holders, 500)),
    ):
        rows.append({"version": version, "claim": name, "least": jrr.count_variance(holders)})
    return rows


def _best(n: int, holders: float, colluders: int) -> JRR:
    return JRR.tuned(YES_NO, epsilon=1.0, mode="theorem 3", n=n, colluders=colluders, n1=holders)


def figure_4_2(setting: Setting) -> Rows:
    """Return the variances of RR, and of JRR by Theorem 3, against the number of colluders, ε = 1."""
    n, rows = 10_000, []
    flat = plain(1.0, n)
    for share in (0.01, 0.1, 0.9):
        holders = share * n
        for colluders in range(0, 2_501, setting.runs(50, 250)):
            kinds = {
                "RR": flat,
                "JRR, optimal": _best(n, holders, colluders),
                "JRR, heuristic": JRR.heuristic(YES_NO, epsilon=1.0, n=n, colluders=colluders),
            }
            row = {"panel": f"n1/n = {share:g}", "m/n": colluders / n}
            for name, jrr in kinds.items():
                version = RIGHT if name == "RR" else PUBLISHED
                rows.append(
                    {"version": version, **row, "mechanism": name, "variance": jrr.count_variance(holders)}
                )
        last = _crossing(n, holders, flat.count_variance(holders))
        rows.append(
            {"version": RIGHT, "claim": "heuristic is best up to", "n1/n": share, "colluders": last / n}
        )
    rows.append({"version": PUBLISHED, "claim": "heuristic is best up to", "n1/n": 0.1, "colluders": 0.17})
    rows.append({"version": PUBLISHED, "claim": "heuristic is best up to", "n1/n": 0.9, "colluders": 0.1})
    return rows


def _crossing(n: int, holders: float, bar: float) -> int:
    """Return the largest number of colluders with which the heuristic's variance is below plain RR's."""

    def better(colluders: int) -> bool:
        jrr = JRR.heuristic(YES_NO, epsilon=1.0, n=n, colluders=colluders)
        return jrr.count_variance(holders) < bar

    return largest_integer(better, 0, n // 4)


def theorem_3(setting: Setting) -> Rows:
    """Return what Theorem 3 states for the heuristic among 200 people, and the actual privacy loss."""
    rows: Rows = []
    for epsilon in (0.01, 0.1, 1.0):
        jrr = JRR.heuristic(YES_NO, epsilon=epsilon, n=200)
        for share in (0.1, 0.25, 0.4, 0.5):
            colluders = round(200 * share)
            row = {"panel": f"asked for {epsilon:g}", "m/n": share}
            rows.append({"version": PUBLISHED, **row, "who": "Theorem 3", "ε": jrr.theorem_3(colluders)})
            hidden = jrr.accounting("hidden", colluders=colluders).epsilon
            rows.append({"version": RIGHT, **row, "who": "pairs hidden", "ε": hidden})
            rows.append({"version": RIGHT, **row, "who": "partner known", "ε": jrr.guarantee.epsilon})
    return rows


def figure_b_1(setting: Setting) -> Rows:
    """Return the variance against n₁/n for the heuristic at ε = 1 (p = 0.73), relative to plain response."""
    rows: Rows = []
    p = Fraction(73, 100)
    for n in (20, 200, 2_000, 20_000):
        kinds = {
            name: JRR(YES_NO, p=p, rho=rho, n=n) for name, rho in (("RR", Fraction(0)), ("JRR", 1 - 1 / p))
        }
        for share in np.linspace(0.0, 1.0, 21):
            row = {"version": RIGHT, "panel": f"n = {n}", "n1/n": share}
            for name, jrr in kinds.items():
                variance = jrr.count_variance(share * n)
                ratio = variance / kinds["RR"].count_variance(share * n)
                rows.append({**row, "mechanism": name, "variance": variance, "ratio": ratio})
    return rows


def _regions(panels: Panels, rows: Rows) -> None:
    """Draw the variance over p and ρ, pale where the coins are not allowed."""
    points = [row for row in rows if "allowed" in row]
    names = list(dict.fromkeys((row["panel"], row["version"]) for row in points))
    for axes, (panel, version) in zip(panels.in_order(len(names)), names, strict=True):
        for allowed, strength in ((0, 0.12), (1, 1.0)):
            inner = [
                row
                for row in points
                if (row["panel"], row["version"], row["allowed"]) == (panel, version, allowed)
            ]
            at = [row["p"] for row in inner], [row["ρ"] for row in inner]
            shown = axes.scatter(
                *at,
                c=[math.log10(row["variance"]) for row in inner],
                s=14,
                marker="s",
                alpha=strength,
                cmap="cividis",
                vmin=3,
                vmax=5.7,
                linewidths=0,
            )
        truth = math.e / (1.0 + math.e)  # truth of plain response at ε = 1
        axes.plot([truth], [0.0], "X", color="#d55e00", markersize=8, clip_on=False, label="RR at ε = 1")
        axes.set_title(f"{panel}, {version}", fontsize=9)
        axes.set_xlabel("probability of the truth p", fontsize=8)
        axes.set_ylabel("correlation ρ", fontsize=8)
    panels.canvas.colorbar(shown, ax=panels.axes, label="log₁₀ of the variance", shrink=0.8)


_NOTE_LABEL: Final = (
    "The ε of JRR is nominal: at δ = 10⁻⁶ it spends the ε in the column `spends`, and if a partner may be "
    "known, no bound exists."
)
_NOTE_COUNTS: Final = (
    "Results depend on the data through n and n₁ only, so these are all that is taken from them."
)
_NOTE_CODED: Final = (
    "The scripts count on 5 colluders and search on a grid; the printed heuristic is not what ran."
)


def _figure(name: str, title: str, make: Callable[[Setting], Rows], draw: Any = None, *notes: str) -> Figure:
    return Figure("jrr", name, title, make, draw, expected("jrr", name), notes=notes)


_MSE: Final = Lines("ε", "MSE", "mechanism", log="xy")

FIGURES: Final = (
    _figure("table 4.1", "The coins of Example 3", table_4_1),
    _figure("table 4.2", "The coins of JRR", table_4_2),
    _figure("table 4.3", "The data sets", table_4_3, None, _NOTE_COUNTS),
    _figure(
        "figure 4.1",
        "Variance and what is allowed, ε = 1",
        figure_4_1,
        Picture(
            _regions,
            "Three squares of p against ρ, coloured by the logarithm of the variance and pale where the "
            "coins are not allowed. By Theorem 3 negative ρ is allowed up to the lower edge; if a partner "
            "may be known, little more than ρ = 0 is.",
        ),
        "If a partner may be known, plain response is the best of the allowed coins.",
    ),
    _figure(
        "figure 4.2",
        "Variance against the colluders, ε = 1",
        figure_4_2,
        Lines("m/n", "variance", "mechanism"),
        "The variance is the same at n₁ and n − n₁, so 17 % at 0.1 and 10 % at 0.9, as printed, cannot be.",
    ),
    _figure(
        "theorem 3",
        "What is stated and what is lost, 200 people",
        theorem_3,
        Lines("m/n", "ε", "who", labels={"ε": "ε, stated or lost"}),
        "Colluders who all lied are unlikely to be each other's partners; Theorem 3 leaves that out.",
    ),
    _figure(
        "figure 4.3",
        "Squared error on four data sets",
        figure_4_3,
        _MSE,
        _NOTE_LABEL,
        _NOTE_CODED,
        _NOTE_COUNTS,
    ),
    _figure(
        "figure 4.4",
        "Percentiles of the relative error",
        figure_4_4,
        Lines("ARE", "percentile", "mechanism", log="x"),
        _NOTE_LABEL,
        "The 80th percentile printed for JRR, 0.7, is 0.82 in the authors' own results.",
    ),
    _figure("figure 4.5", "Squared error against ε", figure_4_5, _MSE, _NOTE_LABEL, _NOTE_CODED),
    _figure(
        "figure 4.6",
        "Relative error against ε",
        figure_4_6,
        Lines("ε", "ARE", "mechanism", log="xy"),
        _NOTE_LABEL,
        "The printed mean ratios, 21.1, 20.3 and 20.2 %, are not in the authors' own results either.",
        "At ε = n₁/n = 0.01 the authors' results have ratios of 0.241, 0.212 and 0.212; only the first comes "
        "out. At 40 000 and 80 000 people the step of their search is not known; 0.0003 is assumed.",
    ),
    _figure(
        "figure B.1",
        "Variance against n₁/n, ε = 1",
        figure_b_1,
        Lines("n1/n", "ratio", "mechanism", labels={"ratio": "variance, relative to RR"}),
    ),
    Figure("jrr", "table B.1", "Notation of the proofs", why_not="a list without numbers"),
)
