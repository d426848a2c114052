"""What peers' packages claim, and what the black box proves about them: one table, with versions and seeds.

`python -m tools.benchmarks.audit_peers > tools/benchmarks/audit_peers.md` writes it. The peers are best kept
in an environment of their own: `pip install --group peers -e .`. One that is not installed is left out, and
said.

Every mechanism is asked for ε = 1 between neighbouring inputs, by its own documented constructor. "Proved" is
a lower bound with confidence 99 %: above the claim it refutes it, below it says nothing against it.
"""

from __future__ import annotations

import importlib
import platform
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import dither as dt
from dither.errors import DitherError
from dither.foundation.tables import as_markdown

SEED, SAMPLES, K = 1, 50_000, 8
UNIT, EIGHT = dt.Interval(0, 1), dt.Categories(K)


@dataclass(frozen=True)
class Peer:
    """One mechanism of one package: a function of one value, and what it claims."""

    package: str
    name: str
    randomise: Callable[[Any], Any]
    inputs: Any
    epsilon: float = 1.0
    delta: float = 0.0


def diffprivlib() -> Iterator[Peer]:
    kinds = importlib.import_module("diffprivlib.mechanisms")
    numbers: dict[str, dict[str, Any]] = {
        "Laplace": {"sensitivity": 1},
        "LaplaceTruncated": {"sensitivity": 1, "lower": 0, "upper": 1},
        "LaplaceFolded": {"sensitivity": 1, "lower": 0, "upper": 1},
        "LaplaceBoundedDomain": {"sensitivity": 1, "lower": 0, "upper": 1},
        "Staircase": {"sensitivity": 1},
        "Snapping": {"sensitivity": 1, "lower": 0, "upper": 1},
    }
    for name, more in numbers.items():
        made = getattr(kinds, name)(epsilon=1.0, random_state=SEED, **more)
        yield Peer("diffprivlib", name, lambda value, made=made: made.randomise(float(value)), UNIT)
    analytic = kinds.GaussianAnalytic(epsilon=1.0, delta=0.01, sensitivity=1, random_state=SEED)
    yield Peer(
        "diffprivlib", "GaussianAnalytic", lambda value: analytic.randomise(float(value)), UNIT, 1.0, 0.01
    )
    geometric = kinds.Geometric(epsilon=1.0, sensitivity=1, random_state=SEED)
    yield Peer("diffprivlib", "Geometric", lambda value: geometric.randomise(int(value)), [0, 1])
    binary = kinds.Binary(epsilon=1.0, value0="no", value1="yes", random_state=SEED)
    yield Peer("diffprivlib", "Binary", binary.randomise, ["no", "yes"])


def opendp() -> Iterator[Peer]:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    laplace = dp.m.make_laplace(*space, scale=1.0)
    yield Peer("opendp", "make_laplace", lambda value: laplace(float(value)), UNIT)
    whole = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    yield Peer("opendp", "make_laplace, integers", lambda value: whole(int(value)), [0, 1])
    keep = float(np.e / (np.e + K - 1))
    response = dp.m.make_randomized_response(categories=list(range(K)), prob=keep)
    yield Peer("opendp", "make_randomized_response", lambda value: response(int(value)), EIGHT)
    coin = dp.m.make_randomized_response_bool(prob=float(np.e / (np.e + 1)))
    share = 2 / (1 + float(np.exp(0.5)))  # of bits that are drawn anew: ε = 1 between vectors of one bit
    vector = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=share
    )
    yield Peer("opendp", "make_randomized_response_bitvec", vector, [b"\x80", b"\x01", b"\x08"])
    yield Peer("opendp", "make_randomized_response_bool", lambda value: coin(bool(value)), [False, True])


def pure_ldp() -> Iterator[Peer]:
    oracles = importlib.import_module("pure_ldp.frequency_oracles")
    hadamard = oracles.HadamardResponseServer(epsilon=1.0, d=K, index_mapper=lambda x: x)
    clients: dict[str, dict[str, Any]] = {
        "DEClient": {},
        "UEClient": {"use_oue": True},
        "LHClient": {"use_olh": True},
        "HadamardResponseClient": {"hash_funcs": hadamard.get_hash_funcs()},
        "HEClient": {},
    }
    for name, more in clients.items():
        made = getattr(oracles, name)(epsilon=1.0, d=K, index_mapper=lambda x: x, **more)
        yield Peer("pure-ldp", name, lambda value, made=made: made.privatise(int(value)), EIGHT)


def multi_freq_ldpy() -> Iterator[Peer]:
    room = "multi_freq_ldpy.pure_frequency_oracles."
    names = {"GRR": "GRR_Client", "UE": "UE_Client", "LH": "LH_Client", "SS": "SS_Client"}
    clients = {name: getattr(importlib.import_module(room + module), name) for module, name in names.items()}
    for name, client in clients.items():
        yield Peer("multi-freq-ldpy", name, lambda value, client=client: client(int(value), K, 1.0), EIGHT)
    subset = clients["SS_Client"]  # documented as a set; what it returns is an array, in an order
    yield Peer(
        "multi-freq-ldpy",
        "SS_Client, as a set",
        lambda value: frozenset(subset(int(value), K, 1.0).tolist()),
        EIGHT,
    )


def python_dp() -> Iterator[Peer]:
    kinds = importlib.import_module("pydp.algorithms.numerical_mechanisms")
    laplace = kinds.LaplaceMechanism(1.0, 1.0)
    yield Peer("python-dp", "LaplaceMechanism", lambda value: laplace.add_noise(float(value)), UNIT)


PACKAGES = {
    "diffprivlib": diffprivlib,
    "opendp": opendp,
    "pure-ldp": pure_ldp,
    "multi-freq-ldpy": multi_freq_ldpy,
    "python-dp": python_dp,
}


def row(peer: Peer) -> tuple[str, ...]:
    random.seed(SEED)
    np.random.seed(SEED)
    claim = f"{peer.epsilon:g}" + (f", δ = {peer.delta:g}" if peer.delta else "")
    peer.randomise(
        dt.audits.Neighbours.of(peer.inputs).inputs[0]
    )  # once before: some compile at the first call
    try:
        finding = dt.audit_function(
            peer.randomise,
            peer.inputs,
            epsilon=peer.epsilon,
            delta=peer.delta,
            each=True,
            samples=SAMPLES,
            timing=False,
            seed=SEED,
        )
    except DitherError as error:
        return (peer.package, peer.name, claim, "", f"not audited: {error}"[:90], "")
    evidence = finding.evidence
    event = "" if evidence is None or finding.ok else evidence.event
    drawn = finding.how.rpartition("from ")[2]
    verdict = "not refuted" if finding.ok else "REFUTED"
    return (peer.package, peer.name, claim, f"{finding.realised:.2f}", f"{verdict}, {drawn}", event[:110])


def main() -> None:
    print("# What peers claim, and what was proved, as measured\n")
    versions, rows = [f"numpy {np.__version__}"], []
    for package, peers in PACKAGES.items():
        try:
            versions.append(f"{package} {version(package)}")
            rows += [row(peer) for peer in peers()]
        except (ImportError, PackageNotFoundError):
            versions.append(f"{package} is not installed and left out")
    print(f"Python {platform.python_version()}; {', '.join(versions)}.\n")
    print(f"Seed {SEED} for `random`, `numpy.random` and every `random_state`; packages with a generator of")
    print(f"their own cannot be seeded. At most {SAMPLES} reports each, confidence 99 %, ε = 1 asked for.\n")
    print(as_markdown(["package", "mechanism", "claims ε", "proved", "verdict", "event"], rows))


if __name__ == "__main__":
    main()
