"""A classifier and a record: all of a question but the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from dither.arrays import Floats, Mask
from dither.classifiers.models.model import Model
from dither.classifiers.models.parameters import read_parameters
from dither.classifiers.models.slices import Slice
from dither.classifiers.subject import Subject
from dither.errors import InvalidParameter


@final
@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A classifier, a record, and the classifier's answer for it. Contains private values, and shows none."""

    model: Model
    subject: Subject
    answer: Any

    @staticmethod
    def of(predict: object, x: Any, chosen: Sequence[str] | None, names: Sequence[str] | None) -> Case:
        """Return the case of a record whose chosen features (all, for None) are randomised."""
        model = Model.of(predict)
        subject = Subject.of(x, chosen, model.names if names is None else list(names))
        wanted = getattr(model.inside, "n_features_in_", subject.row.size)
        if wanted != subject.row.size:
            raise InvalidParameter(f"the model takes {wanted} features; the record has {subject.row.size}")
        return Case.about(model, subject)

    @staticmethod
    def about(model: Model, subject: Subject) -> Case:
        """Return the case of a record, for which the classifier is asked once."""
        return Case(model, subject, model(subject.rows(subject.values[None]))[0])

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        return self.subject.values

    @property
    def features(self) -> int:
        """How many features are randomised."""
        return len(self.subject.columns)

    def keeps(self, points: Floats) -> Mask:
        """Return for each row of randomised values whether the answer stays the same."""
        return self.model.keeps(self.subject.rows(points), self.answer)

    @cached_property
    def slice(self) -> Slice | None:
        """The classifier as a function of the randomised features, if its parameters can be read."""
        return read_parameters(self.model, self.subject, self.answer)

    def __repr__(self) -> str:
        return f"Case({self.subject!r})"
