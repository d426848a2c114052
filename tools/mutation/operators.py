"""Small changes of a program: which ones a module offers, and the program after one of them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

Change = tuple[str, Callable[[ast.AST], ast.AST]]

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}
# Left alone: what only words, types or speed depend on.
WORDS = {"evidence", "describe", "__repr__", "__str__", "weights"}
SPEED = {"BLOCK", "SHARED_BLOCK", "FEW", "_EARLY", "DIGITS"}


@dataclass(frozen=True)
class Mutant:
    """One change of one module, at a place in the walk of its tree."""

    module: str
    place: int
    choice: int
    line: int
    column: int
    says: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.line}:{self.column} {self.says}"


def offered(node: ast.AST) -> list[Change]:
    """Return the changes that a node offers, each with its description."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            new = COMPARED[type(op)]
            return [(f"{type(op).__name__} → {new.__name__}", _with(ops=[new()]))]
        case ast.BinOp(op=op) if type(op) in COMPUTED and not _is_type(node):
            new_op = COMPUTED[type(op)]
            return [(f"{type(op).__name__} → {new_op.__name__}", _with(op=new_op()))]
        case ast.AugAssign(op=op) if type(op) in COMPUTED:
            new_op = COMPUTED[type(op)]
            return [(f"{type(op).__name__}= → {new_op.__name__}=", _with(op=new_op()))]
        case ast.BoolOp(op=ast.And()):
            return [("and → or", _with(op=ast.Or()))]
        case ast.BoolOp(op=ast.Or()):
            return [("or → and", _with(op=ast.And()))]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [("not left out", _instead(operand))]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [("minus left out", _instead(operand))]
        case ast.Constant(value=bool(value)):
            return [(f"{value} → {not value}", _with(value=not value))]
        case ast.Constant(value=int(value)):
            return [(f"{value} → {value + 1}", _with(value=value + 1))]
        case ast.If(test=test):
            negated = ast.UnaryOp(ast.Not(), test)
            return [("condition negated", _with(test=negated))]
        case ast.Raise():
            return [("error left out", lambda _: ast.Pass())]
        case ast.Expr(value=ast.Call()):
            return [("call left out", lambda _: ast.Pass())]
    return []


def _instead(other: ast.AST) -> Callable[[ast.AST], ast.AST]:
    return lambda _: other


def _with(**fields: object) -> Callable[[ast.AST], ast.AST]:
    def change(node: ast.AST) -> ast.AST:
        new = copy.copy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return new

    return change


def _is_type(node: ast.BinOp) -> bool:
    """Say whether a `|` joins two types, not two numbers."""
    return isinstance(node.op, ast.BitOr) and any(
        isinstance(side, ast.Constant) and side.value is None for side in (node.left, node.right)
    )


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes in which a change may show: no annotation, no message, nothing about speed."""
    match tree:
        case ast.FunctionDef(name=name) if name in WORDS:
            return
        case ast.AnnAssign(target=ast.Name(id=name)) if name in SPEED:
            return
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return
    yield tree
    for field, value in ast.iter_fields(tree):
        if field in {"annotation", "returns", "decorator_list", "bases", "type_params"}:
            continue
        if isinstance(tree, ast.Raise):  # what an error says is tested as words
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from nodes(child)


def mutants(module: str, path: Path) -> list[Mutant]:
    """Return every change that a module offers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        Mutant(module, place, choice, getattr(node, "lineno", 0), getattr(node, "col_offset", 0), says)
        for place, node in enumerate(nodes(tree))
        for choice, (says, _) in enumerate(offered(node))
    ]


def mutated(mutant: Mutant, path: Path) -> ast.Module:
    """Return a module's tree after a change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = next(node for place, node in enumerate(nodes(tree)) if place == mutant.place)
    new = ast.copy_location(offered(node)[mutant.choice][1](node), node)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, field, new)
            elif isinstance(value, list):
                setattr(parent, field, [new if child is node else child for child in value])
    return ast.fix_missing_locations(tree)
