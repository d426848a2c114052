"""The playground beside the collector: one page that runs the client and sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dither.deployments.playground import playground_headers, playground_page
from dither.service.collector import Collector
from dither.service.http.openapi import answer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

PATH: Final = "/playground"


class PlaygroundPart:
    """A part of the application: `GET /playground`, with the page's own content policy."""

    paths: Mapping[str, Any] = {
        PATH: {
            "get": {
                "summary": "A page that shows what privacy does to an answer; it sends nothing.",
                "responses": {"200": answer("The page.", {"type": "string"}, "text/html")},
            }
        }
    }

    def __call__(self, collector: Collector) -> list[BaseRoute]:
        """Return the route."""
        from starlette.responses import Response as Made
        from starlette.routing import Route

        async def page(request: Request) -> Response:
            return Made(playground_page(), headers=playground_headers())

        return [Route(PATH, page)]
