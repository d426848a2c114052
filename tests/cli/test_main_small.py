"""Small promises: the version, names that were given, lists of papers, numbers without dust."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.privacy import Guarantee, Pure
from tests.support.terminal import run


def test_the_version() -> None:
    assert dt.__version__ == version("dither")
    assert run("--version").output == f"dither {dt.__version__}\n"


def test_a_campaign_is_read_from_a_name_and_promises_for_all_answers(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[questions.a]\ninterval = [0, 1]\nepsilon = 1\n")
    assert dt.Questionnaire.read(str(path)).guarantee.unit == "value"
    path.write_text(path.read_text() + "[questions.b]\ncategories = 3\nepsilon = 0.5\n")
    both = dt.Questionnaire.read(str(path)).guarantee
    assert (both.unit, both.epsilon) == ("record", pytest.approx(1.5))


@pytest.mark.slow
def test_several_quantiles() -> None:
    told = dt.SW(dt.Interval(0, 1), epsilon=4).perturb([0.2] * 300 + [0.8] * 300, source=dt.Seeded(1))
    several = dt.quantile(told, [0.1, 0.9])
    assert [one.value for one in several] == [dt.quantile(told, share).value for share in (0.1, 0.9)]
    with pytest.raises(InvalidParameter, match="strictly between 0 and 1"):
        dt.quantile(told, [0.1, 2])


def test_the_remaining_budget_is_printed_without_rounding_errors() -> None:
    ledger = dt.privacy.Ledger(epsilon=2)
    for _ in range(2):
        ledger = ledger.give(Guarantee(Pure(0.7)), "a")
    assert ledger.remaining == 0.6
    assert ledger.allows(Guarantee(Pure(ledger.remaining)))


def test_the_list_of_papers() -> None:
    listed = run("reproduce", "--list").output
    assert "podium  Podium" in listed
    assert "dissertation, chapter 4" in listed
    for wrong in ("00", "0", "pod", "2"):
        refused = run("reproduce", wrong, "--list")
        assert refused.exit_code == 2, wrong
        assert "there is no paper" in refused.output
    items = json.loads(run("reproduce", "jrr", "table 4.1", "theorem 3", "--list", "--json").output)
    assert [(one["paper"], one["name"]) for one in items] == [("jrr", "table 4.1"), ("jrr", "theorem 3")]


def test_the_command_line_uses_one_thread_of_a_matrix_library_unless_told_otherwise() -> None:
    said = "import os, dither.cli; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, expected in ((None, "1"), ("3", "3")):
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environment |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
        done = subprocess.run(
            [sys.executable, "-c", said], capture_output=True, text=True, check=True, env=environment
        )
        assert done.stdout.strip() == expected


def test_an_unforeseen_error_is_not_the_answer_no(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1 says that something does not hold; a mistake of the program never says that."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by accident")

    monkeypatch.setattr("dither.cli.verbs.version.command.callback", fail)
    done = run("version")
    assert done.exit_code == 2
    assert "ZeroDivisionError: by accident" in done.stderr


def test_a_terminal_shows_no_control_characters() -> None:
    from dither.cli.main import without_controls
    from dither.cli.output import emphasise

    assert without_controls("ε = 1\n\tfine") == "ε = 1\n\tfine"
    assert without_controls("a\x1b[2Jb\x1b[1Ac\x07\u202ed") == "a�[2Jb�[1Ac��d"
    assert without_controls(emphasise("bold", "bold") + "\n") == "\x1b[1mbold\x1b[0m\n"
    assert without_controls("\r50 %") == "\r50 %"
    # Styles of others could hide letters, in the colour behind them or by the style 8.
    assert without_controls("a\x1b[8mb\x1b[30;40mc\x1b[1m\x1b[K\rd\n") == "a�[8mb�[30;40mc�[1m�[K�d\n"
