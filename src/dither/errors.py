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
    choices = ", ".join([*names, also] if also else names)
    return InvalidParameter(f"there is no {kind} {name!r}: {there} are {choices}")
