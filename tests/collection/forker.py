"""Collectors that start at once: this process imports everything and forks one for every request.

A line of JSON on standard input is the plan of a collector. It says on standard output the number of its
process and then the address of its page.
"""

from __future__ import annotations

import json
import os
import sys

from dither.collection.server import ServerPlan, serve
from dither.collection.settings import Settings
from dither.collection.web import app
from dither.collection.web import app as openapi

LOADED = [app, openapi]


def main() -> None:
    try:
        import psycopg
        import uvicorn

        LOADED.extend([psycopg, uvicorn])
    except ImportError:
        pass
    for line in sys.stdin:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            print("ended", flush=True)
            continue
        print(os.getpid(), flush=True)
        given = json.loads(line)
        plan = ServerPlan(**{**given, "settings": Settings(**given.get("settings", {}))})
        try:
            serve(plan, lambda places: print(places.page, flush=True))
        finally:
            os._exit(0)


if __name__ == "__main__":
    main()
