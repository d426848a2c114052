"""A classifier and a record: all of a question but the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from dither.arrays import Floats, Mask
from dither.classifiers.models.model import Model
from dither.classifiers.models.readable import read
from dither.classifiers.models.slices import Slice
from dither.classifiers.subject import Subject
from dither.errors import InvalidParameter


@final
@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A classifier, a record, and the answer that is to be kept. It holds the secret: it is not shown."""

    model: Model
    subject: Subject
    answer: Any

    @staticmethod
    def of(predict: object, x: Any, chosen: Sequence[str] | None, names: Sequence[str] | None) -> Case:
        """Ask the classifier about the record itself; the chosen features (all, for None) are randomised."""
        model = Model.of(predict)
        subject = Subject.of(x, chosen, model.names if names is None else list(names))
        wanted = getattr(model.inside, "n_features_in_", subject.row.size)
        if wanted != subject.row.size:
            raise InvalidParameter(f"the model takes {wanted} features; the record has {subject.row.size}")
        return Case(model, subject, model(subject.rows(subject.values[None]))[0])

    @property
    def values(self) -> Floats:
        """The values that are randomised."""
        return self.subject.values

    def keeps(self, points: Floats) -> Mask:
        """Say for each row of randomised values whether the answer stays."""
        return self.model.keeps(self.subject.rows(points), self.answer)

    @cached_property
    def slice(self) -> Slice | None:
        """The classifier as a function of the randomised features, if its parameters can be read."""
        return read(self.model, self.subject)

    def __repr__(self) -> str:
        return f"Case({self.subject!r})"
