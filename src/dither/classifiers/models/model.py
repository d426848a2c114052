"""Any classifier as one thing: rows in, one answer a row out, asked in large batches."""

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
_ASKED: Final = ("predict", "predict_proba", "predict_log_proba")


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A classifier. `inside` is the estimator or module itself, for those who can read its parameters.

    `labels` are what the classes are called, where they are not called by their numbers.
    """

    ask: Callable[[Array], Any]
    inside: object
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    @staticmethod
    def of(predict: object) -> Model:
        """Give a function, an estimator of scikit-learn, one of its methods, or a torch module as a model."""
        if isinstance(predict, Model):
            return predict
        torch = sys.modules.get("torch")  # a module of torch cannot exist unless torch was imported
        if torch is not None and isinstance(predict, torch.nn.Module):
            return Model(_tensors(predict, torch), predict)
        owner = getattr(predict, "__self__", None)
        if owner is not None and hasattr(owner, "fit") and hasattr(owner, "predict"):
            if getattr(predict, "__name__", "") not in _ASKED:
                raise InvalidParameter("give the estimator itself, or its predict or predict_proba")
            return _estimator(owner, predict)
        if hasattr(predict, "fit") and hasattr(predict, "predict"):
            return _estimator(predict, predict.predict)
        if not callable(predict):
            raise InvalidParameter(
                "predict is a function from rows to answers, an estimator of scikit-learn or a torch module; "
                f"not {type(predict).__name__}"
            )
        return Model(predict, predict)

    def __call__(self, rows: Array) -> Array:
        """Give one answer for each row."""
        size = max(1, min(_ROWS, _NUMBERS // max(1, rows[:1].size)))
        parts = [
            labels(self.ask(rows[begin : begin + size]), len(rows[begin : begin + size]))
            for begin in range(0, len(rows), size)
        ]
        return np.concatenate(parts)

    def keeps(self, rows: Array, answer: Any) -> Mask:
        """Say for each row whether the answer is the given one."""
        return np.asarray(self(rows) == answer, dtype=np.bool_)


def labels(output: Any, count: int) -> Array:
    """Give one label for each row from what a classifier said: labels, or a score for each class."""
    answers = np.asarray(output)
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    if answers.ndim == 2:
        answers = answers.argmax(axis=1)
    if answers.shape != (count,):
        raise InvalidParameter(
            "predict takes an array with one record a row and gives one answer for each row, or one score a "
            f"class for each row; for {count} rows it gave an array of shape {answers.shape}"
        )
    return answers


def _estimator(estimator: Any, method: Any) -> Model:
    classes = getattr(estimator, "classes_", None) if method.__name__ == "predict" else None
    names = getattr(estimator, "feature_names_in_", None)
    return Model(
        tabled(estimator, method),
        estimator,
        None if names is None else tuple(map(str, names)),
        None if classes is None else tuple(classes),
    )


def tabled(estimator: Any, method: Callable[[Any], Any]) -> Callable[[Array], Any]:
    """Give a method that takes arrays also where the estimator was trained on a table with names."""
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


def _tensors(module: Any, torch: Any) -> Callable[[Array], Any]:
    if module.training:
        raise InvalidParameter("the module is in training mode; call its eval() first")
    first = next(module.parameters(), None)

    def ask(rows: Array) -> Any:
        kind = torch.get_default_dtype() if first is None else first.dtype
        device = None if first is None else first.device
        with torch.inference_mode():
            answer = module(torch.as_tensor(rows, dtype=kind, device=device))
            if answer.ndim == 1 or (answer.ndim == 2 and answer.shape[1] == 1):
                answer = answer.reshape(-1) > 0.0  # one score: its sign
            return answer.cpu().numpy()

    return ask
