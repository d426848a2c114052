"""The package as a whole: light to import, honest about its names, true to its README."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from functools import cached_property
from types import FunctionType

import pytest

import dither as dt
import dither_papers
from tests.support.repository import ROOT

HEAVY = (
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "sklearn",
    "torch",
    "matplotlib",
    "click",
    "pyscipopt",
)


def _modules() -> list[str]:
    return [
        module.name
        for package in (dt, dither_papers)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if "__main__" not in module.name
    ]


def test_importing_dither_pulls_in_nothing_heavy() -> None:
    code = f"import sys, dither; print([name for name in {HEAVY!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_importing_dither_is_quick() -> None:
    """At most numpy's own import time plus 0.1 s of processor time, each as the best of five."""

    def seconds(code: str) -> float:
        timed = f"import time; begin = time.process_time(); {code}; print(time.process_time() - begin)"
        run = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
        return float(run.stdout)

    pairs = [(seconds("import dither"), seconds("import numpy")) for _ in range(5)]
    assert min(ours for ours, _ in pairs) <= min(theirs for _, theirs in pairs) + 0.1


def test_public_names_are_real_documented_and_known_to_type_checkers() -> None:
    source = (ROOT / "src/dither/__init__.pyi").read_text()
    checked = {
        alias.asname
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert checked == {
        *dt.__all__,
        "audits",
        "errors",
        "jrr",
        "protocols",
        "randomness",
        "rivals",
    }  # these are not first names
    for name in dt.__all__:
        assert getattr(dt, name).__doc__, f"{name} has no docstring"
    with pytest.raises(AttributeError):
        dt.nonsense  # noqa: B018


def test_a_name_of_earlier_versions_says_the_new_one() -> None:
    for name, new in vars(dt)["_RENAMED"].items():
        with pytest.raises(AttributeError, match=f"dt.{name} does not exist: write ") as said:
            getattr(dt, name)
        if new == "dt.stats":
            assert str(said.value).endswith(f"dt.stats.{name}")
            assert callable(getattr(dt.stats, name))


@pytest.mark.parametrize("name", _modules())
@pytest.mark.some(every=3)
def test_examples_in_docstrings_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except dt.errors.MissingExtra as missing:
        pytest.skip(str(missing))
    assert module.__doc__, f"{name} has no docstring"
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", _modules())
def test_public_methods_say_what_they_do_or_inherit_it(name: str) -> None:
    """An override need not repeat the abstract method's words; a method without any words is refused."""
    try:
        module = importlib.import_module(name)
    except dt.errors.MissingExtra as missing:
        pytest.skip(str(missing))
    for kind in vars(module).values():
        if not inspect.isclass(kind) or kind.__module__ != name or kind.__name__.startswith("_"):
            continue
        for method, thing in vars(kind).items():
            called = thing.__func__ if isinstance(thing, staticmethod | classmethod) else thing
            if not method.startswith("_") and isinstance(called, FunctionType | property | cached_property):
                said = (vars(base)[method] for base in kind.__mro__ if method in vars(base))
                assert any(inspect.getdoc(one) for one in said), f"{kind.__name__}.{method} has no docstring"


def test_importing_one_mechanism_does_not_import_the_others() -> None:
    code = "import sys, dither; dither.Podium; print([name for name in sys.modules if 'dither.mech' in name])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(run.stdout)
    assert "dither.mechanisms.numeric.podium" in loaded
    others = ("ogpm", "laplace", "frequency", "places", "joint", "combined")
    assert not [name for name in loaded if any(part in name for part in others)]


def test_a_module_is_found_where_nothing_was_imported_before() -> None:
    code = "import dither; print(dither.goals.Mean, dither.goals.Ranges, dither.mechanisms.optimal.Workload)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.count("class") == 3


NOT_OURS = re.compile(
    r"(pip|pipx|uv|npm|npx|conda)( \w+)* (install|add|run) '?(dither|dither-device|dither-ldp)\b"
)


def test_no_message_names_a_package_that_is_not_published() -> None:
    """Anyone could register such a name, and be installed: messages and pages name the clone."""
    folders = ("src", "clients", "docs", "examples")
    kinds = {".py", ".ts", ".java", ".md", ".mjs", ".html", ".toml"}
    assert NOT_OURS.search("pip install 'dither[plot]'")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()[:100]}"
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and "node_modules" not in path.parts and path.name != "release.md"
        for line in path.read_text(encoding="utf-8").splitlines()
        if NOT_OURS.search(line)
    ]
    assert found == []
