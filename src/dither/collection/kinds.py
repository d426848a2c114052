"""The kinds of questions, their draws, and the clients that answer them: the table of docs/wire.md."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final, NamedTuple

from dither.collection.account.budget import Data
from dither.collection.campaign import Campaign
from dither.collection.kept_changes import check_countable, counts_changes
from dither.core import registry
from dither.core.question import Question
from dither.errors import DitherError, InvalidParameter

CLIENTS: Final = ("Python", "dither-device", "JavaScript", "Java", "Go")
# Draws that a client does not support yet; Python and dither-device support all.
_NO_DRAW: Final = {
    "JavaScript": ("planar", "rings", "points", "grid", "two copies", "prefix"),
    "Java": (),
    "Go": ("sectors", "walk", "rings", "points", "grid", "two copies"),  # draws for research
}
CHANGES: Final = "changes"  # the entry point of JavaScript for kept changes
# The JavaScript entry point of each draw; the main entry point has the draws that are not listed.
ADD_ONS: Final = {
    **{"sectors": "angles", "box": "box", "directions": "vectors", "hashed": "hashed", "hadamard": "hashed"},
    **{"channel": "tables", "table": "tables", "lattice": "lattice", "nearest": "nearest"},
    **{"listing": "nearest", "optional": "optional", "pair": "paths", "walk": "paths"},
    **{"polar": "paths", "routes": "routes", "splines": "tables"},
    **{"projective": "projective", "questions": "profile", "several": "several", "polynomial": "polynomial"},
}


class AskedKind(NamedTuple):
    """A row: a kind of question, its TOML, the default mechanism, and its draws."""

    kind: str
    toml: str
    mechanism: str
    draws: tuple[str, ...]


_LISTS: Final = ("response", "bits", "subset", "indices", "hashed", "hadamard", "projective")
ASKED_KINDS: Final = (
    AskedKind("number", "interval = [0, 180]", "Optimal, Hybrid or Podium by ε", ("sliding", "mixture")),
    AskedKind("number on a scale", 'interval and scale = "log"', "SW", ("sliding",)),
    AskedKind("number in steps", "interval and step = 15", "as number", ("sliding", "mixture")),
    AskedKind("date", "date = [2026-01-01, 2026-12-31]", "as number", ("sliding", "mixture")),
    AskedKind("angle", "circle = 360", "OGPM", ("sliding",)),
    AskedKind("time of the day", "time = true", "OGPM", ("sliding",)),
    AskedKind(
        *("one of a list", 'categories = ["a", "b"]', "by ε and length"),
        _LISTS,
    ),
    AskedKind("several of a list", "several = […] and most = 3", "SetResponse", ("several", "polynomial")),
    AskedKind("number or no answer", "interval or circle and optional = true", "Podium, OGPM", ("optional",)),
    AskedKind("one of a list or no answer", "categories and optional = true", "as one of a list", _LISTS),
    AskedKind("place in a rectangle", "rectangle = [[0, 2], [0, 1]]", "TraCSC", ("pair",)),
    AskedKind("place on a sphere", "sphere = true", "TraCSC", ("pair",)),
    AskedKind("place in a disk", "disk = 2.5 and centre = [0, 0]", "Polar", ("polar",)),
    AskedKind("place of a list", "places = { home = [0, 0], shop = [1, 2] }", "Optimal", ("listing",)),
    AskedKind("several numbers", "box = { age = [18, 100], bmi = [10, 60] }", "Optimal", ("box", "splines")),
    AskedKind("profile", 'profile = { sex = ["f", "m"], age = 3 }', "Marginals", ("questions",)),
    AskedKind("kept change", 'categories of two and repeat = "kept change"', "KRR", ("response",)),
    AskedKind("vector", "vectors = 64", "Optimal", ("directions",)),
    AskedKind("complete path", "routes = [[0, 2], [0, 1]] and public paths as prior", "Optimal", ("routes",)),
)


# The kind by the domain of the device text, unless the terms of the campaign say more.
_BY_DOMAIN: Final = {
    **{
        "interval": "number",
        "circle": "angle",
        "categories": "one of a list",
        "several": "several of a list",
    },
    **{"optional": "number or no answer", "rectangle": "place in a rectangle"},
    **{
        "box": "several numbers",
        "sphere": "place on a sphere",
        "disk": "place in a disk",
        "vectors": "vector",
    },
    **{"routes": "complete path", "parallelogram": "place in a parallelogram"},
}


def _kind_of(stated: Data, device: Data, repeat: str) -> str:
    """Return the kind of a question in `ASKED_KINDS`, by its terms in a campaign and its device text."""
    domain = device["domain"]
    if repeat == "kept change":
        return repeat
    if device["draw"] == "listing":
        return "place of a list"
    if None in domain.get("labels", ()):
        return "one of a list or no answer"
    if domain["kind"] == "interval":
        for term, kind in (("scale", "number on a scale"), ("step", "number in steps"), ("form", "date")):
            if term in stated:
                return kind
    if stated.get("form") == "time":
        return "time of the day"
    return _BY_DOMAIN.get(str(domain["kind"]), str(domain["kind"]))


def answering(question: Question) -> tuple[str, ...]:
    """Return the clients that know the draw of a question."""
    draw = question.device()["draw"]
    return tuple(client for client in CLIENTS if draw not in _NO_DRAW.get(client, ()))


def gaps_of_clients(contract: Campaign) -> dict[str, dict[str, str]]:
    """Return, by question, the clients that cannot answer it, and why; omit questions that all can answer."""
    found: dict[str, dict[str, str]] = {}
    for name, question in contract.questions.items():
        reasons = {
            client: f"it does not draw {question.device()['draw']!r}"
            for client in CLIENTS
            if client not in answering(question)
        }
        if reasons:
            found[name] = reasons
    return found


def rows(contract: Campaign) -> list[str]:
    """Return a line for each question: its kind, mechanism, draw, and the clients that answer it."""
    lacking = gaps_of_clients(contract)
    lines = []
    stated = {asked["name"]: asked for asked in json.loads(contract.text)["questions"]}
    for name, question in contract.questions.items():
        device = question.device()
        draw, kind = device["draw"], _kind_of(stated[name], device, contract.repeat)
        able = [
            _with_add_on(client, draw, contract.repeat)
            for client in CLIENTS
            if client not in lacking.get(name, {})
        ]
        lines.append(f"{name}: {kind}, drawn as {draw!r} by {question.name}; answered by {', '.join(able)}")
        lines += [f"{name}: not by {client}: {why}" for client, why in lacking.get(name, {}).items()]
    return lines


def kinds_without(lacking: Collection[str]) -> list[str]:
    """Return a line for each kind of question that a client cannot always answer, because it lacks draws."""
    rows = ((request.kind, [draw for draw in request.draws if draw in lacking]) for request in ASKED_KINDS)
    return [f"{kind}: {', '.join(map(repr, missing))} is not drawn" for kind, missing in rows if missing]


def _with_add_on(client: str, draw: str, repeat: str) -> str:
    """Return a client with the entry point that a page has to load for a draw, or a way of repeating."""
    if client == "JavaScript" and repeat == "kept change":
        return f"{client} with {CHANGES}"
    return f"{client} with {ADD_ONS[draw]}" if client == "JavaScript" and draw in ADD_ONS else client


def check_counted(contract: Campaign) -> None:
    """Raise InvalidParameter if a collector cannot count the reports to a question, but only files can."""
    if counts_changes(contract):
        check_countable(contract)
    for name, question in contract.questions.items():
        try:
            _ = question.counting.size
        except DitherError as error:
            raise InvalidParameter(
                f"question {name!r}: expected reports that a collector can count: {error}"
            ) from None


def table() -> str:
    """Return the table of all kinds as Markdown."""
    head = (
        f"| kind | in TOML | default mechanism | draws | Python, dither-device | {' | '.join(_NO_DRAW)} |\n"
    )
    lines = [head + "|---|---|---|---|---|" + "---|" * len(_NO_DRAW)]
    for request in ASKED_KINDS:
        able = {client: _verdict(client, request.draws) for client in _NO_DRAW}
        if request.kind == "kept change":
            able["JavaScript"] = f"with `{CHANGES}`"
        draws = ", ".join(f"`{draw}`" for draw in request.draws)
        cells = (request.kind, f"`{request.toml}`", request.mechanism, draws, "yes", *able.values())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _verdict(client: str, draws: tuple[str, ...]) -> str:
    """Return "yes", "no", the draws that a client lacks, or the script that a page has to load."""
    missing = [draw for draw in draws if draw in _NO_DRAW[client]]
    if missing:
        return "no" if len(missing) == len(draws) else f"not {', '.join(missing)}"
    added = {ADD_ONS[draw]: None for draw in draws if client == "JavaScript" and draw in ADD_ONS}
    if not added:
        return "yes"
    part = "" if all(draw in ADD_ONS for draw in draws) else "yes, some "
    return f"{part}with {', '.join(f'`{entry}`' for entry in added)}"


def javascript() -> str:
    """Return the draws of the JavaScript client as Markdown: a row for each file."""
    entries = sorted({*ADD_ONS.values(), CHANGES})
    files: dict[str, set[str]] = {"dither": set(), **{entry: set() for entry in entries}}
    mechanisms: dict[str, set[str]] = {file: set() for file in files}
    for name, kind in registry.names().items():
        for draw in ("lattice" if draw.startswith("lattice") else draw for draw in kind._draws):
            if draw not in _NO_DRAW["JavaScript"] and not draw.startswith("joint"):
                files[ADD_ONS.get(draw, "dither")].add(draw)
                mechanisms[ADD_ONS.get(draw, "dither")].add(name)
    mechanisms[CHANGES].add("KRR")
    lines = ["| file | kinds of questions | mechanisms |", "|---|---|---|"]
    for file, draws in files.items():
        asks = [request.kind for request in ASKED_KINDS if draws & set(request.draws)]
        asks = ["kept change"] if file == CHANGES else [kind for kind in asks if kind != "kept change"]
        lines.append(f"| `{file}.js` | {', '.join(asks) or '–'} | {', '.join(sorted(mechanisms[file]))} |")
    return "\n".join(lines)
