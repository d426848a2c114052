"""Options that several verbs share: the mechanism, the domain, the loss and the criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from dither import losses
from dither.data.options import Dialect
from dither.domains import Domain, Interval
from dither.errors import DitherError
from dither.registry import names
from dither.wire.campaign import Campaign, default_mechanism, read_domain
from dither.wire.codec import from_json


def dialect_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --sep, --decimal, --encoding and --na, and pass what they say as `dialect`."""

    @click.option(
        "--sep", metavar="CHARACTER", help="What separates cells of CSV: , or ; or tab; else detected."
    )
    @click.option(
        "--decimal", type=click.Choice([".", ","]), default=".", show_default=True, help="The decimal sign."
    )
    @click.option("--encoding", metavar="NAME", help="Of text, such as cp1252; else UTF-8 or by its mark.")
    @click.option(
        "--na",
        multiple=True,
        metavar="WORD",
        help="A word for a missing answer, such as NA; may be repeated.",
    )
    @wraps(command)
    def with_dialect(
        *args: Any, sep: str | None, decimal: str, encoding: str | None, na: tuple[str, ...], **kwargs: Any
    ) -> None:
        command(*args, dialect=Dialect(sep, decimal, encoding, na), **kwargs)

    return with_dialect


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --column, the domain, --epsilon, --mechanism and --campaign, and pass them as one `asked`."""

    @click.option("--column", "columns", multiple=True, help="The column to randomise.")
    @domain_options
    @click.option("--epsilon", type=float, help="The budget ε of each person.")
    @click.option(
        "--mechanism",
        shell_complete=mechanism_names,
        help="The mechanism, or its specification FILE.json; by default the best for the domain and ε.",
    )
    @click.option(
        "--campaign",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A TOML file with several questions, instead of --column, a domain and --epsilon.",
    )
    @wraps(command)
    def with_question(
        *args: Any,
        columns: tuple[str, ...],
        domain: Domain | None,
        epsilon: float | None,
        mechanism: str | None,
        campaign: Path | None,
        **kwargs: Any,
    ) -> None:
        if len(columns) > 1:
            raise click.UsageError(
                "--column names one column; for several questions use --campaign FILE.toml"
            )
        asked = Asked(next(iter(columns), None), domain, epsilon, mechanism, campaign)
        command(*args, asked=asked, **kwargs)

    return with_question


@dataclass(frozen=True)
class Asked:
    """The questions that a command line names."""

    column: str | None
    domain: Domain | None
    epsilon: float | None
    mechanism: str | None
    file: Path | None

    def campaign(self) -> Campaign:
        """Return the questions; raise UsageError if they are incomplete, or given twice."""
        given = (self.column, self.domain, self.epsilon, self.mechanism)
        if self.file is not None:
            if any(option is not None for option in given):
                raise click.UsageError(
                    "--campaign holds the questions; leave out --column, --mechanism, the domain and "
                    "--epsilon"
                )
            return Campaign.read(self.file)
        if self.column is not None and self.mechanism is not None and self.mechanism.endswith(".json"):
            return Campaign({self.column: build(self.mechanism, self.domain, self.epsilon)})
        if self.column is None or self.domain is None or self.epsilon is None:
            raise click.UsageError("give --column, a domain and --epsilon, or --campaign FILE")
        if (self.mechanism or "").lower() == "optimal" and isinstance(self.domain, Interval):
            raise click.UsageError(
                'the best mechanism depends on the goal: --mechanism "Optimal(unbiased=True)" for means, '
                '"Optimal(loss=absolute)" or "Optimal(loss=squared)" for single values'
            )
        if self.mechanism is not None:
            return Campaign({self.column: build(self.mechanism, self.domain, self.epsilon)})
        kind: Any = default_mechanism(self.domain, self.epsilon)
        return Campaign({self.column: kind(self.domain, epsilon=self.epsilon)})

    def domains(self) -> dict[str, Domain]:
        """Return the domain of each column; ε is not needed for it."""
        if self.file is None and self.column is not None and self.domain is not None:
            return {self.column: self.domain}
        if self.file is None and self.mechanism is None:
            raise click.UsageError("give --column and a domain, or --campaign FILE")
        return {name: mechanism.domain for name, mechanism in self.campaign().questions.items()}


def domain_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options --interval, --circle and --categories, and pass the domain, or None, as `domain`."""

    @click.option("--interval", nargs=2, type=float, metavar="LOW HIGH", help="Numbers from LOW to HIGH.")
    @click.option("--circle", type=float, metavar="PERIOD", help="Angles from 0 to PERIOD.")
    @click.option("--categories", metavar="A,B,…", help="Labels, separated by commas, or how many there are.")
    @wraps(command)
    def with_domain(
        *args: Any,
        interval: tuple[float, float] | None,
        circle: float | None,
        categories: str | None,
        **kwargs: Any,
    ) -> None:
        command(*args, domain=_domain(interval, circle, categories), **kwargs)

    return with_domain


def _domain(
    interval: tuple[float, float] | None, circle: float | None, categories: str | None
) -> Domain | None:
    given = {"interval": interval, "circle": circle, "categories": categories and _labels(categories)}
    if not any(value is not None for value in given.values()):
        return None
    return read_domain(given)


def _labels(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def mechanism_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a mechanism in a shell."""
    return [name.lower() for name in sorted(names()) if name.lower().startswith(incomplete.lower())]


def needed(domain: Domain | None) -> Domain:
    """Return the domain; raise UsageError if none was given."""
    if domain is None:
        raise click.UsageError("give a domain: --interval LOW HIGH, --circle PERIOD or --categories A,B,…")
    return domain


def build(mechanism: str, domain: Domain | None, epsilon: float | None) -> Any:
    """Return the named mechanism on a domain, or the one that a specification, a JSON file, describes."""
    if mechanism.endswith(".json"):
        if domain is not None or epsilon is not None:
            raise click.UsageError(
                "a specification has its own domain and ε; leave out the domain and --epsilon"
            )
        try:
            return from_json(Path(mechanism).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise click.UsageError(f"the file {mechanism} does not exist or cannot be read") from None
        except DitherError as error:
            raise click.UsageError(f"{mechanism}: {error}") from None
    if epsilon is None:
        raise click.UsageError("give the budget: --epsilon, or a specification: FILE.json")
    from dither.advice.catalogue import built  # it imports every mechanism

    return built(mechanism, needed(domain), epsilon)


def read_loss(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Return the loss of an option; a tuple of losses if it may be repeated, None if it is left out."""
    if isinstance(given, tuple):
        return tuple(losses.named(name) for name in given)
    return None if given is None else losses.named(given)


CRITERION: Final = click.Choice(losses.CRITERIA)
