"""The estimates that a terminal command requests from reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import click

from dither.cli.questions import ADDRESSES
from dither.errors import InvalidParameter, NotIdentifiable, unknown_name

if TYPE_CHECKING:
    from dither.core.counts import Counts
    from dither.estimation.estimate import Alternative, Estimate
    from dither.estimation.groups import GroupCounts, GroupedEstimates, Quantity

_NO_NUMBERS: Final = "the answers to this question are categories"
_NO_BINS: Final = "reports of queries have the cells of their design"
_OF_THOSE: Final = "frequencies of those who answered"
_WITHOUT: Final = {  # reasons why an estimate does not exist, by the question's usual quantity
    ("frequencies", "quantile"): _NO_NUMBERS,
    ("frequencies", "distribution"): _NO_NUMBERS,
    ("cumulative shares", "distribution"): _NO_BINS,
    ("answers", "distribution"): _NO_BINS,
}


@dataclass(frozen=True)
class Wanted:
    """The requested estimates: of numbers other than their mean, of groups, and of rows."""

    bins: int | str | None
    shares: tuple[float, ...]
    step: float | None
    weight: str | None = None
    by: tuple[str, ...] = ()
    cross: str | None = None
    within: str | None = None
    difference: str | None = None  # a baseline; an empty text for all pairs
    test: bool = False
    minimum: int = 100
    population: Mapping[str, float] = field(default_factory=dict)  # share or total of each group
    person: str | None = None  # public column of ids, if people are in several groups
    regression: str | None = None  # a formula
    contrasts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # weights of groups, by name
    alternative: Alternative = "two-sided"  # for p-values of differences and contrasts

    @property
    def numbers(self) -> bool:
        """Whether an estimate for numbers only is requested."""
        return self.bins is not None or self.step is not None or bool(self.shares)

    @property
    def one_sided(self) -> bool:
        """Whether p-values are for one direction."""
        return self.alternative != "two-sided"

    @property
    def rows(self) -> bool:
        """Whether reports with their rows are needed, because counts are not enough."""
        return self.weight is not None or self.rows_but_weight or self.regression is not None

    @property
    def rows_but_weight(self) -> bool:
        """Whether rows are needed, other than for weights or a regression."""
        return self.cross is not None or self.person is not None or self.test

    def check(self, files: Sequence[str], question: bool) -> None:
        """Raise UsageError if the options do not go together."""
        remote = [name for name in files if name.startswith(ADDRESSES)]
        wrong = {
            "--by estimates means and frequencies; leave out --bins, --step and --quantile": self.by
            and self.numbers,
            "--within is of a cross-table: --cross QUESTION --within rows": self.within and not self.cross,
            "--difference is between groups, or between two questions of the same people: "
            "--by COLUMN --difference, --column AFTER --cross BEFORE --difference": self.difference
            is not None
            and not (self.by or self.cross),
            "--difference of two questions is plain, without a group, --within and --test": self.cross
            and (self.difference or (self.difference is not None and (self.within or self.test))),
            "--population is of groups by one public label: --by COLUMN --population A=0.6 …": self.population
            and len(self.by) != 1,
            "--population is one number, without --difference and --test": self.population
            and (self.difference is not None or self.test),
            "--person goes with --by, or with means and frequencies: leave out --cross, --regression, --test "
            "and --quantile": self.person
            and not self.by
            and (self.cross or self.regression or self.test or self.numbers),
            "--contrast is of groups: --by COLUMN --contrast 'NAME: A=-1, B=1'": self.contrasts
            and not self.by,
            "--contrast goes without --difference and --population": self.contrasts
            and (self.difference is not None or self.population),
            "--alternative is of the p-values of --by COLUMN --difference, or --contrast": self.one_sided
            and (not self.by or (self.difference is None and not self.contrasts)),
            "--regression goes with --weight only, and names its questions itself": self.regression
            and (self.rows_but_weight or self.by or self.numbers),
            "--cross and --by do not go together; ask for one after the other": self.cross and self.by,
            "--test is of a cross-table (--cross) or between groups (--by)": self.test
            and not (self.by or self.cross),
            "--bins and --step go without --weight, --cross and --test": self.rows
            and (self.bins is not None or self.step is not None),
            "--weight, --cross, --regression and --test need reports with their rows, in a file; counts have "
            "--by label, and --population": self.rows and any("://" in name for name in files),
            "addresses of collectors go without files and --question": remote
            and (len(remote) < len(files) or question),
        }
        for message, found in wrong.items():
            if found:
                raise click.UsageError(message)


def group_tables(
    groups: dict[str, GroupCounts], column: str | None, minimum: int, quantity: Quantity | None = None
) -> dict[str, GroupedEstimates]:
    """Return the estimates by group of each question, or of one."""
    from dither.estimation.verbs import estimate

    if column is not None:
        if column not in groups:
            raise click.UsageError(str(unknown_name("question", column, groups)))
        groups = {column: groups[column]}
    request = estimate if quantity is None else quantity
    return {name: counts.estimates(request, minimum=minimum) for name, counts in groups.items()}


def usual_title(summary: Counts) -> str:
    """Return the name of a question's usual quantity; raise if the question has none."""
    return next(iter(summary.question.quantities), "mean")


def answers_of(summary: Counts, wanted: Wanted) -> list[tuple[str, Any]]:
    """Return the estimates of one question with labels. A text states why an estimate is missing."""
    from dither.core.domains import Interval
    from dither.core.domains.ranges import of_values
    from dither.estimation.verbs import QUANTITIES, estimate

    if wanted.step is not None and isinstance(summary.question.domain.line, Interval):
        summary = _in_steps(summary, wanted.step)
    usual = usual_title(summary)
    of = of_values(summary.question.domain.clipping)
    found: list[tuple[str, Any]] = [(usual + of, try_answer(estimate, summary))]

    def add(title: str, quantity: str, *more: object) -> None:
        reason = _WITHOUT.get((usual, quantity))
        value = reason if reason else try_answer(QUANTITIES[quantity].function, summary, *more)
        found.append((title, value))

    for share in wanted.shares:
        add(f"quantile {share:g}{of}", "quantile", share)
    if wanted.bins is not None or wanted.step is not None:
        add(f"distribution{of}", "distribution", wanted.bins)
    if "response rate" in summary.question.quantities:
        if usual == "frequencies":
            found.append((_OF_THOSE, try_answer(_shares_of_answered, summary)))
        add("answered", "response rate")
    return found


def _shares_of_answered(summary: Counts) -> Estimate:
    from dither.estimation.verbs import frequencies

    return frequencies(summary).of_answered()


def _in_steps(summary: Counts, step: float) -> Counts:
    """Return the same counts, declared as multiples of a step. Devices do not use the declaration."""
    mechanism = summary.question
    declared = {key: getattr(mechanism.domain.line, key) for key in mechanism.domain.declares}
    domain = mechanism.domain.read_as(**{**declared, "step": step})
    return summary.read_by(replace(mechanism, domain=domain, made_by=None))


def try_answer(function: Callable[..., Any], summary: Counts, *more: object) -> object:
    """Return an estimate, or a text with the reason why this question lacks it."""
    try:
        return function(summary, *more)
    except (InvalidParameter, NotIdentifiable) as error:
        return str(error)
