"""What devices read: the campaigns with their signatures, and the client that browsers load."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dither.service.collector import Collector
from dither.service.http.replies import cors

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

BUNDLES: Final = (
    *("dither.js", "dither.global.js", "core.js", "lattice.js", "paths.js", "projective.js", "angles.js"),
    *("signatures.js", "relay.js", "rules.js", "packed.js"),
)


def bundle(name: str) -> bytes | None:
    """Return a file of the JavaScript client; None where it was not installed."""
    packaged = Path(str(resources.files("dither"))) / "clients" / "javascript" / name
    in_repository = Path(__file__).parents[4] / "clients" / "javascript" / "dist" / name
    for path in (packaged, in_repository):
        if path.is_file():
            return path.read_bytes()
    return None


def routes(collector: Collector) -> list[BaseRoute]:
    """Return the routes of campaigns and of the client."""
    from starlette.responses import Response
    from starlette.routing import Route

    def answered(
        request: Request, body: str | bytes, kind: str, status: int = 200, age: int = 60
    ) -> Response:
        headers = {"cache-control": f"public, max-age={age}", "x-content-type-options": "nosniff"}
        made = Response(body, status, headers, media_type=kind)
        for name, value in cors(request.scope, collector.settings.origins):
            made.headers[name.decode()] = value.decode("latin-1")
        return made

    async def every(request: Request) -> Response:
        listed = [
            {
                "id": one.id,
                "name": one.contract.name,
                "version": one.contract.version,
                "begins": one.contract.begins.isoformat(),
                "ends": one.contract.ends.isoformat(),
                "retired": one.retired is not None,
            }
            for one in collector.campaigns.values()
        ]
        return answered(request, json.dumps({"campaigns": listed}), "application/json")

    async def one(request: Request) -> Response:
        found = collector.campaigns.get(request.path_params["campaign"])
        if found is None:
            words = json.dumps({"words": "this collector has no such campaign"})
            return answered(request, words, "application/json", 404)
        return answered(request, found.to_json(), "application/json")

    async def client(request: Request) -> Response:
        name = request.path_params["name"]
        found = bundle(name) if name in BUNDLES else None
        if found is None:
            return answered(request, "there is no such file", "text/plain", 404)
        return answered(request, found, "text/javascript", age=3600)

    return [
        Route("/v1/campaigns", every),
        Route("/v1/campaigns/{campaign}", one),
        Route("/client/{name}", client),
    ]
