"""Any classifier as one function: rows in, one answer a row out, asked in large batches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Mask
from dither.errors import InvalidParameter

_ROWS: Final = 1 << 17  # the most rows in one batch
_NUMBERS: Final = 1 << 24  # the most numbers in one batch
_PREDICTIONS: Final = ("predict", "predict_proba", "predict_log_proba")


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A classifier. `inside` is the estimator, module or function itself, whose parameters may be readable.

    `names` are those of the features, if known; `labels` are those of the classes, if they are not numbers.
    """

    ask: Callable[[Array], Any]
    inside: object
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    @staticmethod
    def of(predict: object) -> Model:
        """Return a function, an estimator of scikit-learn or its method, or a torch module as a model."""
        torch = sys.modules.get("torch")  # a module of torch cannot exist unless torch was imported
        if torch is not None and isinstance(predict, torch.nn.Module):
            return Model(_ask_tensors(predict, torch), predict)
        owner = getattr(predict, "__self__", None)
        if owner is not None and hasattr(owner, "fit") and hasattr(owner, "predict"):
            if getattr(predict, "__name__", "") not in _PREDICTIONS:
                raise InvalidParameter(
                    "predict must be the estimator itself, or its predict or predict_proba"
                )
            return _estimator(owner, predict)
        if hasattr(predict, "fit") and hasattr(predict, "predict"):
            return _estimator(predict, predict.predict)
        if not callable(predict):
            raise InvalidParameter(
                "predict must be a function from rows to answers, an estimator of scikit-learn or a torch "
                f"module; not {type(predict).__name__}"
            )
        return Model(predict, predict)

    def __call__(self, rows: Array) -> Array:
        """Return one answer for each row."""
        size = max(1, min(_ROWS, _NUMBERS // max(1, rows[:1].size)))
        parts = [
            _labels(self.ask(rows[begin : begin + size]), len(rows[begin : begin + size]))
            for begin in range(0, len(rows), size)
        ]
        return np.concatenate(parts)

    def keeps(self, rows: Array, answer: Any) -> Mask:
        """Return for each row whether the answer is the given one."""
        return np.asarray(self(rows) == answer, dtype=np.bool_)


def _labels(output: Any, count: int) -> Array:
    """Return one label for each row from a classifier's output: labels, or one score for each class."""
    answers = np.asarray(output)
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    if answers.ndim == 2:
        answers = answers.argmax(axis=1)
    if answers.shape != (count,):
        raise InvalidParameter(
            "predict must take an array with one record a row and return one answer for each row, or one "
            f"score a class for each row; for {count} rows it returned an array of shape {answers.shape}"
        )
    return answers


def _estimator(estimator: Any, method: Any) -> Model:
    classes = getattr(estimator, "classes_", None) if method.__name__ == "predict" else None
    names = getattr(estimator, "feature_names_in_", None)
    return Model(
        with_column_names(estimator, method),
        estimator,
        None if names is None else tuple(map(str, names)),
        None if classes is None else tuple(classes),
    )


def with_column_names(estimator: Any, method: Callable[[Any], Any]) -> Callable[[Array], Any]:
    """Return a method that takes arrays, even if the estimator was trained on a table with column names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return method

    def ask(rows: Array) -> Any:
        try:
            import pandas
        except ImportError:
            return method(rows)
        frame = pandas.DataFrame(rows, columns=list(names))
        return method(frame if rows.dtype != object else frame.infer_objects())

    return ask


def _ask_tensors(module: Any, torch: Any) -> Callable[[Array], Any]:
    if module.training:
        raise InvalidParameter("the module is in training mode; call its eval() first")
    first = next(module.parameters(), None)

    def ask(rows: Array) -> Any:
        kind = torch.get_default_dtype() if first is None else first.dtype
        device = None if first is None else first.device
        with torch.inference_mode():
            answer = module(torch.as_tensor(rows, dtype=kind, device=device))
            if answer.ndim == 1 or (answer.ndim == 2 and answer.shape[1] == 1):
                answer = answer.reshape(-1) > 0.0  # a single score decides by its sign
            return answer.cpu().numpy()

    return ask
