"""Options that several verbs share: the mechanism, the domain, the loss and the criterion."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from dither import losses
from dither.domains import Domain
from dither.errors import DitherError
from dither.mechanisms.base import Mechanism
from dither.registry import named, names
from dither.wire.campaign import read_domain
from dither.wire.codec import from_json


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


def build(mechanism: str, domain: Domain | None, epsilon: float | None) -> Mechanism[Any]:
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
    kind = named(mechanism)
    try:
        return kind(needed(domain), epsilon=epsilon)
    except TypeError:
        raise click.UsageError(
            f"{kind.__name__} needs more arguments than a domain and ε: use it from Python"
        ) from None


def read_loss(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Return the loss of an option; a tuple of losses if it may be repeated, None if it is left out."""
    if isinstance(given, tuple):
        return tuple(losses.named(name) for name in given)
    return None if given is None else losses.named(given)


CRITERION: Final = click.Choice(list(losses.CRITERIA))  # read with `losses.criterion_named`
