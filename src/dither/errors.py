"""The errors that dither raises.

    DitherError
    ├── InvalidParameter    a mechanism, domain or call that cannot be built (also a ValueError)
    ├── OutsideDomain       a value that the stated domain does not contain (also a ValueError)
    ├── MalformedReport     data that no device running this mechanism could have sent (also a ValueError)
    ├── Mismatch            reports or summaries of two different mechanisms
    ├── NotIdentifiable     the reports cannot answer this question; the message says what can
    ├── BudgetExceeded      an answer would exceed the budget of a ledger or a policy
    ├── Infeasible          no mechanism satisfies the request
    ├── ExchangeFailed      another device sent what the protocol does not allow, or nothing in time
    └── MissingExtra        an optional dependency is not installed (also an ImportError)

A message says what was expected, what was given and what to do. It shows public input: ε, a name, a file, a
bound of a domain. It never contains a person's value, because error messages are logged.
"""

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from numbers import Number

__all__ = [
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
]


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


class Infeasible(DitherError):
    """No mechanism satisfies the request."""


class ExchangeFailed(DitherError):
    """Another device broke the protocol, or did not answer before the deadline."""


class MissingExtra(DitherError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'dither[{extra}]'")


def quoted(value: object) -> str:
    """Return a public parameter as an error message shows it: at most 60 characters.

    Numbers, texts, None and members of enumerations are shown. Of anything else only the type is shown, since
    a list or an array given by mistake may hold the values of people. Never pass a person's value.
    """
    if not (value is None or isinstance(value, str | Number | Enum)):
        return f"an object of type {type(value).__name__}"
    if isinstance(value, Fraction):
        largest = max(abs(value.numerator), value.denominator)
    else:
        largest = abs(value) if isinstance(value, int) else 0
    if largest.bit_length() > 256:  # Python refuses to write integers of more than 4300 digits
        return f"a number of {largest.bit_length()} bits"
    text = str(value) if isinstance(value, Number | Enum) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def unknown_name(kind: str, name: object, known: Iterable[str], *, also: str = "") -> InvalidParameter:
    """Return the error for an unknown public name; its message shows the nearest known name.

    `kind` says what the name stands for. `also` says what else is accepted, such as "or a number".
    """
    from difflib import get_close_matches  # needed for an error only

    names = list(known)
    spelled = {one.lower(): one for one in names}
    near = get_close_matches(name[:100].lower(), spelled, 1) if isinstance(name, str) else []
    there = f"did you mean {spelled[near[0]]}? There" if near else "there"
    choices = ", ".join([*names, also] if also else names)
    return InvalidParameter(f"there is no {kind} {quoted(name)}: {there} are {choices}")
