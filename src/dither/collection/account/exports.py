"""Exports and invitations of an account, checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from dither.collection.account.budget import Data
from dither.core.wire import loads
from dither.errors import MalformedReport
from dither_device.rules import EPOCHS, MOST_EPOCHS
from dither_device.state import MOST_SECOND, VERSION

Rule = Callable[[Any], bool]
_IDENTITY: Final = re.compile(r"[0-9a-f]{32}")
_UNITS: Final = re.compile(r"0|[1-9a-f][0-9a-f]{0,39}")
_BYTES: Final = re.compile(r"([0-9a-f]{2})*")
_MOST_TEXT: Final = 1000


def is_identity(text: object) -> bool:
    """Return whether this is 32 lower-case hexadecimal digits."""
    return isinstance(text, str) and _IDENTITY.fullmatch(text) is not None


def read_export(text: object) -> Data:
    """Return the export of another device; raise MalformedReport for other data."""
    data = loads(text, "an export")
    if not _object(_EXPORT, _COINS)(data):
        raise MalformedReport("expected the export of an account, of this version; export it again")
    return dict(data)


def read_invitation(text: object) -> Data:
    """Return the invitation of another device; raise MalformedReport for other data."""
    data = loads(text, "an invitation")
    if not _object({**_EXPORT, "own": _ALLOWANCE, "born": _second, "key": _key}, _COINS)(data):
        raise MalformedReport("expected an invitation to an account; make one with account.split(…)")
    return dict(data)


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_TEXT


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 40


def _second(value: Any) -> bool:
    return _whole(value) and 0 <= value <= MOST_SECOND


def _units(value: object) -> bool:
    return isinstance(value, str) and _UNITS.fullmatch(value) is not None


def _report(value: object) -> bool:
    return value is None or (isinstance(value, str) and _BYTES.fullmatch(value) is not None)


def _key(value: object) -> bool:
    return _digest(value)


def _optional(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _list_of(rule: Rule) -> Rule:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _object(fields: Mapping[str, Rule], maybe: Mapping[str, Rule] = MappingProxyType({})) -> Rule:
    def rule(value: object) -> bool:
        if not isinstance(value, dict) or not set(fields) <= set(value) <= {*fields, *maybe}:
            return False
        return all({**fields, **maybe}[name](inner) for name, inner in value.items())

    return rule


def _entry(value: Any) -> bool:
    return (
        _object(_ENTRY, {"data": _span, "times": _times, "campaign": _digest})(value)
        and 0 <= value["last"] - value["first"] < MOST_EPOCHS
    )


def _digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and _report(value)


def _span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_whole, value))


def _times(value: Any) -> bool:
    return _whole(value) and value > 0


def _quotas(value: object) -> bool:
    return isinstance(value, dict) and all(_text(name) and _units(units) for name, units in value.items())


_ASKED: Final[dict[str, Rule]] = {"asker": _text, "question": _text, "fingerprint": is_identity}
_PAIR: Final[dict[str, Rule]] = {"epsilon": _units, "delta": _units}
_BUDGET: Final[dict[str, Rule]] = {**_PAIR, "lifetime": _optional(_object(_PAIR))}
_ALLOWANCE: Final = _object(_BUDGET)
_ENTRY: Final[dict[str, Rule]] = {
    **_ASKED,
    **_PAIR,
    "id": is_identity,
    "device": is_identity,
    "assumes": _list_of(_text),
    "first": _whole,
    "last": _whole,
}
_ANSWER: Final[dict[str, Rule]] = {
    **_ASKED,
    "id": is_identity,
    "permanent": lambda value: value in ("same", "per value"),
    "report": _report,
}
_CHOICE: Final[dict[str, Rule]] = {
    **_ASKED,
    "period": _whole,
    "day": _whole,
    "device": is_identity,
    "answer": _optional(is_identity),
}
_LIMITS: Final[dict[str, Rule]] = {
    **_BUDGET,
    "epoch": lambda value: isinstance(value, str) and value in EPOCHS,
    "quota": _optional(_units),
    "quotas": _quotas,
    "askers": _optional(lambda value: _whole(value) and value >= 0),
}
_EXPORT: Final[dict[str, Rule]] = {
    "account": lambda value: _whole(value) and value in (VERSION - 1, VERSION),
    "person": is_identity,
    "device": is_identity,
    "limits": _object(_LIMITS),
    "entries": _list_of(_entry),
    "answers": _list_of(_object(_ANSWER)),
    "choices": _list_of(_object(_CHOICE, {"repeat": lambda value: value in ("once", "kept change")})),
}
_COIN: Final[dict[str, Rule]] = {
    "asker": _text,
    "name": _text,
    "campaign": _digest,
    "heads": lambda value: isinstance(value, bool),
}
_COINS: Final[dict[str, Rule]] = {"coins": _list_of(_object(_COIN))}
