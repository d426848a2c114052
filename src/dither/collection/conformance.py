"""Drive another implementation with the conformance vectors, by JSON lines over its input and output.

clients/conformance/README.md has the protocol. Nothing here draws: requests and expected answers come from
the files.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

from dither.errors import InvalidParameter


@dataclass
class VectorCount:
    """The results of one kind of vectors."""

    passed: int = 0
    failed: int = 0
    unknown: int = 0  # vectors that the implementation does not support
    research: int = 0  # unsupported draws for research; the share of a port ignores them
    failures: list[str] = field(default_factory=list)  # one text for each failure
    lacking: list[str] = field(default_factory=list)  # draws with a failed or missing vector


def vectors(kind: str) -> object:
    """Return the data of one file of clients/conformance/2, of the package or of the repository."""
    for folder in (
        Path(str(files("dither"))) / "conformance" / "2",
        Path(__file__).parents[3] / "clients" / "conformance" / "2",  # for dither in its repository
    ):
        file = folder / f"{kind}.json"
        if file.is_file():
            return json.loads(file.read_text(encoding="utf-8"))
    raise InvalidParameter(
        f"cannot find {kind}.json; install dither from its wheel, or run it from a copy of the repository"
    )


Case = tuple[str, dict[str, Any], dict[str, Any]]  # name, request and expected answer


def _draws(data: Any) -> Iterator[Case]:
    for question in data["questions"]:
        for number, draw in enumerate(question["draws"]):
            request = {"do": "draw", "specification": question["specification"]}
            request |= {"value": draw["value"], "bytes": draw["bytes"]}
            yield f"{question['name']}, draw {number}", request, {"report": draw["report"], "left": 0}


def _refusals(data: Any) -> Iterator[Case]:
    for refused in data["refused"]:
        yield f"{refused['name']}: {refused['reason']}", _read(refused), {"refused": True}


def _texts(data: Any) -> Iterator[Case]:
    for case in data["specifications"]:
        yield f"specification, {case['name']}: {case['reason']}", _read(case), _verdict(case, "fingerprint")
    for case in data["campaigns"]:
        expected = _verdict(case, "campaign", "retired", "asks")
        yield f"campaign, {case['name']}: {case['reason']}", _campaign(case, data["key"]), expected


def _signatures(data: Any) -> Iterator[Case]:
    yield "the signed campaign", _campaign(data, data["key"]), {"campaign": data["id"]}


def _read(case: dict[str, Any]) -> dict[str, Any]:
    return {"do": "read", "specification": case["specification"]}


def _campaign(case: dict[str, Any], key: str) -> dict[str, Any]:
    return {"do": "campaign", "published": case["published"], "key": key}


def _verdict(case: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {"refused": True} if case["verdict"] == "refused" else {name: case[name] for name in fields}


def _bounds(data: Any) -> Iterator[Case]:
    for bound in data["bounds"]:
        yield (
            f"ε = {bound['epsilon']}",
            {"do": "bound", "epsilon": bound["epsilon"]},
            {"below": bound["below"]},
        )


def _batches(data: Any) -> Iterator[Case]:
    for batch in data["batches"]:
        request = {"do": "batch"} | {name: batch[name] for name in ("batch", "label", "reports")}
        yield batch["batch"], request, {"json": batch["json"], "packed": batch["packed"]}


def _ohttp(data: Any) -> Iterator[Case]:
    """Yield requests and responses in binary HTTP, exchanges, and invalid keys."""
    for case in data["requests"]:
        request = {"do": "request"} | {name: case[name] for name in ("method", "address", "form", "body")}
        yield f"request: {case['name']}", request, {name: case[name] for name in ("plain", "length")}
    for case in data["responses"]:
        fields = ("refused",) if "refused" in case else ("status", "content")
        yield (
            f"response: {case['name']}",
            {"do": "response", "plain": case["plain"]},
            {n: case[n] for n in fields},
        )
    given = ("configuration", "plain", "ephemeral", "answer")
    for case in data["exchanges"]:
        request = {"do": "encapsulate"} | {name: case[name] for name in given}
        yield case["name"], request, {name: case[name] for name in ("sealed", "opened")}
        damaged = case["answer"][:-2] + ("00" if case["answer"][-2:] != "00" else "01")
        yield f"{case['name']}, the answer changed", request | {"answer": damaged}, {"refused": True}
    for case in data["configurations"]:
        request = {"do": "encapsulate"} | {name: data["exchanges"][0][name] for name in given[1:3]}
        request |= {"configuration": case["configuration"]}
        yield f"configuration: {case['reason']}", request, {"refused": True}


def _exchange(data: Any) -> Iterator[Case]:
    """Yield answers to a batch with the resulting fates, and allowed and forbidden addresses."""
    for case in data["answers"]:
        request = {"do": "fate"} | {name: case[name] for name in ("batch", "status", "content")}
        yield f"answer: {case['name']}", request, {"fate": case["fate"]}
    for case in data["addresses"]:
        request = {"do": "address", "address": case["address"]}
        reported = {"used": True} if case["verdict"] == "used" else {"refused": True}
        yield f"address: {case['address']}", request, reported


def _withdrawals(data: Mapping[str, list[dict[str, object]]]) -> Iterator[Case]:
    """Yield bodies of withdrawals, and answers with their meaning: withdrawn or not."""
    for case in data["bodies"]:
        yield f"batch {case['batch']}", {"do": "withdrawal", "batch": case["batch"]}, {"body": case["body"]}
    for case in data["answers"]:
        request = {"do": "withdrawn"} | {name: case[name] for name in ("batch", "status", "content")}
        yield f"answer: {case['name']}", request, {"withdrawn": case["withdrawn"]}


def _list(data: Any) -> Iterator[Case]:
    """Yield lists of campaigns, each with the length and the head that a device kept earlier."""
    for case in data["lists"]:
        request = {"do": "list", "key": data["key"]} | {name: case[name] for name in ("published", "kept")}
        yield case["name"], request, _verdict(case, "count", "head")


def _of_campaign(
    do: str, rows: str, given: Sequence[str], fields: Sequence[str]
) -> Callable[..., Iterator[Case]]:
    """Return the generator of the cases in a file about one campaign."""

    def cases(data: Any) -> Iterator[Case]:
        for case in data[rows]:
            published = data["retired"] if case.get("retired") else data["published"]
            request = {"do": do, "published": published, "key": data["key"]}
            name = ", ".join(str(case[field]) for field in ("retired", *given) if field in case)
            yield (
                name,
                request | {field: case[field] for field in given},
                {field: case[field] for field in fields},
            )

    return cases


def _account(data: Any) -> Iterator[Case]:
    """Yield every step of every scenario: a state, an event, and the next state."""
    for scenario in data["scenarios"]:
        state = scenario["open"]
        for number, step in enumerate(scenario["steps"]):
            request = {"do": "account", "state": state, "policy": scenario["policy"], "event": step["event"]}
            state = step.get("state", state)
            yield f"{scenario['name']}, step {number}", request, {"outcome": step["outcome"], "state": state}


def _changes(data: Mapping[str, list[dict[str, object]]]) -> Iterator[Case]:
    """Yield draws of reports about kept changes, and the steps of accounts that keep them."""
    given = ("specification", "days", "changes", "group", "before", "reported", "intervals", "values")
    for case in data["draws"]:
        asked = {"do": "change"} | {name: case[name] for name in (*given, "bytes", "keyed")}
        told = {name: case[name] for name in ("fingerprint", "report", "left")}
        yield str(case["name"]), asked, told | {"reported": case["now"]}
    yield from _account(data)


def _permanent(data: Any) -> Iterator[Case]:
    """Yield every list of answers per value, with the groups of equal reports."""
    for case in data["permanent"]:
        yield case["name"], {"do": "permanent", "asks": case["asks"]}, {"alike": case["alike"]}


def alike(reports: Iterable[str]) -> list[int]:
    """Return an index for each report: equal reports have the same index, in order of first appearance.

    >>> alike(["aa", "bb", "aa"])
    [0, 1, 0]
    """
    seen: dict[str, int] = {}
    return [seen.setdefault(report, len(seen)) for report in reports]


_REQUESTS: Final[dict[str, Callable[[Any], Iterator[Case]]]] = {
    "draws": _draws,
    "refused": _refusals,
    "texts": _texts,
    "signatures": _signatures,
    "bounds": _bounds,
    "batches": _batches,
    "ohttp": _ohttp,
    "exchange": _exchange,
    "withdrawals": _withdrawals,
    "list": _list,
    "values": _of_campaign("value", "values", ("question", "value"), ("taken",)),
    "words": _of_campaign("words", "words", ("question", "languages"), ("text", "labels")),
    "open": _of_campaign("open", "open", ("day", "label"), ("open", "listed")),
    "account": _account,
    "permanent": _permanent,
    "changes": _changes,
}
KINDS: Final = tuple(_REQUESTS)


def requests(kind: str) -> Iterator[Case]:
    """Yield the name of each case, the request and the expected answer."""
    return _REQUESTS[kind](vectors(kind))


def run(
    command: Sequence[str], kinds: Sequence[str] = KINDS, seconds: float = 300.0, *, every: int = 1
) -> dict[str, VectorCount]:
    """Start a command, send all requests, and count its correct answers.

    With `every`, only each `every`-th draw is requested, for a quick run. Requests are written while answers
    are read, so a command may answer at any time. A missing answer counts as wrong.
    """
    cases: list[tuple[str, str, dict[str, Any], list[str]]] = []
    lines: list[str] = []
    research = research_draws()
    for kind in kinds:
        for number, (name, asked, expected) in enumerate(requests(kind)):
            if kind == "draws" and number % every:
                continue
            lines.append(json.dumps({"id": len(cases), **asked}, ensure_ascii=False))
            cases.append((kind, name, expected, _draws_of(asked)))
    answers = _answers(command, "\n".join(lines) + "\n", seconds)
    tallies = {kind: VectorCount() for kind in kinds}
    for number, (kind, name, expected, draws) in enumerate(cases):
        tally = tallies[kind]
        met, unknown = tally.passed, tally.unknown
        _judge(tally, name, expected, answers.get(number))
        if tally.unknown > unknown and research & {*draws}:
            tally.unknown, tally.research = unknown, tally.research + 1
        if kind == "draws" and tally.passed == met and draws[0] not in tally.lacking:
            tally.lacking += draws
    return tallies


def research_draws() -> set[str]:
    """Return the draws that the vectors mark as research: a port may omit them."""
    data = cast("dict[str, list[dict[str, str]]]", vectors("draws"))
    return {draw_of(question["specification"]) for question in data["questions"] if "research" in question}


def _draws_of(questions: dict[str, Any]) -> list[str]:
    """Return the draws of the specifications in a request; texts that are not JSON are skipped."""
    found = []
    for part in (questions, *questions.get("asks", ())):
        try:
            found += [draw_of(part["specification"])] if "specification" in part else []
        except (ValueError, KeyError, TypeError, RecursionError):  # a text that must be refused
            continue
    return found


@lru_cache(maxsize=256)  # hundreds of requests share a specification, which may hold a codebook
def draw_of(specification: str) -> str:
    """Return the draw of a question's specification."""
    return str(json.loads(json.loads(specification)["device"])["draw"])


def _answers(command: Sequence[str], text: str, seconds: float) -> dict[int, dict[str, Any]]:
    try:
        done = subprocess.run(
            list(command), input=text.encode(), stdout=subprocess.PIPE, timeout=seconds, check=False
        )
    except FileNotFoundError:
        raise InvalidParameter(f"command not found: {command[0]!r}") from None
    except PermissionError:
        raise InvalidParameter(
            f"cannot run {command[0]!r}; make it executable, or give its interpreter"
        ) from None
    except subprocess.TimeoutExpired:
        raise InvalidParameter(
            f"expected {command[0]!r} to end within {seconds:g} s, with its input; end it there, or increase "
            "--seconds"
        ) from None
    found: dict[int, dict[str, Any]] = {}
    for line in done.stdout.split(b"\n"):
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):  # other text on standard output is ignored
            continue
        if isinstance(answer, dict) and type(answer.get("id")) is int and "do" not in answer:  # an echo
            found[answer["id"]] = answer
    return found


def _answers_some(expected: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Return whether a campaign is read as expected, except for questions that the client cannot answer."""
    answered, asks = answer.get("asks"), expected.get("asks", [])
    if not isinstance(answered, list) or len(answered) != len(asks) or answered == asks:
        return False
    known = [
        ask if given == {"question": ask["question"], "unknown": True} else given
        for ask, given in zip(asks, answered, strict=True)
    ]
    return expected == {**{name: answer.get(name) for name in expected}, "asks": known}


def _judge(tally: VectorCount, name: str, expected: dict[str, Any], answer: dict[str, Any] | None) -> None:
    if answer is not None and answer.get("unknown") is True:
        tally.unknown += 1
        return
    if answer is None:
        wrong = "no answer"
    elif "refused" in expected:
        wrong = "" if "refused" in answer else "it was not refused"
    elif "alike" in expected:
        given_reports = answer.get("reports")
        fine = isinstance(given_reports, list) and alike(map(str, given_reports)) == expected["alike"]
        wrong = "" if fine else "other reports are equal"
    elif _answers_some(expected, answer):
        tally.unknown += 1
        return
    else:
        differing = [
            field for field, value in expected.items() if field not in answer or answer[field] != value
        ]
        wrong = f"another {' and '.join(differing)}" if differing else ""
        if wrong and "error" in answer:
            wrong += f" ({str(answer['error'])[:80]})"
        elif wrong:
            wanted, given_reports = (str(given.get(differing[0]))[:60] for given in (expected, answer))
            wrong += f": {given_reports} for {wanted}"
    if not wrong:
        tally.passed += 1
        return
    tally.failed += 1
    tally.failures.append(f"{name}: {wrong}")
