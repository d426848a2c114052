"""A relay before a database, whose connections a test cuts or lets hang."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import parse_qs, urlsplit


class Relay:
    """A socket of TCP that passes bytes on to the socket of a server. `address` is that of the relay."""

    def __init__(self, database: str) -> None:
        parts = urlsplit(database)
        self._place = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._flows = threading.Event()
        self._flows.set()
        self._links: list[socket.socket] = []
        self._listening: socket.socket | None = None
        self._lost = b""
        self._deaf: list[socket.socket] = []
        self.port = 0
        self.restore()
        self.address = f"postgresql://{parts.username}@127.0.0.1:{self.port}{parts.path}"

    def restore(self) -> None:
        """Take connections, and pass everything on."""
        self._flows.set()
        if self._listening is None:
            self._listening = socket.create_server(("127.0.0.1", self.port))
            self.port = self._listening.getsockname()[1]
            threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def hang(self) -> None:
        """Keep the connections and pass nothing on."""
        self._flows.clear()

    def cut(self) -> None:
        """End all connections and take no new ones."""
        links, self._links = self._links, []
        if self._listening is not None:
            links.append(self._listening)
            self._listening = None
        for link in links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()
        self._flows.set()

    def lose(self, word: bytes) -> None:
        """Pass on the next request that holds a word; end its connection before the answer is passed on."""
        self._lost = word

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                outside, _ = listening.accept()
            except OSError:
                return
            inside = socket.socket(socket.AF_UNIX)
            inside.connect(self._place)
            self._links += [outside, inside]
            for pair in ((outside, inside), (inside, outside)):
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._flows.wait()
                if source in self._deaf:
                    break
                if self._lost and self._lost in data:
                    self._lost = b""
                    self._deaf.append(target)  # the server acts, and is not heard
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
