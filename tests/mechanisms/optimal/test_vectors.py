"""dt.Optimal on vectors: the bound as computed elsewhere, the gain as sampled, bias on six shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.directions import transform
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.vectors import InBall, best_gain, gain_of

# The bound over all unbiased mechanisms, computed independently: (dimension, ε) to E|Z − x|².
BOUNDS = {(2, 1): 9.52, (10, 1): 59.7, (100, 1): 629, (1_000, 1): 6_326, (10_000, 1): 63_300}
BOUNDS |= {(2, 4): 0.356, (10, 4): 3.67, (100, 4): 42.8, (1_000, 4): 435, (10_000, 4): 4_352}
BOUNDS |= {(2, 8): 0.0217, (10, 8): 0.842, (100, 8): 12.7, (1_000, 8): 132, (10_000, 8): 1_329}


def of(d: int, epsilon: float, *, exact: bool = True) -> InBall:
    design = dt.Optimal(dt.Vectors(d, exact=exact), epsilon=epsilon)
    assert isinstance(design, InBall)
    return design


@pytest.mark.parametrize(("d", "epsilon"), BOUNDS)
def test_the_bound_is_the_one_computed_elsewhere_and_the_error_is_near(d: int, epsilon: int) -> None:
    design = of(d, epsilon)
    assert design.bound == pytest.approx(BOUNDS[d, epsilon], rel=0.006)
    assert 0.0 < design.gap <= (0.006 if epsilon <= 4 else 0.012)
    assert design.guarantee.epsilon <= epsilon


def test_a_ball_costs_little_in_many_dimensions() -> None:
    ratios = [1.0 + of(d, 4, exact=False).gap for d in (2, 10, 100)]
    assert ratios == pytest.approx([1.36, 1.02, 1.004], abs=0.01)


SHAPES = ("unit", "ones", "sparse", "normal", "1/i", "Hadamard row")


def shape_of(name: str, d: int) -> Floats:
    rng = np.random.default_rng(5)
    made = {
        "unit": np.eye(d)[0],
        "ones": np.ones(d),
        "sparse": np.where(np.arange(d) % 7 == 0, 1.0, 0.0),
        "normal": rng.standard_normal(d),
        "1/i": 1.0 / np.arange(1, d + 1),
        "Hadamard row": transform(np.eye(1 << (d - 1).bit_length()))[1, :d],
    }[name]
    return np.asarray(made / np.linalg.norm(made))


def measured_gain(design: InBall, vector: Floats, count: int) -> tuple[float, float]:
    """Return the mean product of a vector with its K nearest directions, over the stated one; its error."""
    kernel = design.question.kernel
    seeds = np.random.default_rng(6).integers(1 << 32, size=count, dtype=np.uint64)
    axes, directions, width = design.axes, kernel.directions, kernel.window.width
    lifted = np.zeros((count, axes))
    lifted[:, : vector.size] = vector
    products = directions.products(lifted, seeds)
    length = 1.0 if directions.equal else math.sqrt(directions.columns * axes)
    largest = np.sort(products, axis=1)[:, -width:].mean(axis=1) / length
    kept = kernel.window.width * kernel.window.step / 2.0**kernel.window.bits
    ratio = kept * largest / design.gain.mean
    return float(ratio.mean()), float(ratio.std() / math.sqrt(count))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    ("d", "epsilon", "count"),
    [
        (3, 1, 400),
        (10, 8, 60),
        (129, 4, 400),
        (384, 4, 400),
        pytest.param(1_000, 1, 2_000, marks=pytest.mark.slow),
        pytest.param(100, 4, 400, marks=pytest.mark.slow),
        pytest.param(384, 8, 4_000, marks=pytest.mark.slow),
        pytest.param(200, 8, 4_000, marks=pytest.mark.slow),
    ],
)
@pytest.mark.some(every=4)
def test_the_scale_is_right_on_six_shapes(name: str, d: int, epsilon: int, count: int) -> None:
    ratio, error = measured_gain(of(d, epsilon), shape_of(name, d), count)
    # Sums of P = 256 signs have lighter tails than the normal law: 0.8 % at 200 numbers and ε = 8.
    assert abs(ratio - 1.0) <= (0.01 if (d, epsilon) == (200, 8) else 0.004 + 5.0 * error)


def test_a_wrong_gain_would_be_seen() -> None:
    """The twin without the order statistics, and the one that also uses the constant column."""
    design = of(384, 4)
    window = design.question.kernel.window
    share = window.width / window.cells
    plain = best_gain(384, 4.0)
    assert gain_of(384, window).mean < plain
    assert abs(plain / gain_of(384, window).mean - 1.0) > 1e-4
    ratio, error = measured_gain(design, shape_of("ones", 384), 400)
    assert abs(ratio * 1.02 - 1.0) > 0.004 + 5.0 * error
    assert 0.0 < share < 0.5


def test_designs_travel_and_are_made_again() -> None:
    design = dt.Optimal(dt.Vectors(20, length=2.5, centre=[1.0] * 20), epsilon=1)
    assert dt.audit(dt.Optimal(dt.Vectors(200), epsilon=1)).holds
    assert dt.from_json(design.to_json()).design() == design
    assert design.report_bytes == 8
    half = np.float16(np.eye(20)[:3])
    assert len(design.perturb(half + 1)) == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0,), "dimension"),
        ((1.5,), "dimension"),
        ((True,), "dimension"),
        ((70_000,), "dimension"),
        ((3, 0.0), "length"),
        ((3, math.inf), "length"),
        ((3, 1.0, [0.0]), "3 numbers"),
        ((3, 1.0, None, 1), "True or False"),
        ((1, 1.0, None, True), "from 2"),
    ],
)
def test_wrong_domains_are_refused(given: tuple[object, ...], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.Vectors(*given)  # type: ignore[arg-type]


def test_longer_vectors_are_clipped_when_said() -> None:
    domain = dt.Vectors(2, length=2.0)
    assert domain.clip([[30.0, 40.0], [0.5, 0.0]]) == pytest.approx(np.array([[1.2, 1.6], [0.5, 0.0]]))
    sphere = dt.Vectors(2, exact=True)
    assert sphere.clip([[3e300, 4e300]]) == pytest.approx(np.array([[0.6, 0.8]]))
    assert sphere.clip([[3e-320, 4e-320]]) == pytest.approx(np.array([[0.6, 0.8]]), rel=1e-3)


def test_values_of_other_libraries_are_arrays() -> None:
    """A tensor of torch has `__array__`, and so does this."""

    class Tensor:
        def __array__(self, dtype: object = None, copy: object = None) -> Floats:
            return np.eye(4, dtype=np.float32)

    design = dt.Optimal(dt.Vectors(4), epsilon=2)
    same = [
        design.perturb(given, source=dt.Seeded(1)).cells
        for given in (Tensor(), np.eye(4), np.eye(4).tolist())
    ]
    assert (same[0] == same[1]).all()
    assert (same[0] == same[2]).all()


class Elsewhere:
    """A tensor as PyTorch's on another processor: numpy does not read it before it is moved and converted."""

    def __array__(self, dtype: object = None, copy: object = None) -> Floats:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    def detach(self) -> Elsewhere:
        return self

    cpu = detach

    def is_floating_point(self) -> bool:
        return True

    def double(self) -> Floats:
        return np.eye(4)


def test_tensors_are_moved_and_converted() -> None:
    design = dt.Optimal(dt.Vectors(4), epsilon=2)
    drawn = design.perturb(Elsewhere(), source=dt.Seeded(1)).cells
    assert (drawn == design.perturb(np.eye(4), source=dt.Seeded(1)).cells).all()


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    design = dt.Optimal(dt.Vectors(4), epsilon=2)
    given = [torch.eye(4, dtype=dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32)]
    for tensor in (*given, torch.eye(4, dtype=torch.float64, requires_grad=True)):
        drawn = design.perturb(tensor, source=dt.Seeded(1)).cells
        assert (drawn == design.perturb(np.eye(4), source=dt.Seeded(1)).cells).all()


def test_a_liar_weighs_as_many_people_as_the_facts_say() -> None:
    """8, 4 and 2 people at ε = 1, 2 and 4, measured here with the directions themselves."""
    assert [of(384, epsilon).liar for epsilon in (1, 2, 4)] == pytest.approx([8, 4, 2], rel=0.1)
    design = of(200, 2)
    seeds = np.arange(300, dtype=np.uint64)
    products = design.question.kernel.directions.products(np.tile(np.eye(200)[3], (300, 1)), seeds)
    length = math.sqrt(design.question.kernel.directions.columns * 200)
    assert products.max(axis=1).mean() / length / design.gain.mean == pytest.approx(design.liar, rel=0.03)
