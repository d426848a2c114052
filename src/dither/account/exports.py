"""Exports and invitations: what devices of one person tell each other, checked before it is believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from dither.account.clock import MOST_EPOCHS, MOST_SECOND, Epoch
from dither.account.state import VERSION, Data
from dither.errors import MalformedReport
from dither.wire.schema import loads

Rule = Callable[[Any], bool]
_IDENTITY: Final = re.compile(r"[0-9a-f]{32}")
_UNITS: Final = re.compile(r"0|[1-9a-f][0-9a-f]{0,39}")
_BYTES: Final = re.compile(r"([0-9a-f]{2})*")
_MOST_TEXT: Final = 1000


def is_identity(text: object) -> bool:
    """Return whether this is 32 lower-case hexadecimal digits."""
    return isinstance(text, str) and _IDENTITY.fullmatch(text) is not None


def read_export(text: object) -> Data:
    """Return the export of another device; raise MalformedReport if it is none."""
    data = loads(text, "an export")
    if not _object(_EXPORT)(data):
        raise MalformedReport(
            "this is not an export of an account, or one of another version; export it again"
        )
    return dict(data)


def read_invitation(text: object) -> Data:
    """Return the invitation of another device; raise MalformedReport if it is none."""
    data = loads(text, "an invitation")
    if not _object({**_EXPORT, "own": _ALLOWANCE, "born": _second, "key": _key})(data):
        raise MalformedReport("this is not an invitation to an account; account.split(…) makes one")
    return dict(data)


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_TEXT


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 40


def _second(value: Any) -> bool:
    return _whole(value) and 0 <= value <= MOST_SECOND


def _units(value: Any) -> bool:
    return isinstance(value, str) and _UNITS.fullmatch(value) is not None


def _report(value: Any) -> bool:
    return value is None or (isinstance(value, str) and _BYTES.fullmatch(value) is not None)


def _key(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and _report(value)


def _optional(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _listed(rule: Rule) -> Rule:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _object(fields: Mapping[str, Rule], maybe: Mapping[str, Rule] = MappingProxyType({})) -> Rule:
    def rule(value: Any) -> bool:
        if not isinstance(value, dict) or not set(fields) <= set(value) <= {*fields, *maybe}:
            return False
        return all({**fields, **maybe}[name](one) for name, one in value.items())

    return rule


def _entry(value: Any) -> bool:
    return (
        _object(_ENTRY, {"data": _span, "times": _times})(value)
        and 0 <= value["last"] - value["first"] < MOST_EPOCHS
    )


def _span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_whole, value))


def _times(value: Any) -> bool:
    return _whole(value) and value > 0


def _quotas(value: Any) -> bool:
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
    "assumes": _listed(_text),
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
    "epoch": lambda value: value in [epoch.value for epoch in Epoch],
    "quota": _optional(_units),
    "quotas": _quotas,
    "askers": _optional(lambda value: _whole(value) and value >= 0),
}
_EXPORT: Final[dict[str, Rule]] = {
    "account": lambda value: value == VERSION and _whole(value),
    "person": is_identity,
    "device": is_identity,
    "limits": _object(_LIMITS),
    "entries": _listed(_entry),
    "answers": _listed(_object(_ANSWER)),
    "choices": _listed(_object(_CHOICE)),
}
