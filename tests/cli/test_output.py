"""How far a verb is: a line at the terminal that is written over, and nothing elsewhere."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from dither.cli import output


class Terminal(io.StringIO):
    """A standard error stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> str:
        """The line that a person sees: each carriage return begins it again."""
        line = ""
        for part in self.getvalue().split("\r"):
            line = part + line[len(part) :]
        return line.rstrip()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal with a clock that goes on by a second whenever somebody looks."""
    opened, seconds = Terminal(), iter(range(1000))
    monkeypatch.setattr(output, "sys", SimpleNamespace(stderr=opened))
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    monkeypatch.setenv("COLUMNS", "80")
    return opened


def test_rows_are_counted_from_the_third_second_on(terminal: Terminal) -> None:
    with output.rows_done("reading a.csv") as advance:
        advance(1000)
        assert terminal.getvalue() == ""
        advance(500)
        assert terminal.screen == "reading a.csv  1,500 rows  0:02"
    assert terminal.screen == ""


def test_a_bar_has_a_total(terminal: Terminal) -> None:
    with output.rows_done("simulating", 400, unit="runs") as advance:
        for _ in range(3):
            advance(100)
        assert terminal.screen == f"[{'#' * 22}{'.' * 8}] simulating  300 runs of 400  0:03"
    assert terminal.screen == ""


def test_steps_are_named(terminal: Terminal) -> None:
    with output.steps(4) as step:
        step("a long name of the first table")
        step("second")
        assert terminal.screen == f"[{'#' * 7}{'.' * 23}] 1/4  second  0:02"
    assert terminal.screen == ""


def test_a_line_is_no_longer_than_the_terminal_and_holds_no_control_characters(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    with output.steps(2) as step:
        step("x" * 50)
        assert len(terminal.screen) == 19
    with output.rows_done("\x1b[2Jnew\nline") as advance:
        advance(1)
        advance(1)
        assert terminal.screen == "?[2Jnew?line  2 row"
    assert terminal.screen == ""


def test_a_line_is_written_ten_times_a_second_at_most(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(number / 100 for number in range(1001))
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=lambda: next(times)))
    with output.rows_done("reading") as advance:
        for _ in range(1000):
            advance(1)
    assert 70 < terminal.getvalue().count("reading") <= 81


def test_nothing_is_written_to_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.StringIO()
    monkeypatch.setattr(output, "sys", SimpleNamespace(stderr=plain))
    with output.rows_done("reading") as advance, output.steps(3) as step:
        advance(10)
        step("first")
    assert plain.getvalue() == ""
