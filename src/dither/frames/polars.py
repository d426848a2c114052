"""Polars expressions: `pl.col("minutes").dither.perturb(mechanism)`, once this module is imported."""

from __future__ import annotations

from typing import Any

from dither.errors import InvalidParameter, MissingExtra, OutsideDomain
from dither.files.arrow import arrow, perturb_column
from dither.mechanisms.base import Mechanism

try:
    import polars
except ImportError:
    raise MissingExtra("Polars expressions", "frames") from None


@polars.api.register_expr_namespace("dither")
class Expressions:
    """What dither adds to Polars expressions.

    Each *evaluation* draws noise: collect a lazy frame once and write it, or the budget is spent again. An
    expression object that is used for two columns shares its noise; call `perturb` for each.
    """

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def perturb(self, mechanism: Mechanism[Any], *, nulls_are_public: bool = False) -> polars.Expr:
        """Give the reports of a column."""
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(f"a mechanism was expected, not {type(mechanism).__name__}")
        if mechanism.layout.subdtype is not None:
            raise InvalidParameter(
                "reports of several numbers do not fit a column; use dither.frames.perturb"
            )

        def draw(column: polars.Series) -> polars.Series:
            array = column.to_arrow()
            if column.is_nan().any() if column.dtype.is_float() else False:
                raise OutsideDomain(f"column {column.name!r}: a value is not a number")
            place = lambda row: f"row {row + 1}, column {column.name!r}"  # noqa: E731
            reports = perturb_column(array, mechanism, place, nulls_are_public, None)
            return polars.Series(column.name, arrow().chunked_array([reports]))

        kind: Any = polars.Series(arrow().array([], arrow().from_numpy_dtype(mechanism.layout))).dtype
        return self._expression.map_batches(draw, return_dtype=kind, is_elementwise=True)
