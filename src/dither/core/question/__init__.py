"""Questions: a domain, integers, a codebook and a budget. They draw, count and decode reports.

A design (`Podium`, `OLH`, …) is a paper's formula. It computes the integers of its question. A question that
is read from a text needs no design: everything here is computed from the kernel and the codebook.
"""

from __future__ import annotations

from dither.core.question.base import (
    LEAST_EPSILON,
    MOST_EPSILON,
    Answering,
    Question,
    as_answering,
    as_question,
    can_answer,
    check_epsilon,
    check_shared,
    check_source,
    check_threads,
    plain_of,
)
from dither.core.question.kinds import (
    CategoryQuestion,
    NumberQuestion,
    OptionalQuestion,
    PlainQuestion,
    QueryQuestion,
    ask,
    read_question,
)

__all__ = [
    "LEAST_EPSILON",
    "MOST_EPSILON",
    "Answering",
    "CategoryQuestion",
    "NumberQuestion",
    "OptionalQuestion",
    "PlainQuestion",
    "QueryQuestion",
    "Question",
    "as_answering",
    "as_question",
    "ask",
    "can_answer",
    "check_epsilon",
    "check_shared",
    "check_source",
    "check_threads",
    "plain_of",
    "read_question",
]
