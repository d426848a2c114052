"""The mutants that a module offers: each changes one place, and the program after it is another one."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.mutation.operators import mutants, mutated

PROGRAM = """
def least(values, start):
    found = start + 1
    for value in values:
        if value < found and not value == start:
            found = -value
    return found
"""


def test_each_mutant_changes_one_place(tmp_path: Path) -> None:
    path = tmp_path / "least.py"
    path.write_text(PROGRAM)
    offered = mutants("dither.least", path)
    programs = {mutant.says: ast.unparse(mutated(mutant, path)) for mutant in offered}
    assert len({PROGRAM.strip(), *programs.values()}) == len(offered) + 1
    for change in ("Lt → LtE", "Eq → NotEq", "and → or", "not left out", "minus left out", "Add → Sub"):
        assert change in programs
    namespace: dict[str, object] = {}
    exec(programs["minus left out"], namespace)
    assert namespace["least"]([2], 5) == 2  # type: ignore[operator]
