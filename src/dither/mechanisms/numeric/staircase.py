"""Staircase: noise whose density is a step function; optimal among noise independent of the value."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Final

import numpy as np

from dither.core.kernels.lattice.integers import Clamped, domain_base
from dither.core.kernels.lattice.noise import End, LatticeNoise, Stairs
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.foundation.losses import NamedLoss, Power, absolute, as_power, squared
from dither.foundation.numerics.quadrature import total
from dither.mechanisms.analysis.law import Moment
from dither.mechanisms.analysis.noise import NoiseDensity
from dither.mechanisms.numeric.base import AddedNoise, exponential_margin

_FADED: Final = 60.0  # the tail e^−60 of the noise is below the rounding error of a sum


@dataclass(frozen=True)
class Staircase(AddedNoise):
    """The value plus noise whose density is a step function; unbiased.

    Promise:   pure ε.
    Reports:   steps of a lattice that goes about 22/ε lengths of the domain beyond its ends and is clamped
               there, with a probability of 10⁻¹⁰.
    Use when:  noise must be independent of the value; on a known interval `Podium` has a third less variance.
    Reference: [Staircase16]; γ for the squared error as in [Podium19, Def. 4], in a numerically stable form.

    >>> import dither as dt
    >>> round(Staircase(dt.Interval(0, 1), epsilon=2).error("absolute", 0.3), 9)  # e / (e² − 1)
    0.425459064
    """

    _draws = ("lattice clamped",)

    _: KW_ONLY
    loss: NamedLoss = "absolute"

    def lattice(self) -> Clamped:
        reach = self.cells // 2 - 1
        last, fraction = Clamped.room(reach, exponential_margin(self.epsilon))
        run = max(1, last >> fraction)
        first = min(max(round(best_step(self.epsilon, as_power(self.loss)) * run + 0.5), 1), run)
        base = domain_base(self.epsilon, last, fraction, 1)
        return Clamped(LatticeNoise(Stairs(run, first), base, reach, End.PILED), last, fraction)

    def density(self) -> StaircaseDensity:
        return StaircaseDensity(self.epsilon, best_step(self.epsilon, as_power(self.loss)))


def best_step(epsilon: float, loss: Power) -> float:
    """Return the width γ of the first step on each side for which the expected loss is smallest."""
    if loss == absolute:
        return 1.0 / (1.0 + math.exp(epsilon / 2.0))  # [Staircase16, Thm 3]
    if loss != squared:
        raise InvalidParameter(f'the loss of Staircase must be "absolute" or "squared", not {loss!r}')
    # [Podium19, Def. 4] as a quotient without cancellation: the printed form evaluates to −10⁶ at ε = 10⁻⁶.
    b = math.exp(-epsilon)
    c = math.cbrt(b * (1.0 + b) / 2.0)
    return b * (1.0 + 2.0 * b) / (2.0 * (c * c + c * b + b * b))


@dataclass(frozen=True)
class StaircaseDensity(NoiseDensity):
    """The density a·b^⌊|z| + 1 − γ⌋ with b = e^−ε and a = (1 − b) / (2(γ + b(1 − γ)))."""

    epsilon: float
    step: float

    @property
    def _b(self) -> float:
        return math.exp(-self.epsilon)

    @property
    def _top(self) -> float:
        return -math.expm1(-self.epsilon) / (2.0 * (self.step + self._b * (1.0 - self.step)))

    def density(self, gap: Floats) -> Floats:
        level = np.floor(np.abs(gap) + 1.0 - self.step)
        return np.asarray(self._top * np.exp(-self.epsilon * level))

    def below(self, gap: Floats) -> Floats:
        distance = np.abs(gap)
        # The tail beyond n + 1 lengths is b times the tail beyond n lengths.
        integers = np.floor(distance)
        rest = distance - integers
        left = np.maximum(self.step - rest, 0.0) + self._b * np.minimum(1.0 - rest, 1.0 - self.step)
        tail = np.exp(-self.epsilon * integers) * (self._top * left + self._b / 2.0)
        return np.where(np.asarray(gap) < 0.0, tail, 1.0 - tail)

    def beside(self, distance: Floats) -> Floats:
        integers = np.floor(distance)
        rest = np.asarray(distance) - integers
        covered = np.minimum(rest, self.step) + self._b * np.maximum(rest - self.step, 0.0)
        return np.asarray(
            -np.expm1(-self.epsilon * integers) / 2.0 + np.exp(-self.epsilon * integers) * self._top * covered
        )

    def integral(self, begin: Floats, end: Floats, moment: Moment) -> Floats:
        answer = np.zeros(np.broadcast_shapes(np.shape(begin), np.shape(end)))
        for steps in range(math.ceil(max(np.max(end), -np.min(begin)))):
            for low, high, level in self._stairs(np.asarray(float(steps))):
                for side in (low, high), (-high, -low):
                    edges = [moment.antiderivative(np.clip(edge, begin, end)) for edge in side]
                    answer += level * (edges[1] - edges[0])
        return answer

    def whole(self, moment: Moment) -> float:
        def both_sides(complete: Floats) -> Floats:
            answer = np.zeros(complete.shape)
            for low, high, level in self._stairs(complete):
                right = moment.antiderivative(high) - moment.antiderivative(low)
                left = moment.antiderivative(-low) - moment.antiderivative(-high)
                answer += level * (right + left)
            return answer

        run = 1 << max(0, min(14, math.floor(math.log2(2.0 / self.epsilon))))
        return total(both_sides, math.ceil(_FADED / self.epsilon), run)

    def _stairs(self, complete: Floats) -> list[tuple[Floats, Floats, Floats]]:
        """Return the two steps between n and n + 1 lengths, n = `complete`: their edges and levels."""
        level = self._top * np.exp(-self.epsilon * complete)
        edge = complete + self.step
        return [(complete, edge, level), (edge, complete + 1.0, self._b * level)]
