"""`dither collector`: backup, restore, migration and export of a collector's store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from dither.cli.options import DAY, FORCE_OPTION, JSON_OPTION
from dither.cli.output import number_of, print_json
from dither.errors import InvalidParameter


@click.group()
def command() -> None:
    """Back up a collector's store, restore it, bring it to this release, or export its reports.

    A backup is one SQLite file, also of a PostgreSQL store, and can be restored into either kind. It can be
    made while the collector runs. It is as confidential as the store, because it contains single reports.

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
    """Create STORE from the backup FILE; STORE must not exist, or be an empty database."""
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
    """Migrate STORE from an earlier release to this one.

    On PostgreSQL, collectors of the previous release may run during and after the migration.
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
@click.option("-o", "--out", required=True, help="The folder, or an address such as s3://bucket/reports.")
@click.option(
    "--table",
    type=click.Choice(["parquet", "delta"]),
    help="Plain files in a folder, or a Delta table; an address is always a Delta table.",
)
@JSON_OPTION
def export(store: str, since: date | None, out: str, table: str | None, as_json: bool) -> None:
    """Write the reports of STORE as Parquet, also while a collector runs; a later export continues it.

    With --table delta they are added to a Delta table, in a folder or an object store, in one commit. The
    credentials of an object store come from the environment.

    Each day has a folder, each batch is in one file, and `dither sql` counts these columns. They are as
    confidential as the store, and are not deleted with a campaign.
    """
    if table == "delta" or "://" in out:
        _export_to_delta(store, out, since, table, as_json)
        return
    from dither.collection.store.export import export_reports

    done = export_reports(store, Path(out), since)
    _say_folded(done.folded)
    batches, reports, withdrawn = done.sums
    if as_json:
        files = [entry.file for entry in done.files]
        numbers = {"batches": batches, "reports": reports, "withdrawn": withdrawn}
        print_json({**numbers, "files": files, "folded": list(done.folded)})
    else:
        words = f"{number_of(batches, 'batch', 'batches')}, {number_of(reports, 'report')}"
        taken = f"; {number_of(withdrawn, 'batch was', 'batches were')} taken back" if withdrawn else ""
        click.echo(f"{words} in {number_of(len(done.files), 'new file')}{taken}")


def _export_to_delta(store: str, out: str, since: date | None, table: str | None, as_json: bool) -> None:
    from dither.collection.store.delta import export_to_delta

    if table == "parquet":
        raise InvalidParameter(
            "expected a folder for plain files, got an address; give a folder, or --table delta"
        )
    done = export_to_delta(store, out, since)
    _say_folded(done.folded)
    if done.clock:
        click.echo(
            f"the clock of this machine differs by {abs(done.clock)} s from the one that dates the files of "
            f"{out}: the reports were added, and no file was joined or removed; set the clock",
            err=True,
        )
    if as_json:
        print_json({**done._asdict(), "folded": list(done.folded), "table": out})
        return
    added = f"{number_of(done.batches, 'batch', 'batches')}, {number_of(done.reports, 'report')}"
    words = f"{added} added to {out}"
    if done.withdrawn:
        words += f"; {number_of(done.withdrawn, 'batch was', 'batches were')} taken back"
    if done.rewritten:
        words += f"; {number_of(done.rewritten, 'row')} of such batches removed"
    click.echo(words)


def _say_folded(folded: Sequence[str]) -> None:
    if folded:
        days = ", ".join(folded[:5]) + (", …" if folded[5:] else "")
        click.echo(f"not in the export, because only counts are kept: reports of {days}", err=True)
