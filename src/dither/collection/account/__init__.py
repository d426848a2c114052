"""The account of one person: spent and remaining budgets, durable in one file."""

from dither.collection.account.account import Account
from dither.collection.account.clock import ClockReading, Epoch
from dither.collection.account.inquiry import Inquiry, Repeat

__all__ = ["Account", "ClockReading", "Epoch", "Inquiry", "Repeat"]
