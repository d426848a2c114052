"""The application of a collector."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from dither.collection.ohttp import GATEWAY
from dither.collection.web.endpoints import description, routes_of
from dither.collection.web.pages import page_handlers
from dither.collection.web.requests import (
    METHODS,
    Batches,
    Handler,
    Receive,
    Scope,
    Send,
    campaign_handlers,
    campaign_of,
    operation_handlers,
)
from dither.collection.writer import Writer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request


def application(writer: Writer, *, token: str | None = None) -> Starlette:
    """Return the application of a collector, with all endpoints of the table.

    `token` is the secret of administrators; without it there are no admin actions.
    """
    from starlette.applications import Starlette
    from starlette.responses import Response

    collector, batches = writer.collector, Batches(writer)

    class Quick(Starlette):
        """The application, with a shortcut to the intake for most requests."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["method"] in METHODS:
                found = campaign_of(scope["path"])
                if found is not None or scope["path"] == GATEWAY:
                    scope["path_params"] = {} if found is None else {"campaign": found}
                    await batches(scope, receive, send)
                    return
            await super().__call__(scope, receive, send)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        on_hangup(writer.reload)
        for begin in collector.at_begin:
            begin()
        yield
        for end in collector.at_end:
            end()
        await asyncio.to_thread(writer.close)
        collector.store.close()

    async def described(request: Request) -> Response:
        return Response(text, media_type="application/json")

    handlers: dict[str, Handler] = {
        "batches": batches,
        "description": described,
        **campaign_handlers(collector),
        **operation_handlers(writer, token),
        **page_handlers(collector),
    }
    text = json.dumps(description(handlers))
    app = Quick(routes=routes_of(handlers), lifespan=lifespan)
    app.router.redirect_slashes = False  # a device follows no redirect
    return app


def on_hangup(act: Callable[[], Any]) -> None:
    """Call a function in a thread after each SIGHUP, if a loop runs in the main thread."""
    loop = asyncio.get_running_loop()

    def safely() -> None:
        try:
            act()
        except Exception:  # such as an invalid campaign file: earlier campaigns continue
            logging.getLogger("dither.collection").exception("reloading failed")

    try:
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.run_in_executor(None, safely))
    except (AttributeError, NotImplementedError, RuntimeError, ValueError):
        # Windows does not have this signal; outside the main thread, as in tests, it is not handled.
        return
