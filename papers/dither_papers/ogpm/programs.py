"""The papers' framework: the best mechanism of m constant pieces, as a bilinear program for an open solver.

Step one, `solve`, chooses levels and edges of m pieces with the smallest error at one value, an end of the
domain or any public x₀; step two, `place`, keeps the levels and chooses the edges for another value
[OGPM25, Sec. 3.1–3.2]. The library itself does not need the program: by the bathtub argument two levels are
enough, and their width is a formula (`dither.mechanisms.optimal.problem`). It checks that formula, and
reproduces the paper.

Formulation. The levels are highest at the value and decrease away from it on both sides. On one side this
order is no restriction, because sorting the levels never raises the error. A decreasing step function is a
sum of blocks that begin at the value (heights h, reaches r). Mass is Σ h·r and error Σ h·r^(k+1)/(k+1),
built up from products of two variables: m₁ = h·r, m₂ = m₁·r, …. The inequalities m_(i+1)·m_(i−1) ≥ m_i² hold
for any h and r. They are added as redundant constraints: a proof takes a second with them, minutes without.

The paper has two experiments on solved programs: whether one more piece helps (`one_more_piece`), and which
formula fits the levels (`fit`). They are numerical evidence; the proof is in docs/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dither.core.domains import Interval, finite
from dither.core.question import check_epsilon
from dither.errors import DitherError, Infeasible, InvalidParameter, MissingExtra, found
from dither.foundation.arrays import Floats
from dither.foundation.losses import Loss, Power, as_power
from dither.foundation.randomness import SYSTEM, Source

UNIT: Final = Interval(0.0, 1.0)
_TOLERANCE: Final = 1e-7  # largest violation of a constraint by the solver
_FLAT: Final = 1e-3  # levels closer than this, relatively, are merged: the optimum is flat in them


@dataclass(frozen=True)
class Pieces:
    """A density of constant pieces for one input: its edges, levels and error, and the solver's gap."""

    edges: tuple[float, ...]
    levels: tuple[float, ...]
    at: float
    error: float
    gap: float  # the solver's relative bound on the distance of the error from the optimum

    def merged(self) -> Pieces:
        """Return the same density with empty pieces dropped and equal neighbours put together."""
        length = self.edges[-1] - self.edges[0]
        edges, levels = [self.edges[0]], list[float]()
        for (begin, end), level in zip(pairwise(self.edges), self.levels, strict=True):
            if end - begin <= _FLAT * length:
                continue
            if levels and abs(level - levels[-1]) <= _FLAT * level:
                edges[-1] = end
            else:
                edges.append(end)
                levels.append(level)
        edges[-1] = self.edges[-1]
        return Pieces(tuple(edges), tuple(levels), self.at, self.error, self.gap)

    def on(self, codomain: Interval, loss: Power) -> Pieces:
        """Return this density, found on [0, 1], on another codomain."""
        low, length = codomain.low, codomain.length
        return Pieces(
            tuple(low + length * edge for edge in self.edges),
            tuple(level / length for level in self.levels),
            low + length * self.at,
            self.error * length**loss.exponent,
            self.gap,
        )

    @property
    def top(self) -> float:
        """The highest level: the p of the papers."""
        return max(self.levels)


@dataclass(frozen=True)
class _Side:
    """One side of the value: distances from `near` to `far`, divided into `pieces` pieces."""

    sign: int
    near: float
    far: float
    pieces: int


def solve(
    epsilon: float,
    loss: Loss | Power,
    *,
    pieces: int,
    at: float | None = None,
    codomain: Interval = UNIT,
    gap: float = 1e-5,
    seconds: float = 600.0,
) -> Pieces:
    """Return at most `pieces` pieces on the codomain with the smallest error at one value (step one).

    `at` is the value, by default the codomain's lower end, and may lie outside the codomain. The solver stops
    after `seconds`; the gap it has proven is in the result. Needs the extra `solver`.
    """
    budget = check_epsilon(epsilon)
    power = as_power(loss)
    _check(pieces, codomain)
    value = _place(codomain.low if at is None else at, codomain)
    rooms = _rooms(value)
    # The top piece holds the value; the other pieces lie on its sides, in every possible division.
    others = pieces - 1
    divisions = [(others,)] if len(rooms) == 1 else [(left, others - left) for left in range(others + 1)]
    found = []
    for division in divisions:
        sides = [
            _Side(sign, near, far, count + 1)
            for (sign, near, far), count in zip(rooms, division, strict=True)
        ]
        found.append(_BilinearProgram(sides, value, power, gap, seconds).levels_and_edges(budget))
    return min(found, key=lambda program: program.error).on(codomain, power)


def place(
    levels: tuple[float, ...],
    loss: Loss | Power,
    *,
    at: float,
    codomain: Interval = UNIT,
    gap: float = 1e-5,
    seconds: float = 600.0,
) -> Pieces:
    """Return the pieces with given levels and the smallest error at a value (step two).

    `levels` are those found at an end of the domain, highest first; each may be used on both sides.
    """
    if not levels or any(not 0.0 < level < math.inf for level in levels):
        raise InvalidParameter("expected at least one level, all positive and finite")
    power = as_power(loss)
    _check(len(levels), codomain)
    falling = tuple(sorted((level * codomain.length for level in levels), reverse=True))
    value = _place(at, codomain)
    sides = [_Side(sign, near, far, len(falling)) for sign, near, far in _rooms(value)]
    return _BilinearProgram(sides, value, power, gap, seconds).edges(falling).on(codomain, power)


class _BilinearProgram:
    """The model of one program: for each side the heights h, the reaches r, and the moments h·r^i."""

    def __init__(self, sides: list[_Side], value: float, loss: Power, gap: float, seconds: float) -> None:
        try:
            self._scip = import_module("pyscipopt")
        except ImportError:
            raise MissingExtra("the bilinear programs", "solver") from None
        self._sides, self._value, self._loss = sides, value, loss
        self._model = self._scip.Model()
        self._model.hideOutput()
        self._model.setParam("limits/gap", gap)
        self._model.setParam("limits/time", seconds)
        self._model.setParam("numerics/feastol", _TOLERANCE)

    def levels_and_edges(self, epsilon: float) -> Pieces:
        """Solve with free levels, all between q and E·q: q is from 1/E to 1, the top from 1 to E."""
        ratio, model = math.exp(epsilon), self._model
        lowest = model.addVar(lb=1.0 / ratio, ub=1.0)
        top = model.addVar(lb=1.0, ub=ratio)
        model.addCons(top <= ratio * lowest)
        mass, error, drawn = 0.0, 0.0, []
        for side in self._sides:
            base = model.addVar(lb=1.0 / ratio, ub=ratio)
            model.addCons(base >= lowest)
            heights = [model.addVar(lb=0.0, ub=ratio) for _ in range(side.pieces - 1)]
            model.addCons(self._scip.quicksum(heights) + base == top)
            reaches = self._reaches(side)
            last = self._loss.exponent + 1.0
            mass = mass + base * (side.far - side.near)
            error = error + base * (side.far**last - side.near**last)
            for height, reach in zip(heights, reaches, strict=True):
                moments = self._moments(height, reach, side.far)
                mass = mass + moments[0] - height * side.near
                error = error + moments[-1] - height * side.near**last
            drawn.append((side, base, heights, reaches))
        self._optimise(mass, error)
        at = model.getVal
        return self._pieces(
            [
                (side, at(base), [at(height) for height in heights], [at(reach) for reach in reaches])
                for side, base, heights, reaches in drawn
            ]
        )

    def edges(self, levels: tuple[float, ...]) -> Pieces:
        """Solve with fixed levels, highest first: only the reaches are variables."""
        steps = [high - low for high, low in pairwise(levels)]
        mass, error, drawn = 0.0, 0.0, []
        for side in self._sides:
            reaches = self._reaches(side)
            last = self._loss.exponent + 1.0
            mass = mass + levels[-1] * (side.far - side.near)
            error = error + levels[-1] * (side.far**last - side.near**last)
            for step, reach in zip(steps, reaches, strict=True):
                mass = mass + step * (reach - side.near)
                error = error + step * (reach**last - side.near**last)
            drawn.append((side, reaches))
        self._optimise(mass, error)
        return self._pieces(
            [
                (side, levels[-1], steps, [self._model.getVal(reach) for reach in reaches])
                for side, reaches in drawn
            ]
        )

    def _reaches(self, side: _Side) -> list[Any]:
        reaches = [self._model.addVar(lb=side.near, ub=side.far) for _ in range(side.pieces - 1)]
        for nearer, farther in pairwise(reaches):
            self._model.addCons(nearer <= farther)
        return reaches

    def _moments(self, height: Any, reach: Any, far: float) -> list[Any]:
        """Return h·r and h·r^(k+1), by products of two variables where k is an integer."""
        exponent = self._loss.exponent
        ceiling = height.getUbOriginal()
        if exponent != int(exponent):
            moments = [self._model.addVar(lb=0.0, ub=ceiling * far**power) for power in (1.0, exponent + 1.0)]
            self._model.addCons(moments[0] == height * reach)
            self._model.addCons(moments[1] == height * reach ** (exponent + 1.0))
            return moments
        chain = [height]
        for power in range(1, int(exponent) + 2):
            chain.append(self._model.addVar(lb=0.0, ub=ceiling * far**power))
            self._model.addCons(chain[-1] == chain[-2] * reach)
            if power >= 2:
                self._model.addCons(chain[-1] * chain[-3] >= chain[-2] * chain[-2])
        return chain[1:]

    def _optimise(self, mass: Any, error: Any) -> None:
        goal = self._model.addVar(lb=0.0)
        if isinstance(mass, float):  # no free piece, so the levels determine the density
            if abs(mass - 1.0) > 1e-6:
                raise Infeasible(
                    "expected a single level to be 1 divided by the length of the codomain; pass this "
                    "level, or several"
                )
        else:
            self._model.addCons(mass == 1.0)
        self._model.addCons(error <= (self._loss.exponent + 1.0) * goal)
        self._model.setObjective(goal)
        try:
            self._model.optimize()
        except Exception as stopped:  # SCIP has no exceptions of its own
            raise DitherError(f"the solver stopped with an error of its own ({stopped}); try again") from None
        if self._model.getNSols() == 0:
            if self._model.getStatus() == "infeasible":
                raise Infeasible(
                    "expected levels that allow a density of total mass 1 on the codomain; raise the "
                    "highest or lower the lowest level"
                )
            raise DitherError("expected a solution within the time limit, got none; allow more `seconds`")

    def _pieces(self, sides: list[tuple[_Side, float, list[float], list[float]]]) -> Pieces:
        """Return the pieces of all sides, from left to right."""
        edges, levels = list[float](), list[float]()
        for side, base, heights, reaches in sides:
            level, falling, positions = base + math.fsum(heights), [], [side.near, *reaches, side.far]
            for height in [*heights, 0.0]:
                falling.append(level)
                level -= height
            outward = [self._value + side.sign * place for place in positions]
            if side.sign < 0:
                edges, levels = outward[::-1], falling[::-1]
            elif edges:  # the top piece holds the value: it is one piece, not two
                edges, levels = [*edges[:-1], *outward[1:]], [*levels, *falling[1:]]
            else:
                edges, levels = outward, falling
        error = float(self._model.getObjVal())
        return Pieces(tuple(edges), tuple(levels), self._value, error, float(self._model.getGap()))


def _place(at: float, codomain: Interval) -> float:
    """Return a value in units in which the codomain is [0, 1]: everything scales [OGPM25, Thm 3.6]."""
    return (finite("the value", at) - codomain.low) / codomain.length


def _rooms(value: float) -> list[tuple[int, float, float]]:
    """Return, for each side of the value that is not empty, the distances at which [0, 1] begins and ends."""
    sides = [(-1, value - 1.0, value), (1, -value, 1.0 - value)]
    return [(sign, max(near, 0.0), far) for sign, near, far in sides if far > 0.0]


def _check(pieces: int, codomain: Interval) -> None:
    if isinstance(pieces, bool) or not isinstance(pieces, int) or pieces < 1:
        raise InvalidParameter(
            f"expected the number of pieces to be an integer of at least 1, got {found(pieces)}"
        )
    if not isinstance(codomain, Interval):
        raise InvalidParameter(f"expected the codomain to be a dt.Interval, got {type(codomain).__name__}")


Form = Callable[..., Floats]  # form(epsilons, *parameters)


@dataclass(frozen=True)
class Trial:
    """One budget and one value, and the smallest error at that value with m pieces and with m + 1."""

    epsilon: float
    at: float
    fewer: float
    more: float


def one_more_piece(
    pieces: int,
    loss: Power,
    *,
    trials: int,
    epsilons: tuple[float, float] = (0.1, 8.0),
    codomain: Interval = UNIT,
    source: Source | None = None,
    gap: float = 1e-5,
) -> list[Trial]:
    """Compare m pieces with m + 1 at random budgets and values [OGPM25, Sec. 3.2.2].

    For each, the levels are solved at the lower end and then placed about the value.
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InvalidParameter(
            f"expected the number of trials to be an integer of at least 1, got {found(trials)}"
        )
    words = (SYSTEM if source is None else source).words(2 * trials).reshape(trials, 2) / 2.0**64
    outcomes = []
    for share, position in words.tolist():
        epsilon = epsilons[0] + (epsilons[1] - epsilons[0]) * share
        value = codomain.low + codomain.length * position
        errors = [
            place(
                solve(epsilon, loss, pieces=count, codomain=codomain, gap=gap).merged().levels,
                loss,
                at=value,
                codomain=codomain,
                gap=gap,
            ).error
            for count in (pieces, pieces + 1)
        ]
        outcomes.append(Trial(epsilon, value, *errors))
    return outcomes


@dataclass(frozen=True)
class FittedForm:
    """The parameters of a formula that fit best, and the largest deviation that remains."""

    parameters: tuple[float, ...]
    deviation: float


def exponential(epsilons: Floats, rate: float, offset: float) -> Floats:
    """Return exp(rate·ε) + offset: the form the paper suggests for a level [OGPM25, Ex. 3.5]."""
    return np.asarray(np.exp(rate * epsilons) + offset, dtype=np.float64)


def fit(
    epsilons: Sequence[float],
    levels: Sequence[float],
    form: Form = exponential,
    start: Sequence[float] = (1.0, 0.0),
) -> FittedForm:
    """Return the best fit of a formula to solved levels by least squares. Needs the extra `optimal`."""
    try:
        optimize = import_module("scipy.optimize")
    except ImportError:
        raise MissingExtra("the regression of a closed form", "optimal") from None
    budgets, solved = np.asarray(epsilons, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    if budgets.ndim != 1 or budgets.shape != solved.shape or budgets.size < len(start):
        raise InvalidParameter(
            f"expected one level for each ε, and at least {len(start)} levels, the number of parameters"
        )
    parameters, _ = optimize.curve_fit(form, budgets, solved, p0=list(start))
    deviation = float(np.abs(form(budgets, *parameters) - solved).max())
    return FittedForm(tuple(float(parameter) for parameter in parameters), deviation)
