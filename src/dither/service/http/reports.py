"""`POST /v1/campaigns/{campaign}/batches`: the intake. A 2xx means that the batch is on disk."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final, final

from dither.service.http.limits import RateLimits, client_address, limited_as
from dither.service.http.replies import Receive, Scope, Send, content_type, cors, header, refusal_body, reply
from dither.service.intake import check, read
from dither.service.refusal import BatchRefused, Reason
from dither.service.store.store import StoreUnavailable
from dither.service.writer import Writer
from dither.wire.sealed import SEALED, sealed_size

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

PATH: Final = "/v1/campaigns/{campaign}/batches"
METHODS: Final = ("POST", "OPTIONS")
_BEFORE, _, _AFTER = PATH.partition("{campaign}")
_OPENED: Final = b'{"sealed":true}'  # without the identity of the batch: a relay reads the answer
_BUSY: Final = json.dumps({"words": "the store cannot be written now; send the same bytes again"}).encode()
_LOST: Final = json.dumps({"words": "the body did not arrive; send the same bytes again"}).encode()
_LARGE: Final = 1 << 17  # bytes of a body that is read in a thread
_PREFLIGHT: Final = [
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type"),
    (b"access-control-max-age", b"86400"),
]


class _Gone(Exception):
    """The client went away before its body was complete."""


class _Lost(Exception):
    """A server or a proxy lost the body, or a part of it. The device is not at fault."""


@final
class Batches:
    """The endpoint, as an ASGI application."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._collector = writer.collector
        settings = self._collector.settings
        self._limits = RateLimits(settings.rate, settings.burst)
        self._proxies = frozenset(settings.proxies)
        self._relays = frozenset(map(limited_as, settings.relays))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed = cors(scope, self._collector.settings.origins)
        if scope["method"] == "OPTIONS":
            known = any(name == b"access-control-allow-origin" for name, _ in allowed)
            await reply(send, 204 if known else 403, b"", [*allowed, *(_PREFLIGHT if known else [])])
            return
        campaign = scope["path_params"]["campaign"]
        try:
            address = client_address(scope, self._proxies)
            limited = address not in self._relays
            if limited and not self._limits.allow(address):
                raise BatchRefused(Reason.RATE)
            form = content_type(scope)
            body = await self._body(scope, receive, form)
            asked = (self._collector, campaign, body, form)
            large = len(body) > _LARGE
            batch = await asyncio.to_thread(read, *asked) if large else read(*asked)
            self._collector.opened += form == SEALED
            arrived = check(self._collector, campaign, batch)
            if limited and batch.reports > 1:
                self._limits.charge(address, batch.reports - 1)
            await self._writer.store(arrived)
        except BatchRefused as refused:
            self._collector.refuse(refused.reason, campaign)
            await reply(send, refused.reason.status, refusal_body(refused.reason), allowed)
        except StoreUnavailable:
            await reply(send, 503, _BUSY, allowed)
        except _Lost:
            await reply(send, 503, _LOST, allowed)
        except _Gone:
            return
        else:
            named = b'{"batch":"%s"}' % batch.id.hex().encode()
            await reply(send, 200, _OPENED if form == SEALED else named, allowed)

    async def _body(self, scope: Scope, receive: Receive, form: str) -> bytes:
        """Return the body; raise BatchRefused if it is too long, or takes too long, and _Lost if it lacks."""
        settings = self._collector.settings
        most = sealed_size(settings.body) if form == SEALED else settings.body
        stated = header(scope, b"content-length")
        if stated is not None and (not stated.isdigit() or int(stated[:20]) > most):
            raise BatchRefused(Reason.SIZE)
        try:
            async with asyncio.timeout(settings.patience):
                message = await receive()
                body: bytes = message.get("body", b"")
                while message.get("more_body", False) or message["type"] == "http.disconnect":
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    if len(body) > most:
                        break
                    message = await receive()
                    body += message.get("body", b"")
        except TimeoutError:
            raise BatchRefused(Reason.SLOW) from None
        if len(body) > most:
            raise BatchRefused(Reason.SIZE)
        if not body if stated is None else len(body) != int(stated):
            raise _Lost
        return body


def routes(batches: Batches) -> list[BaseRoute]:
    """Return the route of the intake."""
    from starlette.routing import Route

    return [Route(PATH, batches, methods=list(METHODS))]


def matched(path: str) -> str | None:
    """Return the campaign of a path of the intake; None if it is another path."""
    if not path.startswith(_BEFORE) or not path.endswith(_AFTER):
        return None
    campaign = path[len(_BEFORE) : -len(_AFTER)]
    return campaign if campaign and "/" not in campaign else None
