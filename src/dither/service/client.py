"""`Client`: a person's device in Python; it answers a campaign through an account and sends the reports."""

from __future__ import annotations

from typing import final


@final
class Client:
    """A device that answers a campaign."""
