"""The laws of the kernel interface, over one case of every kind of kernel.

Values are split evenly among threads, each of which has a source of its own.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core import kernels
from dither.core.kernels.blocks import BLOCK
from dither.core.kernels.kernel import (
    _KINDS,
    _MODULES,
    MOST_LISTED,
    CellKernel,
    Kernel,
    LineKernel,
    listed_likelihood,
    read_kernel,
)
from dither.errors import DitherError, MalformedReport
from dither.foundation.randomness import Source
from tests.support.cases.kernels import CASES, KernelCase
from tests.support.chi_square import ALARM, p_value
from tests.support.sources import ChosenBytes

each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
LISTED = {name: case for name, case in CASES.items() if case.index is not None}
each_listed = pytest.mark.parametrize("case", LISTED.values(), ids=LISTED.keys())


def array(case: KernelCase, value: Any, times: int) -> np.ndarray:
    """An input, so many times, as `draw` takes it."""
    one = np.asarray(value)
    return np.tile(one, (times, *(1,) * one.ndim)) if one.ndim else np.full(times, one)


def fit(case: KernelCase, reports: np.ndarray, law: list[Fraction]) -> float:
    """The p-value of reports under a law; of a long list, neighbouring reports are taken together."""
    assert case.index is not None
    chances, found = np.array([float(chance) for chance in law]), case.index(reports)
    if chances.size > 1024:
        chances, found = chances.reshape(256, -1).sum(axis=1), found // (chances.size // 256)
    return p_value(found, chances)


def kinds(base: type[Kernel]) -> set[str]:
    """Return the kinds of all kernels of the library."""
    below = {kind for one in base.__subclasses__() for kind in kinds(one)}
    return below | ({base.kind} if "kind" in vars(base) and base.__module__.startswith("dither.") else set())


def test_every_kind_of_kernel_has_a_case() -> None:
    for module in pkgutil.walk_packages(kernels.__path__, "dither.core.kernels."):
        importlib.import_module(module.name)
    known = kinds(Kernel)
    assert len(known) > 15
    for module, draws in _MODULES.items():  # a device text's draw imports this module and no other
        assert {_KINDS[draw].__module__ for draw in draws} == {f"dither.core.kernels.{module}"}
    assert {draw for draws in _MODULES.values() for draw in draws} == known
    apart = {"nearest", "listing", "box"}  # with laws of their own: test_nearest.py, optimal/test_box.py
    assert {case.kernel.kind for case in CASES.values()} | apart == known


@each_case
def test_what_a_device_needs_builds_the_same_kernel(case: KernelCase) -> None:
    data = json.loads(json.dumps(case.kernel.device()))
    again = read_kernel(data, case.mechanism.domain)
    assert again == case.kernel
    assert again.device() == case.kernel.device()
    assert again.layout == case.kernel.layout
    assert again.outcomes == case.kernel.outcomes


@each_case
def test_no_reports_are_none(case: KernelCase) -> None:
    for owner, check in (
        (case.kernel, case.kernel.check),
        (case.mechanism.question, case.mechanism.reports),
    ):
        layout = owner.layout
        empty = check(np.zeros((0, *layout.shape), dtype=layout.base))
        cells = empty.cells if isinstance(empty, dt.Reports) else empty
        assert cells.shape == (0, *layout.shape)
        assert cells.dtype == layout.base


@each_case
def test_what_describes_no_kernel_is_refused(case: KernelCase) -> None:
    data = case.kernel.device()
    for name in data:
        lacking = {key: value for key, value in data.items() if key != name}
        for wrong in (lacking, {**data, name: None}, {**data, name: "?"}, {**data, name: [1, {}]}):
            if wrong == data or (name, wrong.get(name)) == ("odds", None):
                continue
            if name == "shares" and wrong is lacking:  # of prefixes: all levels have as many people
                continue
            with pytest.raises(MalformedReport):
                read_kernel(wrong, case.mechanism.domain)


@pytest.mark.parametrize(
    "name", ["sliding", "mixture", "sectors", "lattice, ring", "channel", "planar", "rings", "grid"]
)
def test_a_kernel_on_another_kind_of_domain_is_refused(name: str) -> None:
    with pytest.raises(MalformedReport):
        read_kernel(CASES[name].kernel.device(), dt.Text(4))


@each_case
def test_reports_fit_the_layout_and_are_admitted(case: KernelCase) -> None:
    people = case.mechanism.n if not case.alone else 50
    reports = case.kernel.draw(array(case, case.inputs[0], people), dt.Seeded(1))
    layout = case.kernel.layout
    assert reports.dtype == layout.base
    assert reports.shape == (people, *layout.shape)
    assert np.array_equal(case.kernel.check(reports.astype(np.int64)), reports)
    if case.alone:
        one = case.kernel.draw_one(case.inputs[0], dt.Seeded(2))
        raw = np.frombuffer(one, np.uint8) if isinstance(one, bytes) else np.asarray(one)
        assert case.kernel.check(raw.astype(np.int64)[None]).dtype == layout.base
    else:
        with pytest.raises(DitherError, match="deal"):
            case.kernel.draw_one(case.inputs[0], dt.Seeded(2))


@each_listed
@pytest.mark.some(every=2)
def test_probabilities_sum_to_one_and_keep_the_ratio(case: KernelCase) -> None:
    first, second = (case.kernel.probabilities(value) for value in case.inputs)
    assert sum(first) == sum(second) == 1
    possible = [(one, two) for one, two in zip(first, second, strict=True) if one or two]
    worst = max(max(one / two, two / one) for one, two in possible)
    if case.alone:  # joint kernels state the ratio of one coin; a row of bits has two
        assert 1 < worst <= case.kernel.ratio * (1 + Fraction(1, 10**12))
    assert case.kernel.epsilon >= 0


@each_listed
def test_the_likelihood_of_every_report_is_its_probability(case: KernelCase) -> None:
    value = case.inputs[0]
    law = np.array([float(chance) for chance in case.kernel.probabilities(value)])
    reports = case.kernel.draw(array(case, value, case.mechanism.n if not case.alone else 300), dt.Seeded(3))
    found = case.kernel.likelihoods(reports, array(case, value, len(reports)))
    assert case.index is not None
    cells = 256.0**2 if case.kernel.kind == "grid" else 1.0  # places of a cell are all alike
    np.testing.assert_allclose(found * cells, law[case.index(reports)], rtol=1e-12)
    if isinstance(case.kernel, CellKernel) and case.kernel.outcomes <= MOST_LISTED:
        inputs = array(case, value, 1)
        generic = listed_likelihood(case.kernel, inputs, case.kernel.outcomes).dense()[:, 0]
        np.testing.assert_allclose(generic, law, rtol=1e-9, atol=1e-15)
    if isinstance(case.kernel, LineKernel):
        own = case.kernel.likelihood(array(case, value, 1), case.kernel.outcomes)
        np.testing.assert_allclose(own.dense().sum(axis=0), 1.0, rtol=1e-9)


@each_listed
def test_arrays_follow_the_law_and_not_another_inputs(case: KernelCase) -> None:
    value, other = case.inputs
    people = case.mechanism.n if not case.alone else 20_000
    reports = case.kernel.draw(array(case, value, people), dt.Seeded(4))
    assert fit(case, reports, case.kernel.probabilities(value)) > ALARM
    assert fit(case, reports, case.kernel.probabilities(other)) < ALARM


@pytest.mark.parametrize(
    "case", [case for case in LISTED.values() if case.alone], ids=[n for n, c in LISTED.items() if c.alone]
)
@pytest.mark.some(every=2)
def test_single_draws_follow_the_same_law(case: KernelCase) -> None:
    value, other = case.inputs
    source = dt.Seeded(5)
    drawn = [case.kernel.draw_one(value, source) for _ in range(3_000)]
    rows = [list(one) if isinstance(one, bytes | tuple) else one for one in drawn]
    reports = case.kernel.check(np.array(rows))
    assert fit(case, reports, case.kernel.probabilities(value)) > ALARM
    if case.kernel.epsilon > 0.9 and case.kernel.kind != "grid":
        assert fit(case, reports, case.kernel.probabilities(other)) < ALARM


@pytest.mark.parametrize("name", ["hashed", "prefix", "joint hashed"])
def test_buckets_follow_the_law_given_the_public_seed(name: str) -> None:
    case = CASES[name]
    value = case.inputs[0]
    people = 4_000
    reports = case.kernel.draw(array(case, value, people), dt.Seeded(6))
    inner = case.kernel.oracle if name == "prefix" else case.kernel
    seeds, told = inner.hashing.unpack(reports)
    for seed, bucket, chance in zip(
        seeds[:50].tolist(),
        told[:50].tolist(),
        case.kernel.likelihoods(reports[:50], array(case, value, 50)),
        strict=True,
    ):
        law = case.kernel.probabilities(np.asarray(value) if name == "prefix" else value, seed)
        assert sum(law) == 1
        assert float(law[bucket]) == pytest.approx(chance, rel=1e-12)
    truths = case.kernel.likelihoods(reports, array(case, value, people)) > 1.01 / inner.hashing.buckets
    assert truths.mean() == pytest.approx(float(max(law)), abs=5 * 0.5 / people**0.5)


@each_case
@pytest.mark.some(every=5)
def test_threads_are_honoured_or_refused(case: KernelCase) -> None:
    many = 2_000 if case.kernel.kind == "directions" else 70_000  # each of which has 1 024 directions
    people = case.mechanism.n if not case.alone else many
    values = array(case, case.inputs[0], people)
    if not case.alone or case.kernel.kind == "two copies":
        with pytest.raises(DitherError, match="thread"):
            case.kernel.draw(values, dt.Seeded(7), threads=2)
        return
    reports = case.kernel.draw(values, dt.Seeded(7), threads=2)
    assert len(reports) == people
    if case.index is not None:
        assert fit(case, reports, case.kernel.probabilities(case.inputs[0])) > ALARM


class Counted(ChosenBytes):
    """A seeded source that counts how many were spawned from it."""

    def __init__(self) -> None:
        self._inner, self.spawned = dt.Seeded(1), 0

    def take(self, size: int) -> bytes:
        return self._inner.take(size)

    def spawn(self) -> Source:
        self.spawned += 1
        return dt.Seeded(100 + self.spawned)


@pytest.mark.parametrize(
    ("values", "threads", "spawned"), [(BLOCK, 4, 0), (BLOCK + 1, 4, 2), (3 * BLOCK, 2, 2), (3 * BLOCK, 8, 3)]
)
def test_no_thread_has_less_than_a_block_on_average(values: int, threads: int, spawned: int) -> None:
    source = Counted()
    reports = dt.PM(dt.Interval(0, 1), epsilon=1).perturb(
        np.full(values, 0.5), source=source, threads=threads
    )
    assert len(reports) == values
    assert source.spawned == spawned
