"""What verbs print, and how they load reports and specifications.

Options that several verbs share: the mechanism, the domain, the loss and the criterion.
"""

from __future__ import annotations

import json
import math
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.data.dialect import Dialect
from dither.data.streams import TABLES, TRIPS, ending, shown_name
from dither.errors import DitherError, unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dither.collection.contract import Contract, Published
    from dither.core.domains import Domain
    from dither.core.wire import Campaign
    from dither.privacy import Guarantee


FORCE_OPTION: Final = click.option("--force", is_flag=True, help="Replace the output file if it exists.")
JSON_OPTION: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def rows_done(title: str, total: int | None = None, *, unit: str = "rows") -> Iterator[Callable[[int], None]]:
    """Show how many rows or other units are done, from the third second on; a bar if there is a total."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

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
    from dither.foundation.tables import as_text

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


ADDRESSES: Final = ("https://", "http://")


def holds_questions(name: str) -> bool:
    """Return whether a name is an address, or of a file with questions that is not one specification."""
    if name.startswith(ADDRESSES):
        return True
    path = Path(name)
    if path.suffix == ".json":
        return path.is_file() and _is_campaign(path.read_bytes()[: 1 << 24])
    return ending(path) in {".toml", *TABLES, *TRIPS} and name != "-"


def _is_campaign(text: bytes) -> bool:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and ("questions" in data or data.keys() >= _SIGNED)


_SIGNED: Final = {"campaign", "signature"}


@dataclass(frozen=True)
class Found:
    """The questions of a file or an address, and what else is known about them."""

    campaign: Campaign
    published: Published | None = None  # if it is signed: verified
    contract: Contract | None = None  # if it states who asks, and for how long
    kept: tuple[str, ...] | None = None  # of a file of reports: the columns that are no reports

    @property
    def asked(self) -> Any:
        """What a person is asked, over the whole campaign where that is stated."""
        return self.campaign if self.contract is None else self.contract.over_time

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised, over the whole campaign where that is stated."""
        return self.campaign.guarantee if self.contract is None else self.contract.whole_guarantee


def find_questions(place: Path | str, column: str | None = None, *, quiet: bool = False) -> Found:
    """Return the questions of a campaign, signed or not, of a specification or of a file of reports.

    A place is a file, or the address of a campaign at a collector. A signed campaign is verified, which is
    said on standard error unless `quiet`. `column` names the question of a specification. Raise UsageError if
    there are no questions.
    """
    name, path = str(place), Path(place)
    try:
        if name.startswith(ADDRESSES):
            from dither.collection.client import fetch_campaign

            found = _from_published(fetch_campaign(name))
        elif not path.is_file():
            raise click.UsageError(f"the file {path} does not exist or cannot be read")
        else:
            found = _read(path, column)
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    except DitherError as error:
        raise click.UsageError(f"{shown_name(path) if '://' not in name else name}: {error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None
    if found.published is not None and not quiet:
        click.echo(_signature_words(found.published), err=True)
    return found


def _signature_words(published: Published) -> str:
    gone = "" if published.retired is None else f"; RETIRED from {published.retired[0]} on"
    return (
        f"signed campaign {published.contract.name!r} of {published.contract.asker}: the signature is valid, "
        f"by the key {published.key}; the identity is {published.id}{gone}"
    )


def _from_published(published: Published) -> Found:
    from dither.core.wire import Campaign

    return Found(Campaign(published.contract.questions), published, published.contract)


def _read(path: Path, column: str | None) -> Found:
    from dither.core.wire import Campaign, from_json
    from dither.data.formats.format import file_specification, is_of_trips, table_format

    if path.suffix == ".toml":
        campaign = Campaign.read(path)
        terms = tomllib.loads(path.read_text(encoding="utf-8")).get("campaign", {})
        if not isinstance(terms, dict) or not {"begins", "ends", "asker"} <= terms.keys():
            return Found(campaign)
        from dither.collection.contract import Contract

        return Found(campaign, contract=Contract.read(path))
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        if not _is_campaign(text.encode()):
            return Found(Campaign({column or path.stem: from_json(text)}))
        if '"signature"' in text:
            from dither.collection.contract import Published

            return _from_published(Published.from_json(text))
        return Found(Campaign.from_json(text))
    specification = file_specification(path)
    if specification is None:
        raise click.UsageError(f"{path} holds no questions: it is neither a campaign nor a file of reports")
    if is_of_trips(specification):
        from dither.data.trips.reports import read_trip_specification

        return Found(Campaign({path.stem: read_trip_specification(specification)[0]}), kept=())
    campaign = Campaign.from_json(specification)
    columns = table_format(path).columns(path)
    return Found(campaign, kept=tuple(name for name in columns if name not in campaign.questions))


PROJECT: Final = "dither.toml"
_LARGEST: Final = "largest_epsilon"


def check_protection(guarantee: Guarantee) -> None:
    """Warn on standard error if one person is protected little; refuse more ε than the project file allows.

    The project file is the nearest `dither.toml`, of the working directory or above.
    """
    from dither.advice.explain import caution
    from dither.privacy.guarantee import Metric

    here = Path.cwd()
    file = next((folder / PROJECT for folder in (here, *here.parents) if (folder / PROJECT).is_file()), None)
    largest = math.inf if file is None else _largest_epsilon(file)
    if not isinstance(guarantee.bound, Metric) and guarantee.epsilon > largest * (1 + 1e-9):
        raise click.UsageError(
            f"ε = {guarantee.epsilon:.4g} for one person over the whole campaign is more than {file} allows "
            f"({_LARGEST} = {largest:g}). This guards against mistakes and is no promise: change the file if "
            "you mean it"
        )
    warning = caution(guarantee)
    if warning is not None:
        click.echo(click.style(f"warning: {warning}", fg="yellow"), err=True)


def _largest_epsilon(file: Path) -> float:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise click.UsageError(f"{file} cannot be read: {error}") from None
    for key in table:
        if key != _LARGEST:
            raise unknown_name(f"setting in {file}", key, [_LARGEST])
    largest = table.get(_LARGEST, math.inf)
    if isinstance(largest, bool) or not isinstance(largest, int | float) or not largest > 0:
        raise click.UsageError(f"{file}: {_LARGEST} is a positive number, not {largest!r}")
    return float(largest)


ITEMS_SEP: Final = "dither.items_sep"  # where --several leaves a separator for the dialect


def dialect_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --sep, --decimal, --thousands, --na and others, and pass what they say as `dialect`."""

    @click.option(
        "--sep", metavar="CHARACTER", help="What separates cells of CSV: , or ; or tab; else detected."
    )
    @click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="The decimal sign; else the point, but a column in which 3.500 may be 3 500 is refused.",
    )
    @click.option(
        "--thousands",
        metavar="SIGN",
        help="What separates thousands: . or , or ' or space; else nothing does.",
    )
    @click.option(
        "--sheet", metavar="NAME", help="The sheet of an Excel file, by name or number; else the first."
    )
    @click.option(
        "--header-row",
        default="1",
        show_default=True,
        metavar="ROW",
        help="The row of Excel with the names of the columns; 2-3 are two rows, whose names are joined.",
    )
    @click.option("--encoding", metavar="NAME", help="Of text, such as cp1252; else UTF-8 or by its mark.")
    @click.option(
        "--na",
        multiple=True,
        metavar="WORD",
        help="A word or number for a missing answer, such as NA or -99 (--na=-99); may be repeated.",
    )
    @click.option(
        "--items-sep",
        default=";",
        show_default=True,
        metavar="CHARACTER",
        help="What separates the items of a set in a cell; alone it is the empty set.",
    )
    @wraps(command)
    def with_dialect(
        *args: Any,
        sep: str | None,
        decimal: str | None,
        encoding: str | None,
        na: tuple[str, ...],
        items_sep: str,
        thousands: str | None,
        sheet: str | None,
        header_row: str,
        **kwargs: Any,
    ) -> None:
        items_sep = click.get_current_context().meta.get(ITEMS_SEP, items_sep)
        numbered = int(sheet) if sheet is not None and sheet.isdigit() else sheet
        made = Dialect(sep, decimal, encoding, na, items_sep, thousands, numbered, header_row)
        command(*args, dialect=made, **kwargs)

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
        help="A campaign, in TOML or signed, or its address, instead of --column, a domain and --epsilon.",
    )
    @wraps(command)
    def with_question(
        *args: Any,
        columns: tuple[str, ...],
        domain: Domain | None,
        epsilon: float | None,
        mechanism: str | None,
        campaign: str | None,
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
    file: str | None

    def guarantee(self) -> Guarantee:
        """Return what one person is promised, over the whole campaign where that is stated."""
        return self.campaign.guarantee if self._found is None else self._found.guarantee

    @cached_property
    def _found(self) -> Found | None:
        return None if self.file is None else find_questions(self.file)

    @cached_property
    def campaign(self) -> Campaign:
        """The questions; raise UsageError if they are incomplete, or given twice."""
        from dither.core.wire import Campaign, default_mechanism

        given = (self.column, self.domain, self.epsilon, self.mechanism)
        if self._found is not None:
            if any(option is not None for option in given):
                raise click.UsageError(
                    "--campaign holds the questions; leave out --column, --mechanism, the domain and "
                    "--epsilon"
                )
            return self._found.campaign
        if self.column is not None and self.mechanism is not None and self.mechanism.endswith(".json"):
            return Campaign({self.column: build(self.mechanism, self.domain, self.epsilon)})
        if self.column is None or self.domain is None or self.epsilon is None:
            raise click.UsageError("give --column, a domain and --epsilon, or --campaign FILE")
        if (self.mechanism or "").lower() == "optimal" and self.domain.kind == "interval":
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
        return {name: mechanism.domain for name, mechanism in self.campaign.questions.items()}


def domain_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of domains, and pass the domain, or None, as `domain`."""

    @click.option("--interval", nargs=2, type=float, metavar="LOW HIGH", help="Numbers from LOW to HIGH.")
    @click.option("--circle", type=float, metavar="PERIOD", help="Angles from 0 to PERIOD.")
    @click.option("--categories", metavar="A,B,…", help="Labels, separated by commas, or how many there are.")
    @click.option(
        "--several",
        metavar="A,B,…",
        help="Items of which people have a set, or how many there are; or ';' with --categories A,B,…: cells "
        "hold several of these, with ; between them.",
    )
    @click.option(
        "--most", type=int, metavar="M", help="With --several: how many items a person tells about."
    )
    @click.option(
        "--optional", is_flag=True, help='"No answer" is an answer, as private as any: an empty cell is one.'
    )
    @wraps(command)
    def with_domain(
        *args: Any,
        interval: tuple[float, float] | None,
        circle: float | None,
        categories: str | None,
        several: str | None,
        most: int | None,
        optional: bool,
        **kwargs: Any,
    ) -> None:
        from dither.core.domains.tables import read_table

        if (several is None) != (most is None):
            raise click.UsageError("--several A,B,… and --most M are given together")
        if several is not None and len(several) == 1 and not several.isalnum():
            # --several ';' --categories A,B,…: cells hold several of the categories, with this between them
            click.get_current_context().meta[ITEMS_SEP] = several
            if categories is None:
                raise click.UsageError(
                    f"--several {several} needs --categories A,B,…, the items of the cells"
                )
            several, categories = categories, None
        given: dict[str, Any] = {"interval": interval, "circle": circle}
        given |= {"categories": categories and _labels(categories), "several": several and _labels(several)}
        asked = any(value is not None for value in given.values())
        if optional and not asked:
            raise click.UsageError("--optional is for a domain; in a campaign write optional = true")
        given |= {"most": most, "optional": optional}
        command(*args, domain=read_table(given) if asked else None, **kwargs)

    return with_domain


def _labels(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def mechanism_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a mechanism in a shell."""
    from dither.core.registry import names

    return [name.lower() for name in sorted(names()) if name.lower().startswith(incomplete.lower())]


def need_domain(domain: Domain | None) -> Domain:
    """Return the domain; raise UsageError if none was given."""
    if domain is None:
        raise click.UsageError(
            "give a domain: --interval LOW HIGH, --circle PERIOD, --categories A,B,… or "
            "--several A,B,… --most M"
        )
    return domain


def build(mechanism: str, domain: Domain | None, epsilon: float | None) -> Any:
    """Return the named mechanism on a domain, or the one that a specification, a JSON file, describes."""
    from dither.core.wire import from_json

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
    from dither.foundation import losses

    if isinstance(given, tuple):
        return tuple(losses.loss_of(name) for name in given)
    return None if given is None else losses.loss_of(given)


# What help shows of the library, which is loaded when a verb runs: tests/cli/test_main_help.py compares them.
CRITERION: Final = click.Choice(["worst", "average"])
LOSSES: Final = ("absolute", "squared")
LOSS_CHOICES: Final = "absolute, squared, or a power such as 1.5"


def check_places(files: Sequence[str], tokens: Sequence[str], database: object) -> None:
    """Raise UsageError for options of a database, or of a collector, where none is asked."""
    remote = files[0].startswith(ADDRESSES)
    if database and (remote or "://" not in files[0]):
        raise click.UsageError(
            "--table, --folded, --unique, --wide, --since and --map are of a database, such as "
            "duckdb://reports.db or duckdb://FOLDER with Parquet files; leave them out"
        )
    if tokens and not remote:
        raise click.UsageError("--token-file is of a collector, http://…/v1/campaigns/ID; leave it out")
