"""A device for local differential privacy: it answers signed campaigns, using only the standard library.

`Telemetry` is for command-line tools. It consists of `Campaign`, `Account`, `Inquiry`, `Question` and
`send`. Nothing is read, written or sent by importing this package; a name is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dither_device.account import Account, Answer, Inquiry
    from dither_device.campaign import Campaign
    from dither_device.draws import Outside
    from dither_device.question import Question
    from dither_device.rules import Policy
    from dither_device.sending import Sent, send
    from dither_device.telemetry import Telemetry
    from dither_device.text import AccountUnusable, DeviceError, Malformed, Refused

__version__ = "0.1.0"
__all__ = [
    "Account",
    "AccountUnusable",
    "Answer",
    "Campaign",
    "DeviceError",
    "Inquiry",
    "Malformed",
    "Outside",
    "Policy",
    "Question",
    "Refused",
    "Sent",
    "Telemetry",
    "send",
]
_HOMES = {
    "account": ("Account", "Answer", "Inquiry"),
    "campaign": ("Campaign",),
    "draws": ("Outside",),
    "question": ("Question",),
    "rules": ("Policy",),
    "sending": ("Sent", "send"),
    "telemetry": ("Telemetry",),
    "text": ("AccountUnusable", "DeviceError", "Malformed", "Refused"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"dither_device.{home}"), name)
    raise AttributeError(f"module 'dither_device' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
