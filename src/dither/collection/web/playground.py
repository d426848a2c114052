"""The playground: a page that shows what privacy does to an answer, with its own content policy."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from dither.errors import DitherError

_NAME: Final = "playground/index.html"
_POLICY: Final = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


@cache
def playground_page() -> bytes:
    """Return the page, from the package or from the repository."""
    for root in (Path(str(files("dither"))), Path(__file__).parents[4] / "docs"):
        if (root / _NAME).is_file():
            return (root / _NAME).read_bytes()
    raise DitherError("cannot find the playground; install dither from its wheel")


def playground_headers() -> dict[str, str]:
    """Return the headers of the page: its own content policy, and a ban on frames."""
    found = _POLICY.search(playground_page().decode())
    if found is None:
        raise DitherError("cannot find the playground's content policy; build the playground again")
    return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"{found[1]}; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
