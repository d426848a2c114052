"""Which vectors Java meets: those of accounts follow when it keeps version 3, as JavaScript does."""

from __future__ import annotations

from typing import Final

from dither.collection.conformance import KINDS

ACCOUNT: Final = False
PORTED: Final = tuple(kind for kind in KINDS if ACCOUNT or kind != "account")
