"""Tables of results, as text, Markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from dither.errors import MissingExtra, unknown_name
from dither.foundation.markup import Markup, element, printable

Row = Mapping[str, Any]


def show_cell(value: object) -> str:
    """Return the text of a cell: a float with four digits, an empty text for None, otherwise str(value)."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "0" if abs(value) < 1e-12 else f"{value:.4g}"
    return printable(str(value), "\n")


def show_column(values: Sequence[object]) -> list[str]:
    """Return the cells of a column; its floats have the same number of significant digits, at most four.

    >>> show_column([0.0329, 0.03159, None, 0.0])
    ['0.03290', '0.03159', '', '0']
    """
    digits = max((_significant(show_cell(value)) for value in values if isinstance(value, float)), default=0)
    return [
        f"{value:#.{digits}g}".removesuffix(".")
        if isinstance(value, float) and math.isfinite(value) and abs(value) >= 1e-12
        else show_cell(value)
        for value in values
    ]


def _significant(text: str) -> int:
    """Return the number of significant digits of a printed number."""
    return max(1, len(text.partition("e")[0].lstrip("-0.").replace(".", "")))


def decimals(width: float) -> int:
    """Return the decimals that show one digit of a width, or two if it begins with 1; negative for tens."""
    exponent = math.floor(math.log10(width))
    return -exponent + (1 if width / 10.0**exponent < 2.0 else 0)


_ENDS: Final = ("value", "low", "high")


def show_row(row: Row, limits: tuple[float, float]) -> list[str]:
    """Return the cells of a row; the width of the interval sets the decimals of the value and its ends.

    An end beyond the limits is the limit with a mark, ‹ or ›, since no population has such a value. The
    columns before the value, which name the row, are never empty.
    """
    cells = {name: show_cell(value) for name, value in row.items()}
    names = list(row)
    for name in names[: names.index("value") if "value" in row else 1]:
        cells[name] = cells[name] or "no label"
    ends = [row.get(name) for name in _ENDS]
    for side, limit in ((1, limits[0]), (2, limits[1])):  # an end without a limit is shown as the limit
        end = ends[side]
        if isinstance(end, float) and math.isinf(end):
            ends[side] = limit
    if all(isinstance(end, float) and math.isfinite(end) for end in ends) and ends[2] > ends[1]:  # type: ignore[operator]
        sides = ends[0] - ends[1], ends[2] - ends[0]  # type: ignore[operator]
        places = decimals(max(min(sides), sum(sides) / 10.0))  # decimals of the shorter side
        if -12 <= places <= 12:
            for name, end in zip(_ENDS, ends, strict=True):
                cells[name] = f"{round(end, places) + 0.0:.{max(places, 0)}f}"  # type: ignore[arg-type]
    for name in _ENDS[1:]:
        end = row.get(name)
        if isinstance(end, float):
            cells[name] = show_end(end, limits) or cells[name]
    if isinstance(row.get("p"), float):
        cells["p"] = "<1e-9" if row["p"] < 1e-9 else f"{row['p']:.2g}"
    return list(cells.values())


def show_end(end: float, limits: tuple[float, float]) -> str:
    """Return the limit with a mark, ‹ or ›, if the end of an interval is beyond it; else an empty text."""
    return f"‹{limits[0]:g}" if end < limits[0] else f"{limits[1]:g}›" if end > limits[1] else ""


def show_label(label: object) -> object:
    """Return the text of a label in tables and pictures: None is "no answer"."""
    return "no answer" if label is None else label


def show_group(label: object) -> object:
    """Return the text of a group by several columns, such as "Nara · June"; other labels are unchanged."""
    return " · ".join(str(show_label(part)) for part in label) if isinstance(label, tuple) else label


def percent(share: float, digits: int = 2) -> str:
    """Return a share in per cent, with `digits` significant digits."""
    return f"{100.0 * share:.{digits}g} %"


def as_text(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    align: str = "",
    indent: str = "",
    emphasis: Callable[[str], str] = str,
) -> str:
    """Return a table as lines of plain text, its columns two spaces apart.

    `align` has a letter for each column, "l" or "r"; by default the first column is aligned to the left and
    all others to the right. An empty `head` is left out; `emphasis` is applied to its line, as for bold type.
    """
    lines = ([list(head)] if head else []) + [[show_cell(value) for value in row] for row in rows]
    if not lines:
        return ""
    sides = align or "l" + "r" * (len(lines[0]) - 1)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        indent
        + "  ".join(
            cell.ljust(width) if side == "l" else cell.rjust(width)
            for cell, width, side in zip(line, widths, sides, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([emphasis(written[0]), *written[1:]] if head else written)


def as_markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown. A vertical bar in a cell is escaped; line breaks become spaces."""
    lines = [head, ["---"] * len(head), *([show_cell(value) for value in row] for row in rows)]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def as_html(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """Return a table in HTML; all text is escaped."""
    lines = [element("tr", *(element("th", name) for name in head))]
    lines += [element("tr", *(element("td", show_cell(value)) for value in row)) for row in rows]
    return element("table", *lines)


_IN_LATEX: Final = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\ensuremath{<}",
        ">": r"\ensuremath{>}",
        "ε": r"\ensuremath{\varepsilon}",
        "δ": r"\ensuremath{\delta}",
        "μ": r"\ensuremath{\mu}",
        "χ": r"\ensuremath{\chi}",
        "²": r"\textsuperscript{2}",
        "°": r"\textdegree{}",
        "€": r"\texteuro{}",
        "‹": r"\ensuremath{\langle}",
        "›": r"\ensuremath{\rangle}",
        "…": r"\dots{}",
        "θ": r"\ensuremath{\theta}",
        "ρ": r"\ensuremath{\rho}",
        "±": r"\ensuremath{\pm}",
        "×": r"\ensuremath{\times}",
        "≤": r"\ensuremath{\le}",
        "≥": r"\ensuremath{\ge}",
        "√": r"\ensuremath{\surd}",
        "∞": r"\ensuremath{\infty}",
        "−": r"\ensuremath{-}",
        "–": "--",
    }
)


def as_latex(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as a `tabular` of LaTeX, with the lines of the package booktabs.

    The first column is aligned to the left and all others to the right.

    >>> print(as_latex(["a_b", "ε"], [["5 %", 0.5]]))
    \\begin{tabular}{lr}
    \\toprule
    a\\_b & \\ensuremath{\\varepsilon} \\\\
    \\midrule
    5 \\% & 0.5 \\\\
    \\bottomrule
    \\end{tabular}
    """
    lines = [
        " & ".join(" ".join(show_cell(cell).split()).translate(_IN_LATEX) for cell in line) + r" \\"
        for line in (head, *rows)
    ]
    columns = "l" + "r" * (len(head) - 1)
    inner = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *inner, r"\end{tabular}"])


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV with all their digits; the columns are in the order in which they first appear."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _clean(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _clean(value: object) -> object:
    return printable(value, "\t\n\r") if isinstance(value, str) else value


def from_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows that `as_csv` wrote: numbers as floats, and no entry for an empty cell."""
    return [
        {name: _number(value) for name, value in row.items() if value != ""}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


class Tableau(ABC):
    """A result that can be written as a table in LaTeX, in HTML and as a data frame.

    Polars, PyArrow and DuckDB read it through Arrow's stream protocol.
    """

    @abstractmethod
    def records(self) -> list[Row]:
        """Return the result as rows of a table."""

    @abstractmethod
    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the head and the cells as they are printed."""

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame; needs the extra `frames`."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a table as a data frame", "frames") from None
        rows = [dict(row) for row in self.records()]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return pandas.DataFrame.from_records(rows, columns=columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow batches for data frames; needs the extra `frames`."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtra("a table as a data frame", "frames") from None
        return pyarrow.Table.from_pylist([dict(row) for row in self.records()]).__arrow_c_stream__(
            requested_schema
        )

    def to_latex(self) -> str:
        """Return the printed table as a LaTeX `tabular`; the document needs the package booktabs."""
        return as_latex(*self._cells())

    def to_html(self) -> str:
        """Return the printed table in HTML."""
        return str(as_html(*self._cells()))


@dataclass(frozen=True, eq=False, repr=False)
class Tabular(Tableau):
    """A result whose rows can be shown as a data frame, as HTML in a notebook and as a picture."""

    # The name of the question, if it is known.
    about: str = field(default="", kw_only=True, repr=False, compare=False)

    @abstractmethod
    def plot(self, *, title: str = "", ax: Any = None) -> Any:
        """Draw the result on `ax`, and return the axes; needs the extra `plot`."""

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        limits: tuple[float, float] = getattr(self, "limits", (-math.inf, math.inf))
        return ResultTable("", tuple(self.records()), limits=limits)._cells()

    def _repr_html_(self) -> str:
        """Return the result as HTML for notebooks: the question, its text, the guarantee, and its rows."""
        rows = self.records()
        lines = [self.about, *repr(self).splitlines(), getattr(self, "guarantee", None)]
        said = element("p", *(part for line in lines if line for part in (str(line), element("br"))))
        more = element("p", f"and {len(rows) - MOST_ROWS} more rows") if len(rows) > MOST_ROWS else ""
        limits: tuple[float, float] = getattr(self, "limits", (-math.inf, math.inf))
        shown = ResultTable("", tuple(rows[:MOST_ROWS]), limits=limits)
        return said + (shown._repr_html_() if rows else "") + more


MOST_ROWS: Final = 50  # the most rows of a result in a notebook
# Columns of files about all values; tables that people read have them in the title.
_IN_TITLE: Final = frozenset(("of", "outside", "outside low", "outside high", "bound", "thinned"))


@dataclass(frozen=True, eq=False, repr=False)
class ResultTable(Tableau):
    """Rows of named values with a title; the first value of a row is the row's name.

    `list(table)` returns the rows as dictionaries, and `table["PM"]` the row of that name.
    """

    title: str
    rows: tuple[Row, ...]
    # The range of possible values; ends of intervals are cut there.
    limits: tuple[float, float] = field(default=(-math.inf, math.inf), kw_only=True)
    about: str = field(default="", kw_only=True)  # the name of the question, if it is known

    @property
    def columns(self) -> list[str]:
        """The names of the values, in order."""
        return list(self.rows[0]) if self.rows else []

    def records(self) -> list[Row]:
        """Return the rows as dictionaries."""
        return list(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, key: int | str) -> Row:
        if isinstance(key, int):
            return self.rows[key]
        names = [str(next(iter(row.values()))) for row in self.rows]
        if key not in names:
            raise unknown_name("row", key, names)
        return self.rows[names.index(key)]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        shown = [{name: cell for name, cell in row.items() if name not in _IN_TITLE} for row in self.rows]
        cells = [show_row(row, self.limits) for row in shown]
        for row, names, line in zip(self.rows, shown, cells, strict=True):
            if row.get("bound"):  # a lower bound has no value of its own
                value, low = (list(names).index(name) for name in ("value", "low"))
                line[value] = f"{row['bound']} {line[low]}"
        return list(shown[0]) if shown else [], cells

    def __repr__(self) -> str:
        return f"{self.title}\n\n{as_text(*self._cells())}"

    def _repr_html_(self) -> str:
        """Return the table as HTML for notebooks."""
        title = f"{self.about}: " * bool(self.about) + self.title
        return (element("p", title) if title else "") + as_html(*self._cells())


def period_start(period: str, day: date) -> date:
    """Return the first day of the "week" (its Monday) or "month" of a day; for any other period the day."""
    if period == "week":
        return day - timedelta(day.weekday())
    return day.replace(day=1) if period == "month" else day
