"""Where a number comes from: printed in a paper, computed by its authors' program, or right."""

from __future__ import annotations

from enum import Enum


class Version(Enum):
    """The values of the column `version` of a row."""

    PUBLISHED = "as published"
    CODED = "as coded"
    RIGHT = "right"


PUBLISHED, CODED, RIGHT = (version.value for version in Version)
