"""Measure the house: its files, classes, names, and how many files a reader crosses to follow one call.

`python -m tools.house` prints everything. The rules of `tests/laws/test_house.py` use the same functions.
What is measured is found by name, so modules may move.
"""

from __future__ import annotations

import ast
import asyncio
import datetime
import gc
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from fnmatch import fnmatch
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path, PurePath
from statistics import mean, median
from types import FrameType, ModuleType
from typing import Any, TypeVar, get_args, get_origin, get_overloads

import numpy as np

import dither

SOURCE = Path(dither.__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[1]
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
        gc.freeze()  # the trees are kept: every later collection would need a second for their nodes


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
    for path in modules():  # by file: pkgutil leaves out folders without an __init__.py
        name = ".".join(["dither", *PurePath(path).with_suffix("").parts]).removesuffix(".__init__")
        if name.endswith("__main__"):
            continue
        try:
            yield import_module(name)
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
    """Return the methods and properties that replace a concrete one of a base class of the package.

    `_check` of a mechanism does not: every class has its own, and all of them are called, bases first.
    """
    return sorted(
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for kind in classes()
        for name, value in vars(kind).items()
        if _callable(value)
        and not name.startswith("__")
        and name != "_check"
        and _replaces_concrete(kind, name)
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


def named(name: str) -> Any:
    """Return the class or function of the package that has this name, wherever it is defined."""
    found = {id(value): value for value in _definitions() if value.__name__ == name}
    if len(found) != 1:
        raise LookupError(f"expected one definition of {name}, got {len(found)}")
    return next(iter(found.values()))


@cache
def _definitions() -> tuple[Any, ...]:
    return tuple(
        value
        for module in _imported()
        for value in vars(module).values()
        if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__ == module.__name__
    )


def longest_line_of_classes() -> tuple[type, ...]:
    """Return the own classes in the longest `__mro__`, mixins and the class itself included."""
    return max(((kind, *own_bases(kind)) for kind in classes()), key=len)


def entries(folder: Path) -> list[str]:
    """Return what a reader sees in a folder: no dot files, and nothing that Python or a build asks for."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    left_out = [line.strip("/") for line in lines] + [".*", "__*", "py.typed", "*.pyi"]
    return sorted(
        path.name
        for path in folder.iterdir()
        if not any(fnmatch(path.name, pattern) for pattern in left_out) and _has_files(path)
    )


def _has_files(path: Path) -> bool:
    """Return whether a path is a file or leads to one; a folder that was moved may leave compiled files."""
    return path.is_file() or any(file.is_file() and file.suffix != ".pyc" for file in path.rglob("*"))


def layers() -> list[str]:
    """Return the layers of the first import contract of `pyproject.toml`, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(list(contract["layers"]) for contract in contracts if contract["type"] == "layers")


_CLAUSE = re.compile(r"\b(?:that|which|who|whose \w+|as it) (?:is|are|was|were)\b|(?<!^)\b(?:how|what) .*")
_FINITE = re.compile(
    r"^(?:Nothing|Nobody|Everything|It|They|This|These|Both|Only)\b"  # begins a statement, whatever its verb
    r"|\b(?:is|are|was|were|has|have|does|do|must|may|uses|lists|reads|writes|takes|gives|makes|holds|says|stands"
    r"|come|comes|goes|go|look|looks|finds|needs|estimates|asks|imports|knows)\b"
)


def second_titles() -> dict[str, list[str]]:
    """Return the modules whose docstring has a second title: two things were put into one file.

    A title is a paragraph of one line and one sentence that is no statement: up to its first colon or
    semicolon, and without relative clauses, it has none of the usual finite verbs. "Channels: a table with an
    integer weight of every report for every input." is one; "The draw of the function does not see the row."
    is none.
    """
    found = {}
    for module, tree in syntax_trees().items():
        paragraphs = (ast.get_docstring(tree) or "").split("\n\n")[1:]
        if titles := [paragraph for paragraph in paragraphs if is_title(paragraph)]:
            found[module] = titles
    return found


def is_title(paragraph: str) -> bool:
    """Return whether a paragraph reads as a title."""
    line = re.sub(r"`[^`]*`", "it", paragraph)
    if "\n" in line or not line.endswith(".") or re.search(r"[.!?] [A-Z]", line):
        return False
    if not line[0].isalpha():
        return False
    return not _FINITE.search(_CLAUSE.sub("", re.split("[:;]", line)[0]))


def ragged_docstrings(trees: Mapping[str, ast.Module]) -> list[str]:
    """Return the docstrings whose second paragraph is indented more than the first, as a quotation is."""
    return [
        f"{module}:{text.lineno}"
        for module, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := node.body[0])
        and any(lines := (ast.get_docstring(node, clean=False) or "").splitlines()[1:])
        and (first := next(line for line in lines if line.strip()))
        and not first.startswith(" " * text.col_offset + first.strip())
    ]


def cycle_imports() -> list[str]:
    """Return the imports inside functions that at the top of their module would close a cycle.

    Counted are statements; the module that they import reaches the importing one by imports at the top of
    modules, those for type checkers left out.
    """
    top: dict[str, set[str]] = {}
    inner: dict[str, list[tuple[int, str]]] = {}
    for path, tree in syntax_trees().items():
        top[path], inner[path] = set(), []
        for statement, inside in _imports(tree, inside=False):
            for target in _imported_files(statement) - {path}:
                if inside:
                    inner[path].append((statement.lineno, target))
                else:
                    top[path].add(target)
    return [
        f"{path}:{line} {target}"
        for path, some in inner.items()
        for line, target in some
        if path in _reached(target, top)
    ]


def _imports(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, inside
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            within = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _imports(child, inside=within)


def _imported_files(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the modules of the package that a statement names, as paths below the package."""
    if isinstance(statement, ast.Import):
        names = [(alias.name, "") for alias in statement.names]
    else:
        names = [(statement.module or "", alias.name) for alias in statement.names]
    found = set()
    for module, name in names:
        parts = module.split(".")
        if parts[0] == "dither":
            below = "/".join(parts[1:])
            choices = [
                f"{below}/{name}.py",
                f"{below}/{name}/__init__.py",
                f"{below}.py",
                f"{below}/__init__.py",
            ]
            known = [choice.lstrip("/") for choice in choices if choice.lstrip("/") in modules()]
            found |= set(known[:1])
    return found


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        for target in edges[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


# Rooms that may ask which kind of question or domain they hold: where kinds, kernels, texts and designs are.
_KNOW_KINDS = {"core", "mechanisms"}


def _rooms_of_kinds() -> set[str]:
    """Return the entries at the top of the package in which kinds and designs are defined."""
    public = public_names() | result_classes()
    kernel = type(dither.Podium(dither.Interval(0, 1), epsilon=1).question.kernel)
    names = ("dt.Question", "dt.Interval", "dt.Reports", "dt.from_json", "dt.Once", "dt.Podium", "dt.Optimal")
    defined = [public[name] for name in (*names, "dither.results.PostProcessing")]
    places = [kind.__module__ for kind in (*defined, kernel, named("design_of"))]
    places += [public[name].__name__ for name in ("dt.jrr", "dt.rivals")]
    return _KNOW_KINDS | {place.split(".")[1] for place in places}


def asked_kinds(base: type) -> list[str]:
    """Return where a room other than core and mechanisms asks for a kind: of `dt.Question`, or of a domain.

    Counted are the calls of `isinstance` and `issubclass` that name the class or one below it, and the
    patterns of `case`.
    """
    kinds = {kind.__name__ for kind in classes() if issubclass(kind, base)}
    return [place for place, names in _asked_outside() if names & kinds]


@cache
def _asked_outside() -> list[tuple[str, set[str]]]:
    rooms = _rooms_of_kinds()
    return [
        (f"{module}:{node.lineno}", names)
        for module, tree in syntax_trees().items()
        if PurePath(module).parts[0].removesuffix(".py") not in rooms
        for node in ast.walk(tree)
        if isinstance(node, ast.Call | ast.MatchClass)
        and (names := _asked(node))  # what `isinstance` or `case` names
    ]


def _asked(node: ast.Call | ast.MatchClass) -> set[str]:
    if isinstance(node, ast.MatchClass):
        return _words(node.cls)
    asks = isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")
    return _words(node.args[1]) if asks and len(node.args) == 2 else set()


def _words(node: ast.AST) -> set[str]:
    """Return the names in the code of a node, those that are imported and defined included."""
    found = set()
    for part in ast.walk(node):
        match part:
            case ast.Name():
                found.add(part.id)
            case ast.Attribute():
                found.add(part.attr)
            case ast.alias() | ast.ClassDef():
                found.add(part.name)
    return found


@cache
def _words_of_modules() -> dict[str, set[str]]:
    return {module: _words(tree) for module, tree in syntax_trees().items()}


def files_that_name(kind: str) -> list[str]:
    """Return the modules whose code, not its prose, names a class: what a kind of domain touches."""
    return [module for module, words in _words_of_modules().items() if kind in words]


_ANY = re.compile(r"(?::|->) Any\b")


def lines_with_any() -> list[str]:
    """Return the lines with the annotation `Any`: of a parameter, a variable or what is returned."""
    return [
        f"{module}:{number}"
        for module in modules()
        for number, line in enumerate((SOURCE / module).read_text(encoding="utf-8").splitlines(), 1)
        if _ANY.search(line)
    ]


def implementations_of_the_account() -> list[str]:
    """Return the Python files that define `decide`, the function of the account's rules."""
    folders = (SOURCE, ROOT / "clients" / "python" / "src")
    return [
        f"{folder.relative_to(ROOT).as_posix()}/{path}"
        for folder in folders
        for path, tree in (syntax_trees() if folder == SOURCE else syntax_trees(folder)).items()
        if any(isinstance(node, ast.FunctionDef) and node.name == "decide" for node in tree.body)
    ]


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
    for name in (*TOP, *vars(dither)["_APART"]):
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


class Walk:
    """The files of the package in which functions run inside of a `with`, and the changes of file.

    Threads are followed that start after it was made; each changes file for itself.
    """

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.changes = 0
        self._last = threading.local()
        self._counts = False
        threading.setprofile(self._follow)

    def __enter__(self) -> Walk:
        self._counts = True
        sys.setprofile(self._follow)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        self._counts = False

    def _follow(self, frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not self._counts or not path.startswith(_INSIDE):
            return
        if frame.f_code.co_name in ("<module>", "<lambda>") or frame.f_code.co_qualname == frame.f_locals.get(
            "__qualname__"
        ):
            return  # importing a module or making a class is not part of the walk
        self.files.add(path)
        self.changes += path != getattr(self._last, "path", "")
        self._last.path = path


_INSIDE = str(SOURCE) + os.sep
Crossed = tuple[set[str], int]


def crossed(call: Callable[[], object]) -> Crossed:
    """Return the files of the package in which functions run during a call, and the changes of file."""
    with Walk() as walk:
        call()
    return walk.files, walk.changes


def second_run(walk: Callable[[], object]) -> Crossed:
    """Return what a call crosses when modules are imported and tables cached by a first run."""
    walk()
    gc.collect()  # else it depends on other work whether the numbers of the first run's questions are at hand
    return crossed(walk)


def walk_of_a_mean() -> Crossed:
    """Return what is crossed from making a mechanism over its reports and their bytes to their mean."""

    def walk() -> None:
        dither.randomness.SYSTEM.restart()  # so that every walk makes a key, not only some
        question = dither.Podium(dither.Interval(18, 100), epsilon=1)
        reports = question.perturb([43.0] * 1000)
        dither.mean(dither.from_bytes(reports.to_bytes()))

    return second_run(walk)


def walk_of_the_terminal() -> Crossed:
    """Return what is crossed by `dither estimate reports.csv` with 1 000 rows."""
    from click.testing import CliRunner

    from dither.cli import main

    with tempfile.TemporaryDirectory() as folder:
        source, reports = Path(folder, "trips.csv"), Path(folder, "reports.csv")
        source.write_text("minutes\n" + "42\n" * 1000, encoding="utf-8")
        perturb = ["perturb", str(source), "--column", "minutes", "--interval", "0", "180", "--epsilon", "1"]
        CliRunner().invoke(main, [*perturb, "-o", str(reports)], catch_exceptions=False)
        return second_run(
            lambda: CliRunner().invoke(main, ["estimate", str(reports)], catch_exceptions=False)
        )


def walk_of_a_batch() -> Crossed:
    """Return what is crossed from the POST of a batch to the disk and the answer."""
    return _with_a_collector("post")


def walk_of_a_page() -> Crossed:
    """Return what is crossed when a collector draws its page and writes its answers."""
    return _with_a_collector("get")


_CAMPAIGN = """
[campaign]
name = "commute"
asker = "city.example"
contact = "data@city.example"
purpose = "How long people travel."
begins = 2026-05-01
ends = 2026-05-31
people = 1
repeat = "fresh"
reports_a_batch = 1000
[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"
"""  # of one person, because a page computes what a crowd adds in its own time


def _with_a_collector(counted: str) -> Crossed:
    """Return what the requests of a method cross, at a collector with one campaign and its store on disk."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    published = named("Published").sign(named("Campaign").from_toml(_CAMPAIGN), key)
    question = published.contract.questions["minutes"]
    rows = question.perturb([43.0] * 100, source=dither.Seeded(1)).cells
    reports = sorted(row.astype(row.dtype.newbyteorder("<")).tobytes().hex() for row in rows)
    batch = {"batch": "0" * 32, "dither": 2, "label": "", "reports": {question.fingerprint: reports}}
    body = json.dumps(batch, sort_keys=True, separators=(",", ":")).encode()
    below = f"/v1/campaigns/{published.id}"
    make = named("application")
    kept = []  # what caches remember of the first run is forgotten with its collector
    for _ in range(2):  # the first run imports modules and fills caches
        gc.collect()
        walk = Walk()
        with tempfile.TemporaryDirectory() as folder:
            store = named("open_store")(str(Path(folder, "reports.db")))
            collector = named("Collector")(store, named("Settings")(), lambda: datetime.date(2026, 5, 4))
            collector.publish(published)
            kept.append(collector)
            writer = named("Writer")(collector)
            app = make(writer)
            try:
                with walk if counted == "post" else nullcontext():
                    _ask(app, "POST", f"{below}/batches", body)
                with walk if counted == "get" else nullcontext():
                    _ask(app, "GET", "/")
                    _ask(app, "GET", f"{below}/answers.json")
            finally:
                for end in collector.at_end:
                    end()
                writer.close()
                store.close()
    return walk.files, walk.changes


def _ask(app: Any, method: str, path: str, body: bytes = b"") -> None:
    """Send a request to an application in memory; raise RuntimeError if it is refused."""
    head = {"host": "collector", "content-type": "application/json", "content-length": str(len(body))}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), text.encode()) for name, text in head.items()],
        "client": ("203.0.113.7", 1234),
        "server": ("collector", 80),
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    if sent[0]["status"] != 200:
        raise RuntimeError(f"{method} {path} was answered with {sent[0]['status']}: {sent[1].get('body')!r}")


def walk_of_an_account() -> Crossed:
    """Return what is crossed by `account.answer`."""
    question: Any = dither.Podium(dither.Interval(18, 100), epsilon=1)  # it stands for its question
    asking = dither.Inquiry("age", question, asker="city.example", repeat="fresh")
    with tempfile.TemporaryDirectory() as folder:
        account = dither.Account.create(Path(folder, "me.account"), epsilon=4)
        try:
            return second_run(lambda: account.answer(asking, 41.0))
        finally:
            account.close()


def walk_of_a_map() -> Crossed:
    """Return what is crossed from the paths that TraCSD randomises to their density."""
    area = dither.Rectangle(dither.Interval(0, 1), dither.Interval(0, 1))
    trip = [[x / 20, x / 20] for x in range(20)]

    def walk() -> None:
        reports = dither.TraCSD(area, epsilon=2).perturb(trip, source=dither.Seeded(1))
        dither.maps.density(reports, 4, 4)

    return second_run(walk)


def walk_of_an_audit() -> Crossed:
    """Return what is crossed by a black-box audit of 4 000 reports."""

    def walk() -> None:
        random = np.random.default_rng(1)
        dither.audit_function(
            lambda values: values + random.laplace(scale=2.0, size=len(values)),
            dither.Interval(0, 1),
            epsilon=1,
            samples=4000,
            timing=False,
        )

    return second_run(walk)


def _recommend() -> None:
    dither.recommend(dither.Interval(0, 1), dither.goals.Mean(n=10_000), epsilon=1)


@cache
def _first_recommendation() -> None:
    _recommend()  # modules are imported and tables cached by it


def walk_of_a_recommendation() -> Crossed:
    """Return what is crossed by `dt.recommend` for a mean, which looks at 14 candidates."""
    _first_recommendation()
    gc.collect()  # else it depends on other work whether the numbers of the first run's questions are at hand
    return crossed(_recommend)


WALKS: dict[str, Callable[[], Crossed]] = {
    "make, perturb, bytes, mean": walk_of_a_mean,
    "dither estimate reports.csv": walk_of_the_terminal,
    "POST of a batch to disk": walk_of_a_batch,
    "page and answers": walk_of_a_page,
    "account.answer": walk_of_an_account,
    "TraCSD to density": walk_of_a_map,
    "black-box audit": walk_of_an_audit,
    "recommend": walk_of_a_recommendation,
}


def mechanisms_built() -> list[str]:
    """Return the class of every mechanism that `dt.recommend` makes for a mean, in their order."""
    design = result_classes()["dither.results.Mechanism"]
    built: list[str] = []

    def follow(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "__init__":
            made = frame.f_locals.get("self")
            if isinstance(made, design) and getattr(type(made).__init__, "__code__", None) is frame.f_code:
                built.append(type(made).__name__)

    _first_recommendation()
    sys.setprofile(follow)
    try:
        _recommend()
    finally:
        sys.setprofile(None)
    return built


_LOADED = "import sys; print(*(name for name in sys.modules if name.partition('.')[0] == 'dither'))"
_MEAN = f"import sys, dither; dither.mean(dither.from_bytes(sys.stdin.buffer.read())); {_LOADED}"
_ESTIMATE = f"from dither.cli import main; main(['estimate', '-'], standalone_mode=False); {_LOADED}"


@cache
def loaded_by_a_mean() -> list[str]:
    """Return the modules of the package that a new process has loaded after the mean of some reports."""
    reports = dither.Podium(dither.Interval(18, 100), epsilon=1).perturb([43.0] * 1000)
    return _run_apart(_MEAN, reports.to_bytes())


@cache
def loaded_by_the_terminal() -> list[str]:
    """Return the modules of the package that `dither estimate` has loaded at its end."""
    with tempfile.TemporaryDirectory() as folder:
        source, reports = Path(folder, "trips.csv"), Path(folder, "reports.csv")
        source.write_text("minutes\n" + "42\n" * 1000, encoding="utf-8")
        question = dither.Podium(dither.Interval(0, 180), epsilon=1)
        dither.data.perturb_file(source, reports, {"minutes": question})
        return _run_apart(_ESTIMATE, reports.read_bytes())


def _run_apart(code: str, given: bytes) -> list[str]:
    """Return the words in the last line that a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    return done.stdout.decode().splitlines()[-1].split()


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
    print(f"entries: {len(entries(SOURCE))} at the top of the package, {len(entries(ROOT))} at the root")
    print(f"layers in the import contract {len(layers())}")
    print(f"modules with a second title {len(second_titles())}")
    found = cycle_imports()
    rooms = Counter(path.partition("/")[0] for path in found)
    print(f"imports that would close a cycle {len(found)}:", *(f"{room} {n}" for room, n in rooms.items()))
    domain = result_classes()["dither.results.Domain"]
    print(
        f"asked for kinds outside core and mechanisms: questions {len(asked_kinds(dither.Question))}, "
        f"domains {len(asked_kinds(domain))}"
    )
    touched = {kind: len(files_that_name(kind)) for kind in ("Nullable", "Several")}
    print("files that name a domain:", *(f"{kind} {n}" for kind, n in touched.items()))
    print(f"own classes in a __mro__ {len(longest_line_of_classes())}")
    print(f"lines with the annotation Any {len(lines_with_any())}")
    print("implementations of the account's rules:", *implementations_of_the_account())
    print(f"mechanisms built by recommend {len(mechanisms_built())}")
    print(f"modules loaded: a mean {len(loaded_by_a_mean())}, estimate {len(loaded_by_the_terminal())}")
    for name, walk in WALKS.items():
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
