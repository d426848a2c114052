"""`dither collector`: backup, restore, migration and export of what a collector stored."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from dither.cli.options import DAY, FORCE_OPTION, JSON_OPTION
from dither.cli.output import number_of, print_json


@click.group()
def command() -> None:
    """Back up a collector's store, restore it, bring it to this release, or export its reports.

    A backup is one SQLite file, also of a PostgreSQL store, and may be restored into either kind. It can be
    made while the collector runs. What it holds is as confidential as the store: reports one by one.

    \b
    dither collector backup campaign.sqlite monday.backup
    dither collector restore monday.backup campaign.sqlite
    dither collector restore monday.backup postgresql://localhost/dither
    dither collector migrate postgresql://localhost/dither --backup before.backup
    dither collector export campaign.sqlite --since 2026-11-02 -o reports
    """


@command.command()
@click.argument("store")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@FORCE_OPTION
@JSON_OPTION
def backup(store: str, file: Path, force: bool, as_json: bool) -> None:
    """Write a consistent copy of STORE to FILE."""
    from dither.collection.store.backup import backup as write_backup

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
    from dither.collection.store.backup import restore as read_backup

    batches = read_backup(file, store)
    if as_json:
        print_json({"batches": batches})
    else:
        click.echo(f"{batches} batches restored")


@command.command()
@click.argument("store")
@click.option(
    "--backup",
    "file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of the backup that is made first.",
)
@FORCE_OPTION
@JSON_OPTION
def migrate(store: str, file: Path, force: bool, as_json: bool) -> None:
    """Bring STORE, of an earlier release, to the version of this one.

    Collectors of the release before may run meanwhile on PostgreSQL, and afterwards, until all are replaced.
    """
    from dither.collection.store.backup import migrate as bring_forward

    version = bring_forward(store, file, force=force)
    if as_json:
        print_json({"version": version, "backup": str(file)})
    else:
        click.echo(f"the store has version {version}; {file} is as it was before")


@command.command()
@click.argument("store")
@click.option("--since", type=DAY, help="The first day; later exports continue. Default: all.")
@click.option(
    "-o", "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder."
)
@JSON_OPTION
def export(store: str, since: date | None, out: Path, as_json: bool) -> None:
    """Write the reports of STORE as Parquet, also while a collector runs; the next export continues.

    The files are in folders of a day, each batch is in one of them, and their columns are those that
    `dither sql` counts. They are as confidential as the store, and are not deleted with a campaign.
    """
    from dither.collection.store.export import export_reports

    done = export_reports(store, out, since)
    if done.folded:
        days = ", ".join(done.folded[:5]) + (", …" if done.folded[5:] else "")
        click.echo(f"not in the export, because only counts are kept: reports of {days}", err=True)
    batches, reports, withdrawn = done.sums
    if as_json:
        files = [entry.file for entry in done.files]
        numbers = {"batches": batches, "reports": reports, "withdrawn": withdrawn}
        print_json({**numbers, "files": files, "folded": list(done.folded)})
    else:
        words = f"{number_of(batches, 'batch', 'batches')}, {number_of(reports, 'report')}"
        taken = f"; {number_of(withdrawn, 'batch was', 'batches were')} taken back" if withdrawn else ""
        click.echo(f"{words} in {number_of(len(done.files), 'new file')}{taken}")
