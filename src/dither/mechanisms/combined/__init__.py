"""Several attributes of one person, and answers that are asked for again and again."""

from dither.mechanisms.combined.each import Each
from dither.mechanisms.combined.memoised import Memoised
from dither.mechanisms.combined.records import Records
from dither.mechanisms.combined.sampled import Sampled

__all__ = ["Each", "Memoised", "Records", "Sampled"]
