"""The account of one person: what was given, what may still be asked, durable in one file."""

from dither.account.account import Account
from dither.account.asking import Asking, Repeat
from dither.account.clock import ClockReading, Epoch

__all__ = ["Account", "Asking", "ClockReading", "Epoch", "Repeat"]
