"""A question as it travels: read, verified in integers, and ready to be answered."""

from __future__ import annotations

import math
from importlib import import_module

from dither_device import draws as core
from dither_device.draws import Outside
from dither_device.text import (
    DeviceError,
    Fields,
    Malformed,
    UnknownDraw,
    digest,
    finish,
    need,
    parse,
    real,
    watch,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.draws import Draw, Take

_BITS = 320
_HALVINGS = 8
_PARTS = {"dither", "mechanism", "parameters", "fingerprint", "device", "codebook"}


def exp_below(epsilon: float) -> int:
    """Return a lower bound of e^ε·2^320; ε is the exact rational of its double, and positive."""
    numerator, denominator = epsilon.as_integer_ratio()
    denominator <<= _HALVINGS
    term = total = 1 << _BITS
    count = 1
    while term:  # partial sums of positive terms, each rounded down
        term = term * numerator // (denominator * count)
        total += term
        count += 1
    for _ in range(_HALVINGS):
        total = total * total >> _BITS
    return total


def check_ratio(ratio: tuple[int, int], epsilon: float) -> None:
    """Raise Malformed unless a ratio is above 1 and at most e^ε: this comparison is the proof of privacy."""
    top, bottom = ratio
    need(bottom < top and top << _BITS <= exp_below(epsilon) * bottom, "privacy", "more than ε is spent")


def log_above(top: int, bottom: int) -> float:
    """Return a double that is certainly at least ln(top/bottom), the smallest one found."""
    if top == bottom:
        return 0.0
    shared = math.gcd(top, bottom)
    top, bottom = top // shared, bottom // shared

    def is_above(guess: float) -> bool:
        return exp_below(guess) * bottom >= top << _BITS

    if top < 2 * bottom:
        guess = math.log1p((top - bottom) / bottom)
    else:
        shift = top.bit_length() - bottom.bit_length()
        guess = math.log(top / (bottom << shift)) + shift * math.log(2.0)
    for _ in range(8):  # step down while the next lower double is still an upper bound
        lower = math.nextafter(guess, 0.0)
        if not is_above(lower):
            break
        guess = lower
    while not is_above(guess):
        guess = math.nextafter(guess, math.inf)
    return guess


def repeat_bound(epsilon: float, times: int) -> float:
    """Return ε·times, rounded up to a double."""
    top, bottom = epsilon.as_integer_ratio()
    near = top * times / bottom
    over, under = near.as_integer_ratio()
    return near if over * bottom >= top * times * under else math.nextafter(near, math.inf)


class Question:
    """A question that was read and verified: `Question(text)` raises Malformed unless its integers keep ε.

    `epsilon` and `delta` are the loss of one answer, computed from the integers and rounded up, never the
    stated numbers. ε is ∞ if no bound holds for any two values; no account takes such a question.
    """

    def __init__(self, text: object) -> None:
        try:
            self._read(text)
        except DeviceError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, LookupError, OverflowError, RecursionError):
            raise Malformed("text", "this is not a specification") from None

    def _read(self, text: object) -> None:
        given = parse(text)
        need(isinstance(given, dict) and given.keys() == _PARTS, "version", "six parts were expected")
        version, device, parameters = given["dither"], given["device"], given["parameters"]
        need(type(version) is int and version == 2, "version")
        need(isinstance(device, str) and given["fingerprint"] == digest(device), "fingerprint")
        mechanism = given["mechanism"]
        need(isinstance(mechanism, str) and isinstance(parameters, dict), "text")
        fields = watch(device)
        kind = fields["draw"]
        reader = _reader(kind)
        draw: Draw = reader(fields)
        finish(fields)
        need(mechanism in draw.names, "draw", "no such mechanism draws so")
        self.device: str = device
        self.fingerprint: str = given["fingerprint"]
        self.mechanism: str = mechanism
        self.kind: str = kind
        self.stated = 0.0 if draw.joint else self._check_epsilon(parameters)
        self.epsilon, self.delta = self._certify(draw, parameters)
        self._draw = draw
        self.specification: str = text  # type: ignore[assignment]

    @property
    def ratio(self) -> tuple[int, int]:
        """The numerator and denominator of the largest ratio of two probabilities of one report."""
        return self._draw.ratio

    @staticmethod
    def _check_epsilon(parameters: dict[str, Any]) -> float:
        epsilon = real(parameters.get("epsilon"))
        need(1e-6 <= epsilon <= 50, "epsilon", "ε is from 10^−6 to 50")
        return epsilon

    def _certify(self, draw: Draw, parameters: dict[str, Any]) -> tuple[float, float]:
        if draw.epsilon_of is not None:
            return draw.epsilon_of(parameters), 0.0
        if draw.delta_of is not None:
            return self.stated, draw.delta_of(exp_below(self.stated), parameters.get("delta"))
        check_ratio(draw.ratio, self.stated)
        return log_above(*draw.ratio), 0.0

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The list of answers, or of items; None if answers are not labels."""
        return self._draw.labels

    @property
    def is_path(self) -> bool:
        """Whether a value is a list of places, each of which is charged."""
        return self._draw.paths

    @property
    def is_joint(self) -> bool:
        """Whether a report needs coins that two devices have dealt each other."""
        return self._draw.joint

    def place(self, value: object) -> Any:
        """Return the input of a value, moved into the domain as the device text says; raise Outside."""
        try:
            return self._draw.place(value)
        except Outside:
            raise
        except Exception:  # a method of the value
            raise Outside("the value cannot be read") from None

    def mark(self, placed: Any) -> bytes:
        """Return the bytes that distinguish an input."""
        return self._draw.mark(placed)

    def draw(self, placed: Any, take: Take) -> bytes:
        """Return the report of an input, as it is sent."""
        return self._draw.draw(placed, take)

    def report(self, value: object, take: Take) -> bytes:
        """Return the report of a value; raise Outside if it is not in the domain."""
        return self.draw(self.place(value), take)

    def __repr__(self) -> str:
        return f"Question({self.mechanism}, ε ≤ {self.epsilon:.6g})"


def _reader(kind: object) -> Callable[[Fields], Draw]:
    need(isinstance(kind, str), "draw")
    name: str = kind  # type: ignore[assignment]
    found = core.READERS.get(name)
    if found is not None:
        return found
    for module, kinds in core.ELSEWHERE.items():
        if name in kinds:
            reader: Callable[[Fields], Draw] = import_module(f"dither_device.{module}").READERS[name]
            return reader
    raise UnknownDraw("a draw that is not known", name)
