"""Polars expressions: importing this module adds `pl.col("minutes").dither.perturb(question)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dither.core.question import as_question
from dither.data.dialect import Missing, Outside, check_missing, check_outside
from dither.data.formats.arrow import arrow
from dither.data.formats.columnar import ArrowChunk
from dither.data.frames.batches import perturb_column
from dither.errors import InvalidParameter, MissingExtra

try:
    import polars
except ImportError:
    raise MissingExtra("Polars expressions", "frames") from None

__all__: list[str] = []  # importing this module only adds `.dither` to expressions


@polars.api.register_expr_namespace("dither")
class Expressions:
    """The methods that dither adds to Polars expressions, in the namespace `dither`.

    Every evaluation draws new reports and spends the budget: collect a lazy frame once, and write the result.
    If one query uses an expression object twice, Polars evaluates it only once. Call `perturb` for each
    column; otherwise the two columns have the same reports.
    """

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def perturb(
        self, question: object, *, missing: Missing = "error", outside: Outside = "error"
    ) -> polars.Expr:
        """Return the reports of a column. A null raises an error; with `"skip"` it stays null.

        `outside` is as in `dt.data.perturb`.
        """
        choice, beyond = check_missing(missing), check_outside(outside)
        question = as_question(question)
        if question.layout.subdtype is not None:
            raise InvalidParameter(
                f"expected a mechanism whose report is one number, got {question.name}; use dt.data.perturb"
            )

        def draw(column: polars.Series) -> polars.Series:
            batch = arrow().RecordBatch.from_arrays([column.to_arrow()], [column.name])
            chunk = ArrowChunk(Path(), 1, batch, place="")
            reports = perturb_column(chunk, column.name, question, choice, beyond)
            return polars.Series(column.name, arrow().chunked_array([reports]))

        kind: Any = polars.Series(arrow().array([], arrow().from_numpy_dtype(question.layout))).dtype
        return self._expression.map_batches(draw, return_dtype=kind, is_elementwise=True)
