"""The names under which mechanisms travel: what `mechanisms` and `optimal` export, and nothing else."""

from __future__ import annotations

from functools import cache

import dither.mechanisms
import dither.optimal
from dither.errors import InvalidParameter
from dither.mechanisms.mechanism import Mechanism


@cache
def names() -> dict[str, type[Mechanism]]:
    """Give every mechanism by its name."""
    rooms = dither.mechanisms, dither.optimal
    exported = ((name, getattr(room, name)) for room in rooms for name in room.__all__)
    return {name: kind for name, kind in exported if isinstance(kind, type) and issubclass(kind, Mechanism)}


def named(name: str) -> type[Mechanism]:
    """Give the mechanism of a name, whatever its capitals, or say which names there are."""
    kinds = {known.lower(): kind for known, kind in names().items()}
    try:
        return kinds[name.lower()]
    except (KeyError, AttributeError):
        raise InvalidParameter(
            f"there is no such mechanism; there are {', '.join(sorted(names()))}"
        ) from None
