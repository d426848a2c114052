"""Complete paths under one ε: one report per path; paths near the true path are likelier."""

from __future__ import annotations

import hashlib
import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

import numpy as np

from dither.core.domains import Paths, Routes
from dither.core.kernels.places.nearest import MOST_PACKED, first_numbers
from dither.core.kernels.places.routes import RouteKernel, path_distances
from dither.core.question import PlainQuestion, Question
from dither.errors import InvalidParameter, OutsideDomain, found
from dither.foundation.arrays import Floats, Integers, Mask
from dither.foundation.numerics import codebooks
from dither.foundation.tables import percent
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal.anywhere import check_public_source

_MOST_PUBLIC: Final = 2_000  # largest number of public paths for fitting; with more paths, every k-th is used
_LEAST_PUBLIC: Final = 8  # one half chooses the codebook, the other half its size
_SIZES: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
_WIDTHS: Final = (1, 3, 5)  # with 2, each of the two closest public paths would have the same list
_CONDITION: Final = (
    1e3  # condition number of the lists above which shares of public paths are not identifiable
)
_WORTH: Final = 0.01  # relative gain that justifies a K above 1, or a larger N
_MOST_PROGRAM: Final = 128  # largest number of public paths in the linear program
_RISEN: Final = 1.25  # relative error after which larger codebooks are not tried
_DIGITS: Final = 5  # digits of a decoded location, after the first digit of the longer side


@dataclass(frozen=True, eq=False)
class PublicPaths:
    """Public paths of people, such as published trips, and their source.

    The paths of a codebook are published with a design, so the source must be public and must be named.
    """

    paths: Paths
    source: str

    def __post_init__(self) -> None:
        check_public_source(self.source, "paths, 'published trips of 2019'")
        try:
            paths = Paths.of(self.paths)
        except OutsideDomain as error:
            raise InvalidParameter(f"expected paths as the public paths of the prior: {error}") from None
        object.__setattr__(self, "paths", paths)

    @cached_property
    def digest(self) -> str:
        """A digest of the paths and the source. A design's text contains only the paths of the codebook."""
        points = self.paths.points.astype("<f8").tobytes() + self.paths.offsets.astype("<i8").tobytes()
        return hashlib.sha256(self.source.encode() + points).hexdigest()[:32]

    def __repr__(self) -> str:
        return f"PublicPaths({len(self.paths)} paths, source={self.source!r})"


def public_paths(prior: object) -> PublicPaths:
    """Return a prior as public paths. Raise InvalidParameter if it does not name its source."""
    if isinstance(prior, PublicPaths):
        return prior
    if not isinstance(prior, tuple) or len(prior) != 2:
        raise InvalidParameter(
            "expected prior=(public paths, 'their public source') for routes, because reports are numbers "
            f"of public paths, got {found(prior)}"
        )
    return PublicPaths(*prior)


class _Choice(NamedTuple):
    """A codebook of public paths: their indices, K, and the error on the held-out half."""

    codes: Integers
    width: int
    held_out: float


@dataclass(frozen=True)
class AmongRoutes(Mechanism[PlainQuestion]):
    """A complete path, reported as the number of a public path; the nearest public paths are likelier.

    Promise:   pure ε for the complete path with any number of locations.
    Reports:   the number of one of N public paths, which are medoids of the prior. N and K have the least
               error on the half of the prior that was not used to fit the codebook; K is mostly 1.
    Use when:  paths matter from start to end, and public paths of the same area are known. A path that
               resembles no public path is also reported as a public path.
    Reference: derived in docs/paths.md.

    >>> from dither.core.domains import Interval, Rectangle
    >>> city = Rectangle(Interval(0, 1), Interval(0, 1))
    >>> lines = [[(0, a), (1, b)] for a in (0.1, 0.2, 0.8, 0.9) for b in (0.1, 0.2, 0.8, 0.9)]
    >>> design = AmongRoutes(Routes(city), epsilon=4, prior=(lines, "lines of the network"))
    >>> design.guarantee
    Guarantee: ε ≤ 4 for one trajectory
    """

    domain: Routes

    _: KW_ONLY
    prior: tuple[Any, str] | PublicPaths | None = None

    _called = "Optimal"
    _takes = (Routes,)

    def _check(self) -> None:
        prior = public_paths(self.prior)
        object.__setattr__(self, "prior", prior)
        if len(prior.paths) < _LEAST_PUBLIC:
            raise InvalidParameter(
                f"expected {_LEAST_PUBLIC} public paths or more, got {len(prior.paths)}: one half of them "
                "chooses the codebook, the other half its size"
            )
        try:
            rows = self.domain.check(prior.paths)
        except OutsideDomain:
            raise InvalidParameter(
                f"the public paths must lie in {self.domain.area}; choose a larger area, or pass "
                "domain.clip(paths)"
            ) from None
        if not (rows != rows[:, :1]).any():
            raise InvalidParameter(
                "expected public paths with two or more places, got paths of one place; pass paths, or use "
                "dt.Optimal on the area, with prior=(places, source)"
            )
        if not (rows != rows[0]).any():
            raise InvalidParameter(
                "expected public paths that differ after resampling, got equal ones, so no codebook "
                "distinguishes them; pass different paths"
            )

    @cached_property
    def public(self) -> Integers:
        """The resampled public paths that the codebook is fitted to: every k-th of more than 2 000 paths."""
        rows = self.domain.check(public_paths(self.prior).paths)
        return rows[:: -(-len(rows) // _MOST_PUBLIC)]

    def _apart(self, first: Integers, second: Integers) -> Floats:
        """Return distances between paths in the units of the area."""
        far = path_distances(first, second, self.domain.area.scales, self.domain.distance)
        return far * self.unit

    @property
    def unit(self) -> float:
        """The length of one unit of the integer distance, in units of the area; for sums, per location."""
        box, (x, y) = self.domain.area.box, self.domain.area.scales
        side = box.x.length / x if x >= y else box.y.length / y
        locations = 1 if self.domain.distance == "frechet" else self.domain.points
        return side / (1 << 16) / locations

    # --- the design

    @cached_property
    def _both(self) -> Floats:
        return self._apart(self.public, self.public)

    @cached_property
    def _choice(self) -> _Choice:
        """The codebook: N and K by the error on one half of the public paths, and a fit to all of them."""
        apart, odds = self._both, math.exp(self.epsilon)
        half = chosen_half(len(apart))
        fitted, other = apart[np.ix_(half, half)], apart[np.ix_(~half, half)]
        most = min(len(fitted) // 2, MOST_PACKED // (2 * self.domain.points), _most(self.epsilon))
        sizes = [size for size in _SIZES if size <= max(2, most)]
        best = _Choice(np.zeros(0, dtype=np.int64), 1, math.inf)
        starts = _starts(fitted, odds, sizes[-1])
        for width in _WIDTHS:
            for size in sizes:
                if size < 2 * width:
                    continue
                codes = _medoids(fitted, odds, size, width, starts)
                error = _mean_error(other[:, codes], fitted[np.ix_(codes, codes)], width, odds)
                if width > 1 and not _identifiable(fitted[np.ix_(codes, codes)], width):
                    continue
                if error < best.held_out * (1.0 - _WORTH):
                    best = _Choice(codes, width, error)
                elif error > best.held_out * _RISEN:
                    break  # with more paths, random draws are too frequent
        starts = _starts(apart, odds, len(best.codes))
        codes = _medoids(apart, odds, len(best.codes), best.width, starts)
        return _Choice(np.sort(codes), best.width, best.held_out)

    def _kernel(self) -> RouteKernel:
        codes, width, _ = self._choice
        return RouteKernel.largest(self.epsilon, self.domain, self.public[codes], width)

    def _codebook(self, kernel: RouteKernel) -> None:
        """Return None: a report is decoded as its public path."""

    @property
    def routes(self) -> RouteKernel:
        """The integers of the design: the public paths, K, and the draw."""
        return cast(RouteKernel, self.question.kernel)

    @property
    def paths(self) -> Floats:
        """The public paths of the codebook, of shape (N, points, 2): report j is decoded as path j."""
        return self.domain.places(self.routes.paths)

    def read_for(self, prior: tuple[Any, str] | PublicPaths | None = None) -> Question:
        """Return the question with reports decoded as the medians of the people who may have sent them.

        Each coordinate of each location is the median of the public paths, by default of the design's prior.
        The medians have a smaller mean error than public paths, but need not follow any road. Devices draw as
        before.
        """
        public = public_paths(self.prior if prior is None else prior)
        rows = self.domain.check(public.paths)
        rows = rows[:: -(-len(rows) // _MOST_PUBLIC)]
        law = self.routes.laws(rows)
        order = np.argsort(rows, axis=0, kind="stable")
        below = np.cumsum(law[order], axis=0)  # the axes are rank, point, coordinate and number
        at = (below < 0.5 * below[-1]).sum(axis=0)
        middle = np.take_along_axis(
            rows[..., None], np.take_along_axis(order[..., None], at[None], axis=0), 0
        )
        locations = self.domain.places(np.moveaxis(middle[0], -1, 0))
        side = max(self.domain.area.box.x.length, self.domain.area.box.y.length)
        book = np.round(locations, _DIGITS - math.floor(math.log10(side)))
        return replace(self.question, book=book, made_by=None)

    # --- errors, in units of the area

    def distance_of(self, paths: object, reports: object) -> float:
        """Return the mean distance between paths and reports of their locations, by the domain's distance."""
        places = replace(self.domain, by="order")  # reports are compared location by location
        first, second = self.domain.check(Paths.of(paths)), places.check(Paths.of(reports))
        parts = range(16, len(first), 16)
        pairs = zip(np.split(first, parts), np.split(second, parts), strict=True)
        return float(np.mean(np.concatenate([np.diagonal(self._apart(*pair)) for pair in pairs])))

    def error(self, paths: object) -> Floats:
        """Return the mean distance between each path and its report."""
        rows = self.domain.check(Paths.of(paths))
        return np.asarray((self.routes.laws(rows) * self.routes.distances(rows)).sum(axis=1) * self.unit)

    def average_error(self) -> float:
        """Return the mean distance between a path and its report, for the public paths of the prior.

        The codebook was fitted to them. `held_out_error` is computed on a half that it was not fitted to.
        """
        return float(
            (self.routes.laws(self.public) * self.routes.distances(self.public)).sum(axis=1).mean()
        ) * (self.unit)

    @property
    def held_out_error(self) -> float:
        """The mean distance for one half of the public paths, with a codebook fitted to the other half."""
        return self._choice.held_out

    @cached_property
    def unasked_error(self) -> float:
        """The mean distance of the public paths to the best single path: the error without reports."""
        return float(self._both.mean(axis=0).min())

    def worst_error(self) -> float:
        """Return the largest mean distance over the public paths."""
        laws = self.routes.laws(self.public)
        return float((laws * self.routes.distances(self.public)).sum(axis=1).max()) * self.unit

    @cached_property
    def gap(self) -> float:
        """The relative excess of the error over the best mechanism's from these N paths to these N paths.

        It is for people whose paths are the public paths of the codebook, each as frequent as the public
        paths nearest to it. It solves a linear program (needs scipy). It is not a bound for other codebooks
        or other people.
        """
        kernel = self.routes
        count = kernel.window.cells
        if count > _MOST_PROGRAM:
            raise InvalidParameter(
                f"expected at most {_MOST_PROGRAM} public paths for the linear program, got {count}; use "
                "fewer cells"
            )
        shares = np.bincount(kernel.nearest(self.public), minlength=count) / len(self.public)
        far = kernel.distances(kernel.paths) * self.unit
        own = float(shares @ (kernel.laws(kernel.paths) * far).sum(axis=1))
        return max(own / best_between(shares, far, self.epsilon) - 1.0, 0.0)

    def __str__(self) -> str:
        window = self.routes.window
        try:
            among = f", {percent(self.gap)} above the best mechanism between these {window.cells} paths"
        except (ImportError, InvalidParameter):  # without scipy, or with too many paths
            among = ""
        thinned = "" if len(self.public) == len(public_paths(self.prior).paths) else ", thinned"
        return (
            f"Optimal on {self.domain}: {window.cells} of {len(self.public)} public paths{thinned} "
            f"({public_paths(self.prior).source}), K = {window.width}, {self.domain.distance} distance "
            f"{self.average_error():.4g} for the complete path, {self.held_out_error:.4g} held out, "
            f"{self.unasked_error:.4g} without asking{among}"
        )


def chosen_half(count: int) -> Mask:
    """Return a mask of the public paths that choose the codebook; the others choose its size.

    The half is spread over the order of the paths by the golden ratio: i·φ mod 1 is below 1/2.
    """
    return (np.arange(count) * 2_654_435_769) % (1 << 32) < 1 << 31


def best_between(shares: Floats, far: Floats, epsilon: float) -> float:
    """Return the smallest average error of an ε-LDP mechanism from N inputs to the same N reports.

    Variables: the least probability g_j of report j, and h_ij ≤ (E − 1)·g_j above it for input i.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    count, pairs = len(far), far.size
    row, column = np.divmod(np.arange(pairs), count)
    lifted = sparse.csr_array((np.full(pairs, -math.expm1(epsilon)), (np.arange(pairs), column)))
    own = sparse.csr_array((np.ones(pairs), (row, np.arange(pairs))))
    program: dict[str, Any] = {
        "c": np.concatenate([(shares[:, None] * far).reshape(-1), shares @ far]),
        "A_ub": sparse.hstack([sparse.eye_array(pairs), lifted], format="csr"),
        "b_ub": np.zeros(pairs),
        "A_eq": sparse.hstack([own, sparse.csr_array(np.ones((count, count)))], format="csr"),
        "b_eq": np.ones(count),
    }
    solved = linprog(**program)
    if solved.status != 0:
        raise InvalidParameter(
            "expected a solution of the linear program between the public paths, but the solver stopped "
            "without one; use fewer cells"
        )
    return float(solved.fun)


def _most(epsilon: float) -> int:
    """Return a number of public paths that is certainly enough: the best number grows as about e^(ε/2)."""
    return max(8, round(4.0 * math.exp(0.6 * min(epsilon, 10.0))))


def _starts(apart: Floats, odds: float, most: int) -> tuple[Integers, Integers]:
    """Return two orders of paths. Their first paths begin a search of any size."""
    weights = np.full(len(apart), 1.0 / len(apart))
    return codebooks.farthest(apart, weights, most), codebooks.greedy(apart, weights, odds, most)


def _medoids(
    apart: Floats, odds: float, count: int, width: int, starts: tuple[Integers, Integers]
) -> Integers:
    """Return the better codebook of two starts, with distinct medoids."""
    weights = np.full(len(apart), 1.0 / len(apart))
    fits = [codebooks.fit_among(apart, weights, odds, count, width, start=start[:count]) for start in starts]
    codes = np.unique(min(fits, key=lambda fit: fit[2])[0])
    if len(codes) > width:
        return codes
    return starts[1][:count]


def _mean_error(far: Floats, between: Floats, width: int, odds: float) -> float:
    """Return the mean distance of reports.

    The nearest path of the codebook determines the K likelier numbers.
    """
    lists = _lists(between, width)
    nearest = lists[far.argmin(axis=1)]
    near = np.take_along_axis(far, nearest, axis=1).sum(axis=1)
    total = far.shape[1] + (odds - 1.0) * width
    return float(np.mean(far.sum(axis=1) + (odds - 1.0) * near) / total)


def _lists(between: Floats, width: int) -> Integers:
    """Return the numbers of the nearest paths of a codebook to each of its paths."""
    scale = (1 << 40) / (float(between.max()) or 1.0)
    return first_numbers(np.rint(between * scale).astype(np.int64), width)


def _identifiable(between: Floats, width: int) -> bool:
    """Return whether reports identify the share of people nearest to each path of a codebook."""
    member = np.zeros(between.shape)
    np.put_along_axis(member, _lists(between, width), 1.0, axis=1)
    return bool(np.linalg.cond(member) < _CONDITION)
