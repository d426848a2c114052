"""Calls of an ASGI application without a socket, from tests that are not asynchronous."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx

from dither.collection.collector import Collector
from dither.collection.web.app import application
from dither.collection.writer import Writer


class Caller:
    """An application of a collector in a loop of its own, and a client for it."""

    def __init__(self, collector: Collector, token: str | None = None) -> None:
        self.collector = collector
        self.writer = Writer(collector)
        self.app = application(self.writer, token=token)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        transport = httpx.ASGITransport(self.app, client=("203.0.113.7", 1234))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://collector.example")
        self._open = True

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        asked = self._client.request(method, path, **more)
        answer = asyncio.run_coroutine_threadsafe(asked, self._loop).result(30)
        if method == "POST" and self.collector.store.shared:
            self.writer.call(self.collector.catch_up).result(30)  # as it does every second
        return answer

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)

    def options(self, path: str, **more: Any) -> httpx.Response:
        return self.request("OPTIONS", path, **more)

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result(30)
        for end in self.collector.at_end:  # as the application does when it stops
            end()
        self.writer.close()
        self.collector.store.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
