"""The account of one person: what was given, what may still be asked, durable in one file."""

from dither.account.account import Account
from dither.account.clock import ClockReading, Epoch
from dither.account.question import Question, Repeat

__all__ = ["Account", "ClockReading", "Epoch", "Question", "Repeat"]
