"""Pages of what is not Python: the exports of the JavaScript client, and the collector's endpoints."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "clients" / "javascript"
EXPORT = re.compile(
    r"(?:/\*\*(?P<said>(?:(?!\*/).)*)\*/\s*)?^export (?:async )?"
    r"(?P<kind>function|class|interface|const|type) (?P<name>\w+)(?P<rest>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)
METHOD = re.compile(
    r"/\*\*(?P<said>(?:(?!\*/).)*)\*/\s*^  (?:static )?(?:async )?(?:readonly )?"
    r"(?P<call>[a-z]\w*[(?:][^\n]*)",
    re.MULTILINE | re.DOTALL,
)

# What the sources leave to their members, or to the first line of their file.
WORDS = {
    "Device": "A device that answers: one account, a queue of reports, and what is promised.",
    "Options": "What `Device.open` takes: the limits of the account, where it is kept, and the clock.",
    "Moment": "A time as a device knows it: the wall clock, and a steady clock since the last start.",
    "Outcome": "What came of an event: drawn, repeated, resent, silent, or refused with a reason.",
    "Policy": "What a device accepts: the largest ε and δ, assumptions, mechanisms.",
    "State": "The account as it is kept: limits, entries, answers, choices, queue.",
    "Draw": "How a device turns one input into one report, and the largest ratio of its probabilities.",
    "lattice": "The reader of mechanisms that add noise, such as Laplace and Staircase.",
    "paths": "The readers of mechanisms of paths, TraCSC and TraCSD.",
    "sectors": "The reader of sectors of the circle.",
    "optional": "The reader of numbers that may be missing: `null` is no answer, and private.",
    "several": "The reader of SetResponse: a value is an array of labels.",
    "polynomial": "The reader of SetResponse of very many items: a value is an array of labels.",
    "projective": "The reader of ProjectiveResponse.",
}


def pages() -> dict[str, str]:
    """Return both pages by name."""
    return {"api/javascript": client(), "api/collector": collector()}


def entry_points() -> dict[str, str]:
    """Return the entry points of the client's package, and the source file of each."""
    exports = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))["exports"]
    return {
        f"dither-ldp{name[1:]}": Path(export["types"]).name.removesuffix(".d.ts")
        for name, export in exports.items()
    }


def names_of(module: str) -> list[tuple[str, str]]:
    """Return what a source file exports, each with the file that defines it."""
    text = (CLIENT / "src" / f"{module}.ts").read_text(encoding="utf-8")
    found = [(match["name"], module) for match in EXPORT.finditer(text)]
    for names, source in re.findall(r"export (?:type )?\{([^}]*)\} from \"\./(\w+)\.js\"", text):
        found += [(name.strip().removeprefix("type "), source) for name in names.split(",") if name.strip()]
    for source in re.findall(r"export \* from \"\./(\w+)\.js\"", text):
        found += names_of(source)
    return found


def client() -> str:
    """Return the page of the JavaScript client."""
    text = [
        "# The JavaScript client",
        "",
        "How it is used: [on devices](../devices.md). Every export of the package:",
        "",
    ]
    told: set[str] = set()
    for point, module in entry_points().items():
        text += [f"## {point}", ""]
        for name, source in names_of(module):
            if name in told:
                continue
            told.add(name)
            text += [f"### {name}", "", *_described(name, source)]
    return "\n".join(text)


def _described(name: str, module: str) -> list[str]:
    source = (CLIENT / "src" / f"{module}.ts").read_text(encoding="utf-8")
    match = next((match for match in EXPORT.finditer(source) if match["name"] == name), None)
    if match is None:
        return ["", ""]
    declared = f"{match['kind']} {name}{match['rest']}".split(" {")[0].split(" = ")[0].rstrip("{ ")
    text = [f"```ts\n{declared}\n```", "", _words(match["said"] or WORDS.get(name, "")), ""]
    if match["kind"] in ("class", "interface"):
        body = source[match.end() :].partition("\n}\n")[0]
        text += [
            f"- `{method['call'].partition(' {')[0].rstrip(';')}`: {_words(method['said'])}"
            for method in METHOD.finditer(body)
        ]
        text.append("")
    return text


def _words(comment: str) -> str:
    return " ".join(line.strip().removeprefix("*").strip() for line in comment.strip().split("\n"))


def collector() -> str:
    """Return the page of the collector's endpoints, from the description that it serves itself."""
    from dither.collection.web.endpoints import ENDPOINTS

    paths = {path: methods for endpoint in ENDPOINTS for path, methods in endpoint.described.items()}
    text = [
        "# The collector's endpoints",
        "",
        "A collector serves the same description at `/openapi.json`.",
        "",
    ]
    text += ["| method | path | does | answers |", "|---|---|---|---|"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            answers = ", ".join(operation["responses"])
            text.append(f"| {method.upper()} | `{path}` | {operation['summary']} | {answers} |")
    return "\n".join([*text, ""])
