"""Options that several verbs share: the mechanism, the domain, the loss and the criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.cli.questions import Found, find_questions
from dither.data.dialect import Dialect
from dither.errors import DitherError

if TYPE_CHECKING:
    from datetime import date

    from dither.core.domains import Domain
    from dither.core.questionnaire import Questionnaire
    from dither.privacy import Guarantee


FORCE_OPTION: Final = click.option("--force", is_flag=True, help="Replace the output file if it exists.")
NEW_KEY_OPTION: Final = click.option(
    "--new-key", is_flag=True, help="Make the key on this machine if it does not exist."
)
JSON_OPTION: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class _Day(click.ParamType):  # type: ignore[type-arg]
    """A day such as 2026-05-01, "today" or "yesterday" (UTC), as a date."""

    name = "YYYY-MM-DD"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        from datetime import UTC, datetime, timedelta

        ago = {"today": 0, "yesterday": 1}.get(str(value))
        if ago is not None:
            return datetime.now(UTC).date() - timedelta(days=ago)
        try:
            return datetime.strptime(str(value), "%Y-%m-%d").date()
        except ValueError:
            self.fail(f"expected a day such as 2026-05-01, today or yesterday, got {value!r}", param, ctx)


DAY: Final = _Day()


class _Bins(click.ParamType):  # type: ignore[type-arg]
    """A number of bins, or the part of the calendar that each bin covers."""

    name = "N|month"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        text = str(value)
        if text in ("day", "week", "month", "year", "hour"):
            return text
        try:
            return int(text)
        except ValueError:
            words = "expected a number of bins, or of dates day, week, month or year, of times hour"
            self.fail(f"{words}, got {text!r}", param, ctx)


BINS: Final = _Bins()


ITEMS_SEP: Final = "dither.items_sep"  # key under which --several leaves a separator for the dialect


def dialect_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --sep, --decimal, --thousands, --na and others, and pass their values as `dialect`."""

    @click.option(
        "--sep", metavar="CHARACTER", help="Separator of cells in CSV: , or ; or tab.  [default: detected]"
    )
    @click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="The decimal sign.  [default: the point; a column in which 3.500 may mean 3 500 is refused]",
    )
    @click.option(
        "--thousands",
        metavar="SIGN",
        help="Separator of thousands: . or , or ' or space.  [default: no separator]",
    )
    @click.option(
        "--sheet", metavar="NAME", help="The sheet of an Excel file, by name or number.  [default: the first]"
    )
    @click.option(
        "--header-row",
        default="1",
        show_default=True,
        metavar="ROW",
        help="The row of Excel with the names of the columns. With 2-3 the names of two rows are joined.",
    )
    @click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text, such as cp1252.  [default: UTF-8, or by its byte-order mark]",
    )
    @click.option(
        "--na",
        multiple=True,
        metavar="WORD",
        help="A word or number that means a missing answer, such as NA or -99 (--na=-99); may be repeated.",
    )
    @click.option(
        "--items-sep",
        default=";",
        show_default=True,
        metavar="CHARACTER",
        help="Separator of the items in a cell; a cell with only the separator is the empty set.",
    )
    @wraps(command)
    def with_dialect(
        *args: object,
        sep: str | None,
        decimal: str | None,
        encoding: str | None,
        na: tuple[str, ...],
        items_sep: str,
        thousands: str | None,
        sheet: str | None,
        header_row: str,
        **kwargs: object,
    ) -> None:
        items_sep = click.get_current_context().meta.get(ITEMS_SEP, items_sep)
        numbered = int(sheet) if sheet is not None and sheet.isdigit() else sheet
        made = Dialect(sep, decimal, encoding, na, items_sep, thousands, numbered, header_row)
        command(*args, dialect=made, **kwargs)

    return with_dialect


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --column, the domain, --epsilon, --mechanism and --campaign, and pass them as one `request`."""

    @click.option("--column", "columns", multiple=True, help="The column to randomise.")
    @domain_options
    @click.option("--epsilon", type=float, help="The budget ε of each person.")
    @click.option(
        "--mechanism",
        shell_complete=mechanism_names,
        help="The mechanism, or its specification FILE.json. By default the one with the smallest predicted "
        "error: on an interval the error of a mean, by Optimal(unbiased=True) where its design ships, with "
        "128 outputs if its specification is above 16 kB, else by Hybrid or Podium; on a circle OGPM; for "
        "categories the one with the smallest variance in short reports.",
    )
    @click.option(
        "--campaign",
        help="A campaign, in TOML or signed, or its address, instead of --column, a domain and --epsilon.",
    )
    @wraps(command)
    def with_question(
        *args: object,
        columns: tuple[str, ...],
        domain: Domain | None,
        epsilon: float | None,
        mechanism: str | None,
        campaign: str | None,
        **kwargs: object,
    ) -> None:
        if len(columns) > 1:
            raise click.UsageError(
                f"expected one --column, got {len(columns)}; for several questions use --campaign FILE.toml"
            )
        request = Asked(next(iter(columns), None), domain, epsilon, mechanism, campaign)
        command(*args, asked=request, **kwargs)

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
        """Return the promise to one person, for the complete campaign if its duration is stated."""
        return self.campaign.guarantee if self._found is None else self._found.guarantee

    def check_rows(self) -> None:
        """Raise UsageError if the campaign does not draw a report from one row of values."""
        contract = None if self._found is None else self._found.contract
        if contract is not None and contract.repeat == "kept change":
            raise click.UsageError(
                "expected a campaign with one value per person and question, got kept changes in "
                f"{self.file}, whose reports are about all days of a person; draw them with dt.KeptChange"
            )

    @cached_property
    def _found(self) -> Found | None:
        return None if self.file is None else find_questions(self.file)

    @cached_property
    def campaign(self) -> Questionnaire:
        """The questions; raise UsageError if they are incomplete or stated twice."""
        from dither.advice.ask import default_mechanism
        from dither.core.questionnaire import Questionnaire

        given = (self.column, self.domain, self.epsilon, self.mechanism)
        if self._found is not None:
            if any(option is not None for option in given):
                raise click.UsageError(
                    "expected the questions from --campaign only; leave out --column, --mechanism, the "
                    "domain and --epsilon"
                )
            return self._found.campaign
        if self.column is not None and self.mechanism is not None and self.mechanism.endswith(".json"):
            return Questionnaire({self.column: build(self.mechanism, self.domain, self.epsilon)})
        if self.column is None or self.domain is None or self.epsilon is None:
            raise click.UsageError(
                "expected questions; give --column, a domain such as --interval LOW HIGH, and --epsilon, "
                "or give --campaign FILE"
            )
        if (self.mechanism or "").lower() == "optimal" and self.domain.kind == "interval":
            raise click.UsageError(
                'expected the goal of Optimal; write --mechanism "Optimal(unbiased=True)" for means, '
                '"Optimal(loss=absolute)" or "Optimal(loss=squared)" for single values'
            )
        if self.mechanism is not None:
            return Questionnaire({self.column: build(self.mechanism, self.domain, self.epsilon)})
        kind, more = default_mechanism(self.domain, self.epsilon)
        return Questionnaire({self.column: kind(self.domain, epsilon=self.epsilon, **more)})

    def domains(self) -> dict[str, Domain]:
        """Return the domain of each column; ε is not needed for it."""
        if self.file is None and self.column is not None and self.domain is not None:
            return {self.column: self.domain}
        if self.file is None and self.mechanism is None:
            raise click.UsageError(
                "expected questions; give --column and a domain such as --interval LOW HIGH, or give "
                "--campaign FILE"
            )
        return {name: mechanism.domain for name, mechanism in self.campaign.questions.items()}


def domain_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of domains, and pass the domain, or None, as `domain`."""

    @click.option("--interval", nargs=2, type=float, metavar="LOW HIGH", help="Numbers from LOW to HIGH.")
    @click.option("--circle", type=float, metavar="PERIOD", help="Angles from 0 to PERIOD.")
    @click.option(
        "--date",
        "dates",
        nargs=2,
        type=DAY,
        metavar="FIRST LAST",
        help="Dates from FIRST to LAST, such as 2026-01-01.",
    )
    @click.option("--time", "times", is_flag=True, help="Times of the day, such as 08:15.")
    @click.option("--zone", metavar="NAME", help="With --date or --time: the time zone of time stamps.")
    @click.option("--categories", metavar="A,B,…", help="Labels, separated by commas, or their number.")
    @click.option(
        "--several",
        metavar="A,B,…",
        help="Items, separated by commas, or their number; each person has a set of them. Or ';' with "
        "--categories A,B,…: a cell has several categories, separated by ;.",
    )
    @click.option(
        "--most", type=int, metavar="M", help="With --several: the number of items that a person reports."
    )
    @click.option(
        "--empty",
        type=click.Choice(["missing", "none"]),
        help="With --several: an empty cell means a missing answer, or that nothing was ticked.",
    )
    @click.option(
        "--optional",
        is_flag=True,
        help='"No answer" is one of the answers and as private as the others; empty cells count as it.',
    )
    @wraps(command)
    def with_domain(
        *args: object,
        interval: tuple[float, float] | None,
        circle: float | None,
        dates: tuple[date, date] | None,
        times: bool,
        zone: str | None,
        categories: str | None,
        several: str | None,
        most: int | None,
        empty: str | None,
        optional: bool,
        **kwargs: object,
    ) -> None:
        from dither.core.domains.tables import read_table, take_domain

        if (several is None) != (most is None):
            raise click.UsageError(
                "expected --several A,B,… and --most M together, got only one of them; give both"
            )
        if empty is not None and several is None:
            raise click.UsageError('--empty is for --several; in a campaign write empty = "none"')
        if several is not None and len(several) == 1 and not several.isalnum():
            # --several ';' --categories A,B,…: cells hold several of the categories, with this between them
            click.get_current_context().meta[ITEMS_SEP] = several
            if categories is None:
                raise click.UsageError(
                    f"expected --categories A,B,…, the items of the cells, with --several {several}; give "
                    "them"
                )
            several, categories = categories, None
        if zone is not None and not (dates or times):
            raise click.UsageError(
                "expected --zone with --date or --time; add one of them, or leave --zone out"
            )
        if dates or times:
            others = (interval, circle, categories, several)
            if (dates and times) or any(value is not None for value in others):
                raise click.UsageError(
                    "expected one domain, got several; give --date FIRST LAST, --time, or another one"
                )
            form: dict[str, Any] = {"date": list(dates)} if dates else {"time": True}
            form |= {"zone": zone, "optional": optional}
            command(*args, domain=take_domain(form), **kwargs)
            return
        given: dict[str, Any] = {"interval": interval, "circle": circle}
        given |= {"categories": categories and _labels(categories), "several": several and _labels(several)}
        has_domain = any(value is not None for value in given.values())
        if optional and not has_domain:
            raise click.UsageError("expected --optional with a domain; in a campaign write optional = true")
        given |= {"most": most, "empty": empty, "optional": optional}
        command(*args, domain=read_table(given) if has_domain else None, **kwargs)

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
            "expected a domain; give --interval LOW HIGH, --circle PERIOD, --categories A,B,… or --several "
            "A,B,… --most M"
        )
    return domain


def build(mechanism: str, domain: Domain | None, epsilon: float | None) -> Any:
    """Return the named mechanism on a domain, or the one that a specification, a JSON file, describes."""
    from dither.core.wire import from_json

    if mechanism.endswith(".json"):
        if domain is not None or epsilon is not None:
            raise click.UsageError(
                "expected neither a domain nor --epsilon with a specification because it states both; leave "
                "them out"
            )
        try:
            return from_json(Path(mechanism).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            raise click.UsageError(
                f"cannot read {mechanism}; check that the file exists and is text"
            ) from None
        except DitherError as error:
            raise click.UsageError(f"{mechanism}: {error}") from None
    if epsilon is None:
        raise click.UsageError(
            "expected a budget; give --epsilon, or a specification FILE.json as the mechanism"
        )
    from dither.advice.catalogue import mechanism_of  # it imports every mechanism

    return mechanism_of(mechanism, need_domain(domain), epsilon)


def read_loss(context: click.Context, parameter: click.Parameter, given: Any) -> object:
    """Return the loss of an option; a tuple of losses if it may be repeated, None if it is left out."""
    from dither.foundation import losses

    if isinstance(given, tuple):
        return tuple(losses.loss_of(name) for name in given)
    return None if given is None else losses.loss_of(given)


# Copies of the library's choices for help: the library is loaded when a verb runs.
# tests/cli/test_main_help.py compares them.
CRITERION: Final = click.Choice(["worst", "average"])
LOSSES: Final = ("absolute", "squared")
LOSS_CHOICES: Final = "absolute, squared, or a power such as 1.5"
