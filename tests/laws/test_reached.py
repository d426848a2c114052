"""What the code shows: tests reach every function, nothing frozen is rewritten, a class name is used once.

A run parses a file once: `tools.house.syntax_trees`.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import dither as dt
from dither.mechanisms.mechanism import Mechanism
from tests.golden.devices import CASES
from tests.support.repository import ROOT, TESTS
from tools.house import syntax_trees

Trees = Mapping[str, ast.Module]
PAPERS = ROOT / "papers" / "dither_papers"
TESTED_BY = (TESTS, ROOT / "papers" / "tests", ROOT / "tools")
# Where a frozen object is made: dataclasses call the second, and mechanisms the third from it.
MAKING = ("__init__", "__post_init__", "_check")


@pytest.fixture(autouse=True, scope="module")
def _trees() -> Iterator[None]:
    """Keep the trees out of every search for garbage while they are there."""
    told(), syntax_trees(), syntax_trees(PAPERS)
    gc.freeze()
    yield
    syntax_trees.cache_clear()


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield every name that stands in code: variables, attributes, imports and classes in tables."""
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name.rpartition(".")[2]
            case ast.Constant(value=str(text)) if re.fullmatch(r"[a-z_.]+\.\w+", text):
                yield text.rpartition(".")[2]  # a class that a table loads: "formats.csv.Csv"
            case ast.Constant(value=str(text)) if re.fullmatch(r"[a-z]+(-[a-z]+)+", text):
                yield text.replace("-", "_")  # a command that is typed: "sealing-key"


@cache
def told() -> frozenset[str]:
    """Return every name that stands in the code of a test."""
    trees = [
        tree
        for folder in TESTED_BY
        for path, tree in syntax_trees(folder).items()
        if folder / path != Path(__file__)
    ]
    found = {name for tree in trees for name in names_in(tree)}
    return frozenset(found | {name.partition(",")[0] for name in CASES})  # a table may name a mechanism


def facade() -> set[str]:
    """Return the public functions and mechanisms: those of `dt`, and those of its public modules."""
    found: set[str] = set()
    for name in dt.__all__:
        thing = getattr(dt, name)
        if isinstance(thing, ModuleType):
            found |= {inner for inner in getattr(thing, "__all__", ()) if is_asked(getattr(thing, inner))}
        elif is_asked(thing):
            found.add(name)
    return found


def is_asked(thing: object) -> bool:
    return inspect.isfunction(thing) or (inspect.isclass(thing) and issubclass(thing, Mechanism))


def functions(trees: Trees) -> dict[str, str]:
    """Return the name of every public function that a module defines, by module and name."""
    return {
        f"{path.removesuffix('.py')}:{node.name}": node.name
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    }


def reach(trees: Trees, known: Iterable[str]) -> set[str]:
    """Return the names that tests say, and those in what bears such a name, and so on.

    A function, method or class is reached by its name; what a module does when it is imported is reached.
    """
    says: dict[str, set[str]] = defaultdict(set)
    reached = set(known)
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                says[node.name].update(names_in(node))
                reached.update(name for part in node.decorator_list for name in names_in(part))
            elif not isinstance(node, ast.Import | ast.ImportFrom):
                reached.update(names_in(node))
    new = set(reached)
    while new:
        new = {name for one in new for name in says.get(one, ())} - reached
        reached |= new
    return reached


def unreached(trees: Trees, known: Iterable[str]) -> list[str]:
    """Return the public functions that no test names and nothing that a test reaches uses."""
    reached = reach(trees, known)
    return sorted(place for place, name in functions(trees).items() if name not in reached)


def test_every_public_name_is_named_by_a_test() -> None:
    assert sorted(facade() - told()) == []
    assert sorted(facade() - (told() - {"audit", "TraCSD"})) == ["TraCSD", "audit"]


def test_every_public_function_is_named_by_a_test_or_used_by_what_is() -> None:
    assert unreached(syntax_trees(), told()) == []


def test_a_function_that_no_test_reaches_is_found() -> None:
    lonely = ast.parse("def used(): return helper()\ndef helper(): ...\ndef lonely(): return lonely()\n")
    assert unreached({"room/module.py": lonely}, {"used"}) == ["room/module:lonely"]
    assert unreached({"room/module.py": lonely}, {"helper"}) == ["room/module:lonely", "room/module:used"]
    planted = {**syntax_trees(), "planted.py": ast.parse("def nobody_calls_this(): ...")}
    assert unreached(planted, told()) == ["planted:nobody_calls_this"]


def test_the_functions_that_are_listed_are_those_that_are_there() -> None:
    for module in (
        "core.kernels.counting",
        "core.repetition",
        "foundation.canonical",
        "foundation.numerics.roots",
    ):
        made = importlib.import_module(f"dither.{module}")
        own = {
            name
            for name, thing in inspect.getmembers(made, callable)
            if not inspect.isclass(thing) and getattr(thing, "__module__", "") == made.__name__
            if inspect.isfunction(inspect.unwrap(thing)) and not name.startswith("_")
        }
        listed = functions(syntax_trees())
        start = module.replace(".", "/") + ":"
        assert {name for place, name in listed.items() if place.startswith(start)} == own


def test_a_class_name_is_used_once() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for trees in (syntax_trees(), syntax_trees(PAPERS)):
        for path, tree in trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path)
    assert {name: homes for name, homes in found.items() if len(homes) > 1} == {}


def rewriting(tree: ast.Module) -> list[str]:
    """Return where code writes into an object that exists, or makes one without its checks.

    A frozen object is written by itself while it is made: `object.__setattr__(self, …)` in one of MAKING.
    `_check` is one of them because `__post_init__` alone calls it. An assert is no check: -O removes it.
    """
    found = []

    def look(node: ast.AST, function: str) -> None:
        for part in ast.iter_child_nodes(node):
            within = part.name if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) else function
            match part:
                case ast.Assert():
                    found.append(f"{part.lineno}: assert")
                case ast.Attribute(attr="__dict__"):
                    found.append(f"{part.lineno}: __dict__")
                case ast.Attribute(value=ast.Name(id="object"), attr="__new__"):
                    found.append(f"{part.lineno}: object.__new__")
                case ast.Attribute(attr="_check") if function not in MAKING:
                    found.append(f"{part.lineno}: _check outside of the making")
                case ast.Call(func=ast.Attribute(attr="__setattr__" | "__delattr__")):
                    own = part.args and isinstance(part.args[0], ast.Name) and part.args[0].id == "self"
                    if not own or function not in MAKING:
                        found.append(f"{part.lineno}: {ast.unparse(part.func)}")
            look(part, within)

    look(tree, "")
    return found


def test_no_frozen_object_is_rewritten_and_no_assert_narrows_a_type() -> None:
    assert {path: places for path, tree in syntax_trees().items() if (places := rewriting(tree))} == {}


@pytest.mark.parametrize(
    "broken",
    [
        "object.__setattr__(thing, 'epsilon', 2)",
        "def __init__(self, other): object.__setattr__(other, 'epsilon', 2)",
        "def widen(self): object.__setattr__(self, 'epsilon', 2)",
        "def __post_init__(self):\n    def later(): object.__setattr__(self, 'epsilon', 2)",
        "def widen(self): super().__setattr__('epsilon', 2)",
        "def widen(self): self._check()",
        "thing.__dict__['epsilon'] = 2",
        "thing = object.__new__(Podium)",
        "assert thing is not None",
    ],
)
def test_a_rewritten_object_is_found(broken: str) -> None:
    assert len(rewriting(ast.parse(broken))) == 1
    assert rewriting(ast.parse("def __post_init__(self): object.__setattr__(self, 'size', 2)")) == []
