"""The columns of a table of reports, and of the table of counts that a query makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self, final

from dither.errors import InvalidParameter, found, unknown_name

OPTIONAL: Final = ("day", "label", "question", "fingerprint", "batch", "place", "report", "report_hex")


@final
@dataclass(frozen=True)
class ReportTable:
    """The names of a table of reports and of its columns; None for a column that the table does not have.

    A row is one report. Whole numbers are in `report`; reports of several numbers or bits are in
    `report_hex`, their bytes as lower-case hexadecimal text, as in the JSON of a batch. `batch` is the random
    identity of the batch that brought the report, and `place` its number among the batch's reports to that
    question: rows that are equal in `question`, `fingerprint`, `batch` and `place` are one report. Without
    `batch`, the reports are already unique.
    """

    name: tuple[str, ...] = ("reports",)  # a table, or a schema and a table, and so on
    day: str | None = "day"
    label: str | None = "label"
    question: str | None = "question"
    fingerprint: str | None = "fingerprint"
    batch: str | None = "batch"
    place: str | None = "place"
    report: str | None = "report"
    report_hex: str | None = "report_hex"

    def __post_init__(self) -> None:
        given: object = self.name
        parts = tuple(given.split(".")) if isinstance(given, str) else tuple(given)  # type: ignore[arg-type]
        object.__setattr__(self, "name", parts)
        if not parts or not all(isinstance(part, str) and part for part in parts):
            raise InvalidParameter(f"the name of a table is one or more texts, not {found(given)}")
        for item in fields(self)[1:]:
            given = getattr(self, item.name)
            if given is not None and not (isinstance(given, str) and given):
                raise InvalidParameter(f"the column {item.name} is a name, or None, not {found(given)}")
        if self.question is None and self.fingerprint is None:
            raise InvalidParameter("a table of reports has a column question, fingerprint, or both")
        if self.batch is None:
            object.__setattr__(self, "place", None)

    def renamed(self, columns: Mapping[str, str | None]) -> Self:
        """Return the table with other names of columns; None, or an empty name, for one that is not there."""
        for name in columns:
            if name not in OPTIONAL:
                raise unknown_name("column of a table of reports", name, OPTIONAL)
        changes: dict[str, Any] = {name: given or None for name, given in columns.items()}
        return replace(self, **changes)

    @property
    def unique(self) -> bool:
        """Whether the reports are already unique: nothing says which batch brought them."""
        return self.batch is None
