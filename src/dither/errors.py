"""Every error that dither raises on purpose.

    DitherError
    ├── InvalidParameter    a mechanism, domain or call that cannot be built (also a ValueError)
    ├── OutsideDomain       a value that the stated domain does not contain (also a ValueError)
    ├── MalformedReport     something no device could have sent (also a ValueError)
    ├── Mismatch            reports or summaries of two different mechanisms
    ├── NotIdentifiable     the reports cannot answer this question; the message says what can
    ├── BudgetExceeded      a person would give more than their ledger allows
    ├── Infeasible          no mechanism satisfies the request
    ├── ExchangeFailed      another device sent what the protocol does not allow, or nothing in time
    └── MissingExtra        an optional dependency is not installed (also an ImportError)

A message says what was expected, what kind of thing was found and what to do. It never contains a value
that a person gave: an error message ends in a log, and the value is the secret.
"""

from collections.abc import Iterable

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

_SHOWN, _SHOWN_BITS = 60, 200  # the longest text and the largest number that a message repeats
_LISTED = 60  # the most names that a message lists


class DitherError(Exception):
    """The root of every error that dither raises on purpose."""


class InvalidParameter(DitherError, ValueError):
    """A mechanism, a domain or a call that cannot be built as asked."""


class OutsideDomain(DitherError, ValueError):
    """A value that the stated domain does not contain, or that is not a number."""


class MalformedReport(DitherError, ValueError):
    """Something that no device running this mechanism could have sent."""


class Mismatch(DitherError):
    """Reports or summaries of two different mechanisms were put together."""


class NotIdentifiable(DitherError):
    """The reports cannot answer the question, however many there are."""


class BudgetExceeded(DitherError):
    """A person would give away more than their ledger allows."""


class Infeasible(DitherError):
    """No mechanism satisfies the request."""


class ExchangeFailed(DitherError):
    """Another device sent something that the protocol does not allow, or nothing in time."""


class MissingExtra(DitherError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'dither[{extra}]'")


def unknown_name(kind: str, name: object, known: Iterable[str], *, also: str = "") -> InvalidParameter:
    """Return the error for a public name that is none of the known ones; its message says the nearest.

    `also` names what else is accepted, such as "or a number".
    """
    from difflib import get_close_matches  # needed for an error only

    names = list(known)
    spelled = {one.lower(): one for one in names}
    near = get_close_matches(str(name).lower(), spelled, 1)
    there = f"did you mean {spelled[near[0]]}? There" if near else "there"
    listed = names if len(names) <= _LISTED else [*names[:_LISTED], "…"]
    choices = ", ".join([*listed, also] if also else listed)
    return InvalidParameter(f"there is no {kind} {name!r}: {there} are {choices}")


def found(parameter: object) -> str:
    """Return a public parameter as text for an error message: a number or a short text, otherwise its type.

    Containers are shown by type alone, because an array passed by mistake may hold values of people.

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
