"""Measure the house: its files, classes, names, and how many files a reader crosses to follow one call.

`python -m tools.house` prints everything. The rules of `tests/laws/test_house.py` use the same functions.
"""

from __future__ import annotations

import ast
import gc
import inspect
import pkgutil
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from statistics import mean, median
from types import FrameType, ModuleType
from typing import Any, TypeVar, get_args, get_origin, get_overloads

import dither

SOURCE = Path(dither.__file__).resolve().parent
TOP: tuple[str, ...] = tuple(vars(dither)["__all__"])  # the public names of `dt`


@cache
def modules() -> dict[str, int]:
    """Return the number of lines of every module, by its path below the package."""
    return {
        path.relative_to(SOURCE).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(SOURCE.rglob("*.py"))
    }


@cache
def syntax_trees(folder: Path = SOURCE) -> dict[str, ast.Module]:
    """Return the syntax tree of every module, by its path below a folder; a run parses a file once."""
    gc.disable()  # it would look at every node of every tree, again and again: three times as long
    try:
        return {
            path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(folder.rglob("*.py"))
        }
    finally:
        gc.enable()


def import_share() -> float:
    """Return the share of lines that are imports."""
    lines = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in syntax_trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    return lines / sum(modules().values())


@cache
def classes() -> tuple[type, ...]:
    """Return every class that the package defines; modules whose extra is missing are left out."""
    found: dict[str, type] = {}
    for module in _imported():
        for value in vars(module).values():
            if inspect.isclass(value) and value.__module__ == module.__name__:
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return tuple(found.values())


def _imported() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(dither.__path__, "dither."):
        if info.name.endswith("__main__"):
            continue
        try:
            yield import_module(info.name)
        except ImportError:
            continue


def own_bases(kind: type) -> tuple[type, ...]:
    """Return the classes of the package from which a class inherits, nearest first."""
    return tuple(base for base in kind.__mro__[1:] if base.__module__.startswith("dither"))


def depth(kind: type) -> int:
    """Return the number of own classes on the longest line of inheritance that ends in a class."""
    above = [depth(base) for base in kind.__bases__ if base.__module__.startswith("dither")]
    return 1 + max(above, default=0)


def overrides() -> list[str]:
    """Return the methods and properties that replace a concrete one of a base class of the package."""
    return sorted(
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind in classes()
        for name, value in vars(kind).items()
        if _callable(value) and not name.startswith("__") and _replaces_concrete(kind, name)
    )


def _callable(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(
        value, property | cached_property | classmethod | staticmethod
    )


def _replaces_concrete(kind: type, name: str) -> bool:
    for base in own_bases(kind):
        if name in vars(base):
            replaced = vars(base)[name]
            return _callable(replaced) and not getattr(replaced, "__isabstractmethod__", False)
    return False


def concrete_bases() -> list[str]:
    """Return the classes without an abstract method from which a class of the package inherits."""
    inherited = {
        base for kind in classes() for base in kind.__bases__ if base.__module__.startswith("dither")
    }
    return sorted(
        f"{base.__module__}.{base.__qualname__}" for base in inherited if not inspect.isabstract(base)
    )


_PARTICIPLES = re.compile(
    "told|made|drawn|known|shown|given|kept|held|sent|seen|asked|said|taken|built|written|begun|left|paid|"
    "meant|lost|chosen|broken|spoken|hidden|[a-z]{3,}ed"
)


def bare_participles() -> list[str]:
    """Return the functions and methods whose whole name is a participle, such as `grouped` or `told`."""
    names = []
    for module, tree in syntax_trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef):
                continue
            if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue  # an adjective: a property of a thing
            name = node.name.lstrip("_")
            if _PARTICIPLES.fullmatch(name):
                names.append(f"{module}:{node.name}")
    return sorted(names)


def public_names() -> dict[str, Any]:
    """Return every public object by its address: those at the top, and those of public modules."""
    found: dict[str, Any] = {}
    for name in TOP:
        value = getattr(dither, name)
        found[f"dt.{name}"] = value
        if isinstance(value, ModuleType) and value.__name__.startswith("dither."):
            for inner in getattr(value, "__all__", ()):
                found[f"dt.{name}.{inner}"] = getattr(value, inner)
    return found


def result_classes() -> dict[str, type]:
    """Return the classes of results, which stand apart: they are for annotations, and nobody makes one."""
    module = import_module("dither.results")
    return {f"dither.results.{name}": getattr(module, name) for name in module.__all__}


def at_two_addresses() -> list[str]:
    """Return the public objects that stand at two addresses, as pairs of addresses."""
    seen: dict[int, str] = {}
    pairs = []
    for address, value in (public_names() | result_classes()).items():
        if isinstance(value, str | int | float | bool | None):
            continue
        if id(value) in seen:
            pairs.append(f"{seen[id(value)]} = {address}")
        seen.setdefault(id(value), address)
    return pairs


_MADE_BY = {"dt.Account": "create, open or join", "dt.central.Tally": "of"}  # not by their constructors


def private_types() -> dict[str, list[str]]:
    """Return the classes of the package that public signatures name although they have no public address.

    The signatures are those of public functions, and of the constructors of public classes that callers make.
    """
    known = {id(value) for value in (public_names() | result_classes()).values()}
    found: dict[str, list[str]] = {}
    for address, value in public_names().items():
        if not (inspect.isclass(value) or inspect.isfunction(value)) or address in _MADE_BY:
            continue
        hidden = {kind for kind in _signature_types(value) if id(kind) not in known}
        if hidden:
            found[address] = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in hidden)
    return found


def _signature_types(value: Any) -> set[Any]:
    """Return the classes and type variables of the package that a signature names."""
    try:
        signature = inspect.signature(value)
    except ValueError:  # an exception, or another class of C
        return set()
    stated = [parameter.annotation for parameter in signature.parameters.values()]
    if inspect.isfunction(value):
        stated.append(signature.return_annotation)
    return _annotated_types(value, stated)


def return_types(function: Any) -> set[Any]:
    """Return the classes of the package of which what a function returns is made, its overloads included."""
    forms = [function, *get_overloads(function)]
    return _annotated_types(function, [inspect.signature(form).return_annotation for form in forms])


def _annotated_types(value: Any, stated: Iterable[Any]) -> set[Any]:
    scope = _names_for_types(value)
    found: set[Any] = set()
    for annotation in stated:
        if annotation is not inspect.Parameter.empty:
            found |= _parts(eval(annotation, scope) if isinstance(annotation, str) else annotation)
    return found


def _names_for_types(value: Any) -> dict[str, Any]:
    """Return what annotations of a function or class may name, what only type checkers import included."""
    scope: dict[str, Any] = {}
    for kind in reversed(value.__mro__ if inspect.isclass(value) else [value]):
        module = sys.modules[kind.__module__]
        scope |= vars(module)
        if module.__name__.startswith("dither"):
            scope |= _checked_imports(module.__name__)
    return scope


@cache
def _checked_imports(name: str) -> dict[str, Any]:
    path = sys.modules[name].__file__ or ""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), path, "exec"), found)
    return found


def _parts(stated: Any) -> set[Any]:
    """Return the classes and type variables of the package of which a type is made."""
    if isinstance(stated, TypeVar):
        return {stated}
    inner = {
        part for argument in get_args(stated) for part in _parts(argument) if not isinstance(argument, str)
    }
    for argument in get_args(stated):
        if isinstance(argument, list):  # the parameters of a callable
            inner |= {part for each in argument for part in _parts(each)}
    kind = get_origin(stated) or stated
    own = inspect.isclass(kind) and kind.__module__.startswith("dither")
    return inner | {kind} if own else inner


def crossed(call: Callable[[], object]) -> tuple[set[str], int]:
    """Return the files of the package in which functions run during a call, and the changes of file."""
    files: set[str] = set()
    last, changes = "", 0

    def follow(frame: FrameType, event: str, _: object) -> None:
        nonlocal last, changes
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(str(SOURCE)):
            return
        if frame.f_code.co_name in ("<module>", "<lambda>") or frame.f_code.co_qualname == frame.f_locals.get(
            "__qualname__"
        ):
            return  # importing a module or making a class is not part of the walk
        files.add(path)
        changes += path != last
        last = path

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files, changes


def walk_of_a_mean() -> tuple[set[str], int]:
    """Return what is crossed from making a mechanism over its reports and their bytes to their mean."""

    def walk() -> None:
        question = dither.Podium(dither.Interval(18, 100), epsilon=1)
        reports = question.perturb([43.0] * 1000)
        dither.mean(dither.from_bytes(dither.to_bytes(reports)))

    _imports_done(walk)
    return crossed(walk)


def walk_of_the_terminal() -> tuple[set[str], int]:
    """Return what is crossed by `dither estimate reports.csv`."""
    from click.testing import CliRunner

    from dither.cli import main

    with tempfile.TemporaryDirectory() as folder:
        source, reports = Path(folder, "trips.csv"), Path(folder, "reports.csv")
        source.write_text("minutes\n" + "42\n" * 1000, encoding="utf-8")
        perturb = ["perturb", str(source), "--column", "minutes", "--interval", "0", "180", "--epsilon", "1"]
        CliRunner().invoke(main, [*perturb, "-o", str(reports)], catch_exceptions=False)

        def walk() -> None:
            CliRunner().invoke(main, ["estimate", str(reports)], catch_exceptions=False)

        _imports_done(walk)
        return crossed(walk)


def _imports_done(walk: Callable[[], None]) -> None:
    walk()  # modules are imported and tables cached by a first run


def processor_time(*words: str, times: int = 5) -> float:
    """Return the least processor time of a command in milliseconds, of several runs."""
    import resource

    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * min(found)


def main() -> None:
    """Print all measurements."""
    lines = list(modules().values())
    print(f"files {len(lines)}, lines {sum(lines)}, longest {max(lines)}")
    print(f"mean {mean(lines):.0f} lines a file, median {median(lines):.0f}")
    print(f"shorter than 120 lines: {sum(count < 120 for count in lines)}")
    print(f"import lines {import_share():.1%}")
    deepest = sorted(classes(), key=depth)[-5:]
    print("deepest classes:", ", ".join(f"{kind.__name__} {depth(kind)}" for kind in deepest))
    print(f"concrete overrides {len(overrides())}")
    twice = len(at_two_addresses())
    print(f"public names: {len(TOP)} at the top, {len(public_names())} in all, {twice} twice")
    for name, walk in (("mean", walk_of_a_mean), ("dither estimate", walk_of_the_terminal)):
        files, changes = walk()
        print(f"{name}: {len(files)} files, {changes} changes of file")
    for name, words in (
        ("import dither", ("-c", "import dither")),
        ("dither --help", ("-m", "dither", "--help")),
        ("dither estimate --help", ("-m", "dither", "estimate", "--help")),
    ):
        print(f"{name}: {processor_time(*words):.0f} ms of processor time")


if __name__ == "__main__":
    main()
