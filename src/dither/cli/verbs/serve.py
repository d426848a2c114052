"""`dither serve`: the collector of a campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli.options import JSON_OPTION, NEW_KEY_OPTION
from dither.cli.output import print_json
from dither.cli.protection import check_protection, print_answering
from dither.cli.questions import find_questions

if TYPE_CHECKING:
    from dither.collection.server import Addresses


@click.command()
@click.argument("campaign", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--store", help="A SQLite file (created if it is missing), or postgresql://…")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port; 0 chooses a free one.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="The number of processes; more than 1 need PostgreSQL.",
)
@click.option(
    "--key", type=click.Path(), help="The key that signs campaigns in TOML.  [default: next to the store]"
)
@NEW_KEY_OPTION
@click.option(
    "--sealing-key",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="A key that decrypts requests of devices; may be repeated, so that keys can be replaced.",
)
@click.option(
    "--list",
    "list_file",
    type=click.Path(exists=True, dir_okay=False),
    help="The list of campaigns.  [default: next to the key]",
)
@click.option("--no-list", is_flag=True, help="Start even if the list of the store's campaigns is missing.")
@click.option("--token-file", type=click.Path(exists=True), help="A file with the token of admin actions.")
@click.option("--origin", multiple=True, help="A web origin whose pages may send; may be repeated.")
@click.option(
    "--proxy", multiple=True, help="An address or network whose X-Forwarded-For is trusted; may be repeated."
)
@click.option(
    "--relay",
    multiple=True,
    help="The address or network of a relay, exempt from the rate limit; may be repeated.",
)
@click.option("--settings", type=click.Path(exists=True), help="A TOML file with limits.")
@JSON_OPTION
def command(
    campaign: tuple[str, ...],
    store: str | None,
    host: str,
    port: int,
    workers: int,
    key: str | None,
    new_key: bool,
    sealing_key: tuple[str, ...],
    list_file: str | None,
    no_list: bool,
    token_file: str | None,
    origin: tuple[str, ...],
    proxy: tuple[str, ...],
    relay: tuple[str, ...],
    settings: str | None,
    as_json: bool,
) -> None:
    """Collect reports for CAMPAIGN: files in TOML, or files of `dither campaign publish`.

    An acknowledged report is on disk. SIGHUP reads the campaigns again. SIGTERM completes all requests and
    ends.

    \b
    dither serve campaign.toml --new-key --origin https://city.example
    dither serve campaign.json --store postgresql://localhost/dither --workers 4
    """
    from dither.collection.server import ServerPlan, serve
    from dither.collection.settings import Settings

    limits = Settings() if settings is None else Settings.read(settings)
    limits = replace(
        limits,
        origins=(*limits.origins, *origin),
        proxies=(*limits.proxies, *proxy),
        relays=(*limits.relays, *relay),
    )
    store_path = store if store is not None else str(Path(campaign[0]).with_suffix(".sqlite"))
    plan = ServerPlan(
        campaign,
        store_path,
        host,
        port,
        workers,
        key,
        token_file,
        limits,
        sealing_key,
        list_file,
        new_key,
        no_list,
    )
    for file in campaign:
        found = find_questions(file, quiet=True)
        check_protection(found.guarantee)
        if found.contract is not None:
            print_answering(found.contract)
    serve(plan, _print_as_json if as_json else _print)


def _print(addresses: Addresses) -> None:
    click.echo(f"page      {addresses.page}")
    for campaign in addresses.campaigns:
        click.echo(f"campaign  {campaign}")
    click.echo(f"client    {addresses.client}")
    for key in addresses.keys:
        click.echo(f"key       {key}")


def _print_as_json(addresses: Addresses) -> None:
    print_json(addresses._asdict())
