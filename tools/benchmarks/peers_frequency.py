"""KRR, OUE and OLH beside pure-ldp and multi-freq-ldpy: is the estimate right, and how long does it take?

`python -m tools.benchmarks.peers_frequency > tools/benchmarks/peers.md` writes the table. The peers are
needed for nothing else, and best kept in an environment of their own: `pip install --group peers -e .`.
"""

from __future__ import annotations

import importlib
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

import dither as dt
from dither.foundation.tables import as_markdown

K, EPSILON = 64, 1.0
PEOPLE, RUNS = 10_000, 60
TIMED = 1_000_000  # people for our own times; peers loop over people and get fewer
TRUTH = 1.0 / np.arange(1, K + 1) ** 1.5
TRUTH /= TRUTH.sum()

Randomise = Callable[[np.ndarray], object]
Estimate = Callable[[object, int], np.ndarray]


@dataclass(frozen=True)
class Contestant:
    """One protocol of one library: from answers to reports, and from reports to frequencies."""

    library: str
    protocol: str
    randomise: Randomise
    estimate: Estimate
    timed: int


def ours() -> list[Contestant]:
    kinds: dict[str, Callable[..., Any]] = {"KRR": dt.KRR, "OUE": dt.OUE, "OLH": dt.OLH}
    made = {name: kind(dt.Categories(K), epsilon=EPSILON) for name, kind in kinds.items()}
    steps = {
        "dither": lambda reports, n: dt.frequencies(reports).value,
        "dither (projected)": lambda reports, n: dt.frequencies(reports).projected().value,
    }
    return [
        Contestant(library, name, one.perturb, estimate, TIMED)
        for name, one in made.items()
        for library, estimate in steps.items()
    ]


def pure_ldp() -> list[Contestant]:
    oracles = importlib.import_module("pure_ldp.frequency_oracles")
    same = lambda x: x  # noqa: E731  (their default counts from 1)
    pairs = {
        "KRR": (oracles.DEClient, oracles.DEServer, {}),
        "OUE": (oracles.UEClient, oracles.UEServer, {"use_oue": True}),
        "OLH": (oracles.LHClient, oracles.LHServer, {"use_olh": True}),
    }

    def contestant(name: str) -> Contestant:
        client_kind, server_kind, more = pairs[name]
        client = client_kind(epsilon=EPSILON, d=K, index_mapper=same, **more)

        def estimate(reports: object, n: int) -> np.ndarray:
            server = server_kind(epsilon=EPSILON, d=K, index_mapper=same, **more)
            for report in reports:  # type: ignore[attr-defined]
                server.aggregate(report)
            estimates = [server.estimate(x, suppress_warnings=True) for x in range(K)]
            return np.array(estimates) / n

        def randomise(answers: np.ndarray) -> object:
            return [client.privatise(int(x)) for x in answers]

        return Contestant("pure-ldp", name, randomise, estimate, 20_000)

    return [contestant(name) for name in pairs]


def multi_freq_ldpy() -> list[Contestant]:
    room = "multi_freq_ldpy.pure_frequency_oracles."
    response, unary, hashing = (importlib.import_module(room + name) for name in ("GRR", "UE", "LH"))
    sides = {
        "KRR": (
            lambda x: response.GRR_Client(x, K, EPSILON),
            lambda r: response.GRR_Aggregator_MI(r, K, EPSILON),
        ),
        "OUE": (lambda x: unary.UE_Client(x, K, EPSILON), lambda r: unary.UE_Aggregator_MI(r, EPSILON)),
        "OLH": (
            lambda x: hashing.LH_Client(x, K, EPSILON),
            lambda r: hashing.LH_Aggregator_MI(r, K, EPSILON),
        ),
    }

    def contestant(name: str) -> Contestant:
        client, server = sides[name]
        return Contestant(
            "multi-freq-ldpy",
            name,
            lambda answers: [client(int(x)) for x in answers],
            lambda reports, n: server(reports),
            20_000,
        )

    return [contestant(name) for name in sides]


def accuracy(one: Contestant) -> tuple[float, float, float]:
    """Give the largest bias in its own standard errors, the largest bias, and the mean square ÷ theory."""
    rng = np.random.default_rng(1)
    answers = rng.permutation(np.repeat(np.arange(K), rng.multinomial(PEOPLE, TRUTH)))
    truth = np.bincount(answers, minlength=K) / PEOPLE
    errors = np.array([one.estimate(one.randomise(answers), PEOPLE) - truth for _ in range(RUNS)])
    bias, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(RUNS)
    kinds: dict[str, Callable[..., Any]] = {"KRR": dt.KRR, "OUE": dt.OUE, "OLH": dt.OLH}
    protocol = kinds[one.protocol](dt.Categories(K), epsilon=EPSILON)
    theory = np.mean([protocol.variance(float(f)) for f in truth]) / PEOPLE
    return float(np.abs(bias / spread).max()), float(np.abs(bias).max()), float((errors**2).mean() / theory)


def speed(one: Contestant) -> tuple[float, float]:
    """Give nanoseconds a person to randomise and to estimate."""
    answers = np.random.default_rng(2).choice(K, size=one.timed, p=TRUTH)
    one.estimate(one.randomise(answers[:200]), 200)  # compile and warm up
    best = [float("inf"), float("inf")]
    for _ in range(3):
        begin = time.process_time()
        reports = one.randomise(answers)
        middle = time.process_time()
        one.estimate(reports, one.timed)
        best = [min(best[0], middle - begin), min(best[1], time.process_time() - middle)]
    return best[0] / one.timed * 1e9, best[1] / one.timed * 1e9


def main() -> None:
    contestants, versions = ours(), [f"numpy {np.__version__}"]
    for library, name in ((pure_ldp, "pure-ldp"), (multi_freq_ldpy, "multi-freq-ldpy")):
        try:
            contestants += library()
            versions.append(f"{name} {version(name)}")
        except ImportError:
            versions.append(f"{name} is not installed and left out")
    contestants.sort(key=lambda one: one.protocol)
    print("# Frequencies beside our peers, as measured\n")
    print(f"Python {platform.python_version()}, one thread; {', '.join(versions)}.\n")
    print(f"k = {K}, ε = {EPSILON:g}. Accuracy over {RUNS} runs of {PEOPLE} people, against those people.")
    print("A bias of more than 4 standard errors is a bias. Times are nanoseconds a person.\n")
    columns = ("protocol", "library", "largest bias", "in standard errors", "mean square ÷ theory")
    rows = []
    for one in contestants:
        z, bias, ratio = accuracy(one)
        times = (f"{time:,.0f}".replace(",", " ") for time in speed(one))
        rows.append((one.protocol, one.library, f"{bias:.4f}", f"{z:.1f}", f"{ratio:.2f}", *times))
    print(as_markdown([*columns, "to randomise", "to estimate"], rows))


if __name__ == "__main__":
    main()
