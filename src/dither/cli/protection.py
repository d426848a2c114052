"""A warning if the protection of one person is weak, and the largest ε that a project allows."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dither.cli.output import emphasise
from dither.errors import unknown_name

if TYPE_CHECKING:
    from dither.collection.campaign import Campaign
    from dither.privacy import Guarantee


PROJECT: Final = "dither.toml"
_LARGEST: Final = "largest_epsilon"
_SURE: Final = 2.0  # no warning is due up to this ε: its words are not loaded


def print_answering(contract: Campaign, *, err: bool = True) -> None:
    """Print the draw of each question, the clients that answer it, and why others do not."""
    from dither.collection.kinds import rows

    for line in rows(contract):
        click.echo(f"{'asks':10} {line}", err=err)


def bound_words(guarantee: Guarantee) -> str:
    """Return a guarantee without its unit, for a sentence that names the unit."""
    return ", assuming that ".join([str(guarantee.bound), *filter(None, ["; ".join(guarantee.assumes)])])


def check_protection(guarantee: Guarantee) -> None:
    """Warn on standard error if protection is weak. Raise UsageError for more ε than the project allows.

    The project file is the nearest `dither.toml`, of the working directory or above.
    """
    from dither.privacy.guarantee import Metric, Nothing, Pure

    here = Path.cwd()
    file = next((folder / PROJECT for folder in (here, *here.parents) if (folder / PROJECT).is_file()), None)
    largest = math.inf if file is None else _largest_epsilon(file)
    if not isinstance(guarantee.bound, Metric) and guarantee.epsilon > largest * (1 + 1e-9):
        much = f"ε = {guarantee.epsilon:.4g} for one person over the complete campaign is"
        if isinstance(guarantee.bound, Nothing):
            much = f"nothing limits one person's privacy loss over the campaign ({guarantee.bound.reason}):"
        raise click.UsageError(
            f"{much} more than {file} allows ({_LARGEST} = {largest:g}); lower ε, or change the file if "
            "this is intended"
        )
    if isinstance(guarantee.bound, Pure) and guarantee.epsilon <= _SURE:
        return
    from dither.advice.explain import caution

    warning = caution(guarantee)
    if warning is not None:
        click.echo(emphasise(f"warning: {warning}", "yellow"), err=True)


def _largest_epsilon(file: Path) -> float:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise click.UsageError(f"cannot read {file}: {error}; correct the file") from None
    for key in table:
        if key != _LARGEST:
            raise unknown_name(f"setting in {file}", key, [_LARGEST])
    largest = table.get(_LARGEST, math.inf)
    if isinstance(largest, bool) or not isinstance(largest, int | float) or not largest > 0:
        raise click.UsageError(
            f"{file}: expected {_LARGEST} to be a positive number, got {largest!r}; correct the file"
        )
    return float(largest)
