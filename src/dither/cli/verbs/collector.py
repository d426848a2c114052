"""`dither collector`: backup and restore of what a collector stored."""

from __future__ import annotations

from pathlib import Path

import click

from dither.cli.output import FORCE_OPTION, JSON_OPTION, print_json


@click.group()
def command() -> None:
    """Back up a collector's store, or restore it.

    A backup is one SQLite file, also of a PostgreSQL store, and may be restored into either kind. It can be
    made while the collector runs. What it holds is as confidential as the store: reports one by one.

    \b
    dither collector backup campaign.sqlite monday.backup
    dither collector restore monday.backup campaign.sqlite
    dither collector restore monday.backup postgresql://localhost/dither
    """


@command.command()
@click.argument("store")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@FORCE_OPTION
@JSON_OPTION
def backup(store: str, file: Path, force: bool, as_json: bool) -> None:
    """Write a consistent copy of STORE to FILE."""
    from dither.service.store.opening import backup as write_backup

    batches = write_backup(store, file, force=force)
    if as_json:
        print_json({"batches": batches, "file": str(file)})
    else:
        click.echo(f"{batches} batches in {file}")


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("store")
@JSON_OPTION
def restore(file: Path, store: str, as_json: bool) -> None:
    """Make STORE of the backup FILE; it must not exist, or be an empty database."""
    from dither.service.store.opening import restore as read_backup

    batches = read_backup(file, store)
    if as_json:
        print_json({"batches": batches})
    else:
        click.echo(f"{batches} batches restored")
