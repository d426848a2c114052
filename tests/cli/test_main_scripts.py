"""What scripts and shells rely on: JSON everywhere, plain text in a pipe, exit codes, completion."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from dither.cli.main import main
from tests.support.terminal import run

ESCAPE = "\x1b["


def leaves(
    command: click.Command, words: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        return [(words, command)]
    context = click.Context(command)
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [leaf for name, inner in found if inner for leaf in leaves(inner, (*words, name))]


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    file = tmp_path / "trips.csv"
    file.write_text("minutes\n" + "".join(f"{10 + number % 50}\n" for number in range(2000)))
    return file


@pytest.mark.parametrize(
    ("words", "command"), leaves(main), ids=[" ".join(words) for words, _ in leaves(main)]
)
def test_every_verb_has_json(words: tuple[str, ...], command: click.Command) -> None:
    assert any("--json" in option.opts for option in command.params), f"dither {' '.join(words)}"


def test_json_is_all_that_is_printed(trips: Path, tmp_path: Path) -> None:
    out = tmp_path / "reports.csv"
    question = ("--interval", 0, 180, "--epsilon", 1)
    calls: list[tuple[object, ...]] = [
        ("version",),
        ("audit", "podium", *question),
        ("describe", "podium", *question),
        ("compare", "--categories", 5, "--epsilon", 1),
        ("recommend", "--categories", 5, "--goal", "frequencies", "--people", 1000, "--epsilon", 1),
        ("perturb", trips, "--column", "minutes", *question, "-o", out),
        ("estimate", out),
        ("central", "mean", trips, "--column", "minutes", *question),
        ("central", "sum", trips, "--column", "minutes", *question),
        ("reproduce", "--list"),
        ("jrr", "question", "--categories", "no,yes", "--p", 0.7, "--rho", -0.2, "--people", 2, "-o", out),
    ]
    for call in calls:
        result = run(*call, "--json")
        assert result.exit_code == 0, (call, result.output)
        assert json.loads(result.stdout), call


def test_plain_text_in_a_pipe_and_colours_on_a_terminal(trips: Path, tmp_path: Path) -> None:
    out = tmp_path / "reports.csv"
    run("perturb", trips, "--column", "minutes", "--interval", 0, 180, "--epsilon", 1, "-o", out)
    for call in [
        ("audit", "podium", "--interval", 0, 1, "--epsilon", 1),
        ("estimate", out, "--bins", 8),
        ("compare", "--categories", 5, "--epsilon", 1),
    ]:
        assert ESCAPE not in run(*call).output
    held = ("audit", "podium", "--interval", 0, 1, "--epsilon", 1)
    assert ESCAPE in run(*held, color=True).output
    assert ESCAPE not in run(*held, color=True, env={"NO_COLOR": "1"}).output


def test_exit_codes(trips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("version").exit_code == 0
    assert run("audit", "podium", "--epsilon", 1).exit_code == 2  # no domain
    assert run("audit", "nonsense", "--interval", 0, 1, "--epsilon", 1).exit_code == 2
    out = tmp_path / "reports.csv"
    refused = run("perturb", trips, "--column", "minutes", "--interval", 0, 20, "--epsilon", 1, "-o", out)
    assert refused.exit_code == 2
    assert not out.exists()
    from dither.advice.audits import api as exact

    monkeypatch.setattr(exact.Finding, "ok", property(lambda finding: False))
    assert run("audit", "podium", "--interval", 0, 1, "--epsilon", 1).exit_code == 1


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ([], "re", {"recommend", "reproduce"}),
        (["audit"], "pod", {"podium"}),
        (["recommend"], "--go", {"--goal"}),
        (["recommend", "--goal"], "m", {"mean"}),
        (["central"], "me", {"mean"}),
    ],
)
def test_completion(words: list[str], begun: str, offered: set[str]) -> None:
    shell = ShellComplete(main, {}, "dither", "_DITHER_COMPLETE")
    assert offered <= {item.value for item in shell.get_completions(words, begun)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("there is no bash")
    code = "import sys; from dither.cli import main; sys.argv[0] = 'dither'; main(prog_name='dither')"
    environment = {**os.environ, "_DITHER_COMPLETE": f"{shell}_source"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "_DITHER_COMPLETE" in run.stdout
    assert "dither" in run.stdout


def test_help_is_quick() -> None:
    """Less than 0.3 s of processor time, as the best of five, and without numpy."""
    code = (
        "import sys, time; from dither.cli import main; main(['--help'], standalone_mode=False); "
        "print('numpy' in sys.modules, time.process_time())"
    )
    shown = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(5)
    ]
    ends = [one.splitlines()[-1].split() for one in shown]
    assert {loaded for loaded, _ in ends} == {"False"}
    assert min(float(seconds) for _, seconds in ends) < 0.3


def test_an_unknown_command_is_answered_with_the_nearest() -> None:
    result = run("adit")
    assert result.exit_code == 2
    assert result.output.endswith("there is no command 'adit': did you mean audit?\n")


def test_a_specification_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text('{"mechanism": ')
    assert f"{damaged}: " in run("audit", damaged).output.replace("\n", "")
    assert "check that the file exists" in run("audit", tmp_path / "none.json").output


def test_a_folder_that_does_not_exist_is_named(trips: Path, tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "reports.csv"
    result = run("perturb", trips, "--column", "minutes", "--interval", 0, 180, "--epsilon", 1, "-o", out)
    assert result.exit_code == 2
    assert f"{out.parent}: folder not found" in result.output
    assert ".part" not in result.output


def test_an_output_file_has_one_option() -> None:
    for verb in ("estimate", "explain", "perturb"):
        refused = run(verb, "survey.toml", "--output", "page.html")
        assert refused.exit_code == 2
        assert "--out" in refused.output.partition("Did you mean")[2]


def test_a_day_is_written_in_one_way(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text("[questions.age]\ninterval = [18, 100]\nepsilon = 1\n")
    for words in (("card", file, "--begins"), ("campaign", "retire", file, "--key", file, "--day")):
        refused = run(*words, "1 May")
        assert refused.exit_code == 2
        assert "expected a day such as 2026-05-01, today or yesterday, got '1 May'" in refused.output.replace(
            "\n", " "
        )
    card = run("card", file, "--asker", "A", "--contact", "a@a.example", "--begins", "2026-05-01")
    assert json.loads(card.output)["begins"] == "2026-05-01"
