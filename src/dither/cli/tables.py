"""Results in files: tables as CSV, Excel, Markdown, TeX and HTML, and pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from dither.cli.output import save_picture
from dither.errors import MissingExtra
from dither.foundation.atomic import refuse_to_overwrite, rename_after
from dither.foundation.tables import ResultTable, as_csv, as_html, as_latex, as_markdown

FORMATS: Final = (".csv", ".md", ".tex", ".html", ".xlsx")
_PAGE: Final = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>estimates</title>\n{}\n'
PICTURES: Final = (".png", ".svg", ".pdf")


@dataclass(frozen=True, eq=False, repr=False)
class CrossTable(ResultTable):
    """A cross-table: its rows, and its head and cells as printed."""

    printed: tuple[list[str], list[list[str]]] = field(kw_only=True)


def table_of(name: str, result: Any) -> ResultTable:
    """Return a result as a table whose first column names it."""
    rows = result.records()
    limits = getattr(result, "limits", (-float("inf"), float("inf")))
    if hasattr(result, "within_rows"):
        (_, *head), lines = result._cells()
        named = tuple({"question": name, **row} for row in rows)
        return CrossTable(name, named, limits=limits, printed=([name, *head], lines))
    return ResultTable(name, tuple({"question": name, **row} for row in rows), limits=limits)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of cells that JSON has: other labels as text, None for NaN and infinities."""
    shown = {}
    for name, cell in row.items():
        finite = not isinstance(cell, float) or abs(cell) < float("inf")
        plain = cell is None or isinstance(cell, bool | int | float | str)
        shown[name] = (cell if finite else None) if plain else str(cell)
    return shown


def check_outputs(files: Sequence[str], out: Path | None, picture: Path | None) -> None:
    """Raise before anything is read if an output has an unknown ending or is an input."""
    for path, endings, what in ((out, FORMATS, "a table"), (picture, PICTURES, "a picture")):
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise click.UsageError(
                f"{path}: expected {what} to be written to a file that ends in {', '.join(endings)}; "
                "rename the file"
            )
        refuse_to_overwrite(path, *(Path(name) for name in files if "://" not in name), force=True)


def write_results(results: Mapping[str, Any], out: Path | None, picture: Path | None) -> None:
    """Write results as a table, and the first of them as a picture; a file that exists is replaced."""
    if out is not None:
        tables = [table_of(name, result) for name, result in results.items() if not isinstance(result, str)]
        write_tables(out, tables)
        click.echo(f"wrote {out}", err=True)
    if picture is not None:
        name, result = _picture_of(results)
        axes = result.plot(title=name)
        with rename_after(picture) as part:
            save_picture(axes, part, dpi=150)
        click.echo(f"wrote {picture}", err=True)


def _picture_of(results: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the result to plot, with its title: the distribution, quantiles or mean of one question."""
    every = {name: result for name, result in results.items() if hasattr(result, "plot")}
    drawn = {name: result for name, result in every.items() if not name.endswith(": test")} or every
    question = next(iter(drawn), "")
    if len(drawn) > 1 and all(name == question or name.startswith(f"{question}: ") for name in drawn):
        bands = [name for name, result in drawn.items() if hasattr(result, "bands")]
        shares = {name: name.partition(": quantile ")[2].split(" ")[0] for name in drawn}
        quantiles = [name for name, share in shares.items() if share]
        if bands:
            return question, drawn[bands[0]]
        if len(quantiles) > 1:
            from dither.estimation.quantiles import EstimatedQuantiles

            parts = [drawn[name] for name in quantiles]
            return question, EstimatedQuantiles.of([float(shares[name]) for name in quantiles], parts)
        chosen = quantiles[0] if quantiles else question  # next to the share of people who answered
        return chosen, drawn[chosen]
    if len(drawn) != 1:
        raise click.UsageError(
            f"expected one result for --plot, got {len(drawn)}; choose a question with --column"
        )
    return next(iter(drawn.items()))


def write_tables(out: Path, tables: Sequence[ResultTable]) -> None:
    """Write all tables to one file: CSV and Excel with all digits, others with the printed digits."""
    kind = out.suffix.lower()
    rows = [dict(row) for table in tables for row in table]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if kind == ".csv":
        data = as_csv(rows).encode()
    elif kind == ".xlsx":
        data = _workbook(columns, rows)
    else:
        write = {".md": as_markdown, ".tex": as_latex, ".html": as_html}[kind]
        text = "\n\n".join(write(head, cells) for head, cells in _blocks(tables))
        data = (_PAGE.format(text) if kind == ".html" else f"{text}\n").encode()
    with rename_after(out) as part:
        part.write_bytes(data)


def _blocks(tables: Sequence[ResultTable]) -> list[tuple[list[str], list[list[str]]]]:
    """Return heads and cells as they are printed: lists of rows, and grids."""
    blocks: list[tuple[list[str], list[list[str]]]] = []
    lists = [table._cells() for table in tables if not isinstance(table, CrossTable)]
    if lists:
        head = list(dict.fromkeys(name for names, _ in lists for name in names))
        rows = [dict(zip(names, line, strict=True)) for names, lines in lists for line in lines]
        blocks.append((head, [[row.get(name, "") for name in head] for row in rows]))
    return blocks + [table.printed for table in tables if isinstance(table, CrossTable)]


def _workbook(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("a file of Excel", "frames") from None
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("estimates")
    sheet.append(list(columns))
    for row in rows:
        plain = plain_row(row)
        sheet.append([_cell(plain.get(name)) for name in columns])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _cell(value: object) -> object:
    """Return a cell of a sheet; a text is never a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "@") else value
