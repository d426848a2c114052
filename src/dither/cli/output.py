"""What verbs print, and how they load reports and specifications.

Options that several verbs share: the mechanism, the domain, the loss and the criterion.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.data.streams import TABLES, TRIPS, Dialect, ending, shown_name
from dither.errors import DitherError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.domains import Domain
    from dither.question import Question
    from dither.wire.codec import Campaign


FORCE_OPTION: Final = click.option("--force", is_flag=True, help="Replace the output file if it exists.")
JSON_OPTION: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def rows_done(title: str, total: int | None = None, *, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """Show how many rows or other units are done, from the third second on; a bar if there is a total."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    begin, done = time.monotonic(), 0
    bar = Progress(
        SpinnerColumn() if total is None else BarColumn(),
        TextColumn(title),
        TextColumn(f"{{task.completed:,.0f}} {unit}" + ("" if total is None else f" of {total:,}")),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=total)

    def advance(rows: int) -> None:
        nonlocal done
        done += rows
        if not bar.live.is_started and time.monotonic() - begin > 2.0:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()


@contextmanager
def steps(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show a bar that counts steps and names the current one."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        begun = count()

        def step(name: str) -> None:
            bar.update(task, completed=next(begun), description=name)

        yield step


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an indented table with its head in bold type."""
    from dither.table import as_text

    return as_text(head, rows, indent="  ", emphasis=lambda line: click.style(line, bold=True))


def verdict(text: str, ok: bool) -> str:
    """Return text in green if `ok`, in red otherwise."""
    return click.style(text, fg="green" if ok else "red")


def print_json(value: object, *, err: bool = False) -> None:
    """Print a value as one line of JSON; letters such as ε are not escaped."""
    click.echo(json.dumps(value, ensure_ascii=False), err=err)


def number_of(count: int, noun: str) -> str:
    """Return a number with its noun: "1 report", "2 reports"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def save_picture(ax: Axes, file: Path, **more: Any) -> None:
    """Write the figure of some axes to a file, in the format of its ending."""
    ax.figure.canvas.print_figure(file, **more)


def number(value: float, digits: int = 4) -> str:
    """Return a number as text with `digits` significant digits."""
    return f"{value:.{digits}g}"


def probability(share: float) -> str:
    """Return a probability with four decimals, so that those of a column can be compared."""
    return f"{share:.4f}"


def metres(distance: float) -> str:
    """Return a distance in whole metres."""
    return f"{distance:,.0f} m"


def is_question_file(name: str) -> bool:
    """Return whether a name is one of a file that may hold questions, by its ending."""
    return ending(Path(name)) in {".toml", ".json", *TABLES, *TRIPS} and name != "-"


def questions_in(file: Path | str) -> dict[str, Question]:
    """Return the questions of a file by name; raise UsageError if it holds none."""
    path = Path(file)
    if not path.is_file():
        raise click.UsageError(f"the file {path} does not exist or cannot be read")
    try:
        return _read(path)
    except DitherError as error:
        raise click.UsageError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None


def _read(path: Path) -> dict[str, Question]:
    from dither.data.formats import file_specification, is_of_trips
    from dither.wire.codec import Campaign, from_json

    if path.suffix == ".toml":
        return dict(Campaign.read(path).questions)
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith('{"dither"') and '"questions"' in text:
            return dict(Campaign.from_json(text).questions)
        return {path.stem: from_json(text)}
    specification = file_specification(path)
    if specification is None:
        raise click.UsageError(f"{path} holds no questions: it is neither a campaign nor a file of reports")
    if is_of_trips(specification):
        from dither.data.trips import read_trip_specification

        return {path.stem: read_trip_specification(specification)[0]}
    return dict(Campaign.from_json(specification).questions)


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
        help="The mechanism, or its specification FILE.json. By default the one with the smallest predicted "
        "error: on an interval that of a mean, by Optimal(unbiased=True) where its design ships and its "
        "specification has at most 16 kB, else by Hybrid or Podium; on a circle OGPM; for categories the one "
        "with the smallest variance in short reports.",
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
        from dither.domains import Interval
        from dither.wire.codec import Campaign, default_mechanism

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
        kind, more = default_mechanism(self.domain, self.epsilon)
        return Campaign({self.column: kind(self.domain, epsilon=self.epsilon, **more)})

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
    from dither.wire.codec import read_domain

    given = {"interval": interval, "circle": circle, "categories": categories and _labels(categories)}
    if not any(value is not None for value in given.values()):
        return None
    return read_domain(given)


def _labels(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def mechanism_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a mechanism in a shell."""
    from dither.registry import names

    return [name.lower() for name in sorted(names()) if name.lower().startswith(incomplete.lower())]


def need_domain(domain: Domain | None) -> Domain:
    """Return the domain; raise UsageError if none was given."""
    if domain is None:
        raise click.UsageError("give a domain: --interval LOW HIGH, --circle PERIOD or --categories A,B,…")
    return domain


def build(mechanism: str, domain: Domain | None, epsilon: float | None) -> Any:
    """Return the named mechanism on a domain, or the one that a specification, a JSON file, describes."""
    from dither.wire.codec import from_json

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
    from dither.advice.catalogue import mechanism_of  # it imports every mechanism

    return mechanism_of(mechanism, need_domain(domain), epsilon)


def read_loss(context: click.Context, parameter: click.Parameter, given: Any) -> Any:
    """Return the loss of an option; a tuple of losses if it may be repeated, None if it is left out."""
    from dither import losses

    if isinstance(given, tuple):
        return tuple(losses.loss_of(name) for name in given)
    return None if given is None else losses.loss_of(given)


# What help shows of the library, which is loaded when a verb runs: tests/cli/test_main_help.py compares them.
CRITERION: Final = click.Choice(["worst", "average"])
LOSSES: Final = ("absolute", "squared")
LOSS_CHOICES: Final = "absolute, squared, or a power such as 1.5"


def read_questions(file: Path, column: str | None) -> Campaign:
    """Return the questions of a specification, of a campaign in TOML, or of a campaign in JSON."""
    from dither.wire.codec import Campaign, from_json

    if file.suffix == ".toml":
        return Campaign.read(file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is not UTF-8 text") from None
    try:
        if column is not None:
            return Campaign({column: from_json(text)})
        return Campaign.from_json(text)
    except DitherError as error:
        hint = "" if column else "; a specification of one question needs --column, where its reports are"
        raise click.UsageError(f"{shown_name(file)}: {error}{hint}") from None
