"""Products and factors in blocks: equal to those of numpy, and no thread of a BLAS library wakes up."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dither.estimation.density import Prior, Strength
from dither.foundation.numerics.matrices import (
    cholesky,
    dot,
    log_determinant,
    product,
    solve,
    solve_lower,
    solve_upper,
)

RNG = np.random.default_rng(3)
SHAPES = [(3, 5, 4), (64, 64, 64), (130, 70, 65), (1, 200, 140), (700, 128, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_products(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    first, second = RNG.standard_normal((rows, inner)), RNG.standard_normal((inner, columns))
    np.testing.assert_allclose(product(first, second), first @ second, atol=1e-12)
    np.testing.assert_allclose(product(first, second[:, 0]), first @ second[:, 0], atol=1e-12)
    np.testing.assert_allclose(product(first[0], second), first[0] @ second, atol=1e-12)


def test_long_vectors() -> None:
    long, table = RNG.standard_normal(20_000), RNG.standard_normal((20_000, 7))
    assert dot(long, long) == pytest.approx(float(long @ long), rel=1e-12)
    np.testing.assert_allclose(product(long, table), long @ table, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(product(table, table[0]), table @ table[0], atol=1e-12)


@pytest.mark.parametrize("size", [1, 64, 65, 128, 200])
def test_factors_and_solutions(size: int) -> None:
    root = RNG.standard_normal((size, size))
    matrix, right = root @ root.T + size * np.eye(size), RNG.standard_normal((size, 150))
    factor = cholesky(matrix)
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), atol=1e-10)
    assert log_determinant(factor) == pytest.approx(np.linalg.slogdet(matrix)[1])
    np.testing.assert_allclose(factor @ solve_lower(factor, right), right, atol=1e-10)
    np.testing.assert_allclose(factor.T @ solve_upper(factor, right), right, atol=1e-10)
    for given in (right, right[:, 0]):
        np.testing.assert_allclose(matrix @ solve(matrix, given), given, atol=1e-10)
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(matrix - 1e6 * np.eye(size))


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("scatter", [0.0, 0.5])
def test_the_prior_is_that_of_its_eigenvalues(circular: bool, scatter: float) -> None:
    prior, smoothness = Prior.of(9, circular=circular), 40.0
    values, vectors = np.linalg.eigh(prior.differences.T @ prior.differences)
    values, vectors = values[9 - prior.rank :], vectors[:, 9 - prior.rank :]
    inverse = 1.0 / (1.0 / (smoothness * values) + scatter**2)
    expected, level = (vectors * inverse) @ vectors.T, float(np.log(inverse).sum())
    matrix, found = prior.precision(Strength(smoothness, scatter))
    if prior.slope is not None:  # the slope has its own prior, and adds its own precision
        steep = prior.slope @ prior.slope
        along = prior.slope @ matrix @ prior.slope / steep
        expected = expected + np.outer(prior.slope, prior.slope) * along / steep
        level += np.log(along)
    np.testing.assert_allclose(matrix, expected, atol=1e-9)
    assert found == pytest.approx(level)


FITS = """
import os, sys, time
import numpy as np
import dither as dt

people = np.random.default_rng(3).beta(2, 5, 20_000)
people[:4_000] = 0.25
SW = dt.SW(dt.Interval(0, 1), epsilon=1)
noise = dt.Laplace(dt.Interval(0, 1), epsilon=1)
narrow = dt.SW(dt.Interval(0, 1), epsilon=8)

def ticks():  # of the other threads, in user and in system mode
    found = 0
    for task in os.listdir("/proc/self/task"):
        if int(task) != os.getpid():
            fields = open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()
            found += int(fields[11]) + int(fields[12])
    return found

time.sleep(0.2)  # threads that were made at import wait in a loop, too
made, before = ticks(), time.process_time()
for mechanism in (SW, noise, narrow):
    shape = dt.distribution(mechanism.perturb(people, source=dt.Seeded(1)))
    shape.quantile(0.5), shape.bands(simultaneous=True)
dt.distribution(SW.perturb(people, source=dt.Seeded(1)), method="likelihood")
time.sleep(0.1)  # a thread that was woken waits in a loop
spent = time.process_time() - before
print(spent, ticks() - made, len(os.listdir("/proc/self/task")))
"""


def processor_time(threads: int) -> tuple[float, int, int]:
    """Return the processor time of fits in a new interpreter, and ticks and number of its other threads."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", FITS], env=environment, capture_output=True, check=True)
    spent, ticks, count = done.stdout.split()
    return float(spent), int(ticks), int(count)


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="the threads of a process are listed on Linux"
)
def test_fits_wake_no_thread() -> None:
    _, ticks, count = processor_time(2)
    if count < 2:
        pytest.skip("this BLAS library starts no threads")
    assert ticks <= 2  # a thread that is woken once waits for 3 to 6 ticks


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="the threads of a process are listed on Linux"
)
def test_processor_time_does_not_depend_on_the_number_of_threads() -> None:
    several, alone = (min(processor_time(threads)[0] for _ in range(3)) for threads in (4, 1))
    assert several <= 1.2 * alone
