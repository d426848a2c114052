"""Each requirement of a reader of campaigns has a vector: without it, a verdict of texts.json changes."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator
from typing import Any, Final

import pytest

import dither_device.campaign as reader
from dither_device import DeviceError
from tests.conformance.test_texts import WHOLE

CAMPAIGNS: Final = WHOLE["campaigns"]
FUNCTIONS: Final = (
    *("_check_repeat", "_check_languages", "_by_tag", "_check_declared", "_check_form", "_read_question"),
    *("_check_present", "check_terms", "_check_promise"),
)
CALLS: Final = ("check_words", "integer", "listed")
OPERATORS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
# Without these the same texts are refused: a field is missing, a type is wrong, or another requirement holds.
EQUIVALENT: Final = {
    *("isinstance(repeat, str) and repeat in _OWN", "isinstance(repeat, str)", "repeat in _OWN"),
    *("isinstance(phase, Fields)", "len(phase) == 1", 'listed(given["languages"], "terms")'),
    *('"purposes" not in given', "len(tags) > 1", "isinstance(given, Fields)", "set(given) == set(tags)"),
    *("tags", "interval or circle", "interval", "circle", 'domain["kind"] in ("categories", "several")'),
    *('listed(stated["outside"], "terms", 3)', 'listed(stated["scale"], "terms")'),
    *('plain["kind"] == "circle"', 'plain["kind"] == "interval"', 'domain["kind"] == "categories"'),
    *('listed(domain.get("labels"), "terms")', 'question.kind == "response"'),
    'question.kind == "response" and domain["kind"] == "categories"',
    *('type(given["dither-campaign"]) is int', 'listed(given["questions"], "terms")'),
    *("isinstance(fields, Fields)", "isinstance(promise, Fields)"),
}
# 1 025 questions are a megabyte: `test_hostile_words.py` has them.
LONG: Final = {"least <= len(stated) <= most"}


def _parts(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Yield the parts of a condition, each with what is in its place when it is dropped."""
    yield node, "True"
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _parts(part)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        sides = [node.left, *node.comparators]
        pairs = [
            f"({ast.unparse(sides[at])}) {OPERATORS[type(one)]} ({ast.unparse(sides[at + 1])})"
            for at, one in enumerate(node.ops)
        ]
        for at in range(len(pairs)):
            yield node, " and ".join(pairs[:at] + pairs[at + 1 :])


def mutants() -> Iterator[tuple[str, int, int, str]]:
    """Yield what is dropped, where it is in the bytes of the module, and what is put there."""
    source = inspect.getsource(reader)
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    functions = [one for one in ast.parse(source).body if getattr(one, "name", "") in FUNCTIONS]
    assert len(functions) == len(FUNCTIONS)
    for node in (inner for function in functions for inner in ast.walk(function)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        dropped: list[tuple[ast.expr, str]] = []
        if node.func.id == "need":
            dropped = list(_parts(node.args[0]))
        elif node.func.id in CALLS:
            dropped = [(node, ast.unparse(node.args[0]))]
        for part, instead in dropped:
            assert part.end_lineno is not None
            assert part.end_col_offset is not None
            begin, end = (
                starts[part.lineno - 1] + part.col_offset,
                starts[part.end_lineno - 1] + part.end_col_offset,
            )
            yield str(ast.get_source_segment(source, part)), begin, end, f"({instead})"


def verdicts(module: Any) -> list[str | None]:
    """Return the identity of each campaign that a reader without signatures reads; None if it refuses it."""
    module.check_signature = lambda *_: None
    found: list[str | None] = []
    for case in CAMPAIGNS:
        try:
            found.append(module.Campaign(case["published"], key=WHOLE["key"]).id)
        except DeviceError:
            found.append(None)
        except Exception as error:  # a reader that stops is noticed
            found.append(type(error).__name__)
    return found


def _module(code: str) -> types.ModuleType:
    made = types.ModuleType(reader.__name__)
    exec(compile(code, reader.__name__, "exec"), made.__dict__)
    return made


@pytest.mark.slow
def test_each_requirement_changes_a_verdict() -> None:
    code = inspect.getsource(reader).encode()
    whole = verdicts(_module(code.decode()))
    missed, count = set(), 0
    for text, begin, end, instead in mutants():
        count += 1
        if verdicts(_module((code[:begin] + instead.encode() + code[end:]).decode())) == whole:
            missed.add(text)
    assert count > 130
    assert missed == EQUIVALENT | LONG
