"""What every combinator is: something public that is put on mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from dither.privacy import Guarantee


class Combinator(ABC):
    """Something public that is put on mechanisms: it changes what devices send, or how reports are read.

    What the mechanisms promise becomes another promise by one rule. The rule keeps every assumption.
    """

    on_devices: ClassVar[bool] = True  # whether it changes what devices send

    @abstractmethod
    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return what a person is promised, given what the mechanisms inside promise."""
