"""Options that several verbs share: which mechanism, on which domain, with which budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from dither.campaigns.registry import named
from dither.domains import Categories, Circle, Domain, Interval
from dither.mechanisms.mechanism import Mechanism


def domain_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --interval, --circle and --categories, of which one is given, as `domain`."""

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


def _domain(interval: tuple[float, float] | None, circle: float | None, categories: str | None) -> Domain:
    given = [option for option in (interval, circle, categories) if option is not None]
    if len(given) != 1:
        raise click.UsageError("give one domain: --interval LOW HIGH, --circle PERIOD or --categories A,B,…")
    if interval is not None:
        return Interval(*interval)
    if circle is not None:
        return Circle(circle)
    assert categories is not None
    return Categories(int(categories) if categories.isdigit() else categories.split(","))


def build(mechanism: str, domain: Domain, epsilon: float) -> Mechanism:
    """Give the named mechanism on a domain."""
    return named(mechanism)(domain, epsilon=epsilon)
