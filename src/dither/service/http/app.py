"""The ASGI application: the routes of every part of the collector.

A part that answers over HTTP is a module with a function `routes`, which takes the collector, or the writer
where it stores or changes something.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from dither.service.collector import Collector
from dither.service.http import campaigns, openapi, operate, reports
from dither.service.http.playground import PlaygroundPart
from dither.service.http.replies import Receive, Scope, Send
from dither.service.pages import routes as pages
from dither.service.signals import on_hangup
from dither.service.writer import Writer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.routing import BaseRoute

# The parts beside intake and operation, such as answers and the page: each takes the collector. An attribute
# `paths` of such a function is added to the OpenAPI description.
Routes = Callable[[Collector], "list[BaseRoute]"]
PARTS: Final[tuple[Routes, ...]] = (PlaygroundPart(), pages.routes)


def application(writer: Writer, *parts: Routes, token: str | None = None) -> Starlette:
    """Return the application of a collector: its own routes and those of other parts.

    `token` is the secret of administrators; without it there are no admin actions.
    """
    from starlette.applications import Starlette

    collector, batches = writer.collector, reports.Batches(writer)

    class Quick(Starlette):
        """The application, with a short way to the intake: it answers most requests by far."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["method"] in reports.METHODS:
                found = reports.matched(scope["path"])
                if found is not None:
                    scope["path_params"] = {"campaign": found}
                    await batches(scope, receive, send)
                    return
            await super().__call__(scope, receive, send)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        on_hangup(writer.reload)
        yield
        await asyncio.to_thread(writer.close)
        collector.store.close()

    own = [*reports.routes(batches), *campaigns.routes(collector), *operate.routes(writer, token)]
    paths = {name: one for part in parts for name, one in getattr(part, "paths", {}).items()}
    own += openapi.routes(paths, admin=token is not None)
    app = Quick(routes=[*own, *(one for part in parts for one in part(collector))], lifespan=lifespan)
    app.router.redirect_slashes = False  # a device follows no redirect
    return app
