"""Serve the page and receive its reports on this machine: a stub, not a collector.

python examples/browser/serve.py            then open http://localhost:8000/examples/browser/
"""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from dither.core.batch import MOST_BYTES, BatchBody
from dither.errors import MalformedReport

ROOT = Path(__file__).resolve().parents[2]
RECEIVED: dict[str, BatchBody] = {}  # by identity: a batch that comes twice counts once


class Stub(SimpleHTTPRequestHandler):
    """Files of the repository, and `POST /reports` for batches."""

    def __init__(self, *words: Any) -> None:
        super().__init__(*words, directory=str(ROOT))

    def do_POST(self) -> None:
        """Read a batch, keep it, acknowledge it."""
        size = self.headers.get("content-length", "")
        if self.path != "/reports" or not size.isascii() or not size.isdigit() or int(size) > MOST_BYTES:
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        try:
            batch = BatchBody.from_json(self.rfile.read(int(size)).decode())
        except (MalformedReport, UnicodeDecodeError) as error:
            self.send_error(HTTPStatus.BAD_REQUEST, explain=str(error))
            return
        RECEIVED.setdefault(batch.id, batch)
        reports = sum(len(some) for one in RECEIVED.values() for some in one.reports.values())
        print(f"{reports} reports in {len(RECEIVED)} batches")
        answer = json.dumps({"batch": batch.id}).encode()  # a device believes an answer that names its batch
        self.send_response(HTTPStatus.OK)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: who asked for what is nobody's business."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with ThreadingHTTPServer(("127.0.0.1", port), Stub) as server:
        print(f"http://localhost:{port}/examples/browser/", flush=True)
        server.serve_forever()
