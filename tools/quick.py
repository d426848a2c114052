"""Run the tests of the modules that changed, and of the modules that import them.

    python -m tools.quick                 what differs from main, or from the last commit on main itself
    python -m tools.quick --steps 9       modules that import them by more steps; 2 by default
    python -m tools.quick --list          print the paths of the tests, and run nothing

The tests of `src/dither/room/module.py` are `tests/room/test_module*.py`. Changed tests are run, too,
those that import a changed file of the tests, and the tests of clients, pages, papers, proofs and tools.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

import grimp

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {"src/": "dither", "clients/python/src/": "dither_device"}  # folders of packages
TESTS = "tests/"
# Folders beside the package, and the tests of what is in them.
BESIDE = {
    "clients/go/": ("tests/conformance/test_go.py",),
    "clients/java/": ("tests/conformance/test_java.py",),
    "clients/javascript/": ("tests/conformance/test_javascript.py", "tests/collection/test_conformance.py"),
    "clients/python/": ("clients/python/tests",),
    "docs/": ("tests/docs",),
    "papers/": ("papers/tests",),
    "proofs/": ("tests/proofs",),
    "tools/": ("tools/tests",),
}


def changed_files() -> set[str]:
    """Return the files that differ from main, or from the last commit where main is checked out."""
    branch = _git("rev-parse", "--abbrev-ref", "HEAD").strip()
    since = "HEAD" if branch == "main" else _git("merge-base", "main", "HEAD").strip()
    new = _git("ls-files", "--others", "--exclude-standard")
    return {*_git("diff", "--name-only", since).split(), *new.split()}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def module_of(path: str) -> str | None:
    """Return the module of a file of a package, such as "dither.core.wire"; None for another file."""
    for folder, package in SOURCES.items():
        if path.startswith(folder + package) and path.endswith(".py"):
            return ".".join(PurePath(path).relative_to(folder).with_suffix("").parts).removesuffix(
                ".__init__"
            )
    return None


def folder_tests(files: Iterable[str]) -> set[str]:
    """Return the tests of changed files beside the package: clients, pages, papers, proofs, tools."""
    found: set[str] = set()
    for file in files:
        found |= {test for folder, tests in BESIDE.items() if file.startswith(folder) for test in tests}
        if "/" not in file and file.endswith(".md"):
            found |= {*BESIDE["docs/"]}
    return found


def importing_tests(files: Iterable[str], tests: Mapping[str, str]) -> set[str]:
    """Return the tests, given by path and text, that import changed files of the tests."""
    changed = [file for file in files if file.startswith(TESTS) and file.endswith(".py")]
    names = [".".join(PurePath(file).with_suffix("").parts) for file in changed]
    return {test for test, text in tests.items() if any(f"from {name} import" in text for name in names)}


def importers(changed: Iterable[str], direct: Mapping[str, set[str]], steps: int) -> set[str]:
    """Return the changed modules and those that import them by at most `steps` steps."""
    found = new = set(changed)
    for _ in range(steps):
        new = {module for name in new for module in direct.get(name, ())} - found
        found = found | new
    return found


def mirror_files(modules: Iterable[str], tests: Iterable[str]) -> set[str]:
    """Return the files of tests that mirror the modules."""
    starts = set()
    for module in modules:
        *rooms, name = module.split(".")[1:] or [""]
        starts.add("/".join(["tests", *rooms, f"test_{name}"]))
    return {
        test
        for test in tests
        if any(test in (f"{start}.py",) or test.startswith(f"{start}_") for start in starts)
    }


def chosen(files: set[str], steps: int) -> list[str]:
    """Return the paths of the tests to run for changed files."""
    graph = grimp.build_graph(*SOURCES.values())
    direct = {module: graph.find_modules_that_directly_import(module) for module in graph.modules}
    modules = {module for file in files if (module := module_of(file)) in graph.modules}
    every = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in (ROOT / TESTS).rglob("test_*.py")
    }
    found = mirror_files(importers(modules, direct, steps), every) | (files & set(every))
    found |= importing_tests(files, every) | folder_tests(files)
    return sorted({*found, "tests/laws/test_house.py"} if files else found)


def main() -> int:
    """Run the tests, or list them; return pytest's exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.quick", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--steps", type=int, default=2, help="import steps from a changed module; 2 by default"
    )
    parser.add_argument("--list", action="store_true", help="print the tests and run nothing")
    options = parser.parse_args()
    paths = chosen(changed_files(), options.steps)
    if options.list or not paths:
        print(*paths or ["nothing changed"], sep="\n")
        return 0
    words = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-m", "not slow", *paths]
    return subprocess.run(words, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
