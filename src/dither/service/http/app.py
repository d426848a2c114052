"""The ASGI application: the routes of every part, and the headers that all answers share.

A part of the collector that answers over HTTP is a module with a function `routes(collector)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dither.service.collector import Collector

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.routing import BaseRoute

Routes = Callable[[Collector], "list[BaseRoute]"]


def application(collector: Collector, *parts: Routes) -> Starlette:
    """Return the application of a collector: its own routes and those of other parts."""
    from starlette.applications import Starlette

    return Starlette(routes=[route for part in parts for route in part(collector)])
