"""The base class of combinators: public rules that are applied to mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from dither.privacy.guarantee import Guarantee


class Combinator(ABC):
    """A public rule applied to mechanisms: it changes what devices send, or how reports are decoded.

    `promise` computes the guarantee from the guarantees of the mechanisms and keeps all their assumptions.
    """

    on_devices: ClassVar[bool] = True  # True if it changes the reports of devices

    @abstractmethod
    def promise(self, inner: Sequence[Guarantee]) -> Guarantee:
        """Return the guarantee of the combinator, given the guarantees of its mechanisms."""
