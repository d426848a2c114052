"""What a campaign can ask, how it is drawn, and which client answers it: the table of docs/wire.md."""

from __future__ import annotations

from typing import Final, NamedTuple

from dither.collection.campaign import Campaign
from dither.core import registry
from dither.core.question import Question
from dither.errors import DitherError, InvalidParameter

CLIENTS: Final = ("Python", "dither-device", "JavaScript", "Java")
# Draws that a client does not have yet; Python and dither-device have all of them.
_NO_DRAW: Final[dict[str, tuple[str, ...]]] = {
    "JavaScript": ("planar", "rings", "points", "grid", "two copies", "prefix"),
    "Java": (),
}
_NO_REPEAT: Final = ("kept change", "present")  # which the other two do not keep yet
# The entry points of JavaScript that add a draw to the main one. A page loads `projective.js`.
ENTRIES: Final = {
    "angles": ("sectors",),
    "box": ("box",),
    "hashed": ("hashed", "hadamard"),
    "lattice": ("lattice",),
    "nearest": ("nearest", "listing"),
    "optional": ("optional",),
    "paths": ("pair", "walk", "polar"),
    "polynomial": ("polynomial",),
    "profile": ("questions",),
    "projective": ("projective",),
    "several": ("several",),
    "tables": ("channel", "table", "splines"),
    "vectors": ("directions",),
}
_ENTRY: Final = {draw: entry for entry, draws in ENTRIES.items() for draw in draws}


class AskedKind(NamedTuple):
    """A row: a kind of question, how TOML asks it, the default mechanism, and how that draws."""

    kind: str
    toml: str
    mechanism: str
    draws: tuple[str, ...]
    missing: str = ""  # what is to come, if nothing asks it yet


_LISTS: Final = ("response", "bits", "subset", "indices", "hashed", "hadamard", "projective")
ASKED_KINDS: Final = (
    AskedKind("number", "interval = [0, 180]", "Optimal, Hybrid or Podium by ε", ("sliding", "mixture")),
    AskedKind("number on a scale", 'interval and scale = "log"', "as number", ("sliding", "mixture")),
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
    AskedKind("place of a list", "categories and a solved mechanism", "–", ("listing",)),
    AskedKind("several numbers", "box = { age = [18, 100], bmi = [10, 60] }", "Optimal", ("box", "splines")),
    AskedKind("profile", 'profile = { sex = ["f", "m"], age = 3 }', "Marginals", ("questions",)),
    AskedKind("kept change", 'categories of two and repeat = "kept change"', "KRR", ("response",)),
    AskedKind("vector", "–", "–", (), "reserved"),
    AskedKind("path", "–", "–", (), "reserved"),
)


def answering(question: Question) -> tuple[str, ...]:
    """Return the clients that know the draw of a question."""
    draw = question.device()["draw"]
    return tuple(client for client in CLIENTS if draw not in _NO_DRAW.get(client, ()))


def gaps_of_clients(contract: Campaign) -> dict[str, dict[str, str]]:
    """Return, by question, which clients cannot answer it, and why; without those that all answer."""
    found: dict[str, dict[str, str]] = {}
    for name, question in contract.questions.items():
        told = {
            client: f"it does not draw {question.device()['draw']!r}"
            for client in CLIENTS
            if client not in answering(question)
        }
        if contract.repeat in _NO_REPEAT:
            told |= {client: f"it does not keep repeat = {contract.repeat!r}" for client in _NO_DRAW}
        if told:
            found[name] = told
    return found


def rows(contract: Campaign) -> list[str]:
    """Return a line for each question: what is asked, by which mechanism and draw, and who answers it."""
    lacking = gaps_of_clients(contract)
    lines = []
    for name, question in contract.questions.items():
        draw, kind = question.device()["draw"], question.domain.kind
        entry = f"JavaScript ({_ENTRY[draw]}.js)" if draw in _ENTRY else "JavaScript"
        able = [
            entry if client == "JavaScript" else client
            for client in CLIENTS
            if client not in lacking.get(name, {})
        ]
        lines.append(f"{name}: {kind}, drawn as {draw!r} by {question.name}; answered by {', '.join(able)}")
        lines += [f"{name}: not by {client}: {why}" for client, why in lacking.get(name, {}).items()]
    return lines


def check_counted(contract: Campaign) -> None:
    """Raise InvalidParameter if a collector cannot count a question: its reports go to files alone."""
    if contract.repeat in ("kept change", "present"):
        raise InvalidParameter(
            f"a collector does not count repeat = {contract.repeat!r} yet; devices may answer it into files"
        )
    for name, question in contract.questions.items():
        try:
            _ = question.counting.size
        except DitherError as error:
            raise InvalidParameter(
                f"question {name!r}: a collector cannot count its reports: {error}"
            ) from None


def table() -> str:
    """Return the table of all kinds as Markdown."""
    head = "| kind | in TOML | default mechanism | draws | Python, dither-device | JavaScript | Java |\n"
    lines = [head + "|---|---|---|---|---|---|---|"]
    for asked in ASKED_KINDS:
        able = {client: "reserved" if asked.missing else _verdict(client, asked.draws) for client in _NO_DRAW}
        ours = "reserved" if asked.missing else "yes"
        if asked.kind == "kept change":
            able = dict.fromkeys(able, "no")
        draws = ", ".join(f"`{draw}`" for draw in asked.draws) or "–"
        toml = f"`{asked.toml}`" if asked.toml != "–" else "–"
        cells = (asked.kind, toml, asked.mechanism, draws, ours, able["JavaScript"], able["Java"])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _verdict(client: str, draws: tuple[str, ...]) -> str:
    missing = [draw for draw in draws if draw in _NO_DRAW[client]]
    if missing:
        return "no" if len(missing) == len(draws) else f"not {', '.join(missing)}"
    entries = sorted({_ENTRY[draw] for draw in draws if draw in _ENTRY}) if client == "JavaScript" else []
    main = ["yes"] if entries and any(draw not in _ENTRY for draw in draws) else []
    return ", ".join(main + [f"`{entry}.js`" for entry in entries]) or "yes"


def javascript() -> str:
    """Return what JavaScript answers as Markdown: a row for each entry point that has draws."""
    by_draw: dict[str, set[str]] = {}
    for name, kind in registry.names().items():
        for draw in kind._draws:
            by_draw.setdefault("lattice" if draw.startswith("lattice") else draw, set()).add(name)
    others = {draw for draw in by_draw if draw not in (*_ENTRY, *_NO_DRAW["JavaScript"])}
    main = tuple(sorted(draw for draw in others if not draw.startswith("joint")))
    lines = ["| file | kinds of questions | mechanisms |", "|---|---|---|"]
    for file, draws in {"dither": main, **ENTRIES}.items():
        asks = [row.kind for row in ASKED_KINDS if set(row.draws) & set(draws) and row.kind not in _NO_REPEAT]
        mechanisms = sorted(set().union(*(by_draw[draw] for draw in draws)))
        lines.append(f"| `{file}.js` | {', '.join(asks) or '–'} | {', '.join(mechanisms)} |")
    return "\n".join(lines)
