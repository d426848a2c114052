"""Tail probabilities and quantiles: normal, Student's t, Rice, χ², Kolmogorov and Kuiper."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from dither.errors import InvalidParameter, found
from dither.foundation.arrays import Floats
from dither.foundation.numerics.quadrature import gauss_legendre
from dither.foundation.numerics.roots import increasing_root

_STANDARD: Final = NormalDist()
_ERF: Final = np.frompyfunc(math.erf, 1, 1)
_ERFC: Final = np.frompyfunc(math.erfc, 1, 1)


def erf(x: Floats) -> Floats:
    """Return the error function of every element."""
    return np.asarray(_ERF(x), dtype=np.float64)


def erfc(x: Floats) -> Floats:
    """Return 1 − erf of every element, accurate where it is small."""
    return np.asarray(_ERFC(x), dtype=np.float64)


def survival(z: float) -> float:
    """Return the probability that a standard normal variable is above z."""
    return math.erfc(z / math.sqrt(2.0)) / 2.0


def inverse_survival(probability: float) -> float:
    """Return the z that a standard normal variable exceeds with this probability, 0 < probability < 1."""
    return -_STANDARD.inv_cdf(probability)


def chi_square_survival(statistic: float, freedom: int) -> float:
    """Return the probability that a χ² variable with `freedom` degrees of freedom exceeds the statistic.

    It is Q(freedom/2, x) with x = statistic/2: for even degrees e^−x·Σ x^j/j!, for odd ones erfc(√x) and the
    same sum over half-integers, e^−x·Σ x^(j+1/2)/Γ(j+3/2).
    """
    x = statistic / 2.0
    if x <= 0.0:
        return 1.0
    odd = freedom % 2
    orders = np.arange(freedom // 2) + (0.5 if odd else 0.0)
    logs = [float(order) * math.log(x) - x - math.lgamma(float(order) + 1.0) for order in orders]
    total = math.fsum(math.exp(log) for log in logs)
    return min(total + (math.erfc(math.sqrt(x)) if odd else 0.0), 1.0)


def f_survival(statistic: float, above: float, below: float) -> float:
    """Return the probability that an F variable with these degrees of freedom is larger."""
    if statistic <= 0.0:
        return 1.0
    x = below / (below + above * statistic)
    return _beta_below(below / 2.0, above / 2.0, x)


def _beta_below(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction [DLMF, 8.17.22]."""
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta_below(b, a, 1.0 - x)
    if x <= 0.0:
        return 0.0
    logs = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    fraction = 1.0
    for m in range(400, 0, -1):  # backwards; 400 terms are enough below a million degrees of freedom
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        fraction = 1.0 + even / (1.0 + odd / fraction)
    first = -(a + b) * x / (a + 1.0)
    return math.exp(logs) / a / (1.0 + first / fraction)


def kolmogorov_survival(statistic: float, n: float) -> float:
    """Return P(D > statistic) for the Kolmogorov–Smirnov statistic of n people.

    For two samples n is n₁n₂/(n₁ + n₂). The result is the limit distribution with Stephens' correction for
    finite n [Stephens70].
    """
    root = math.sqrt(n)
    scaled = (root + 0.12 + 0.11 / root) * statistic
    if scaled < 0.2:
        return 1.0
    terms = (2.0 * (-1) ** (j - 1) * math.exp(-2.0 * (j * scaled) ** 2) for j in range(1, 101))
    return min(max(math.fsum(terms), 0.0), 1.0)


def kuiper_survival(statistic: float, n: float) -> float:
    """Return P(V > statistic) for Kuiper's statistic; it is the same for every origin of the circle."""
    root = math.sqrt(n)
    scaled = (root + 0.155 + 0.24 / root) * statistic  # [Stephens70]
    if scaled < 0.4:
        return 1.0
    terms = (
        2.0 * (4.0 * (j * scaled) ** 2 - 1.0) * math.exp(-2.0 * (j * scaled) ** 2) for j in range(1, 101)
    )
    return min(max(math.fsum(terms), 0.0), 1.0)


_ROOT: Final = math.sqrt(2.0)
_REACH: Final = 10.0  # standard deviations; the tail beyond has less probability than 1 − level can be
_NODES: Final = 48  # nodes of the quadrature over _REACH standard deviations: twelve digits


def check_level(level: float) -> float:
    """Return a confidence level as a float; raise InvalidParameter unless it is between 0 and 1."""
    if not (isinstance(level, int | float | np.floating) and 0.0 < level < 1.0):
        raise InvalidParameter(f"a confidence level must be strictly between 0 and 1, not {found(level)}")
    return float(level)


def student_t_quantile(level: float, freedom: float = math.inf) -> float:
    """Return the t with P(|T| ≤ t) = level, the (1 + level)/2 quantile, for `freedom` degrees of freedom.

    Hill's expansion has five correct digits [Hill70]. Without `freedom` the result is the normal quantile to
    full precision. For fewer than one degree of freedom the result is infinite.
    """
    level = check_level(level)
    outside = 1.0 - level
    if freedom < 1:
        return math.inf
    if freedom == 1:
        return 1.0 / math.tan(outside * math.pi / 2.0)
    if freedom == 2:
        return level * math.sqrt(2.0 / (outside * (1.0 + level)))
    normal = inverse_survival(outside / 2.0)
    return normal if freedom > 1e9 else _hill(outside, freedom, -normal)


def _hill(outside: float, freedom: float, normal: float) -> float:
    """Return the t with P(|T| > t) = outside by [Hill70]; `normal` is the outside/2 quantile of a normal."""
    a = 1.0 / (freedom - 0.5)
    b = 48.0 / (a * a)
    c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36
    d = ((94.5 / (b + c) - 3.0) / b + 1.0) * math.sqrt(a * math.pi / 2.0) * freedom
    y = (d * outside) ** (2.0 / freedom)
    if y > 0.05 + a:
        if freedom < 5:
            c += 0.3 * (freedom - 4.5) * (normal + 0.6)
        c += (((0.05 * d * normal - 5.0) * normal - 7.0) * normal - 2.0) * normal + b
        y = normal * normal
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * normal
        y = math.expm1(a * y * y)
    else:
        tail = 1.0 / (((freedom + 6.0) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2.0) * 3.0)
        y = ((tail + 0.5 / (freedom + 4.0)) * y - 1.0) * (freedom + 1.0) / (freedom + 2.0) + 1.0 / y
    return math.sqrt(freedom * y)


def rice_interval(length: float, level: float) -> tuple[float, float]:
    """Return the confidence interval of ν from one value `length` of the Rice distribution with σ = 1.

    ν is the length of a mean vector in the plane, `length` the length of an observed vector whose two
    coordinates have standard error 1. At either end of the interval the observed length, or a more extreme
    one, has probability (1 − level)/2. The lower end is 0 if noise explains the length. For the upper end a
    length below 1 counts as 1; otherwise no ν would fit a very short length.
    """
    outside = (1.0 - check_level(level)) / 2.0
    if not 0.0 <= length < math.inf:
        raise InvalidParameter(f"a length must be finite and ≥ 0, not {found(length)}")
    most = max(length, 1.0)
    lower = 0.0
    if math.exp(-(length**2) / 2.0) < outside:
        lower = increasing_root(lambda nu: _rice_above(length, nu) - outside, 0.0, length + _REACH)
    return lower, increasing_root(lambda nu: outside - _rice_below(most, nu), 0.0, most + _REACH)


def _rice_below(length: float, nu: float) -> float:
    """Return P(R ≤ length) for a Rice variable: the normal probability of a disk whose centre is ν away.

    For each y the disk covers x from −√(length² − y²) to √(length² − y²), where the mean of x is ν.
    """
    x, weights = _slices(length)
    return float((erfc((nu - x) / _ROOT) - erfc((nu + x) / _ROOT)) @ weights)


def _rice_above(length: float, nu: float) -> float:
    """Return P(R > length), accurate where it is small."""
    x, weights = _slices(length)
    beside = float((erfc((x - nu) / _ROOT) + erfc((x + nu) / _ROOT)) @ weights)
    return beside + math.erfc(length / _ROOT)


def _slices(length: float) -> tuple[Floats, Floats]:
    """Return the half widths of a disk at the nodes of a quadrature over y, and half the probabilities.

    y = length·sin θ has no singularity at the ends of the disk, where the half width is 0.
    """
    nodes, weights = gauss_legendre(_NODES)
    widest = math.asin(min(1.0, _REACH / length))
    angles = widest * (nodes + 1.0) / 2.0
    x, y = length * np.cos(angles), length * np.sin(angles)
    return x, weights * widest / 2.0 * x * np.exp(-(y**2) / 2.0) / math.sqrt(2.0 * math.pi)
