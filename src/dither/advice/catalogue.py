"""The mechanisms that advice ranks, and the default for a list of answers."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, Final

from dither.core import registry
from dither.core.domains import Categories, Domain, Line
from dither.errors import DitherError, InvalidParameter, found, unknown_name
from dither.foundation import losses as losses_module
from dither.foundation.losses import CRITERIA, Criterion, Power, as_power, squared
from dither.mechanisms.analysis.analysis import Analysis
from dither.mechanisms.frequency.base import CategoryMechanism
from dither.mechanisms.frequency.krr import KRR, RR
from dither.mechanisms.frequency.olh import OLH
from dither.mechanisms.frequency.projective import ProjectiveResponse
from dither.mechanisms.frequency.subset import SubsetIndices
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.optimal import store
from dither.mechanisms.optimal.mechanism import Optimal
from dither.mechanisms.optimal.problem import LEAST, MOST, Problem, least_frequency_variance
from dither.privacy import Pure

# Methods that return a variant with a name in the papers: PM-C, T-PM, SW-C, T-SW and so on.
_VARIANTS: Final = {
    "Laplace": ("truncated",),
    "PM": ("compressed", "truncated"),
    "Podium": ("truncated",),
    "SW": ("compressed", "truncated", "redesigned"),
    "Staircase": ("truncated",),
}


@dataclass(frozen=True)
class Candidate:
    """A mechanism and the expression that makes it, such as `PM.truncated()`."""

    name: str
    mechanism: Any  # one of `Analysis`, or a pure protocol: see `on_a_line` and `on_categories`
    # The domain, if the mechanism does not have it, as for a vector by its numbers.
    domain: Domain | None = None

    def __str__(self) -> str:
        return self.name


def on_a_line(
    domain: Line, epsilon: float, losses: tuple[Power, ...], *, variants: bool = True
) -> list[Candidate]:
    """Return every mechanism for an interval or a circle, once for each loss if it takes a loss.

    Without `variants` every mechanism is listed once, because an estimate is the same for all codebooks of
    its reports.
    """
    found: list[Candidate] = []
    for kind in _kinds(Analysis):
        made_for: tuple[dict[str, Any], ...] = ({},)
        if any(field.name == "loss" for field in fields(kind)):
            made_for = tuple({"loss": loss.loss} for loss in losses)
        for more in made_for:
            found.extend(_candidates_of(kind, domain, epsilon, more, variants=variants))
    return found


def solved_candidates(
    domain: Line,
    epsilon: float,
    losses: tuple[Power, ...],
    criteria: tuple[Criterion, ...] = CRITERIA,
    *,
    unbiased: bool = False,
    wait: bool = True,
) -> list[Candidate]:
    """Return the available solved mechanisms for each loss and criterion on an interval.

    With `unbiased`, the unbiased ones are also listed. With `wait=False`, only stored or interpolated designs
    are listed. On a circle OGPM is the optimum, so the list is empty.
    """
    if domain.circular or not LEAST <= epsilon <= MOST:
        return []
    wanted: list[dict[str, Any]] = [
        {"loss": loss.loss, "criterion": criterion} for loss in losses for criterion in criteria
    ]
    wanted += [{"unbiased": True, "criterion": criterion} for criterion in criteria if unbiased]
    found = []
    for more in wanted:
        problem = Problem(epsilon, as_power(more.get("loss", squared)), more["criterion"], "unbiased" in more)
        if wait or store.ready(problem):
            shown = {name: value for name, value in more.items() if value != "worst"}
            try:
                mechanism = Optimal(domain, epsilon=epsilon, **more)
            except DitherError:  # scipy is not installed, or no design was found
                continue
            found.append(Candidate(_name(Optimal, shown), mechanism))
    return found


def on_categories(domain: Categories, epsilon: float) -> list[Candidate]:
    """Return every frequency protocol that takes these categories."""
    return [
        candidate
        for kind in _kinds(CategoryMechanism)
        for candidate in _candidates_of(kind, domain, epsilon, {})
    ]


def on_sets(domain: Domain, epsilon: float) -> list[Candidate]:
    """Return the mechanisms for sets of items. The advice states the cost of short reports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        kind = registry.design_of("SetResponse")
        return [
            candidate
            for report in ("elements", "polynomial")
            for candidate in _candidates_of(kind, domain, epsilon, {"report": report})
        ]


def mechanism_of(expression: str, domain: Domain, epsilon: float) -> Mechanism[Any]:
    """Return the mechanism of a name as the tables print it, such as `SW.truncated()`.

    An expression such as `Optimal(unbiased=True)` is read, never evaluated.

    >>> from dither.core.domains import Interval
    >>> mechanism_of("sw.truncated()", Interval(0, 1), 1).support
    (0.0, 1.0)
    """
    tree, variants = _parse(expression), []
    while (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Attribute)
        and not (tree.args or tree.keywords)
    ):
        variants.append(tree.func.attr)
        tree = tree.func.value
    more: dict[str, Any] = {}
    if isinstance(tree, ast.Call) and not tree.args:
        more = {str(keyword.arg): _argument(keyword) for keyword in tree.keywords}
        tree = tree.func
    kind = registry.design_of(tree.id if isinstance(tree, ast.Name) else expression)
    known = [item.name for item in fields(kind) if item.init and item.name != "domain"]
    for name in more:
        if name not in known:
            raise unknown_name(f"parameter of {kind.__name__}", name, known)
    try:
        mechanism: Any = kind(domain, epsilon=epsilon, **more)
    except TypeError:
        raise InvalidParameter(
            f"expected more arguments of {kind.__name__} than a domain and ε; write them in brackets, or use "
            f"{kind.__name__} from Python"
        ) from None
    for variant in reversed(variants):
        if variant not in _VARIANTS.get(kind.__name__, ()):
            raise unknown_name(f"variant of {kind.__name__}", variant, _VARIANTS.get(kind.__name__, ()))
        mechanism = getattr(mechanism, variant)()
    return mechanism  # type: ignore[no-any-return]


def _parse(expression: str) -> ast.expr | None:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _argument(keyword: ast.keyword) -> object:
    text = ast.unparse(keyword.value)
    if keyword.arg == "loss":
        return losses_module.loss_of(text.strip("'\""))
    if keyword.arg == "criterion":
        return text.strip("'\"")
    if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool | int | float | str):
        return keyword.value.value
    raise InvalidParameter(
        f"expected {keyword.arg} to be a number, True, False or a text in quotes, got {found(text)}"
    )


@cache
def _kinds(base: type) -> tuple[type[Mechanism[Any]], ...]:
    found: list[type[Mechanism[Any]]] = []
    for kind in registry.names().values():
        if (
            issubclass(kind, base)
            and issubclass(kind, Mechanism)
            and kind not in (Optimal, RR)
            and _plain(kind)
        ):
            found.append(kind)
    return tuple(found)


def _plain(kind: type[Mechanism[Any]]) -> bool:
    """Return whether a domain and a budget are all that a mechanism needs."""
    needed = {
        field.name
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    }
    return needed <= {"domain", "epsilon"}


def _candidates_of(
    kind: type[Mechanism[Any]],
    domain: Domain,
    epsilon: float,
    more: dict[str, Any],
    *,
    variants: bool = True,
) -> Iterator[Candidate]:
    if not isinstance(domain, kind._takes):
        return
    name = _name(kind, more)
    try:
        mechanism = kind(domain, epsilon=epsilon, **more)
    except DitherError:  # a protocol for two categories only, or a budget that its integers cannot carry
        return
    if not isinstance(mechanism.guarantee.bound, Pure) or mechanism.guarantee.assumes:
        return  # another kind of guarantee cannot be compared by errors only
    yield Candidate(name, mechanism)
    if variants and not domain.circular:  # on a circle every report lies in the domain: nothing to truncate
        for variant in _VARIANTS.get(kind.__name__, ()):
            yield Candidate(f"{name}.{variant}()", getattr(mechanism, variant)())


def _name(kind: type[Mechanism[Any]], more: dict[str, Any]) -> str:
    shown = ", ".join(
        f"{name}={value!r}" if name == "report" else f"{name}={value}" for name, value in more.items()
    )
    return f"{kind.__name__}({shown})" if shown else kind.__name__


_NEARLY: Final = 1.03
_MANY: Final = 10_000  # categories from which on OLH may be the default
_ABOVE: Final = 1.04  # times the smallest possible variance


def default_protocol(domain: Categories, epsilon: float) -> CategoryMechanism:
    """Return `RR` for two answers; else `KRR`, `ProjectiveResponse` or `SubsetIndices` by computed variance.

    Variances within 3 % of the smallest count as equal, and the shortest report decides. From 10 000
    categories on `OLH` is one of them: few geometries are so large, and at some ε no geometry is near the
    best. Then the variance is at most 4.2 % above the smallest possible, for up to 10⁵ categories and ε up to
    8.
    """
    if len(domain) == 2:
        return RR(domain, epsilon=epsilon)
    found: list[CategoryMechanism] = [KRR(domain, epsilon=epsilon)]
    for kind in (ProjectiveResponse, SubsetIndices):
        try:
            found.append(kind(domain, epsilon=epsilon))
        except InvalidParameter:  # too many categories, or sets too small or too large
            continue
    if len(domain) >= _MANY:
        found.append(OLH(domain, epsilon=epsilon))
    share = 1.0 / len(domain)
    near = smallest = min(protocol.variance(share) for protocol in found)
    near *= _NEARLY
    if len(domain) >= _MANY:
        near = min(near, max(smallest, _ABOVE * least_frequency_variance(len(domain), epsilon)))
    alike = [protocol for protocol in found if protocol.variance(share) <= near]
    return min(alike, key=lambda protocol: (protocol.report_bytes, protocol.variance(share)))
