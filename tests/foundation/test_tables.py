"""Tables as text, Markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.errors import InvalidParameter
from dither.foundation.markup import element
from dither.foundation.tables import (
    ResultTable,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    as_text,
    from_csv,
    show_cell,
    show_column,
    show_row,
)
from tests.support.hypertext import HOSTILE, Reader

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=40)


def test_text_is_aligned_and_long_numbers_are_short() -> None:
    text = as_text(["name", "error"], [["PM", 0.123456], ["longer", 12.0], ["none", None]])
    assert text.splitlines() == ["name     error", "PM      0.1235", "longer      12", "none"]


def test_text_without_a_head_with_its_own_sides() -> None:
    rows = [["a", 1.5, "left"], ["bb", 22.25, "l"]]
    assert as_text((), rows, align="rrl", indent="> ") == ">  a    1.5  left\n> bb  22.25  l"
    assert as_text((), []) == ""
    assert as_text(["x"], [["y"]], emphasis=str.upper) == "X\ny"
    with pytest.raises(ValueError, match=r"shorter|longer"):
        as_text(["a", "b"], [["only one"]])


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.1 + 0.2, "0.3"), (1e-15, "0"), (3, "3"), ("x", "x"), (2.5e-7, "2.5e-07")],
)
def test_a_cell(value: object, text: str) -> None:
    assert show_cell(value) == text


def test_the_numbers_of_a_column_have_the_same_number_of_digits() -> None:
    assert show_column([0.03159, 0.0329, None, 0.0]) == ["0.03159", "0.03290", "", "0"]
    assert show_column([2.0, 19.0]) == ["2.0", "19"]
    assert show_column([1234.0, 0.5, math.inf, "x", 3]) == ["1234", "0.5000", "inf", "x", "3"]
    assert show_column([]) == []


def test_a_row_always_has_a_name() -> None:
    rows = ({"city": None, "sex": "f", "value": 1.0, "low": None}, {"city": "Rom", "sex": "", "value": 2.0})
    assert show_row(rows[0], (0, 9)) == ["no label", "f", "1", ""]
    assert show_row(rows[1], (0, 9)) == ["Rom", "no label", "2"]
    assert show_row({"first": "", "second": None}, (0, 9)) == ["no label", ""]


def test_markdown_escapes_bars_and_line_breaks() -> None:
    lines = as_markdown(["a|b", "c"], [["x\ny", 0.5], ["|", None]]).splitlines()
    assert lines == ["| a\\|b | c |", "| --- | --- |", "| x y | 0.5 |", "| \\| |  |"]


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_markdown_has_one_line_a_row_whatever_the_text(texts: list[str]) -> None:
    lines = as_markdown(["text", "n"], [[text, 1] for text in texts]).split("\n")
    assert len(lines) == 2 + len(texts)
    assert all(line.endswith(" | 1 |") for line in lines[2:])


def test_an_html_table_shows_hostile_text_as_text() -> None:
    read = Reader(as_html([HOSTILE, "b"], [[HOSTILE, 0.25]]))
    assert read.tags == ["table", "tr", "th", "th", "tr", "td", "td"]
    assert read.attributes == []
    assert read.text == [HOSTILE, "b", HOSTILE, "0.25"]


@given(TEXT)
def test_no_text_becomes_markup(text: str) -> None:
    read = Reader(element("p", text, element("b", text), title=text))
    assert read.tags == ["p", "b"]
    assert read.attributes == [("title", text)]
    assert "".join(read.text) == text + text


def test_rows_survive_csv_with_all_their_digits() -> None:
    rows = [{"a": 0.1 + 0.2, "b": 'x, "y"'}, {"a": 1e-300, "c": "z\nz"}]
    assert from_csv(as_csv(rows)) == rows


def test_a_result_is_found_by_name_and_an_unknown_one_says_the_nearest() -> None:
    table = ResultTable(
        "A <title>", ({"mechanism": "Podium", "error": 0.5}, {"mechanism": "SW", "error": 1.0})
    )
    assert table["SW"]["error"] == 1.0
    assert table[0]["mechanism"] == "Podium"
    assert repr(table) == "A <title>\n\nmechanism  error\nPodium       0.5\nSW             1"
    with pytest.raises(InvalidParameter, match="did you mean Podium"):
        table["podum"]
    read = Reader(table._repr_html_())
    assert read.text[0] == "A <title>"
    assert read.tags.count("tr") == 3


def test_latex_has_no_letter_that_latex_reads_as_a_command() -> None:
    text = as_latex(["a & b", "ε ≤"], [["100 % of #1_{x}", "~^\\"], [None, 0.25]])
    assert text.splitlines()[2] == r"a \& b & \ensuremath{\varepsilon} \ensuremath{\le} \\"
    last = r"100 \% of \#1\_\{x\} & \textasciitilde{}\textasciicircum{}\textbackslash{} \\"
    assert text.splitlines()[4] == last
    assert text.splitlines()[5] == r" & 0.25 \\"
    assert as_latex(["R²"], [["‹0 € …"]]).isascii()


def test_an_end_without_a_limit_is_shown_as_the_limit_and_the_value_with_its_digits() -> None:
    row = {"question": "R²", "value": 0.5461, "low": -math.inf, "high": math.inf}
    assert show_row(row, (0.0, 1.0)) == ["R²", "0.5", "‹0", "1›"]
    assert show_row(row, (-math.inf, math.inf)) == ["R²", "0.5461", "-inf", "inf"]


def test_a_table_of_results_in_latex() -> None:
    table = ResultTable("errors", ({"mechanism": "PM", "ε": 1.0}, {"mechanism": "SW", "ε": 2.0}))
    assert table.to_latex().count(r"\\") == 3
    assert r"SW & 2 \\" in table.to_latex()


def test_no_renderer_passes_control_characters_on() -> None:
    """A label comes from whoever asks: it must not clear the screen of whoever reads."""
    rows: list[dict[str, object]] = [{"answer": "a\x1b[2Jb\u202e", "value": 0.5}]
    cells = [["a\x1b[2Jb\u202e", 0.5]]
    texts = [as_csv(rows), as_text(["answer", "value"], cells), as_markdown(["answer", "value"], cells)]
    texts += [as_latex(["answer", "value"], cells), str(as_html(["answer", "value"], cells))]
    for text in texts:
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "a�[2Jb�" in text
