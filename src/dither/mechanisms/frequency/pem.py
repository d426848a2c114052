"""PEM: common texts, found letter by letter from reports on prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from dither.arrays import Array, Halves, Integers, Words
from dither.domains import Categories, Text
from dither.errors import InvalidParameter
from dither.kernels.blocks import in_threads
from dither.kernels.sets.hashing import MOST_ITEMS, mixed, seeds
from dither.mechanisms.base import Mechanism
from dither.mechanisms.frequency.olh import OLH
from dither.privacy import Bound
from dither.randomness import Source

MOST_CHILDREN: Final = 1024  # ways to extend a prefix by one level


@final
@dataclass(frozen=True)
class PEM(Mechanism):
    """One prefix of a text, of a length that a public coin chose, told by local hashing.

    Promise:   pure ε: a person speaks about one prefix only.
    Reports:   eight bytes: a report of `OLH`, whose seed modulo the number of levels is the level.
    Use when:  the list of possible answers is too long to write down: words, addresses. Asked with
               `heavy_hitters`, which finds what is common and says nothing about the rest.
    Reference: [Wang21, Sec. 4], with levels of whole letters.
    """

    takes = (Text,)

    def _build(self) -> None:
        _ = self.oracle

    @property
    def text(self) -> Text:
        """The texts that are asked about."""
        assert isinstance(self.domain, Text)
        return self.domain

    @cached_property
    def oracle(self) -> OLH:
        """Local hashing on the keys of prefixes: numbers below 2^32."""
        return OLH(Categories(MOST_ITEMS), epsilon=self.epsilon)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The length of the prefix that each level asks about: as many letters more as give few children."""
        symbols, step = self.text.symbols, 1
        while sum(symbols**letters for letters in range(step + 2)) <= MOST_CHILDREN:
            step += 1
        length = self.text.length
        return (*range(step, length, step), length)

    @property
    def levels(self) -> int:
        """How many levels there are; each has about as many reports."""
        return len(self.ends)

    def level(self, cells: Array) -> Integers:
        """Give the level of each report: public, drawn before the text is looked at."""
        drawn, _ = self.oracle.unpack(cells)
        return (drawn % np.uint64(self.levels)).astype(np.int64)

    @staticmethod
    def follow(keys: Words, symbols: Array) -> Words:
        """Give the keys of prefixes that are one symbol longer: a chain of mixes from the key 0."""
        return mixed(keys ^ symbols.astype(np.uint64))

    @staticmethod
    def items(keys: Words) -> Halves:
        """Give what is hashed for a prefix: the upper half of its key."""
        return (keys >> np.uint64(32)).astype(np.uint32)

    def _draw(self, values: object, source: Source, threads: int) -> Array:
        rows = self.text.check(values)
        flat = rows.reshape(-1, self.text.length)
        # Rows travel through the threads as single items of `length` bytes.
        packed = np.ascontiguousarray(flat).view(np.dtype((np.void, self.text.length))).reshape(-1)
        cells = in_threads(lambda size: self._sample, packed, self.oracle.layout, source, threads)
        return cells.reshape(rows.shape[:-1])

    def _sample(self, packed: Array, cells: Array, source: Source) -> None:
        rows = np.ascontiguousarray(packed).view(np.uint8).reshape(packed.size, self.text.length)
        drawn = seeds(packed.size, source)
        bucket = self.oracle.hashing.bucket(drawn, self._asked(rows, drawn))
        cells[...] = self.oracle.pack(drawn, self.oracle.kernel.draw(bucket, source))

    def _asked(self, rows: Array, drawn: Words) -> Halves:
        """Give the item of the prefix that each seed asks about."""
        level = (drawn % np.uint64(self.levels)).astype(np.int64)
        keys, asked = np.zeros(len(rows), dtype=np.uint64), np.zeros(len(rows), dtype=np.uint64)
        begin = 0
        for here, end in enumerate(self.ends):
            for place in range(begin, end):
                keys = self.follow(keys, rows[:, place])
            np.copyto(asked, keys, where=level == here)
            begin = end
        return self.items(asked)

    def decode(self, cells: Array) -> Array:
        """Give the level and the bucket of each report, along the last axis."""
        _, bucket = self.oracle.unpack(cells)
        return np.stack([self.level(cells), bucket], axis=-1).reshape(*cells.shape, 2)

    def _valid(self, raw: Array) -> Array:
        return self.oracle._valid(raw)

    def probabilities(self, x: str | bytes, *, seed: int = 0) -> list[Fraction]:
        """Give the exact probability of every bucket for the text x, given the report's public seed."""
        drawn = np.array([seed], dtype=np.uint64)
        item = self._asked(self.text.check([x]), drawn)
        return self.oracle.kernel.probabilities(int(self.oracle.hashing.bucket(drawn, item)[0]))

    def realised(self) -> tuple[Bound, str]:
        """Recompute ε from the weights on the buckets; seed and level are the same for every text."""
        bound, how = self.oracle.realised()
        return bound, f"{how} and the level with it"

    def wire(self) -> dict[str, Any]:
        """Give what local hashing samples by, and the levels."""
        return {**self.oracle.wire(), "ends": list(self.ends)}

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        return self.oracle.outcomes

    def tally(self, cells: Array) -> Integers:
        """Refuse: the search goes back to the reports at every level."""
        raise InvalidParameter(
            "common texts are searched in the reports themselves; keep reports, not a summary"
        )

    @property
    def tallies(self) -> int:
        """Refuse: there is no summary."""
        raise InvalidParameter(
            "common texts are searched in the reports themselves; keep reports, not a summary"
        )

    @property
    def report_bytes(self) -> float:
        """The size of one report, in bytes."""
        return self.oracle.report_bytes
