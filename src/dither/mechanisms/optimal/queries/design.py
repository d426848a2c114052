"""Designs for linear queries: columns of a channel, in integers."""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Self

import numpy as np

from dither.core.kernels.channel import Channel
from dither.errors import DitherError, InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.queries.bound import Multipliers
from dither.privacy.exact import exp_below

FORMAT: Final = 1  # version of the bytes and of their meaning
_HEADER: Final = struct.Struct("<4sHI")  # magic, format, checksum of the rest
_MAGIC: Final = b"dthq"
_PART: Final = 1 << 12  # multipliers are stored in these parts of the largest one


@dataclass(frozen=True, eq=False)
class QueryDesign:
    """Columns of {1, E}^k with weights; if the queries are symmetric, a pattern also means its mirror image.

    Multipliers are rounded coarsely, so that a design is equal after it is stored and loaded. Any multipliers
    give a valid bound.
    """

    epsilon: float
    patterns: Floats  # rows of 0 and 1, a column of the channel each
    weights: Floats
    multipliers: Multipliers

    def __post_init__(self) -> None:
        if self.patterns.ndim != 2 or len(self.patterns) != self.weights.size or not self.weights.size:
            raise InvalidParameter("expected a design with one weight per pattern, and at least one pattern")
        if not np.isin(self.patterns, (0.0, 1.0)).all() or not (self.weights > 0.0).all():
            raise InvalidParameter("expected patterns of 0 and 1, and positive weights in a design")
        size = self.patterns.shape[1]
        if self.multipliers.inputs.shape != (size,) or self.multipliers.pairs.shape != (size, size):
            raise InvalidParameter("expected a multiplier for each input and each pair in a design")
        inputs, pairs = self.multipliers.inputs, np.triu(self.multipliers.pairs, 1)
        pairs = _round_numbers(pairs)
        object.__setattr__(self, "multipliers", Multipliers(_round_numbers(inputs), pairs + pairs.T))

    @property
    def inputs(self) -> int:
        """The number k of inputs."""
        return int(self.patterns.shape[1])

    def to_bytes(self) -> bytes:
        """Return the design as bytes: a checksum, the sizes, then compressed numbers."""
        upper = np.triu_indices(self.inputs, 1)
        parts = [self.multipliers.inputs, self.multipliers.pairs[upper]]
        tops = [float(part.max(initial=0.0)) for part in parts]
        facts: dict[str, Any] = {
            "epsilon": self.epsilon,
            "patterns": len(self.patterns),
            "inputs": self.inputs,
            "tops": tops,
        }
        coded = [
            np.rint(part / (top or 1.0) * _PART).astype("<u2").tobytes()
            for part, top in zip(parts, tops, strict=True)
        ]
        body = b"".join(
            [
                json.dumps(facts).encode() + b"\n",
                np.packbits(self.patterns.astype(np.uint8).T, axis=1).tobytes(),
                self.weights.astype("<f8").tobytes(),
                *coded,
            ]
        )
        packed = zlib.compress(body, 9)
        return _HEADER.pack(_MAGIC, FORMAT, zlib.crc32(packed)) + packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """Return the design of bytes by `to_bytes`, or None if the bytes are damaged."""
        try:
            magic, version, checksum = _HEADER.unpack_from(data)
            packed = data[_HEADER.size :]
            if (magic, version, checksum) != (_MAGIC, FORMAT, zlib.crc32(packed)):
                return None
            text, _, rest = zlib.decompress(packed).partition(b"\n")
            facts = json.loads(text)
            count, size = int(facts["patterns"]), int(facts["inputs"])
            row = -(-count // 8)
            bits = np.frombuffer(rest, np.uint8, size * row).reshape(size, row)
            patterns = np.unpackbits(bits, axis=1)[:, :count].T.astype(np.float64)
            at = size * row
            weights = np.frombuffer(rest, "<f8", count, at)
            at += 8 * count
            numbers = np.frombuffer(rest, "<u2", offset=at).astype(np.float64) / _PART
            inputs, rest_of = numbers[:size] * facts["tops"][0], numbers[size:] * facts["tops"][1]
            pairs = np.zeros((size, size))
            pairs[np.triu_indices(size, 1)] = rest_of
            return cls(
                float(facts["epsilon"]), patterns, weights.copy(), Multipliers(inputs, pairs + pairs.T)
            )
        except (struct.error, zlib.error, ValueError, KeyError, TypeError, IndexError, DitherError):
            return None


def _round_numbers(numbers: Floats) -> Floats:
    """Return numbers as integer fractions of the largest; multipliers of inputs stay positive."""
    top = float(numbers.max(initial=0.0))
    if not top > 0.0 or not math.isfinite(top):
        return np.zeros_like(numbers)
    return np.asarray(np.rint(numbers / top * _PART) / _PART * top)


_TOTAL: Final = 1 << 64  # the sum of a row; a channel scales it to 2^128 without rounding
_LEAST_SPARE: Final = 1e-9  # least probability of the report that makes the sums of rows equal


def channel_of(design: QueryDesign, *, mirrored: bool) -> Channel:
    """Return the channel of a design, with one more report than columns for the rest of each row.

    A column of weight c has the integers L = ⌊c·(1 − δ)·2^64⌋ and H = ⌊L·E⁻⌋ with E⁻ ≤ e^ε. The rest of a row
    up to 2^64 is the weight of the last report. δ is large enough that the ratios of the last report are near
    1. All ratios are checked.
    """
    bound = exp_below(Fraction(design.epsilon))
    patterns, weights = design.patterns, design.weights
    if mirrored:
        turned = ~(patterns == patterns[:, ::-1]).all(axis=1)
        patterns = np.concatenate([patterns, patterns[turned, ::-1]])
        weights = np.concatenate([weights, weights[turned]])
    sums = (1.0 + (float(bound) - 1.0) * patterns).T @ weights
    spare = max(_LEAST_SPARE, 4.0 * float(np.abs(sums - 1.0).max()))
    low = [int(weight * (1.0 - spare) / float(sums.max()) * _TOTAL) for weight in weights.tolist()]
    high = [int(weight * bound) for weight in low]
    columns = [(weight, heavier) for weight, heavier in zip(low, high, strict=True) if weight > 0]
    marks = [row for row, weight in zip(patterns.astype(np.int64).tolist(), low, strict=True) if weight > 0]
    rows = []
    for index in range(design.inputs):
        row = [column[mark[index]] for column, mark in zip(columns, marks, strict=True)]
        rows.append([*row, _TOTAL - sum(row)])
    if min(row[-1] for row in rows) < 1:
        raise InvalidParameter("expected weights of the design that sum to 1")
    channel = Channel.of(rows)
    if channel.ratio > bound:  # in integers: that is the privacy proof
        raise InvalidParameter(
            "expected a larger ε for this number of inputs; choose a larger ε, or group the inputs"
        )
    return channel
