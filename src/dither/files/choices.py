"""What to do with missing answers, and with values outside of the domain."""

from __future__ import annotations

from enum import Enum

from dither.errors import InvalidParameter, OutsideDomain, found


class Missing(Enum):
    """What to do with a missing answer: an empty cell of a file, a null of a data frame.

    ERROR raises `OutsideDomain` and names the place. SKIP declares that who did not answer is public, and
    draws no report for that answer: a file of reports leaves the row out, a data frame keeps the null.
    """

    ERROR = "error"
    SKIP = "skip"

    @staticmethod
    def check(choice: object) -> Missing:
        """Return the choice; raise InvalidParameter if it is not a member."""
        if isinstance(choice, Missing):
            return choice
        raise InvalidParameter(f"missing is dt.Missing.ERROR or dt.Missing.SKIP, not {found(choice)}")


class Outside(Enum):
    """What to do with a value outside of its domain: a number of a table, a location of a trip.

    ERROR raises `OutsideDomain` and names the place. CLIP moves the value to the nearest one inside (angles
    are wrapped). SKIP leaves the row of a table out, and declares that who was outside is public; trips have
    no such choice.
    """

    ERROR = "error"
    CLIP = "clip"
    SKIP = "skip"

    @staticmethod
    def check(choice: object) -> Outside:
        """Return the choice; raise InvalidParameter if it is not a member."""
        if isinstance(choice, Outside):
            return choice
        raise InvalidParameter(
            "outside is dt.files.Outside.ERROR, dt.files.Outside.CLIP or dt.files.Outside.SKIP, not "
            f"{found(choice)}"
        )


def missing_answer(place: str) -> OutsideDomain:
    """Return the error for a missing answer at a place."""
    return OutsideDomain(
        f"{place}: the answer is missing, and a missing report would show who did not answer; fill it in, "
        "leave the row out, or declare that who did not answer is public (missing=dt.Missing.SKIP, at the "
        "terminal --missing skip)"
    )
