"""Find a design: in the shipped archive, in the cache folder, by interpolation, or by solving."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import zipfile
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from dither.atomic import renamed
from dither.optimal.design import FORMAT, Design
from dither.optimal.problem import Problem

SHIPPED: Final = "designs.zip"
VARIABLE: Final = "DITHER_CACHE"


@lru_cache(maxsize=64)
def find(problem: Problem, *, fresh: bool = False) -> Design:
    """Return the design of a problem.

    A shipped design is used if there is one. Between two shipped ε of the same kind a design is interpolated.
    With `fresh`, and for other losses, it is solved, which takes seconds and needs scipy. Interpolated and
    solved designs are kept in the cache folder.
    """
    if not fresh:
        shipped = _shipped(problem)
        if shipped is not None:
            return shipped
    name = f"{'fresh-' if fresh else ''}{problem.name}"
    kept = _recall(name, problem)
    if kept is not None:
        return kept
    beside = None if fresh else _beside(problem)
    if beside is not None:
        from dither.optimal.interpolation import interpolated

        made = interpolated(problem, *beside)
    else:
        from dither.optimal.solver.solve_design import solve_design

        made = solve_design(problem)
    _remember(name, made)
    return made


def ready(problem: Problem) -> bool:
    """Return whether a design is found without solving: shipped, between two shipped ones, or cached."""
    known = budgets(problem.kind)
    return bool(known and known[0] <= problem.epsilon <= known[-1]) or _path(problem.name).exists()


def whence(problem: Problem, *, fresh: bool = False) -> str:
    """Return where `find` takes a design from, as a phrase such as "solved before"."""
    if fresh:
        return "solved before" if _path(f"fresh-{problem.name}").exists() else "solved now"
    known = budgets(problem.kind)
    if problem.epsilon in known:
        return "shipped"
    if ready(problem):
        return "between two shipped ones" if known else "solved before"
    return "solved now"


@cache
def budgets(kind: str) -> tuple[float, ...]:
    """Return the ε for which designs of a kind are shipped, in order."""
    names = [name for name in _archive().namelist() if name.startswith(f"{kind}-")]
    return tuple(sorted(float(name.removeprefix(f"{kind}-")) for name in names))


@cache
def _archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(resources.files("dither.optimal").joinpath(SHIPPED).read_bytes()))


@lru_cache(maxsize=64)
def _shipped(problem: Problem) -> Design | None:
    if problem.epsilon not in budgets(problem.kind):
        return None
    return Design.from_bytes(_archive().read(problem.name), problem)


def _beside(problem: Problem) -> tuple[Design, Design] | None:
    """Return the shipped designs just below and just above a problem's ε."""
    known = budgets(problem.kind)
    below = [epsilon for epsilon in known if epsilon < problem.epsilon]
    above = [epsilon for epsilon in known if epsilon > problem.epsilon]
    if not below or not above:
        return None
    found = [
        _shipped(Problem(epsilon, problem.loss, problem.criterion, problem.unbiased))
        for epsilon in (below[-1], above[0])
    ]
    return (found[0], found[1]) if found[0] and found[1] else None


def folder() -> Path:
    """Return the cache folder: the environment variable DITHER_CACHE, or the user's own cache folder."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "")
        return (Path(home) if home else Path.home() / "AppData" / "Local") / "dither" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dither"
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home else Path.home() / ".cache") / "dither"


def _path(name: str) -> Path:
    return folder() / f"design-{FORMAT}" / name


def _recall(name: str, problem: Problem) -> Design | None:
    """Return a design from the cache; None if there is none or the file is damaged."""
    try:
        return Design.from_bytes(_path(name).read_bytes(), problem)
    except (OSError, RuntimeError):
        return None


def _remember(name: str, design: Design) -> None:
    """Write a design to the cache, whole or not at all; a folder that cannot be written to is no error."""
    path = _path(name)
    with contextlib.suppress(OSError, RuntimeError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with renamed(path) as part:
            part.write_bytes(design.to_bytes())
