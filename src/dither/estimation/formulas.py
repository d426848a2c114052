"""Formulas of regressions, as in R, "income ~ age + C(education)": parsed by formulaic.

The name of a private column stands for its reports. Functions apply to public columns only and are computed
by formulaic. A formula can run code, so do not accept one from people whom you do not trust.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from dither.core.reports import Reports
from dither.errors import InvalidParameter, MissingExtra, found, unknown_name
from dither.estimation.design import Column, DataColumns, Factor, RegressionDesign, category_factor, factor_of

_CATEGORY: Final = re.compile(r"C\(\s*`?(.*?)`?\s*\)", re.DOTALL)
_ONE: Final = [("1", "LITERAL")]  # the intercept
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")


def read_formula(text: str, data: object) -> tuple[Column, RegressionDesign]:
    """Return the response and the regressors of a formula; raise InvalidParameter if it is not valid."""
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError:
        raise MissingExtra("a formula of a regression", "formulas") from None
    columns = DataColumns(data)
    if " ." in text.replace("~", " ~ "):
        raise InvalidParameter("expected the names of the regressors, got .; write the names")
    try:
        formula = Formula(text)
        left = [str(term) for term in formula.lhs]
        terms = [[(factor.expr, factor.eval_method.name) for factor in term.factors] for term in formula.rhs]
    except (FormulaicError, AttributeError, TypeError, SyntaxError) as error:
        reason = "" if isinstance(error, AttributeError) else _COLOURS.sub("", str(error)).split("\n")[0]
        raise InvalidParameter(
            'expected a formula with the response, ~ and the regressors, such as "income ~ age + '
            'C(education)"; '
            f"{reason or 'one side is missing'}"
        ) from None
    response = left[0].strip("`") if len(left) == 1 else ""
    if not response or response not in columns:
        raise unknown_name("response of the formula", response or " + ".join(left), list(columns))
    if _ONE not in terms:
        raise InvalidParameter("expected a regression with an intercept; leave out 0 + and - 1")
    given = columns[response]
    if not hasattr(given, "__len__"):
        raise InvalidParameter(
            f"expected column {response!r} to be reports or a public column, got {found(given)}"
        )
    return given, _design_of([term for term in terms if term != _ONE], columns, len(given))


def _design_of(terms: list[list[tuple[str, str]]], columns: DataColumns, people: int) -> RegressionDesign:
    """Return the design of terms; a term is a list of expressions, each with its kind of evaluation."""
    factors = {
        expression: _factor(expression, method, columns, people)
        for expression, method in dict.fromkeys(part for term in terms for part in term)
    }
    made = [tuple(factors[expression] for expression, _ in term) for term in terms]
    if not made:
        raise InvalidParameter("expected at least one regressor, got none")
    alone = {id(term[0]) for term in made if len(term) == 1}
    for term in made:
        for factor in term:
            if factor.labels and id(factor) not in alone:
                raise InvalidParameter(
                    f"expected the column {factor.name!r} itself next to its interactions; add it, as "
                    f"{' * '.join(part.name for part in term)} does"
                )
    return RegressionDesign(tuple(made))


def _factor(expression: str, method: str, columns: DataColumns, people: int) -> Factor:
    """Return a factor of a formula: a column, C(column), or a function of public columns."""
    if method == "LOOKUP":
        return factor_of(expression.strip("`"), columns[expression.strip("`")], people)
    category = _CATEGORY.fullmatch(expression)
    if category is not None and category[1] in columns:
        name, given = category[1], columns[category[1]]
        if not isinstance(given, Reports):
            factor = factor_of(name, given, people)
            return factor if factor.labels else category_factor(name, given)
        factor = factor_of(name, given, people)
        if not factor.labels:
            raise InvalidParameter(
                f"expected C({name}) of a public column, but {name!r} is a private number; ask it as "
                "dt.Categories"
            )
        return factor
    return _function(expression, columns, people)


def _function(expression: str, columns: DataColumns, people: int) -> Factor:
    """Return the columns of a function of public columns, as formulaic computes them."""
    import pandas
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    formula = Formula(f"1 + {expression}")
    needs = sorted(str(name).strip("`") for name in formula.required_variables)
    for name in needs:
        if isinstance(columns[name], Reports):
            raise InvalidParameter(
                f"expected a function of public columns in {expression}, but {name!r} is private, and a "
                "function of noisy reports differs from the same function of the values; use the column as "
                "it is, or a public one"
            )
        if len(columns[name]) != people:
            raise InvalidParameter(
                f"expected {people} rows of regressor {name!r}, one for each person, got {len(columns[name])}"
            )
    if not needs:
        raise InvalidParameter(
            f"expected a regressor to be a column, or a function of columns, got {expression}"
        )
    frame = pandas.DataFrame({name: np.asarray(columns[name]) for name in needs})
    try:
        matrix = formula.get_model_matrix(frame, context={}, na_action="ignore")
    except (FormulaicError, TypeError, ValueError, NameError, SyntaxError) as error:
        reason = _COLOURS.sub("", str(error)).split("\n")[0]
        raise InvalidParameter(f"{expression}: {reason}") from None
    table = np.asarray(matrix, dtype=np.float64)[:, 1:]
    if not np.isfinite(table).all():
        raise InvalidParameter(
            f"expected finite numbers in {expression}, got NaN or an infinity; drop these people"
        )

    def encode(values: Mapping[str, object]) -> list[float]:
        row = pandas.DataFrame({name: [values[name]] for name in needs})
        found = np.asarray(matrix.model_spec.get_model_matrix(row, context={}))
        return [float(number) for number in found[0, 1:]]

    names = tuple(str(name) for name in matrix.columns[1:])
    return Factor(expression, names, (), None, table, encode, tuple(needs))
