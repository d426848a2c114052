"""Help is quick: it loads no library. What it shows of the library is what the library has."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import get_args

import click
import pytest

from dither.advice.explain import DELTA
from dither.advice.simulation import Distance
from dither.cli import area, main, options
from dither.cli.main import GROUPS, VERBS
from dither.collection.conformance import KINDS
from dither.data.sql.dialects import DIALECTS
from dither.estimation.method import MINIMUM
from dither.foundation import losses
from tests.support.terminal import run
from tools.house import SOURCE

SCRIPT = """
import contextlib, io, sys
from dither.cli import main
from dither.cli.main import VERBS
for words in [["--help"], *([verb, "--help"] for verb in VERBS)]:
    with contextlib.redirect_stdout(io.StringIO()) as page:
        main(words, standalone_mode=False)
    assert "\\b" not in page.getvalue(), words  # examples, a line each
ours = {name for name in sys.modules if name.partition(".")[0] in ("dither", "dither_papers")}
print(sorted(name for name in ours if not name.startswith("dither.cli")))
dear = "numpy", "cryptography", "sqlite3", "ssl", "http", "asyncio"
print([name for name in dear if name in sys.modules])
"""


def test_no_verb_loads_the_library_for_its_help() -> None:
    shown = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True).stdout
    ours, others = map(ast.literal_eval, shown.splitlines())
    assert ours == [
        "dither",
        "dither.data",
        "dither.data.dialect",
        "dither.data.streams",
        "dither.errors",
        "dither.foundation",
        "dither.foundation.atomic",
        "dither.foundation.markup",  # what is printed shows no control characters
        "dither.foundation.tables",
    ]
    assert others == []


def modules_of(folder: Path, *words: str) -> set[str]:
    """Run a command in an interpreter of its own, and return the modules that it loaded."""
    script = (
        f"import sys; from dither.cli import main; main({list(words)!r}, standalone_mode=False)\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(run.stderr.split())


def own_lines(loaded: set[str]) -> int:
    """Return the lines of dither's modules among those that were loaded: a module cut in two is not more."""
    places = (
        SOURCE.parent.joinpath(*name.split(".")) for name in loaded if name.partition(".")[0] == "dither"
    )
    files = (place / "__init__.py" if place.is_dir() else place.with_suffix(".py") for place in places)
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def test_a_small_file_loads_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x\n" + "0.5\n" * 100)
    domain = ("--interval", "0", "1", "--epsilon", "1")
    loaded = modules_of(tmp_path, "perturb", "in.csv", "--column", "x", *domain, "-o", "reports.csv")
    heavy = {"pyarrow", "pandas", "polars", "scipy", "sqlite3", "ssl", "http", "asyncio"}
    assert not loaded & heavy
    assert (
        own_lines(loaded) <= 28_500  # with the scale and the clipping of an interval, and dates
    )  # 27 332 before reports knew whose they are, 27 600 before plans and tables
    loaded = modules_of(tmp_path, "estimate", "reports.csv")
    assert not loaded & heavy
    assert "dither.estimation.linear" in loaded
    assert not loaded & {
        "dither.advice",
        "dither.mechanisms",
        "dither.data.sql",
        "dither.collection",
        "dither.estimation.maps",
    }


def option(verb: str, name: str) -> click.Option:
    """Return an option of a verb."""
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    return next(one for one in command.params if isinstance(one, click.Option) and name in one.opts)


@pytest.mark.parametrize(
    ("verb", "name", "known"),
    [
        ("sql", "--dialect", sorted(DIALECTS)),
        ("conformance", "--only", KINDS),
        ("recommend", "--distance", get_args(Distance)),
        ("recommend", "--criterion", losses.CRITERIA),
        ("design", "--criterion", losses.CRITERIA),
    ],
)
def test_the_choices_are_those_of_the_library(verb: str, name: str, known: object) -> None:
    kind = option(verb, name).type
    assert isinstance(kind, click.Choice)
    assert list(kind.choices) == list(known)  # type: ignore[call-overload]


def test_the_defaults_are_those_of_the_library() -> None:
    assert option("estimate", "--minimum").default == MINIMUM
    assert option("explain", "--delta").default == DELTA
    assert option("compare", "--loss").default == list(losses.LOSSES)
    assert option("design", "--criterion").default == losses.CRITERIA[0]
    assert losses.LOSS_CHOICES == options.LOSS_CHOICES


def test_every_kind_of_a_trajectory_is_a_mechanism() -> None:
    assert area.of_kind("tracs-c").__name__ == "TraCSC"
    assert all(callable(area.of_kind(kind)) for kind in area.KINDS)
    assert all(callable(area.inside(name)) for name in area.INNER)


def test_help_lists_the_verbs_in_groups() -> None:
    assert list(GROUPS) == ["Randomise", "Plan", "Collect", "Explain", "Research"]
    assert set(GROUPS["Research"]) == {"jrr", "trajectory", "design", "reproduce", "central", "classify"}
    assert sum(map(len, GROUPS.values())) == len(VERBS)
    page = run("--help").output
    titles = [line.removesuffix(":") for line in page.splitlines() if line.endswith(":")]
    assert titles == ["Options", *GROUPS]
    first, second, *_ = (line.split()[1] for line in page.splitlines() if line.startswith("  dither "))
    assert (first, second) == ("perturb", "estimate")
