"""Every public function and mechanism is named by a test; other functions are, or their room has tests."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

import dither as dt
from dither.mechanisms.base import Mechanism
from tests.golden.devices import CASES
from tests.support.repository import ROOT, TESTS

SOURCE = ROOT / "src" / "dither"


@cache
def identifiers() -> frozenset[str]:
    """Return every name that stands in the code of a test: variables, attributes and imports, no words."""
    found: set[str] = set()
    for path in TESTS.rglob("*.py"):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    found.add(name.rpartition(".")[2])
    return frozenset(found | {name.partition(",")[0] for name in CASES})  # a table may name a mechanism


def facade() -> set[str]:
    """Return the public functions and mechanisms: those of `dt`, and those of its public modules."""
    found: set[str] = set()
    for name in dt.__all__:
        thing = getattr(dt, name)
        if isinstance(thing, ModuleType):
            found |= {one for one in getattr(thing, "__all__", ()) if is_asked(getattr(thing, one))}
        elif is_asked(thing):
            found.add(name)
    return found


def is_asked(thing: object) -> bool:
    return inspect.isfunction(thing) or (inspect.isclass(thing) and issubclass(thing, Mechanism))


def functions() -> dict[str, str]:
    """Return every public function that a module defines, with the folder of its tests."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        inside = path.relative_to(SOURCE)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found[f"{inside.with_suffix('').as_posix()}:{node.name}"] = inside.parent.as_posix()
    return found


def rooms() -> set[str]:
    """Return the folders that hold tests, as folders of src/dither."""
    return {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")} - {"."}


def has_tests(module: str, room: str, tested: set[str]) -> bool:
    """Say whether a module has a test of its name, or its folder or one above it has tests."""
    above = {room, *(parent.as_posix() for parent in Path(room).parents)} - {"."}
    return bool(above & tested) or (TESTS / f"test_{module}.py").exists()


def unreached(names: Iterable[str], known: frozenset[str]) -> list[str]:
    return sorted(name for name in names if name not in known)


def test_every_public_name_is_named_by_a_test() -> None:
    assert unreached(facade(), identifiers()) == []


def test_every_public_function_is_named_or_has_the_tests_of_its_room() -> None:
    known, tested = identifiers(), rooms()
    lost = [
        name
        for name, room in functions().items()
        if name.rpartition(":")[2] not in known and not has_tests(name.partition(":")[0], room, tested)
    ]
    assert lost == []


def test_a_name_that_no_test_says_is_found() -> None:
    assert unreached({"audit", "no_such_name"}, identifiers()) == ["no_such_name"]
    assert unreached(facade(), identifiers() - {"audit", "TraCSD"}) == ["TraCSD", "audit"]
    assert not has_tests("no_such_module", ".", rooms())
    assert not has_tests("no_such_module", "no/such", rooms())
    assert "audits/api:audit" in functions()
    assert {"kernels/window", "mechanisms/places", "wire"} <= rooms()


def test_what_is_checked_is_what_is_there() -> None:
    """The list of functions is read from the text; a few modules are imported to see that it is right."""
    for module in ("kernels.kernel", "device_text", "repetition", "atomic"):
        made = importlib.import_module(f"dither.{module}")
        own = {
            name
            for name, thing in inspect.getmembers(made, inspect.isfunction)
            if thing.__module__ == made.__name__ and not name.startswith("_")
        }
        listed = {name for name in functions() if name.startswith(module.replace(".", "/") + ":")}
        assert {name.rpartition(":")[2] for name in listed} == own
