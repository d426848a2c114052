"""Exports of an account, how two are merged, and the files they are kept in."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dither.collection.account.clock import MOST_EPOCHS, MOST_SECOND, Epoch
from dither.collection.account.state import VERSION, Data, State, question_key
from dither.core.wire import loads
from dither.errors import AccountUnusable, MalformedReport
from dither.foundation.atomic import new_private_file

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
    return isinstance(value, str) and len(value) == 64 and _report(value)


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
        _object(_ENTRY, {"data": _span, "times": _times})(value)
        and 0 <= value["last"] - value["first"] < MOST_EPOCHS
    )


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
    "entries": _list_of(_entry),
    "answers": _list_of(_object(_ANSWER)),
    "choices": _list_of(_object(_CHOICE)),
}


def merge(state: State, other: Mapping[str, Any]) -> tuple[Data, Data]:
    """Return the outcome and the effect of merging another device's export into a state."""
    if other["person"] != state.person:
        return _refusal("person")
    if other["limits"] != state.limits:
        return _refusal("limits")
    entries = []
    for entry in other["entries"]:
        known = state.entries.get(entry["id"])
        if known is None:
            if entry["device"] == state.device:
                return _refusal("rolled back")  # this device gave an answer that its own file does not know
            entries.append(entry)
        elif known != entry:
            return _refusal("conflict")
    effect: Data = {}
    answers = [
        answer
        for answer in other["answers"]
        if _earlier(answer, state.answers.get((*question_key(answer), answer["permanent"])), _order_of_answer)
    ]
    choices = [
        choice
        for choice in other["choices"]
        if _earlier(choice, state.choices.get((*question_key(choice), choice["period"])), _order_of_choice)
    ]
    for name, new in (("entries", entries), ("answers", answers), ("choices", choices)):
        if new:
            effect[name] = new
    return {"is": "merged", "entries": len(entries)}, effect


def _refusal(reason: str) -> tuple[Data, Data]:
    return {"is": "refused", "reason": reason}, {}


def _earlier(entry: Data, other: Data | None, order: Any) -> bool:
    return other is None or order(entry) < order(other)


def _order_of_answer(answer: Data) -> str:
    """Of two permanent answers the one with the smaller identity is kept, on every device."""
    identity: str = answer["id"]
    return identity


def _order_of_choice(choice: Data) -> tuple[bool, str, str]:
    """Of two kept days the answered one is kept; then the smaller identity, then the smaller device."""
    return choice["answer"] is None, choice["answer"] or "", choice["device"]


def private(path: Path) -> tuple[int, int]:
    """Return what identifies a file; raise AccountUnusable if it is missing, or others may read it."""
    try:
        about = path.stat()
    except FileNotFoundError:
        raise AccountUnusable(
            f"there is no account {path}; dt.Account.create(path, epsilon=…) makes one"
        ) from None
    except OSError as error:
        raise AccountUnusable(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(about.st_mode):
        raise AccountUnusable(f"{path} is not a file")
    if os.name == "posix" and about.st_mode & 0o077:
        raise AccountUnusable(
            f"{path} may be read or written by others; say chmod 600 {path}, if it is yours"
        )
    if about.st_nlink > 1:  # the journal of an interrupted transaction is found by the name of the file
        raise AccountUnusable(f"{path} has another name (a hard link); remove one of the names")
    return about.st_dev, about.st_ino


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a new file in the same folder, which has the name `path` afterwards unless that exists."""
    try:
        with new_private_file(path) as part:
            yield part
    except FileExistsError:
        raise AccountUnusable(f"{path} exists already; dt.Account.open(path) opens it") from None
    except OSError as error:
        raise AccountUnusable(f"{path} cannot be written: {error.strerror}") from None
