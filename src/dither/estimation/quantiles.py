"""Several quantiles of the same reports, as `dt.quantile(reports, [0.1, 0.5, 0.9])` returns them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dither.core.domains.calendar import Calendar
from dither.estimation.estimate import Estimate
from dither.foundation.tables import Row, Tabular
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedQuantiles(Tabular):
    """Quantiles in the order of their shares: a sequence of estimates, with a frame and a picture.

    Each interval holds at its own level, not all together.
    """

    shares: tuple[float, ...]
    parts: tuple[Estimate, ...]

    @classmethod
    def of(cls, shares: Sequence[float], parts: Sequence[Estimate]) -> EstimatedQuantiles:
        """Return the quantiles that were estimated one by one."""
        return cls(tuple(map(float, shares)), tuple(parts), about=parts[0].about if parts else "")

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.parts[0].n

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person."""
        return self.parts[0].guarantee

    def numbers(self, level: float = 0.95) -> list[Row]:
        """Return a row for each quantile, with numbers in place of dates and times."""
        return [
            {"quantile": share, **part.numbers(level)[0]}
            for share, part in zip(self.shares, self.parts, strict=True)
        ]

    def records(self) -> list[Row]:
        """Return a row for each quantile: its share, value, low, high and n."""
        unit = self.parts[0].unit if self.parts else ""
        rows = self.numbers()
        return unit.rows(rows) if isinstance(unit, Calendar) else rows

    def plot(self, *, title: str = "", ax: Axes | None = None) -> Axes:
        """Draw the quantiles with their intervals, and return the axes; needs the extra `plot`."""
        from dither.estimation.plotting import draw_quantiles

        return draw_quantiles(self, title=title, ax=ax)

    def __getitem__(self, place: int) -> Estimate:
        return self.parts[place]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.parts)

    def __repr__(self) -> str:
        return repr(list(self.parts))
