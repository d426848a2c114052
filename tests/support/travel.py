"""Specifications that were changed on the way, with fingerprints that fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dither.foundation.canonical import canonical, digest

Change = Callable[[dict[str, Any]], None]


def changed(mechanism: Any, device: Change | None = None, whole: Change | None = None) -> str:
    """Return a mechanism's specification after its device text, or all of it, was changed."""
    data = json.loads(mechanism.to_json())
    if device is not None:
        inner = json.loads(data["device"])
        device(inner)
        data["device"] = canonical(inner)
        data["fingerprint"] = digest(data["device"])
    if whole is not None:
        whole(data)
    return json.dumps(data)


def narrower(by: int) -> Change:
    """Make a window narrower; its start rule stays."""

    def change(device: dict[str, Any]) -> None:
        device["width"] -= by

    return change
