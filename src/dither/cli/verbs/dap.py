"""`dither dap`: the parameters of an aggregation by DAP: no server sees a single report.

DAP (draft-ietf-ppm-dap) splits each measurement between two aggregators that add up their shares. A report
of one cell is a measurement of Prio3Histogram (draft-irtf-cfrg-vdaf), and the aggregate is a `Counts`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import print_json
from dither.cli.questions import find_questions
from dither.errors import InvalidParameter

if TYPE_CHECKING:
    from dither.core.question import Question
    from dither.privacy import Guarantee

HONEST: Final = "one of the two aggregators keeps to the protocol and its shares to itself"
FILLED: Final = (
    "The minimum batch counts honest reports. A collector that fills a batch with its own reports subtracts "
    "them and sees the others: then the promise on the device is what remains."
)
_MOST_CELLS: Final = 1 << 13  # more cells make reports above 140 kB
_FIELD: Final = 16  # bytes of an element of the field, and of a seed


@click.group()
def command() -> None:
    """Aggregate the reports of a campaign by DAP, between two servers of which one must be honest.

    \b
    dither dap task survey.toml
    """


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--minimum-batch",
    type=int,
    default=1000,
    show_default=True,
    metavar="N",
    help="The least number of people in an aggregate.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The δ of an aggregate.")
@JSON_OPTION
def task(file: Path, minimum_batch: int, delta: float, as_json: bool) -> None:
    """Print the parameters of a DAP task for each question of FILE, and the promise of an aggregate.

    \b
    dither dap task survey.toml
    dither dap task survey.toml --minimum-batch 10000 --json
    """
    questions = dict(find_questions(file).campaign.questions)
    tasks = {name: _parameters(name, request, minimum_batch) for name, request in questions.items()}
    promise = _promise(questions, minimum_batch, delta)
    if as_json:
        facts = {"epsilon": promise.epsilon, "delta": promise.delta, "assumes": list(promise.assumes)}
        print_json({"tasks": tasks, "aggregate": facts, "note": FILLED})
        return
    for name, made in tasks.items():
        click.echo(
            f"{name}: {made['vdaf']}, length {made['length']}, chunk length {made['chunk_length']}, minimum "
            f"batch {made['min_batch_size']}; {made['report_bytes']} bytes a report; fingerprint "
            f"{made['fingerprint']}"
        )
    for line in ("", f"An aggregate promises {promise}.", FILLED):
        click.echo(click.wrap_text(line, 80))


def _parameters(name: str, question: Question, minimum_batch: int) -> dict[str, Any]:
    """Return the parameters of a task; raise InvalidParameter unless each report is one of few cells."""
    from dither.core.kernels.counting import EachReport

    counting = question.counting
    if not isinstance(counting, EachReport):
        raise InvalidParameter(
            f"{name}: expected reports of one cell for Prio3Histogram, got reports of "
            f'{question.name}; choose mechanism = "KRR" or "ProjectiveResponse", or a window with '
            "cells = 64"
        )
    if counting.size > _MOST_CELLS:
        raise InvalidParameter(
            f"{name}: expected at most {_MOST_CELLS} cells, got {counting.size}, whose reports would have "
            f"{_report_bytes(counting.size)} bytes; choose fewer, such as cells = 64"
        )
    return {
        "vdaf": "Prio3Histogram",
        "length": counting.size,
        "chunk_length": _chunk(counting.size),
        "min_batch_size": minimum_batch,
        "report_bytes": _report_bytes(counting.size),
        "fingerprint": question.fingerprint,
    }


def _chunk(length: int) -> int:
    """Return the length of a chunk: about the square root makes the shortest proofs."""
    return max(1, round(math.sqrt(length)))


def _report_bytes(length: int) -> int:
    """Return the bytes of a report: the share with cells and proof, the share of seeds, the public one.

    The proof of ParallelSum(Mul, chunk) has 2·chunk seeds of its wires and a polynomial of degree 2·(P − 1),
    where P is the least power of two above the number of calls.
    """
    chunk = _chunk(length)
    power = 1 << (-(-length // chunk)).bit_length()
    proof = 2 * chunk + 2 * (power - 1) + 1
    return _FIELD * (length + proof) + 6 * _FIELD


def _promise(questions: dict[str, Question], minimum_batch: int, delta: float) -> Guarantee:
    """Return the promise of shuffled reports, where DAP replaces the shuffler."""
    from dither.advice.explain import batch_promise
    from dither.mechanisms.shuffled import NAMELESS, SHUFFLER

    found = batch_promise(questions, minimum_batch=minimum_batch, delta=delta)
    if found.guarantee is None:
        raise InvalidParameter(found.officer)
    assumed = [HONEST if line == SHUFFLER else line for line in found.guarantee.assumes if line != NAMELESS]
    return replace(found.guarantee, assumes=tuple(assumed))
