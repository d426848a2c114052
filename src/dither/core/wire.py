"""Questions and reports as JSON and as bytes, and the checks of what was read.

Campaigns: several questions to the same people, described by a TOML file.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from dither.core.domains import Domain
from dither.core.domains.tables import take_domain
from dither.core.question import Question, as_question, check_epsilon, read_question
from dither.core.registry import check_name, design_of, draw_of
from dither.core.reports import Reports
from dither.errors import (
    BudgetExceeded,
    DitherError,
    InvalidParameter,
    MalformedReport,
    MissingExtra,
    found,
    unknown_name,
)
from dither.foundation import losses
from dither.foundation.canonical import digest, parse
from dither.privacy import Guarantee, Policy

MOST_BYTES: Final = 1 << 24  # of a specification's text
MOST_DEPTH: Final = 24
MOST_ITEMS: Final = 1 << 21  # numbers, texts, lists and dictionaries together
MOST_BITS: Final = 256
_LAYOUT: Final = re.compile(r"[<|][iu][1248]")
_VERSION: Final = 2
_PARTS: Final = {"dither", "mechanism", "parameters", "fingerprint", "device", "codebook"}


def loads(text: object, what: str, most: int = MOST_BYTES) -> Any:
    """Return the data of a JSON text of at most `most` bytes; raise MalformedReport if it is not JSON."""
    if not isinstance(text, str | bytes | bytearray):
        raise MalformedReport(f"{what} must be a text, not {type(text).__name__}")
    length = len(text) if not isinstance(text, str) or text.isascii() else len(text.encode(errors="replace"))
    if length > most:
        raise MalformedReport(f"{what} has {length} bytes; at most {most} are allowed")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except MalformedReport:
        raise
    except (ValueError, RecursionError):
        raise MalformedReport(f"{what} is not valid JSON") from None
    check_bounds(data)
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise MalformedReport("a key appears twice in one part of the specification")
    return data


def _no_number(name: str) -> NoReturn:
    raise MalformedReport(f"{name} is not a number in JSON")


def check_bounds(data: Any) -> None:
    """Raise MalformedReport if data are too deeply nested, have too many parts, or too long a number."""
    level: list[Any] = [data]
    items = 0
    for _ in range(MOST_DEPTH):
        items += len(level)
        if items > MOST_ITEMS:
            raise MalformedReport(f"the specification has more than {MOST_ITEMS} parts")
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                if not all(isinstance(name, str) for name in part):
                    raise MalformedReport("the keys in a specification must be texts")
                inner += part.values()
            elif isinstance(part, list | tuple):
                inner += part
            else:
                _plain(part)
        level = inner
        if not level:
            return
    raise MalformedReport(f"the specification is nested more than {MOST_DEPTH} levels deep")


def _plain(value: Any) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise MalformedReport(f"a number in the specification has more than {MOST_BITS} bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise MalformedReport("a number in the specification is not finite")
    elif not isinstance(value, str):
        raise MalformedReport(f"a specification cannot contain a {type(value).__name__}")


def check_specification(data: Any) -> None:
    """Raise MalformedReport if a part of a specification is missing or of a wrong type."""
    if not isinstance(data, dict) or "mechanism" not in data:
        raise MalformedReport("the specification has no part 'mechanism'")
    version = data.get("dither")
    if isinstance(version, bool) or not isinstance(version, int) or version != _VERSION:
        raise MalformedReport(
            f"the specification has version {found(version)}; this dither reads version {_VERSION}"
        )
    if set(data) != _PARTS:
        raise MalformedReport(f"a specification has exactly the parts {', '.join(sorted(_PARTS))}")
    check_bounds(data)
    for name in ("mechanism", "fingerprint", "device"):
        if not isinstance(data[name], str):
            raise MalformedReport(f"the part {name!r} of a specification must be a text")
    if not isinstance(data["parameters"], dict):
        raise MalformedReport("the part 'parameters' of a specification must be a dictionary")


def _side(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def check_header(header: Any, room: int) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and the shape of reports; raise MalformedReport unless they fill `room` bytes."""
    if not isinstance(header, dict) or set(header) != {"specification", "dtype", "shape"}:
        raise MalformedReport("the header of reports must have the keys specification, dtype and shape")
    layout, shape = header["dtype"], header["shape"]
    if not isinstance(layout, str) or not _LAYOUT.fullmatch(layout):
        raise MalformedReport("the dtype of reports must be an integer of 1, 2, 4 or 8 bytes, such as <u2")
    if not isinstance(shape, list) or len(shape) > 8 or not all(map(_side, shape)):
        raise MalformedReport("the shape of reports must be a list of at most 8 whole numbers")
    if int(layout[-1]) * math.prod(shape) != room:
        raise MalformedReport(f"the shape of these reports does not fit the {room} bytes after the header")
    return layout, tuple(shape)


@contextmanager
def refuse_malformed(what: str) -> Iterator[None]:
    """Convert every error of the block into MalformedReport, except MissingExtra.

    Untrusted data can make numpy, fractions or dictionaries raise errors of any type.
    """
    try:
        yield
    except (MalformedReport, MissingExtra):
        raise
    except DitherError as error:
        raise MalformedReport(f"{what} cannot be built: {error}") from None
    except Exception as error:
        raise MalformedReport(f"{what} cannot be built ({type(error).__name__})") from None


VERSION: Final = 2
_MAGIC: Final = b"dither\x00"
_DIGEST: Final = 16


def to_json(asked: Any) -> str:
    """Return the specification of a question, or of a design's, as JSON: device text, codebook, parameters.

    >>> from dither import PM, Interval
    >>> from_json(to_json(PM(Interval(0, 1), epsilon=1))).epsilon
    1.0
    """
    return json.dumps(specification(asked), ensure_ascii=False, allow_nan=False)


def from_json(text: str | bytes, *, policy: Policy | None = None) -> Question:
    """Return the question of a specification: its integers and codebook are read, not computed from ε.

    No design is needed; `question.design()` makes it again. Pass a `Policy` on a device. It limits the
    privacy loss and the cost of reading.
    """
    started, limits = time.monotonic(), _limits(policy)
    return _build(loads(text, "a specification", limits.bytes), policy, started)


def read_named(text: str) -> Question:
    """Return the question of a specification, whose name must be that of a design which draws so."""
    return from_specification(loads(text, "a specification"), known=True)


def specification(asked: Any) -> dict[str, Any]:
    """Return the specification of a question, or of a design's, as JSON-compatible data."""
    question = as_question(asked)
    if not question.domain.portable:
        raise InvalidParameter(
            "this mechanism cannot be written as JSON: use labels that are texts or numbers"
        )
    for value in question.parameters.values():
        if isinstance(value, InvalidParameter):
            raise value
    return {
        "dither": VERSION,
        "mechanism": question.name,
        "parameters": dict(question.parameters),
        "fingerprint": question.fingerprint,
        "device": question.device_text,
        "codebook": question.codebook(),
    }


def from_specification(data: Any, *, known: bool = False) -> Question:
    """Return the question of a specification; raise MalformedReport if the data describe none.

    With `known`, the name must be that of a design of dither: a device insists on it.
    """
    check_specification(data)
    with refuse_malformed("the specification"):
        device = parse(data["device"])
        check_bounds(device)
        if digest(data["device"]) != data["fingerprint"]:
            raise MalformedReport("the fingerprint is not the digest of the device text")
        made = read_question(device, data["codebook"], data["mechanism"], data["parameters"])
        check_name(made.name, draw_of(made.kernel.device()), known=known)
        # The question must have the same device text: then no part of the text was ignored.
        if made.device_text != data["device"]:
            raise MalformedReport("the device text is not that of a question with these integers")
        return made


_UNLIMITED: Final = Policy(epsilon=math.inf, delta=1.0, bytes=MOST_BYTES, seconds=math.inf)


def _limits(policy: Policy | None) -> Policy:
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidParameter(f"policy must be a dt.privacy.Policy or None, not {type(policy).__name__}")
    return policy or _UNLIMITED


def _build(data: Any, policy: Policy | None, started: float) -> Question:
    """Return the question of a specification; raise an error if a policy is given and refuses it."""
    if policy is None:
        return from_specification(data)
    check_specification(data)
    if not policy.lists(data["mechanism"]):
        raise InvalidParameter(f"the policy does not list the mechanism {found(data['mechanism'])}")
    made = from_specification(data, known=True)
    objection = policy.objection(made.guarantee)
    if objection is not None:
        raise BudgetExceeded(objection)
    taken = time.monotonic() - started
    if taken > policy.seconds:
        raise InvalidParameter(
            f"reading the question took {taken:.3g} s; the policy allows {policy.seconds:g} s"
        )
    return made


def to_bytes(reports: Reports) -> bytes:
    """Return reports and the specification of their question as bytes."""
    if not isinstance(reports, Reports):
        raise InvalidParameter(f"Reports were expected, not {type(reports).__name__}")
    cells = np.ascontiguousarray(reports.cells)
    header = {
        "specification": specification(reports.question),
        "dtype": cells.dtype.newbyteorder("<").str,
        "shape": list(cells.shape),
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    body = _MAGIC + struct.pack("<BI", VERSION, len(text)) + text
    body += cells.astype(cells.dtype.newbyteorder("<"), copy=False).tobytes()
    return body + hashlib.sha256(body).digest()[:_DIGEST]


def from_bytes(data: bytes, *, policy: Policy | None = None) -> Reports:
    """Return reports that `to_bytes` wrote; raise MalformedReport for any other bytes.

    A `dt.privacy.Policy` is applied to the question as in `from_json`.
    """
    started, limits = time.monotonic(), _limits(policy)
    if not isinstance(data, bytes | bytearray | memoryview):
        raise MalformedReport(f"reports are bytes; {type(data).__name__} was given")
    start = len(_MAGIC) + 5
    whole = bytes(data)
    body = whole[:-_DIGEST]
    if len(whole) < start + _DIGEST or not body.startswith(_MAGIC):
        raise MalformedReport("these bytes were not written by dither.to_bytes")
    version, length = struct.unpack_from("<BI", body, len(_MAGIC))
    if version != VERSION:
        raise MalformedReport(
            f"these reports have format version {version}; this dither reads version {VERSION}"
        )
    if hashlib.sha256(body).digest()[:_DIGEST] != whole[-_DIGEST:]:
        raise MalformedReport("the checksum does not match: bytes are missing or were changed")
    header = loads(body[start : start + length], "the header of reports", limits.bytes)
    layout, shape = check_header(header, len(body) - start - length)
    made = _build(header["specification"], policy, started)
    with refuse_malformed("these reports"):
        cells = np.frombuffer(body, np.dtype(layout), offset=start + length).reshape(shape)
        return made.reports(cells.astype(cells.dtype.newbyteorder("=")))


_CAMPAIGN_VERSION: Final = 1
MOST_SPECIFIED: Final = 1 << 14  # bytes of the specification of a mechanism that nobody named
# What the table [campaign] of a file may have; the last two are not written where they are not used.
TERMS: Final = (
    *(
        "name",
        "version",
        "asker",
        "contact",
        "purpose",
        "begins",
        "ends",
        "people",
        "repeat",
        "days",
        "labels",
    ),
    *("sealing_key", "reports_a_batch"),
)
BUDGET: Final = ("epsilon", "sampled")  # what else it may have: how ε of one person is divided


@dataclass(frozen=True)
class Campaign:
    """Named questions to the same people. Answering all of them has the composed guarantee.

    >>> survey = Campaign.from_toml("[questions.age]\\ninterval = [18, 100]\\nepsilon = 1")
    >>> survey.guarantee
    Guarantee: ε ≤ 1 for one value
    """

    questions: Mapping[str, Any]  # of each the question is kept, if a design is given
    sampled: bool = False  # whether each person answers one of them alone, drawn at random

    def __post_init__(self) -> None:
        if not isinstance(self.sampled, bool):
            raise InvalidParameter(f"sampled is true or false, not {found(self.sampled)}")
        if not isinstance(self.questions, Mapping):
            raise InvalidParameter(
                "questions must be a mapping from column names to mechanisms, not "
                f"{type(self.questions).__name__}"
            )
        asked = {}
        for name, question in self.questions.items():
            try:
                asked[name] = as_question(question)
            except InvalidParameter:
                raise InvalidParameter(
                    f"questions must be a mapping from column names to mechanisms; {name!r} is "
                    f"{type(question).__name__}"
                ) from None
        if not self.questions:
            raise InvalidParameter("a campaign needs at least one question; none was given")
        object.__setattr__(self, "questions", MappingProxyType(asked))

    @staticmethod
    def of(questions: Mapping[str, Any] | Campaign) -> Campaign:
        """Return the questions as a campaign; raise InvalidParameter if they are no mapping to mechanisms."""
        if isinstance(questions, Campaign):
            return questions
        return Campaign(questions)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a person who answers every question once, or the one that was drawn.

        Several answers are one record: the bound is for all of them together.
        """
        if self.sampled:
            first, *others = (as_question(asked).guarantee for asked in self.questions.values())
            return first.either(*others).of_record() if others else first
        whole: Guarantee = reduce(
            Guarantee.compose, (question.guarantee for question in self.questions.values())
        )
        return whole.of_record() if len(self.questions) > 1 else whole

    @staticmethod
    def from_toml(text: str) -> Campaign:
        """Return the campaign of a TOML text: a table `[questions.NAME]` for each question."""
        if not isinstance(text, str) or len(text) > MOST_BYTES:
            given = f"{len(text)} characters" if isinstance(text, str) else type(text).__name__
            raise InvalidParameter(f"a campaign is a text of at most {MOST_BYTES} characters, not {given}")
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidParameter(f"the campaign is not valid TOML: {error}") from None
        for key in data:
            if key not in ("campaign", "questions"):
                raise unknown_name(
                    "table of a campaign", key, ["campaign", "questions"], also="and nothing outside of them"
                )
        terms = data.get("campaign", {})
        for key in terms if isinstance(terms, dict) else ():
            if key not in (*TERMS, *BUDGET):
                raise unknown_name("term of a campaign", key, (*TERMS, *BUDGET))
        tables = data.get("questions")
        try:
            check_bounds(tables)
        except MalformedReport as error:
            raise InvalidParameter(f"the questions of a campaign: {error}") from None
        if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
            raise InvalidParameter(
                "the campaign has no questions: write a table [questions.NAME] for each question"
            )
        budget = terms if isinstance(terms, dict) else {}
        sampled = budget.get("sampled", False)
        if "epsilon" in budget:
            tables = _share_budget(budget["epsilon"], tables, sampled is True)
        made = {name: _question(name, table) for name, table in tables.items()}
        return Campaign(made, sampled=sampled)

    @staticmethod
    def read(path: Path | str) -> Campaign:
        """Return the campaign of a TOML file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidParameter(f"the campaign file {path.name} is not text in UTF-8") from None
        return Campaign.from_toml(text)

    def to_json(self) -> str:
        """Return the specifications of all questions as JSON, as stored at the head of a file of reports."""
        questions = {name: specification(question) for name, question in self.questions.items()}
        head = {"dither": _CAMPAIGN_VERSION, "questions": questions, **reading(self.questions)}
        head |= {"sampled": True} if self.sampled else {}
        return json.dumps(head, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Campaign:
        """Return the campaign that `to_json` wrote; raise MalformedReport if the text is not one."""
        data = loads(text, "the head of a file")
        questions = data.get("questions") if isinstance(data, dict) else None
        if not isinstance(questions, dict):
            raise MalformedReport("the head of this file is not a specification that dither wrote")
        with refuse_malformed("the head of this file"):
            made = {name: from_specification(part) for name, part in questions.items()}
            return Campaign(read_as(made, data), sampled=data.get("sampled", False))


def _share_budget(total: object, tables: dict[str, Any], sampled: bool) -> dict[str, Any]:
    """Return tables of questions in which the ε of a whole campaign is shared by those without an own one.

    If a person answers one question alone, each has all of it.
    """
    budget, tables = check_epsilon(total), {name: dict(table) for name, table in tables.items()}
    free = [name for name, table in tables.items() if "epsilon" not in table]
    stated = [table["epsilon"] for table in tables.values() if "epsilon" in table]
    if not all(isinstance(given, int | float) and not isinstance(given, bool) for given in stated):
        raise InvalidParameter("epsilon of a question is a number")
    spent = max(stated, default=0.0) if sampled else math.fsum(stated)
    left = budget if sampled else budget - spent
    if (free and not left > 0.0) or spent > budget * (1.0 + 1e-9):
        raise InvalidParameter(
            f"epsilon = {budget:g} of the campaign is for all questions together, and those that state their "
            f"own have {spent:g}"
        )
    for name in free:
        tables[name]["epsilon"] = left if sampled else left / len(free)
    return tables


def reading(questions: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is declared about answers and is no device's business: units and steps, if there are any.

    The result has one key, "reading", or none, so that campaigns without declarations keep their text.
    """
    declared: dict[str, dict[str, Any]] = {}
    for name, question in questions.items():
        if question.domain.line is not None:
            words = {"step": question.domain.line.step, "unit": question.domain.line.unit or None}
            declared[name] = {key: value for key, value in words.items() if value is not None}
    declared = {name: words for name, words in declared.items() if words}
    return {"reading": declared} if declared else {}


def read_as(questions: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return questions with the units and steps that `reading` wrote into some data."""
    made, declared = dict(questions), data.get("reading", {})
    if not isinstance(declared, dict):
        raise MalformedReport('"reading" has units and steps by the name of the question')
    for name, words in declared.items():
        question = made.get(name)
        known = isinstance(words, dict) and words and words.keys() <= {"step", "unit"}
        known = known and None not in words.values()
        if question is None or not known or question.domain.line is None:
            raise MalformedReport('"reading" has units and steps of numbers, by the name of the question')
        made[name] = replace(question, domain=question.domain.read_as(**words), made_by=None)
    return made


def _question(name: str, table: dict[str, Any]) -> Any:
    table, kind = dict(table), None
    try:
        domain = take_domain(table)
        if "epsilon" not in table:
            raise InvalidParameter("epsilon, the privacy budget, is missing")
        stated = table.pop("mechanism", None)
        if stated is None:
            kind, more = default_mechanism(domain, table["epsilon"])
            table = {**more, **table}
        else:
            kind = design_of(stated)
        if isinstance(table.get("loss"), str):
            table["loss"] = losses.loss_of(table["loss"])
        return kind(domain, **table)
    except MissingExtra:
        raise
    except DitherError as error:
        raise InvalidParameter(f"question {name!r}: {error}") from None
    except (TypeError, KeyError):
        raise _wrong_key(name, kind, table) from None
    except Exception as error:
        raise InvalidParameter(f"question {name!r} cannot be built ({type(error).__name__})") from None


def _wrong_key(name: str, kind: type[Any] | None, table: Mapping[str, Any]) -> InvalidParameter:
    """Return the error for a question with a key that its mechanism lacks, or a value of a wrong type."""
    if kind is None:
        return InvalidParameter(f"question {name!r}: its domain has a value of a wrong type")
    known = [item.name for item in fields(kind) if item.init and item.name != "domain"]
    for key in table:
        if key not in known:
            wrong = unknown_name(f"parameter of {kind.__name__}", key, known)
            return InvalidParameter(f"question {name!r}: {wrong}")
    return InvalidParameter(
        f"question {name!r}: {kind.__name__} does not accept the type of one of its values"
    )


def default_mechanism(domain: Domain, epsilon: object) -> tuple[type[Any], dict[str, Any]]:
    """Return the mechanism of a question that names none, and its parameters beside ε.

    On categories it is the one with the smallest variance in short reports (`default_protocol`), on a circle
    OGPM. On an interval it has the smallest predicted error of a mean, in the worst case: of the solved
    unbiased mechanism, if its design ships and its specification has at most 16 kB, Hybrid and Podium.
    """
    budget = check_epsilon(epsilon)
    if domain.usual_mechanism is not None:
        return design_of(domain.usual_mechanism), {}
    if domain.listed is not None:
        return type(_load("advice.catalogue").default_protocol(domain.listed, budget)), {}
    solved = _load("advice.catalogue").solved_candidates
    for candidate in solved(domain, budget, (), ("worst",), unbiased=True, wait=False):
        if len(to_json(candidate.mechanism).encode()) <= MOST_SPECIFIED:
            return type(candidate.mechanism), {"unbiased": True}
    spread = _load("advice.goals.numbers").Mean().spread
    closed = [design_of(name) for name in ("Hybrid", "Podium")]
    return min(closed, key=lambda kind: float(spread(kind(domain, epsilon=budget)))), {}


def _load(module: str) -> Any:
    """Return a module that only a question without a mechanism needs: who is given a question does not."""
    return import_module(f"dither.{module}")
