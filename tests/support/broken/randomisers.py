"""Broken randomisers from outside: functions that claim an ε and spend more. Every audit must refuse them.

Each is one mistake that was made somewhere: in a paper's scripts, in a library, or in code of this kind.
They draw from numpy's generators, seeded, so that a test is the same on every machine.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dither as dt
from dither.foundation.randomness import Source

UNIT, SIX, EIGHT = dt.Interval(0, 1), dt.Categories(6), dt.Categories(8)
SQUARE = dt.Rectangle(UNIT, UNIT)
Randomiser = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """A broken randomiser, made afresh from a seed, and what it claims."""

    make: Callable[[np.random.Generator], Randomiser]
    domain: Any
    epsilon: float
    delta: float = 0.0
    each: bool = False


def _laplace(rng: np.random.Generator, size: Any, scale: float = 1.0) -> np.ndarray:
    """Draw Laplace noise rounded to a coarse grid, so that only the intended mistake is visible."""
    return np.round(rng.laplace(scale=scale, size=size) * 256) / 256


def _snapped(values: np.ndarray) -> np.ndarray:
    return np.round(np.asarray(values, dtype=float) * 256) / 256


def tracs_response(rng: np.random.Generator) -> Randomiser:
    """k-RR that lies with probability 1/(k − 1 + e^ε) in total: it spends 3.69 for ε = 1 and k = 6."""

    def randomise(values: np.ndarray) -> np.ndarray:
        lies = rng.random(len(values)) < 1 / (5 + math.e)
        return np.where(lies, (values + rng.integers(1, 6, len(values))) % 6, values)

    return randomise


def shortcut(rng: np.random.Generator) -> Randomiser:
    """The value itself above ε = 10, "to avoid numerical error"."""
    return lambda values: values


def laplace_32(rng: np.random.Generator) -> Randomiser:
    """Laplace noise from a uniform number of 32 bits."""

    def randomise(values: np.ndarray) -> np.ndarray:
        uniform = (rng.integers(0, 1 << 32, len(values)) + 1) / 2.0**32
        return np.asarray(values + rng.choice([-1.0, 1.0], len(values)) * np.log(uniform))

    return randomise


def laplace_doubles(rng: np.random.Generator) -> Randomiser:
    """Laplace noise from doubles, added to doubles."""
    return lambda values: values + rng.laplace(size=len(values))


def salted(rng: np.random.Generator) -> Randomiser:
    """Noise that is a hash of the value and a salt of the process: the same value, the same report."""
    salt = rng.bytes(16)

    def one(value: float) -> float:
        digest = hashlib.sha256(salt + np.float64(value).tobytes()).digest()
        return float(_snapped(value)) + float(
            _laplace(np.random.default_rng(int.from_bytes(digest[:8], "big")), 1)[0]
        )

    return lambda values: [one(value) for value in np.asarray(values).tolist()]


def clock_seed(rng: np.random.Generator) -> Randomiser:
    """A generator that every call seeds with the second of the clock."""

    def randomise(values: np.ndarray) -> np.ndarray:
        return _snapped(values) + _laplace(np.random.default_rng(int(time.time())), len(values))

    return randomise


def one_noise(rng: np.random.Generator) -> Randomiser:
    """One noise for all values of a call."""
    return lambda values: _snapped(values) + _laplace(rng, 1)


def last_bit(rng: np.random.Generator) -> Randomiser:
    """Randomised response on a vector of bits that leaves out the last one."""

    def randomise(values: np.ndarray) -> np.ndarray:
        flips = rng.random(values.shape) < 1 / (1 + math.exp(0.25))
        flips[:, -1] = False
        return values ^ flips

    return randomise


def without_name(rng: np.random.Generator) -> Randomiser:
    """Two memoised answers of one person whose noise is derived from the key and the value alone."""

    def randomise(answers: np.ndarray) -> np.ndarray:
        return np.array([_person(rng, pair) for pair in answers.tolist()])

    return randomise


def _person(rng: np.random.Generator, answers: list[int]) -> list[int]:
    key = int(rng.integers(1 << 62))
    return [
        int(np.random.default_rng((key, answer)).integers(8)) if rng_(key, answer) else answer
        for answer in answers
    ]


def rng_(key: int, answer: int) -> bool:
    return bool(np.random.default_rng((key, answer, 1)).random() < 8 / (math.e + 7))


def clamped_edge(rng: np.random.Generator) -> Randomiser:
    """Square wave on [0, 1] whose window is clamped at one edge: near 0 it is narrower, and so denser."""
    share, inside = 0.2, math.e / (math.e + 4)

    def randomise(values: np.ndarray) -> np.ndarray:
        low, high = np.maximum(values - share / 2, 0.0), np.minimum(values + share / 2, 1.0)
        near = low + (high - low) * rng.random(len(values))
        return np.floor(np.where(rng.random(len(values)) < inside, near, rng.random(len(values))) * 4096)

    return randomise


def rounded_noise(rng: np.random.Generator) -> Randomiser:
    """Noise rounded to tenths, added to a value that is not: the last digits are the value's."""
    return lambda values: values + np.round(rng.laplace(size=len(values)), 1)


def rounded_by_value(rng: np.random.Generator) -> Randomiser:
    """A report rounded to as many digits as the value has: round after noise, and leak."""

    def one(value: float) -> float:
        digits = len(repr(float(value)).partition(".")[2])
        return round(float(value) + float(rng.laplace()), min(digits, 6))

    return lambda values: [one(value) for value in np.asarray(values).tolist()]


def half_scale(rng: np.random.Generator) -> Randomiser:
    """Laplace noise of half the scale: the sensitivity of [−1, 1] was forgotten."""
    return lambda values: _snapped(values) + _laplace(rng, len(values), 0.5)


def gaussian(rng: np.random.Generator) -> Randomiser:
    """Gaussian noise under a promise without δ."""
    return lambda values: np.round(values * 256 + rng.normal(scale=256 * 0.6, size=len(values))) / 256


def classical_gaussian(rng: np.random.Generator) -> Randomiser:
    """The classical σ = √(2 ln(1.25/δ))/ε at ε = 8 and δ = 0.3, where it leaves δ = 0.68."""
    sigma = math.sqrt(2 * math.log(1.25 / 0.3)) / 8
    return lambda values: np.round(values * 256 + rng.normal(scale=256 * sigma, size=len(values))) / 256


def truncated(rng: np.random.Generator) -> Randomiser:
    """Laplace noise for values 0.1 apart, drawn again until it is inside: the normaliser tells the value."""

    def randomise(values: np.ndarray) -> np.ndarray:
        reports = np.full(len(values), -1.0)
        while (outside := (reports < 0) | (reports > 1)).any():
            reports[outside] = _snapped(values[outside]) + _laplace(rng, int(outside.sum()), 0.1)
        return reports

    return randomise


def twice_the_bits(rng: np.random.Generator) -> Randomiser:
    """Unary encoding that gives ε to every bit: two of them change."""

    def randomise(values: np.ndarray) -> np.ndarray:
        bits = np.asarray(values)[:, None] == np.arange(8)
        return bits ^ (rng.random(bits.shape) < 1 / (1 + math.e))

    return randomise


def sizes(rng: np.random.Generator) -> Randomiser:
    """Random sets of categories that hold one more if the answer is 0."""

    def one(value: int) -> set[int]:
        size = 2 if value else 3
        return {int(label) for label in rng.choice(8, size, replace=False)}

    return lambda values: [one(int(value)) for value in values]


def lengths(rng: np.random.Generator) -> Randomiser:
    """Random letters, as many as the text has."""
    return lambda texts: ["".join(rng.choice(list("abc"), len(text))) for text in texts]


def types(rng: np.random.Generator) -> Randomiser:
    """Fair reports, of another type if nothing was drawn from the value."""

    def one(value: int) -> Any:
        lie = rng.random() < 8 / (math.e + 7)
        return int(rng.integers(8)) if lie else np.float64(value)

    return lambda values: [one(int(value)) for value in values]


def errors(rng: np.random.Generator) -> Randomiser:
    """Fair noise, and an error at the upper end of the domain."""

    def randomise(values: np.ndarray) -> np.ndarray:
        if (np.asarray(values) >= 1.0).any():
            raise ZeroDivisionError("float division by zero")
        return _snapped(values) + _laplace(rng, len(values))

    return randomise


def not_a_number(rng: np.random.Generator) -> Randomiser:
    """A relative noise, which is 0/0 for 0."""

    def randomise(values: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return _snapped(values) + _laplace(rng, len(values)) * values / values

    return randomise


def clamped_angle(rng: np.random.Generator) -> Randomiser:
    """Noise for half a turn on angles that are a whole turn apart on the line, and no wrapping."""
    return lambda values: np.round(np.clip(values + rng.laplace(scale=180, size=len(values)), 0, 360))


def planar_radius(rng: np.random.Generator) -> Randomiser:
    """Planar noise whose radius is exponential instead of gamma: dense about the place."""

    def randomise(places: np.ndarray) -> np.ndarray:
        radius, angle = rng.exponential(math.sqrt(2), len(places)), rng.random(len(places)) * 2 * math.pi
        steps = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        return np.round((places + steps) * 64) / 64

    return randomise


def first_place(rng: np.random.Generator) -> Randomiser:
    """A path whose places have noise, but the first one, where somebody lives."""

    def randomise(paths: np.ndarray) -> np.ndarray:
        noisy = _snapped(paths) + _laplace(rng, paths.shape, 20.0)
        noisy[:, 0] = paths[:, 0]
        return noisy

    return randomise


def exact_count(rng: np.random.Generator) -> Randomiser:
    """A curator's noisy mean that is told together with the exact number of records."""

    def mean(data: list[float]) -> tuple[float, int]:
        return round(float(np.mean(data) + rng.laplace(scale=1 / len(data))), 2), len(data)

    return mean


def not_clipped(rng: np.random.Generator) -> Randomiser:
    """A curator's sum with noise for values up to 1, of values up to 5."""
    return lambda data: round(float(np.sum(data) + rng.laplace()), 2)


PATHS = dt.audits.Neighbours.paths(SQUARE, 3)
BITS = [np.array([0, 0, 0, 0], dtype=np.uint8) == 1, np.array([1, 1, 1, 1], dtype=np.uint8) == 1]
RECORDS = [0.2, 0.5, 0.9, 0.4]


def three_parts(rng: np.random.Generator) -> Randomiser:
    """(a, b, a ⊕ b ⊕ value) of a bit: any two parts are independent of the value, all three tell it."""

    def randomise(values: np.ndarray) -> np.ndarray:
        a, b = rng.integers(0, 2, (2, len(values)))
        return np.stack([a, b, a ^ b ^ values], axis=1)

    return randomise


def three_words(rng: np.random.Generator) -> Randomiser:
    """The same, as words in a list."""
    rows = three_parts(rng)
    return lambda values: [[("no", "yes")[part] for part in row] for row in rows(values).tolist()]


def one_code(rng: np.random.Generator) -> Randomiser:
    """A uniform report, but the code 13 of 20 is reported as it is."""
    return lambda values: np.where(np.asarray(values) == 13, 13, rng.integers(0, 20, len(values)))


def source_ignored(rng: np.random.Generator) -> Randomiser:
    """A fair coin if it is given a source, as an audit does; the value itself in a plain call."""

    def randomise(values: np.ndarray, source: Source | None = None) -> np.ndarray:
        if source is None:
            return values
        return np.array([source.take(1)[0] & 1 for _ in values])

    return randomise


MUSEUM: dict[str, Case] = {
    "three parts that tell it together": Case(three_parts, dt.Categories(2), 1.0),
    "three words that tell it together": Case(three_words, dt.Categories(2), 1.0),
    "one code of twenty": Case(one_code, dt.Categories(20), 1.0),
    "noise only with a source": Case(source_ignored, dt.Categories(2), 1.0),
    "TraCS's k-RR": Case(tracs_response, SIX, 1.0),
    "the value itself above ε = 10": Case(shortcut, UNIT, 10.5),
    "Laplace from 32 bits": Case(laplace_32, UNIT, 1.0),
    "Laplace from doubles": Case(laplace_doubles, UNIT, 1.0),
    "salted noise": Case(salted, UNIT, 1.0),
    "a seed from the clock": Case(clock_seed, UNIT, 1.0),
    "one noise a call": Case(one_noise, UNIT, 1.0),
    "the last bit left alone": Case(last_bit, BITS, 1.0),
    "memoised without a name": Case(
        without_name, dt.audits.Neighbours([(np.array([3, 3]), np.array([3, 5]))]), 1.0
    ),
    "SW with a clamped edge": Case(clamped_edge, UNIT, 1.0),
    "noise rounded before it is added": Case(rounded_noise, UNIT, 1.0),
    "rounded to the value's digits": Case(rounded_by_value, UNIT, 1.0),
    "half the scale": Case(half_scale, UNIT, 1.0),
    "Gaussian without δ": Case(gaussian, UNIT, 1.0),
    "classical Gaussian at ε = 8": Case(classical_gaussian, UNIT, 8.0, 0.3),
    "truncated without its price": Case(truncated, dt.audits.Neighbours([(0.0, 0.1), (0.5, 0.6)]), 1.0),
    "ε for every bit": Case(twice_the_bits, EIGHT, 1.0),
    "sets of another size": Case(sizes, EIGHT, 1.0),
    "texts of the same length": Case(lengths, dt.Text(6, alphabet="abc"), 1.0),
    "another type": Case(types, EIGHT, 1.0),
    "an error at the end": Case(errors, UNIT, 1.0),
    "not a number at 0": Case(not_a_number, UNIT, 1.0),
    "angles without wrapping": Case(clamped_angle, dt.Circle(360), 1.0),
    "planar noise with the wrong radius": Case(planar_radius, SQUARE, 1.0),
    "the first place of a path": Case(first_place, PATHS, 1.0),
    "an exact count": Case(exact_count, dt.audits.Neighbours.adding(RECORDS, UNIT), 1.0, each=True),
    "a sum that is not clipped": Case(
        not_clipped, dt.audits.Neighbours.replacing(RECORDS, dt.Interval(0, 5)), 1.0, each=True
    ),
}
