"""The rules that keep the house easy to walk: its grain, its classes, its names and its prose.

`python -m tools.house` prints the measurements behind them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path, PurePath

import pytest

import dither
from dither.errors import DitherError
from dither.results import Domain
from tests.docs.test_documents import GENERATED
from tests.support.repository import ROOT, TESTS
from tools import house
from tools.wrap import too_long

LONGEST = 700  # lines of a module
DEEPEST = 4
NAMES = 88  # public names at the top
# Those of public modules included: 220 when the list was cleared, and as many for later work as at the top.
# Classes of results, which nobody makes, are not counted.
ALL_NAMES = 252
WIDTH = 110

# Classes that are inherited from although nothing in them is abstract.
CONCRETE_BASES = {
    "dither.estimation.estimate.Estimate",
    "dither.estimation.estimate.LabelledEstimate",
    "dither.estimation.method.Method",
    "dither.core.kernels.codes.BitReports",
    "dither.core.kernels.codes.BucketReports",
    "dither.core.kernels.sets.subsets.ChosenSets",
    "dither.mechanisms.places.base.StepByStep",
    "dither.foundation.tables.ResultTable",
}

# Methods of the surface that return the thing so changed, as `sorted` does. The list may only shrink.
PARTICIPLES = {
    "estimation/frequency.py:projected",
    "core/kernels/coin.py:rounded",
    "mechanisms/numeric/base.py:centred",
    "mechanisms/numeric/base.py:compressed",
    "mechanisms/numeric/base.py:truncated",
    "mechanisms/numeric/base.py:unbiased",
    "mechanisms/joint/joint.py:rounded",
    "mechanisms/joint/joint.py:tuned",
    "mechanisms/numeric/sw.py:redesigned",
    "mechanisms/places/planning.py:ranked",
    "mechanisms/shuffled.py:shuffled",
    "privacy/guarantee.py:repeated",
    "privacy/guarantee.py:unaccepted",
    "core/question/kinds.py:compressed",
    "core/question/kinds.py:truncated",
}


def test_functions_are_verbs_or_nouns() -> None:
    assert set(house.bare_participles()) == PARTICIPLES


def test_a_variable_is_named_for_what_it_holds() -> None:
    """None is called `one`; a field of a class may be: of two coins both, one or neither shows heads."""
    for name, tree in house.syntax_trees().items():
        fields = {
            id(part.target)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for part in node.body
            if isinstance(part, ast.AnnAssign)
        }
        found = [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if (isinstance(node, ast.Name) and node.id == "one" and id(node) not in fields)
            or (isinstance(node, ast.arg) and node.arg == "one")
        ]
        assert found == []


def test_words_of_the_past_are_gone() -> None:
    for name in house.modules():
        text = (house.SOURCE / name).read_text(encoding="utf-8")
        assert not re.search(r"travelled|version_1\b", text, re.IGNORECASE), name


def test_no_class_is_more_than_four_deep() -> None:
    deep = {kind.__qualname__ for kind in house.classes() if house.depth(kind) > DEEPEST}
    assert deep == set()


# What is counted, by what, and how much of it there is: may only shrink.
ONLY_SHRINK: dict[str, tuple[Callable[[], Collection[object]], int]] = {
    "entries at the top of the package": (lambda: house.entries(house.SOURCE), 13),
    "entries at the root": (lambda: house.entries(ROOT), 16),
    "layers": (house.layers, 10),
    "modules with a second title": (house.second_titles, 0),
    "imports that would close a cycle": (house.cycle_imports, 3),
    "questions asked for their kind": (lambda: house.asked_kinds(dither.Question), 9),
    "domains asked for their kind": (lambda: house.asked_kinds(Domain), 22),
    "files that name Nullable": (lambda: house.files_that_name("Nullable"), 4),
    "files that name Several": (lambda: house.files_that_name("Several"), 6),
    "own classes in a __mro__": (house.longest_line_of_classes, 5),
    "lines with the annotation Any": (house.lines_with_any, 426),
    "implementations of the account's rules": (house.implementations_of_the_account, 1),
    "mechanisms built by recommend": (house.mechanisms_built, 16),
    "modules that a mean loads": (house.loaded_by_a_mean, 78),  # the clipping of an interval, dates
    "modules that dither estimate loads": (house.loaded_by_the_terminal, 100),  # the same ones
    "public names at the top": (lambda: house.TOP, NAMES),
    "methods that replace a concrete one": (house.overrides, 70),
}


def test_a_mean_loads_no_other_method() -> None:
    others = {"density", "curve", "frequency", "pairs", "significance", "likelihood", "groups", "weights"}
    for loaded in (house.loaded_by_a_mean(), house.loaded_by_the_terminal()):
        assert "dither.estimation.linear" in loaded
        assert not {f"dither.estimation.{name}" for name in others} & set(loaded)


def only_shrinks(name: str, found: Collection[object], most: int) -> None:
    """Fail if there are more than before; ask for the smaller number if there are fewer."""
    assert len(found) <= most, f"{name}: {len(found)} instead of {most}: {sorted(map(str, found))}"
    assert len(found) == most, f"there are fewer now: set {name} to {len(found)}"


@pytest.mark.parametrize("name", ONLY_SHRINK)
def test_what_makes_the_house_hard_to_walk_only_shrinks(name: str) -> None:
    measure, most = ONLY_SHRINK[name]
    only_shrinks(f"ONLY_SHRINK[{name!r}]", measure(), most)


MEMBERS = 30  # public names of a mechanism: what people use; its question has the rest


@pytest.mark.parametrize("name", ["Podium", "Laplace", "KRR", "TraCSD", "SetResponse"])
def test_a_mechanism_shows_what_people_use(name: str) -> None:
    shown = [member for member in dir(getattr(dither, name)) if not member.startswith("_")]
    assert len(shown) <= MEMBERS, shown


def test_only_abstract_classes_are_inherited_from() -> None:
    """In place of a mark at every class that must not be inherited from."""
    errors = {
        f"{kind.__module__}.{kind.__qualname__}" for kind in house.classes() if issubclass(kind, DitherError)
    }
    assert set(house.concrete_bases()) - errors == CONCRETE_BASES


def test_no_module_is_longer_than_a_reader_keeps_in_mind() -> None:
    """In the package, and in the device that its wheel carries."""
    device = {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "clients" / "python" / "src" / "dither_device").glob("*.py")
    }
    assert len(device) > 20
    assert {name: lines for name, lines in (house.modules() | device).items() if lines > LONGEST} == {}


# The most files that a call crosses, and the most changes of file. Both may only shrink. They grew when
# modules that held two topics were cut in two, when the verbs of estimation moved above their methods, and
# with the people behind reports, presence, and the sections, views and periods of the page.
CROSSED = {
    "make, perturb, bytes, mean": (30, 226),
    "dither estimate reports.csv": (41, 243),
    "POST of a batch to disk": (17, 74),
    "page and answers": (52, 2600),  # by what is computed before the page is drawn: 47 to 49 and more
    "account.answer": (16, 50),
    "TraCSD to density": (34, 942),
    "black-box audit": (13, 387),
    "recommend": (43, 2076),
}


@pytest.mark.parametrize("name", CROSSED)
@pytest.mark.some("[!p]*")  # the page has to wait for what it computes
def test_a_reader_crosses_few_files(name: str) -> None:
    if name in ("POST of a batch to disk", "page and answers"):
        pytest.importorskip("starlette")
    most_files, most_changes = CROSSED[name]
    files, changes = house.WALKS[name]()
    # An upper bound: what is still in memory after other tests may save a file.
    assert len(files) <= most_files, f"{name}: {len(files)} files instead of {most_files}: {sorted(files)}"
    assert changes <= most_changes, f"{name}: {changes} changes of file instead of {most_changes}"


def test_every_walk_has_a_rule() -> None:
    assert set(CROSSED) == set(house.WALKS)


def test_a_rule_that_only_shrinks_fails_on_both_sides() -> None:
    with pytest.raises(AssertionError, match="3 instead of 2"):
        only_shrinks("X", "abc", 2)
    with pytest.raises(AssertionError, match="there are fewer now: set X to 3"):
        only_shrinks("X", "abc", 4)


@pytest.mark.parametrize(
    ("paragraph", "is_title"),
    [
        ("Channels: a table with an integer weight of every report for every input.", True),
        ("The record whose prediction is examined, and how its features are randomised.", True),
        ("What an account returns: reports that wait.", True),
        ("`dither sql`: the query that counts reports in a database.", True),
        ("The draw of the function does not see the row, so the loss comes only from the value.", False),
        ("A cell that is merged over several columns stands in the first of them.", False),
        ("`dither estimate` reads the rows of files for them.", False),
        ("Nothing here knows what a report is.", False),
        ("Channels: a table\nof weights.", False),
        ("Channels. A table of weights.", False),
        ("    an example.", False),
    ],
)
def test_a_second_title_is_told_from_a_sentence(paragraph: str, is_title: bool) -> None:
    assert house.is_title(paragraph) is is_title


def test_an_import_that_would_close_a_cycle_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {
        "low.py": "def verb():\n    from dither.high import top\n    from dither.other import more\n",
        "middle.py": "from dither.low import verb\n",
        "high.py": "from dither.middle import verb\nif TYPE_CHECKING:\n    from dither.other import more\n",
        "other.py": "def late():\n    from dither.high import top\n",
    }
    monkeypatch.setattr(house, "modules", lambda: dict.fromkeys(sources, 1))
    monkeypatch.setattr(
        house, "syntax_trees", lambda: {name: ast.parse(text) for name, text in sources.items()}
    )
    assert house.cycle_imports() == ["low.py:2 high.py"]


def test_the_surface_is_small_and_each_name_has_one_address() -> None:
    assert len(house.TOP) <= NAMES
    assert len(house.public_names()) <= ALL_NAMES
    assert house.at_two_addresses() == []


def test_no_private_type_stands_in_a_public_signature() -> None:
    """What a caller gives and gets has a public name: a class, a few strings, a type of numpy."""
    assert house.private_types() == {}


# Folders of tests that are about many modules; all others mirror the package.
ACROSS = ("across", "conformance", "docs", "extras", "fuzz", "golden", "laws", "proofs", "statistical")


def homeless(tests: Iterable[str], modules: Collection[str]) -> list[str]:
    """Return the files of tests that are neither in a folder of ACROSS nor at the path of a module.

    The tests of `room/module.py` are `room/test_module.py`, and `room/test_module_topic.py` for a long topic;
    a package is a module.
    """
    known = {name.removesuffix(".py") for name in modules}
    known |= {PurePath(name).parent.as_posix() for name in modules}
    found = []
    for test in tests:
        path = PurePath(test)
        words = path.stem.removeprefix("test_").split("_")
        homes = {(path.parent / "_".join(words[:end])).as_posix() for end in range(1, len(words) + 1)}
        if not homes & known and not set(path.parts[:-1]) & set(ACROSS):
            found.append(test)
    return found


def test_tests_are_found_by_path() -> None:
    tests = [path.relative_to(TESTS).as_posix() for path in sorted(TESTS.rglob("test_*.py"))]
    assert homeless(tests, house.modules()) == []


def test_tests_at_another_place_are_found() -> None:
    modules = ["room/__init__.py", "room/module.py", "room/shelf/book.py"]
    right = ["room/test_module.py", "room/test_module_long_topic.py", "room/test_shelf.py", "test_room.py"]
    wrong = ["room/test_topic.py", "room/test_mod.py", "room/shelf/test_module.py", "test_module.py"]
    assert homeless([*right, *wrong, "laws/test_topic.py", "room/across/test_topic.py"], modules) == wrong


def test_paragraphs_of_docstrings_are_indented_alike() -> None:
    device = ROOT / "clients" / "python" / "src" / "dither_device"
    assert house.ragged_docstrings({**house.syntax_trees(), **house.syntax_trees(device)}) == []
    right, wrong = ('def f():\n    """Title.\n\n%sMore.\n    """\n' % (" " * width) for width in (4, 8))
    trees = {"right.py": ast.parse(right), "wrong.py": ast.parse(wrong)}
    assert house.ragged_docstrings(trees) == ["wrong.py:2"]


def test_one_function_types_at_the_command_line() -> None:
    runners = [
        path.relative_to(ROOT).as_posix()
        for folder in (TESTS, ROOT / "papers" / "tests", ROOT / "tools" / "tests")
        for path in folder.rglob("*.py")
        if "CliRunner(" in path.read_text(encoding="utf-8") and path != Path(__file__)
    ]
    assert runners == ["tests/support/terminal.py"]


def test_one_module_decides_what_is_done_with_a_cell() -> None:
    """`missing`, `outside`, `clip` and optional questions, for files and frames alike."""
    choice = re.compile(r"""[=!]= ["'](skip|clip)["']|domain\.empty_is_value""")
    found = {
        path.relative_to(house.SOURCE).as_posix()
        for path in (house.SOURCE / "data").rglob("*.py")
        if choice.search(path.read_text(encoding="utf-8"))
    }
    trips = "data/trips/reports.py"  # locations of trips, which are no cells
    assert found == {"data/columns.py", "data/rows.py", trips}
    rows = (house.SOURCE / "data" / "rows.py").read_text(encoding="utf-8")
    assert choice.findall(rows) == [""]  # a row of which no answer is missing is used


def test_what_shows_a_result_starts_from_its_records() -> None:
    """The terminal, files and the page read rows; none of them takes a result apart by itself."""
    for name in ("cli/show.py", "cli/tables.py", "collection/web/answers.py", "collection/web/pages.py"):
        text = (house.SOURCE / name).read_text(encoding="utf-8")
        assert ".bands(" not in text, name
        assert ".probabilities" not in text.replace('"probabilities": value.probabilities', ""), name


def pages() -> list[Path]:
    """Return the pages of the project, without those that are made from the code."""
    written = [page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED]
    return [*ROOT.glob("*.md"), *written, *(ROOT / "clients").glob("*/README.md")]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose_has_at_most_110_characters_a_line(page: Path) -> None:
    assert too_long(page.read_text(encoding="utf-8"), WIDTH) == [], "python -m tools.wrap wraps it"


def test_the_rules_can_fail(tmp_path: Path) -> None:
    assert too_long("word " * 40, WIDTH) == [1]
    assert too_long("| " + "word " * 40, WIDTH) == []

    class Broken(Exception):
        """Four classes deep are allowed; this one has none of the house above it."""

    assert house.depth(Broken) == 1
    assert house.depth(DitherError) == 1
