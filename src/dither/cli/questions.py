"""The questions of a campaign, a specification, a file of reports, or an address."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.data.streams import TABLES, TRIPS, ending, shown_name
from dither.errors import DitherError

if TYPE_CHECKING:
    from dither.collection.campaign import Campaign
    from dither.collection.published import Published
    from dither.core.questionnaire import Questionnaire
    from dither.privacy import Guarantee
    from dither_device.total import Total


ADDRESSES: Final = ("https://", "http://")


def holds_questions(name: str) -> bool:
    """Return whether a name is an address, or a file with questions other than one specification."""
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
    """The questions of a file or an address, with its other facts."""

    questionnaire: Questionnaire | None  # None if a campaign only counts presence
    published: Published | None = None  # None unless it is signed; verified
    contract: Campaign | None = None  # None unless it states the collector and the duration
    kept: tuple[str, ...] | None = None  # for a file of reports: the columns that are not reports
    made: Mapping[str, Any] = field(default_factory=dict)  # for a file of reports: its origin

    @property
    def campaign(self) -> Questionnaire:
        """The questions; raise UsageError if there are no questions."""
        if self.questionnaire is None:
            raise click.UsageError(
                "expected a campaign with questions, got one that only counts presence; name another one"
            )
        return self.questionnaire

    @property
    def asked(self) -> Any:
        """A person's questions, for the complete campaign if its duration is stated."""
        return self.campaign if self.contract is None else self.contract.over_time

    @property
    def rows(self) -> int | None:
        """The largest number of rows per person in a file, or None if it does not distinguish people."""
        from dither.data.report_files import rows_of_person

        return rows_of_person(self.made)

    def gaps(self, kind: str) -> tuple[str, ...]:
        """Return the columns of a file of reports whose gaps show who is `missing`, or `outside`."""
        if self.made.get(kind) != "skip":
            return ()
        pairs = self.campaign.questions.items()
        return tuple(name for name, question in pairs if kind == "outside" or not question.domain.optional)

    @property
    def total(self) -> Total | None:
        """The total of the complete campaign, if its duration is stated."""
        return None if self.contract is None else self.contract.total

    @property
    def guarantee(self) -> Guarantee:
        """The promise to one person, for the complete campaign if its duration is stated."""
        if self.contract is not None:
            return self.contract.whole_guarantee
        return self.campaign.guarantee.repeated(self.rows or 1)


def find_questions(place: Path | str, column: str | None = None, *, quiet: bool = False) -> Found:
    """Return the questions of a campaign, signed or not, of a specification or of a file of reports.

    `name` is a file, or the address of a campaign at a collector. A signed campaign is verified, with a
    message on standard error unless `quiet`. `column` names the question of a specification. Raise UsageError
    without questions.
    """
    name, path = str(place), Path(place)
    try:
        if name.startswith(ADDRESSES):
            from dither.collection.client import fetch_campaign

            found = _from_published(fetch_campaign(name))
        elif not path.is_file():
            raise click.UsageError(f"cannot read {path}; check that the file exists")
        else:
            found = _read(path, column)
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    except DitherError as error:
        raise click.UsageError(f"{shown_name(path) if '://' not in name else name}: {error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path}: expected text in UTF-8; save the file in UTF-8") from None
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
    return _from_contract(published.contract, published)


def _from_contract(contract: Campaign, published: Published | None = None) -> Found:
    from dither.core.questionnaire import Questionnaire

    return Found(Questionnaire(contract.questions) if contract.questions else None, published, contract)


def _campaign_table(path: Path) -> dict[str, Any]:
    """Return the table [campaign] of a TOML file; empty if there is none, or the file is not TOML."""
    try:
        terms = tomllib.loads(path.read_text(encoding="utf-8")).get("campaign", {})
    except ValueError:  # the reader of the questions reports the error
        return {}
    return terms if isinstance(terms, dict) else {}


def _read(path: Path, column: str | None) -> Found:
    from dither.core.questionnaire import Questionnaire
    from dither.core.wire import from_json
    from dither.data.formats.format import file_specification, is_of_trips, table_format

    if path.suffix == ".toml":
        terms = _campaign_table(path)
        if not {"begins", "ends", "asker"} <= terms.keys():
            often = sorted({"repeat", "days", "every", "answers"} & terms.keys())
            if often:
                say = "say" if len(often) > 1 else "says"
                raise click.UsageError(
                    f"{' and '.join(often)} of {path.name} {say} how often a person answers from the first "
                    "to the last day of a campaign: state asker, contact, purpose, begins and ends in its "
                    "table [campaign], or leave the option out and explain one answer"
                )
            return Found(Questionnaire.read(path))
        from dither.collection.campaign import Campaign

        return _from_contract(Campaign.read(path))
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        if not _is_campaign(text.encode()):
            return Found(Questionnaire({column or path.stem: from_json(text)}))
        if '"signature"' in text:
            from dither.collection.published import Published

            return _from_published(Published.from_json(text))
        return Found(Questionnaire.from_json(text))
    specification = file_specification(path)
    if specification is None:
        raise click.UsageError(
            f"{path}: expected a campaign, a specification or a file of reports; choose another file"
        )
    if is_of_trips(specification):
        from dither.data.trips.reports import read_trip_specification

        return Found(Questionnaire({path.stem: read_trip_specification(specification)[0]}), kept=())
    from dither.data.report_files import read_making

    campaign = Questionnaire.from_json(specification)
    columns = table_format(path).columns(path)
    kept = tuple(name for name in columns if name not in campaign.questions)
    return Found(campaign, kept=kept, made=read_making(specification))
