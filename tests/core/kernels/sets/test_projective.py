"""Singer's difference sets: against the definition, brute force and the wire format."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dither.core.kernels.sets.projective import Geometry
from dither.errors import InvalidParameter
from dither.foundation.numerics.finite_fields import prime_power

DESIGNS = [
    (2, 2),
    (2, 3),
    (2, 7),
    (3, 3),
    (3, 5),
    (4, 2),
    (4, 4),
    (5, 3),
    (8, 3),
    (9, 3),
    (16, 3),
    (27, 2),
    (53, 3),
]


@pytest.mark.parametrize(("order", "dimension"), DESIGNS)
def test_any_two_translates_share_the_same_number_of_points(order: int, dimension: int) -> None:
    """Every difference other than 0 occurs λ times, by counting all pairs."""
    geometry = Geometry(order, dimension)
    members = geometry.members[: geometry.block].astype(np.int64)
    assert geometry.points == (order**dimension - 1) // (order - 1)
    assert members.size == (order ** (dimension - 1) - 1) // (order - 1)
    gaps = (members[:, None] - members[None, :]) % geometry.points
    often = np.bincount(gaps.reshape(-1), minlength=geometry.points)
    assert often[0] == geometry.block
    assert set(often[1:].tolist()) == {geometry.meeting}
    assert geometry.meeting == (order ** (dimension - 2) - 1) // (order - 1)


def test_a_set_that_is_not_singers_would_be_seen() -> None:
    """The same count rejects a polynomial that is not primitive: x^4 + x^3 + x^2 + x + 1 over F_2."""
    taps, s = (1, 1, 1, 1), [0, 0, 0, 1]
    while len(s) < 15:
        s.append(-sum(c * v for c, v in zip(taps, s[-4:], strict=True)) % 2)
    members = np.flatnonzero(np.array(s) == 0)
    gaps = np.bincount(((members[:, None] - members) % 15).reshape(-1), minlength=15)
    assert len(set(gaps[1:].tolist())) > 1


@pytest.mark.parametrize(("order", "dimension"), DESIGNS)
def test_the_set_is_the_recurrence_of_the_wire_format(order: int, dimension: int) -> None:
    """Written again from docs/wire.md, one term after the other."""
    geometry = Geometry(order, dimension)
    found = prime_power(order)
    assert found is not None
    prime, power = found
    c, size = geometry.polynomial, geometry.points
    n = power * dimension
    assert len(c) == n
    s = [0] * (n - 1) + [1]
    for i in range(power * size):
        s.append(-sum(c[j] * s[i + j] for j in range(n)) % prime)
    members = [i for i in range(size) if all(s[i + j * size] == 0 for j in range(power))]
    assert geometry.members[: geometry.block].tolist() == members
    assert sorted(geometry.members.tolist()) == list(range(size))
    raw = b"".join(i.to_bytes(4, "little") for i in members)
    assert geometry.digest == hashlib.sha256(raw).hexdigest()[:32]


@pytest.mark.parametrize(
    "shape", [(6, 3), (1, 3), (0, 2), (-4, 3), (2, 1), (2, 22), (1 << 60, 2), (2, 10**9)]
)
def test_geometries_that_do_not_exist_or_are_too_large(shape: tuple[int, int]) -> None:
    with pytest.raises(InvalidParameter, match="projective geometry"):
        Geometry(*shape)


@pytest.mark.parametrize("categories", [1, 5, 21])
def test_the_correlation_is_the_sum(categories: int) -> None:
    geometry = Geometry(4, 3)
    counts = np.random.default_rng(1).integers(0, 1 << 20, geometry.points)
    direct = [
        sum(int(counts[y]) for y in range(geometry.points) if geometry.holds[(x + y) % geometry.points])
        for x in range(categories)
    ]
    assert np.rint(geometry.correlation(counts.astype(float), categories)).tolist() == direct
