"""The errors that dither raises.

    DitherError
    ├── InvalidParameter    a mechanism, domain or call that cannot be built (also a ValueError)
    ├── OutsideDomain       a value that the stated domain does not contain (also a ValueError)
    ├── MalformedReport     data that no device running this mechanism could have sent (also a ValueError)
    ├── Mismatch            reports or summaries of two different mechanisms
    ├── NotIdentifiable     the reports cannot answer this question; the message says what can
    ├── BudgetExceeded      an answer would exceed the budget of a ledger or a policy
    │   └── Refused         an account does not answer; `reason` says why in one word
    ├── AccountUnusable     an account's file is missing, damaged, rolled back, locked or not private
    ├── Infeasible          no mechanism satisfies the request
    ├── ExchangeFailed      another device sent what the protocol does not allow, or nothing in time
    └── MissingExtra        an optional dependency is not installed (also an ImportError)

A message contains the expected input, the given input and the fix. It shows public input: ε, a name, a file,
a bound of a domain. It never contains a person's value, because error messages are logged.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Final, ParamSpec, TypeVar, get_args

__all__ = [
    "AccountUnusable",
    "BudgetExceeded",
    "DitherError",
    "ExchangeFailed",
    "Infeasible",
    "InvalidParameter",
    "MalformedReport",
    "Mismatch",
    "MissingExtra",
    "NotIdentifiable",
    "OutsideDomain",
    "Refused",
]

Chosen = TypeVar("Chosen")
Given = ParamSpec("Given")
Result = TypeVar("Result")

_SHOWN, _SHOWN_BITS = 60, 200  # the longest text and the largest number that a message repeats
_LISTED, _COMPARED = 60, 1000  # the most names that a message lists, and that are searched for the nearest


class DitherError(Exception):
    """The base class of all errors of dither."""


class InvalidParameter(DitherError, ValueError):
    """A parameter of a mechanism, a domain or a call is not valid."""


class OutsideDomain(DitherError, ValueError):
    """A value is not a number, or lies outside the stated domain."""


class MalformedReport(DitherError, ValueError):
    """Data that no device running this mechanism could have sent."""


class Mismatch(DitherError):
    """Reports or summaries of two different mechanisms were combined."""


class NotIdentifiable(DitherError):
    """The reports cannot answer the question, however many there are."""


class BudgetExceeded(DitherError):
    """An answer would exceed the budget of a person's ledger or of a device's policy."""


class Refused(BudgetExceeded):
    """An account does not answer. `reason` is one of the words of docs/account.md, such as "budget"."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class AccountUnusable(DitherError):
    """An account's file is missing, damaged, rolled back, locked, full or readable by others."""


class Infeasible(DitherError):
    """No mechanism satisfies the request."""


class ExchangeFailed(DitherError):
    """Another device broke the protocol, or did not answer before the deadline."""


# No message names a package that is not published: anyone could register the name, and be installed.
INSTALL: Final = "pip install '.[{}]' in a clone of the repository"
INSTALL_DEVICE: Final = "pip install ./clients/python in a clone of the repository"


class MissingExtra(DitherError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: {INSTALL.format(extra)}")


def unknown_name(kind: str, name: object, known: Iterable[str], *, also: str = "") -> InvalidParameter:
    """Return the error for an unknown public name: it shows the nearest known name, or else all of them.

    `kind` is the kind of thing that the name means. `also` names other accepted input, such as "or a number".
    """
    from difflib import get_close_matches  # needed for an error only

    names = [_printable(name) for name in known]
    spelled = {spelling.lower(): spelling for spelling in names[:_COMPARED]}
    near = get_close_matches(name[:_SHOWN].lower(), spelled, 1) if isinstance(name, str) else []
    if near:
        return InvalidParameter(f"there is no {kind} {found(name)}: did you mean {spelled[near[0]]}?")
    listed = names if len(names) <= _LISTED else [*names[:_LISTED], "…"]
    choices = ", ".join([*listed, also] if also else listed) or "none"
    return InvalidParameter(f"there is no {kind} {found(name)}: there are {choices}")


def choose(kind: str, name: object, choices: Mapping[str, Chosen]) -> Chosen:
    """Return the meaning of a public choice; raise InvalidParameter, with the nearest name, if unknown.

    >>> choose("loss", "squared", {"absolute": 1, "squared": 2})
    2
    """
    if isinstance(name, str) and name in choices:
        return choices[name]
    raise unknown_name(kind, name, [f'"{choice}"' for choice in choices])


def given_by_position(name: str, function: Callable[..., object]) -> InvalidParameter:
    """Return the error of a call with too many parameters by position; it shows the call with the names.

    >>> str(given_by_position("shuffled", lambda mechanism, *, n, delta, times=1: None))
    'expected parameters by name: shuffled(mechanism, n=…, delta=…)'
    """
    code, optional = function.__code__, function.__kwdefaults__ or {}
    first, names = code.co_argcount, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    required = [f"{word}=…" for word in names[first:] if word not in optional]
    shown = [word for word in names[:first] if word != "self"] + required
    return InvalidParameter(f"expected parameters by name: {name}({', '.join(shown)})")


def by_name(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make a function raise `given_by_position`, not a TypeError, if a keyword has no name in a call."""
    most = function.__code__.co_argcount

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Result:
        if len(given) > most:
            raise given_by_position(function.__name__, function)
        return function(*given, **named)

    return call


def check_choice(kind: str, name: object, literal: object) -> None:
    """Raise InvalidParameter if a name is not in a `Literal` type."""
    choose(kind, name, dict.fromkeys(get_args(literal)))


def _printable(name: str) -> str:
    """Return a known name for a message: a name from a file may be long, or hold control characters."""
    return name if name.isprintable() and len(name) <= _SHOWN else found(name)


def found(parameter: object) -> str:
    """Return a public parameter as text for an error message: a number or a short text, otherwise its type.

    Containers are shown only by type, because an array passed by mistake may hold values of people.

    >>> found(0.5), found("worts"), found([41, 57])
    ('0.5', "'worts'", 'list')
    """
    import numbers  # needed for an error only

    if parameter is None or isinstance(parameter, bool):
        return str(parameter)
    if isinstance(parameter, numbers.Rational):
        largest = max(abs(int(parameter.numerator)), int(parameter.denominator))
        return str(parameter) if largest.bit_length() <= _SHOWN_BITS else "a number of more than 60 digits"
    if isinstance(parameter, numbers.Real):
        return str(parameter)
    if isinstance(parameter, str):
        return repr(parameter if len(parameter) <= _SHOWN else parameter[:_SHOWN] + "…")
    return type(parameter).__name__
