"""Questions: integers, a codebook, a domain and a budget; they travel, draw, count, decode and promise.

A design (`Podium`, `OLH`, …) is a paper's formula, from which integers follow; it has a question. A question
that is read from a text needs no design: everything here is computed from the kernel and the codebook.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from dither.domains import read_domain
from dither.errors import MalformedReport, found
from dither.kernels.codes import SupportKernel
from dither.kernels.kernel import Kernel, LineKernel, read_kernel
from dither.kernels.places.pair import PairKernel, terms_of_part
from dither.kernels.places.place import PlaceKernel
from dither.kernels.table.channel import ChannelKernel, CodeChannelKernel, LinearReading
from dither.privacy import Guarantee
from dither.question.base import (
    LEAST_EPSILON,
    MOST_EPSILON,
    Answering,
    Question,
    as_question,
    can_answer,
    check_epsilon,
    check_shared,
    check_source,
    check_threads,
)
from dither.question.kinds import CategoryQuestion, NumberQuestion, PlainQuestion, QueryQuestion
from dither.question.paths import DIVIDED, PathQuestion, check_shares

_MOST_NAME: Final = 80  # characters of the name of a design

__all__ = [
    "LEAST_EPSILON",
    "MOST_EPSILON",
    "Answering",
    "CategoryQuestion",
    "NumberQuestion",
    "PathQuestion",
    "PlainQuestion",
    "QueryQuestion",
    "Question",
    "as_question",
    "ask",
    "can_answer",
    "check_epsilon",
    "check_shared",
    "check_shares",
    "check_source",
    "check_threads",
    "parts_of",
    "read_question",
]


def ask(domain: Any, kernel: Kernel, book: Any = None, *, divided: bool = False, **more: Any) -> Question:
    """Return the question with these integers and this codebook, of the class that its kernel determines."""
    if isinstance(kernel, PlaceKernel):
        return PathQuestion(domain, kernel, book, divided=divided, **more)
    if isinstance(book, LinearReading) and isinstance(kernel, ChannelKernel | CodeChannelKernel):
        return QueryQuestion(domain, kernel, book, **more)
    if isinstance(kernel, LineKernel):
        return NumberQuestion(domain, kernel, book, **more)
    if isinstance(kernel, SupportKernel):
        return CategoryQuestion(domain, kernel, book, **more)
    return PlainQuestion(domain, kernel, book, **more)


def read_question(
    device: Mapping[str, Any], codebook: Any, name: str, parameters: Mapping[str, Any]
) -> Question:
    """Return the question of a device text's data and a codebook; raise MalformedReport if there is none."""
    if not name.isidentifier() or len(name) > _MOST_NAME:
        raise MalformedReport(f"{found(name)} is not the name of a design")
    divided = device["draw"] == DIVIDED
    domain = read_domain(device["domain"])
    kernel = read_kernel(device["one"] if divided else device, domain)
    book = kernel.read_codebook(codebook, parameters)
    if "epsilon" in parameters:
        epsilon = check_shared(parameters["epsilon"]) if divided else check_epsilon(parameters["epsilon"])
    else:  # of correlated coins, which are stated by p and ρ
        epsilon = Guarantee(kernel.promise(math.inf, parameters).bound).epsilon
    return ask(domain, kernel, book, divided=divided, epsilon=epsilon, name=name, parameters=dict(parameters))


def parts_of(question: Question) -> tuple[NumberQuestion, ...]:
    """Return the two questions of a pair of numbers, each with its share of ε; none for other questions."""
    kernel = question.kernel
    if not isinstance(kernel, PairKernel):
        return ()
    budgets = kernel.shares(question.epsilon, question.parameters, question.book)
    return tuple(
        NumberQuestion(
            part.line,
            part,
            question.book.parts[axis],
            epsilon=budgets[axis],
            name=f"part {axis + 1} of {question.name}",
            parameters=terms_of_part(question.parameters, axis),
        )
        for axis, part in enumerate(kernel.parts)
    )
