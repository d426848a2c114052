"""`dither init`: write the files that a collection begins with, to be read and changed."""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from dither.atomic import refuse_to_overwrite, whole
from dither.cli.output import FORCE_OPTION, JSON_OPTION, check_protection, print_json
from dither.errors import InvalidParameter

_DAYS: Final = 90  # of a campaign; three answers a person, one in each period of 30 days
_CAMPAIGN: Final = """\
# What the tool asks, in 90 days. Change the purpose, the contact and the questions; then sign it again:
# dither campaign publish campaign.toml --key asker.key -o campaign.json --force
[campaign]
name = {name}
asker = {asker}
contact = {contact}
purpose = {purpose}
begins = {begins}
ends = {ends}
people = 100
repeat = "once"  # one answer to a question in each period of so many days, on a day that the device draws
days = 30
labels = []  # versions that a batch may state: with ["1.2"], reports of version 1.2 are counted apart

[questions.command]
categories = ["build", "test", "other"]
epsilon = 1.0

[questions.seconds]
interval = [0, 60]
unit = "seconds"
epsilon = 0.5
mechanism = "Podium"
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
)

# Where a command begins:  telemetry.answer("command", "build")
# `{app} telemetry on|off|status|show|erase`:  telemetry.add_parser(subparsers), or telemetry.click_command()
'''


@click.command()
@click.option("--telemetry", is_flag=True, help="Write a campaign and code for the telemetry of a tool.")
@click.option("--app", help="The name of the tool; that of pyproject.toml, or of this folder, if left out.")
@click.option(
    "--address",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="The collector's address, as devices reach it.",
)
@click.option("--contact", help="Where people can ask; the collector's address if left out.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to; made if there is none.  [default: telemetry]",
)
@FORCE_OPTION
@JSON_OPTION
def command(
    telemetry: bool,
    app: str | None,
    address: str,
    contact: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the files that a collection begins with: a campaign, its key, and code that answers it.

    The files are small and made to be changed. The private key stays with you: it is in asker.key alone.

    \b
    dither init --telemetry --app mytool --address https://telemetry.example
    dither serve telemetry/campaign.json --key telemetry/asker.key
    """
    if not telemetry:
        raise click.UsageError("say what to write: dither init --telemetry")
    facts = _write_telemetry(
        out or Path("telemetry"), app or _guess_app(), address.rstrip("/"), contact, force
    )
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        click.echo(f"{name:10} {value}")
    click.echo(
        f"Copy {facts['code']} and {facts['published']} into your package (pip install dither-device).\n"
        f"Keep {facts['secret']} to yourself: it signs what people are asked.\n"
        f"Collect:  dither serve {facts['published']} --key {facts['secret']}"
    )


def _write_telemetry(
    folder: Path, app: str, address: str, contact: str | None, force: bool
) -> dict[str, str]:
    """Write a campaign in TOML, the key, the signed campaign and the code; return what is where."""
    from dither.service.contract import Contract, Signer

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", app):
        raise InvalidParameter("--app is a name of at most 64 letters, digits, dots, hyphens and underscores")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidParameter("--address is that of a collector, such as https://telemetry.example")
    files = {name: folder / name for name in ("campaign.toml", "campaign.json", "telemetry.py")}
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
    contract = Contract.from_toml(text)
    check_protection(contract.whole_guarantee)
    folder.mkdir(parents=True, exist_ok=True)
    secret = folder / "asker.key"
    published = Signer(secret, make=True).publish(contract)
    texts = {
        files["campaign.toml"]: text,
        files["campaign.json"]: published.to_json() + "\n",
        files["telemetry.py"]: _CODE.format(app=app, address=address, key=published.key),
        folder / ".gitignore": "asker.key\n",
    }
    for file, content in texts.items():
        with whole(file) as stream:
            stream.write(content)
    return {
        "campaign": str(files["campaign.toml"]),
        "published": str(files["campaign.json"]),
        "code": str(files["telemetry.py"]),
        "secret": str(secret),
        "key": published.key,
        "address": f"{address}/v1/campaigns/{published.id}",
        "page": f"{address}/campaigns/{published.id}",
        "promise": str(contract.whole_guarantee),
    }


def _quote(text: str) -> str:
    """Return a text as TOML writes one: as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _guess_app() -> str:
    """Return the name of the project in this folder."""
    try:
        name = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    except (OSError, ValueError, KeyError, TypeError):
        name = Path.cwd().name
    return re.sub(r"[^A-Za-z0-9._-]", "-", str(name)).strip("-.") or "mytool"
