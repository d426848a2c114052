"""`dither init`: write the first files of a collection, to be read and changed."""

from __future__ import annotations

import datetime
import json
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from dither.cli.options import FORCE_OPTION, JSON_OPTION, dialect_options
from dither.cli.output import print_json
from dither.cli.protection import check_protection
from dither.data.dialect import Dialect
from dither.errors import INSTALL_DEVICE, InvalidParameter
from dither.foundation.atomic import refuse_to_overwrite, whole

_DAYS: Final = 90  # days of a campaign; three answers a person, one in each period of 30 days
_CAMPAIGN: Final = """\
# The questions of the tool, for 90 days. Change the purpose, the contact and the questions; then sign again:
# dither campaign publish campaign.toml --key asker.key -o campaign.json --force
[campaign]
name = {name}
asker = {asker}
contact = {contact}
purpose = {purpose}
begins = {begins}
ends = {ends}
people = 100
repeat = "once"  # one answer to each question in each period of `days` days, on a day that the device draws
days = 30
# Public labels of a batch: "test" is left out of all results, versions such as "1.2" are counted separately.
labels = ["test"]

[questions.command]
categories = ["build", "test", "other"]
epsilon = 1.0

[questions.seconds]
interval = [0, 60]
unit = "seconds"
epsilon = 0.5
mechanism = "Podium"
"""
_WEEKS: Final = 26  # weeks of the campaign that counts presence
_PRESENCE: Final = """\
# How many devices are active in a week, and how many come back: one message on the first use in each week,
# without an identifier. Change the purpose and `expects`; then sign it again:
# dither campaign publish presence.toml --key asker.key -o presence.json --force
[campaign]
name = {name}
asker = {asker}
contact = {contact}
purpose = {purpose}
begins = {begins}
ends = {ends}
people = 100
repeat = "present"
every = "week"
expects = 5000  # about how many devices are active in a week; with fewer, list months instead of weeks
label_share = 0.7  # of the devices carry the permanent label; the others carry public labels
# Public labels: "test" is left out of all results. List few versions, such as "1.2".
labels = ["test"]

[questions.installed]
# The week of the first use. The first label includes all earlier weeks, the last one all later weeks.
categories = {weeks}
installed = true
mechanism = "ProjectiveResponse"
epsilon = 1.0
"""
_CODE: Final = '''\
"""Telemetry of {app}: every answer is randomised on this machine before anything is sent."""

from pathlib import Path

from dither_device import Telemetry

telemetry = Telemetry.from_campaign(
    Path(__file__).with_name("campaign.json"),
    app="{app}",
    version="0.1",
    address="{address}",  # the collector
    key="{key}",
    presence=Path(__file__).with_name("presence.json"),
)

# Where the tool starts:  telemetry.present()
# Where a command begins:  telemetry.answer("command", "build")
# `{app} telemetry on|off|status|show|take-back|erase`:
# telemetry.add_parser(subparsers), or telemetry.click_command()
'''
_GO_CODE: Final = """\
// Package telemetry has what {app} asks. Every answer is randomised on this machine before anything is sent.
package telemetry

import (
	_ "embed" // for the campaigns

	"dither/telemetry"
)

//go:embed campaign.json
var campaign string

//go:embed presence.json
var presence string

// Use answers the questions. Where the tool starts: telemetry.Use.Present(nil)
// Where a command begins: telemetry.Use.Answer("command", "build")
// The command `{app} telemetry on|off|status|show|take-back|erase`: telemetry.Use.Command(words)
var Use = telemetry.Start(telemetry.Config{{
	Campaign: campaign,
	Presence: presence,
	Key:      "{key}",
	App:      "{app}",
	Version:  "0.1",
	Address:  "{address}", // the collector
}})
"""
# By language: the file of the code, the code, how it is used, and where the client comes from.
_LANGUAGES: Final = {
    "python": (
        "telemetry.py",
        _CODE,
        "Copy {code}, {published} and {counted}, all into your package.",
        INSTALL_DEVICE,
    ),
    "go": (
        "telemetry.go",
        _GO_CODE,
        'The folder {folder} is a package of your module: import "MODULE/{folder}".',
        "go mod edit -replace dither=CLONE/clients/go && go mod tidy",
    ),
}


_SURVEY: Final = """\
# The questions of {name}. Domains are public: fill them in from public facts (a codebook, a form, a
# law), never from the least and the greatest value of a column, because these are people's answers.
# dither check {file} --campaign {out}
# dither perturb {file} --campaign {out} -o reports.csv

[campaign]
epsilon = {epsilon}  # for one person and all questions together
# sampled = true  # each person answers only one question, drawn at random, with all of epsilon
"""
_SET: Final = """
# {columns}:
# If these are the yes-or-no columns of one question, replace their questions below by this one:
# [questions.{question}]
# several = [{items}]
# most = {most}  # items that a person reports
"""
_BLANK: Final = """\
# Fill in one of these, or delete this question. The minimum and maximum of the column are private:
interval = []  # such as [18, 100]
# categories = ["yes", "no"]
# circle = 360
"""
# Known facts about columns by a pattern of their names, as lines of TOML.
_KNOWN: Final = (
    (r"age|alter|years_old", 'interval = [0, 120]\nunit = "years"\n'),
    (r"percent|pct|share_of_100", "interval = [0, 100]\n"),
    (r"hour|hour_of_day|stunde", 'circle = 24\nunit = "hours"\n'),
    (r"heading|bearing|direction|wind", 'circle = 360\nunit = "degrees"\n'),
    (r"month|monat", "circle = 12\n"),
)


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--column", "columns", multiple=True, help="With FILE: a column to ask about.  [default: all]")
@click.option(
    "--categories",
    "lists",
    multiple=True,
    metavar="COLUMN=A,B,…",
    help="With FILE: the public answers of a column; may be repeated.",
)
@click.option(
    "--epsilon",
    default=1.0,
    show_default=True,
    help="With FILE: the budget of one person for all questions together.",
)
@dialect_options
@click.option("--telemetry", is_flag=True, help="Write a campaign and code for the telemetry of a tool.")
@click.option("--app", help="The name of the tool.  [default: from pyproject.toml, or this folder]")
@click.option(
    "--address",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="The collector's address, as devices reach it.",
)
@click.option(
    "--language",
    type=click.Choice(tuple(_LANGUAGES)),
    default="python",
    show_default=True,
    help="The programming language of the tool.",
)
@click.option("--contact", help="Where people can ask questions.  [default: the collector's address]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The folder to write to, created if missing; with FILE the campaign.  [default: telemetry, or "
    "FILE.toml]",
)
@FORCE_OPTION
@JSON_OPTION
def command(
    file: Path | None,
    columns: tuple[str, ...],
    lists: tuple[str, ...],
    epsilon: float,
    dialect: Dialect,
    telemetry: bool,
    app: str | None,
    address: str,
    language: str,
    contact: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the first files of a collection: a campaign, its key, and code that answers it.

    With FILE, a table, the campaign is derived from the header only, never from values: the least and
    greatest values are private. Domains are left blank unless the name of a column, or value labels of SPSS
    or Stata, state them. The files are small and meant to be edited. The private key of --telemetry is only
    in asker.key and stays with you.

    \b
    dither init survey.xlsx --sheet Data --categories "sex=female,male,other" -o survey.toml
    dither init --telemetry --app mytool --address https://telemetry.example
    dither init --telemetry --app mytool --language go
    dither serve telemetry/campaign.json --key telemetry/asker.key
    """
    if (file is not None) == telemetry:
        raise click.UsageError(
            "expected either FILE or --telemetry; write dither init FILE for a survey, or dither init "
            "--telemetry"
        )
    if file is not None:
        target = out or file.with_suffix(".toml")
        blank, remarks = _write_survey(file, target, columns, lists, epsilon, dialect, force)
        for remark in remarks:
            click.echo(f"{file.name}: {remark}", err=True)
        if as_json:
            print_json({"campaign": str(target), "blank": blank, "remarks": remarks})
            return
        click.echo(f"{target}: fill in the domains of {', '.join(blank)}" if blank else f"{target}")
        click.echo(
            "No value was read, because the least and the greatest value of a private column are private."
        )
        return
    facts = _write_telemetry(
        out or Path("telemetry"), app or _guess_app(), address.rstrip("/"), language, contact, force
    )
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        click.echo(f"{name:10} {value}")
    _, _, use, client = _LANGUAGES[language]
    click.echo(
        f"{use.format(folder=Path(facts['code']).parent, **facts)}\n"
        f"The client: {client}\n"
        f"Keep {facts['secret']} to yourself: it signs your questions.\n"
        f"Collect:  dither serve {facts['published']} {facts['counted']} --key {facts['secret']}"
    )


def _write_survey(
    file: Path,
    out: Path,
    columns: tuple[str, ...],
    lists: tuple[str, ...],
    epsilon: float,
    dialect: Dialect,
    force: bool,
) -> tuple[list[str], list[str]]:
    """Write a campaign with a question for each column, from the header only; return blanks and remarks."""
    from dither.core.question import check_epsilon
    from dither.data.dialect import is_header
    from dither.data.formats.format import require_columns, table_format

    refuse_to_overwrite(out, file, force=force)
    check_epsilon(epsilon)
    reader = table_format(file)
    there = reader.columns(file, dialect)
    if not is_header(there, ("0",)):  # names that may be values are not written
        raise InvalidParameter(
            f"{file.name}: expected only names of columns in the first row; give their row with "
            "--header-row, or add a row of names to the file"
        )
    given = dict(entry.partition("=")[::2] for entry in lists)
    require_columns(file, [*columns, *given], there)
    known = reader.value_labels(file, dialect) if hasattr(reader, "value_labels") else {}
    remarks = reader.remarks(file, dialect) if hasattr(reader, "remarks") else []
    text = _SURVEY.format(
        name=file.name, file=_words(file.name, dialect), out=shlex.quote(out.name), epsilon=epsilon
    )
    blank = []
    signs = "._" if dialect.header_rows[0] == dialect.header_rows[1] else "._ "  # rows are joined by a space
    for start, items in _sets(columns or there, signs).items():
        text += _SET.format(
            columns=", ".join(f"{start}{item}" for item in items),
            question=_quote(start[:-1]),
            items=", ".join(map(_quote, items)),
            most=min(3, len(items)),
        )
        names = ", ".join(f"{start}{item}" for item in items)
        remarks.append(
            f"{names} may be the items of one question; a comment in {out.name} shows how to ask it once"
        )
    for name in columns or there:
        text += f"\n[questions.{_quote(name)}]\n"
        labels = given[name].split(",") if name in given else known.get(name)
        usual = next((lines for pattern, lines in _KNOWN if re.fullmatch(pattern, name.lower())), None)
        if labels:
            text += f"categories = {json.dumps(labels, ensure_ascii=False)}\n"
        elif usual is not None:
            text += usual
        else:
            text += _BLANK
            blank.append(name)
        text += 'optional = false  # true: "no answer" is one of the answers, as private as the others\n'
    with whole(out) as stream:
        stream.write(text)
    return blank, remarks


def _words(file: str, dialect: Dialect) -> str:
    """Return a file with the options of `init` that the next commands need to read it."""
    given = {"--sheet": dialect.sheet, "--header-row": dialect.header_row, "--encoding": dialect.encoding}
    options = [f"{name}={value}" for name, value in given.items() if value not in (None, "1")]
    return shlex.join([file, *options])


def _sets(columns: Sequence[str], signs: str) -> dict[str, list[str]]:
    """Return the items of columns with a common start, such as media_TV and media_radio, by that start.

    `signs` are the characters that may end the start.
    """
    found: dict[str, list[str]] = {}
    for name in columns:
        start, mark, item = next(
            (name.partition(sign) for sign in signs if 0 < name.find(sign) < len(name) - 1), (name, "", "")
        )
        if item and not item.isdigit():
            found.setdefault(start + mark, []).append(item)
    return {start: items for start, items in found.items() if len(items) > 1}


def _write_telemetry(
    folder: Path, app: str, address: str, language: str, contact: str | None, force: bool
) -> dict[str, str]:
    """Write a campaign in TOML, the key, the signed campaign and the code; return their paths."""
    from dither.collection.campaign import Campaign
    from dither.collection.signer import Signer

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", app):
        raise InvalidParameter(
            "expected --app to be a name of at most 64 letters, digits, dots, hyphens and underscores, got "
            f"{app!r}"
        )
    if not _is_address(address):
        raise InvalidParameter(
            f"expected --address to be the https address of a collector, got {address!r}; without TLS "
            "devices send only to their own machine"
        )
    code, text_of_code, *_ = _LANGUAGES[language]
    names = ("campaign.toml", "campaign.json", "presence.toml", "presence.json", code)
    files = {name: folder / name for name in names}
    for file in files.values():
        refuse_to_overwrite(file, force=force)
    today = datetime.datetime.now(datetime.UTC).date()
    text = _CAMPAIGN.format(
        name=_quote(f"{app} usage"[:64]),
        asker=_quote(app),
        contact=_quote(contact or address),
        purpose=_quote(f"Which commands of {app} are used, and how long they take: what to work on."),
        begins=today,
        ends=today + datetime.timedelta(days=_DAYS - 1),
    )
    contract = Campaign.from_toml(text)
    check_protection(contract.whole_guarantee)
    monday = today - datetime.timedelta(today.weekday())
    weeks = [(monday + datetime.timedelta(7 * index)).isoformat() for index in range(-1, _WEEKS + 1)]
    present = _PRESENCE.format(
        name=_quote(f"{app} presence"[:64]),
        asker=_quote(app),
        contact=_quote(contact or address),
        purpose=_quote(f"How many people use {app}, and how many come back."),
        begins=monday,
        ends=monday + datetime.timedelta(7 * _WEEKS - 1),
        weeks="[{}]".format(", ".join(map(_quote, weeks))),
    )
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / "asker.key"
    signer = Signer(secret, make=True)
    published, counted = signer.publish(contract), signer.publish(Campaign.from_toml(present))
    texts = {
        files["presence.toml"]: present,
        files["presence.json"]: counted.to_json() + "\n",
        files["campaign.toml"]: text,
        files["campaign.json"]: published.to_json() + "\n",
        files[code]: text_of_code.format(app=app, address=address, key=published.key),
    }
    ignored = folder / ".gitignore"
    lines = ignored.read_text("utf-8").splitlines() if ignored.exists() else []
    if secret.name not in lines:
        texts[ignored] = "\n".join([*lines, secret.name, ""])
    for file, content in texts.items():
        with whole(file) as stream:
            stream.write(content)
    return {
        "campaign": str(files["campaign.toml"]),
        "published": str(files["campaign.json"]),
        "counted": str(files["presence.json"]),
        "code": str(files[code]),
        "secret": str(secret),
        "key": published.key,
        "address": f"{address}/v1/campaigns/{published.id}",
        "page": f"{address}/campaigns/{published.id}",
        "presence": f"{address}/campaigns/{counted.id}",
        "promise": contract.total.words(),
    }


def _is_address(text: str) -> bool:
    """Return whether devices send to an address (https, or this machine) and a line of code can hold it."""
    from dither.collection.exchange import check_address

    try:
        check_address(text)
    except InvalidParameter:
        return False
    return '"' not in text and text.isprintable()


def _quote(text: str) -> str:
    """Return a text as a TOML string, which has the form of a JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _guess_app() -> str:
    """Return the name of the project in this folder."""
    try:
        name = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        name = Path.cwd().name
    return re.sub(r"[^A-Za-z0-9._-]", "-", str(name)).strip("-.") or "mytool"
