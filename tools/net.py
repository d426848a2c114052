"""Record what users can see of the project, and compare it after a change of the code.

    python -m tools.net record      before the change
    python -m tools.net check       after it: every difference is printed, and the exit code is then 1

What is recorded: every design of the tests' tables with its texts, reports and estimates; the commands of
the docs; the help of every verb; golden texts and conformance vectors; pages in HTML, those of a collector by
HTTP; and the public addresses. Nothing is named here but public names, the tests' tables and the docs, so
modules may move: a module's path is no part of a recording. A recording belongs to one change and is not part
of the repository.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import inspect
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest import mock

import click
import joblib
import matplotlib
import numpy as np
import pandas
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression

import dither as dt
from dither import results
from dither.cli import main as command_line
from dither.core.question import as_answering
from tests.docs.test_documents import PAGES
from tests.golden import devices
from tests.support.cases import frequency, joint, kernels, numbers, optimal, places
from tests.support.repository import ROOT

Data = Any  # what JSON holds
REPORTS: Final = 1000
TOLERANCE: Final = 1e-12  # of numbers, relative
MOST_SHOWN: Final = 160  # characters of one side of a difference


# --- designs


def designs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return every case of the tests' tables, with a function that makes it."""
    for case in numbers.EVERY:
        yield f"numbers: {case.name}", _at(case, 1.0)
        yield f"larger ε: {case.name}", _at(case, 3.0)
    kinds: list[Any] = list(frequency.KINDS)
    for kind in kinds:
        yield f"frequency: {kind.__name__}", partial(kind, frequency.FRUIT, epsilon=1.0)
    for name, make in joint.JOINT.items():
        yield f"joint: {name}", partial(make, n=REPORTS)
    for name, kernel in kernels.CASES.items():
        yield f"kernels: {name}", partial(getattr, kernel, "mechanism")
    for name in optimal.KINDS:
        yield f"optimal: {name}", partial(optimal.optimal, name, 1.0)
    for name, make in places.PATHS.items():
        yield f"places: {name}", _at(make, 4.0)
    for name, make in devices.CASES.items():
        yield f"devices: {name}", make


def _at(make: Callable[..., Any], epsilon: float) -> Callable[[], Any]:
    return lambda: make(epsilon=epsilon)


def values_of(domain: Any, count: int = REPORTS) -> Any:
    """Return values all over a domain, the same ones every time, more of them towards one end."""
    share = np.linspace(0.0, 1.0, count) ** 2
    angle = 40.0 * share
    match domain:
        case dt.Interval():
            return domain.low + (domain.high - domain.low) * share
        case dt.Circle():
            return domain.period * share * 0.999
        case dt.Categories():
            return [domain.labels[int(place)] for place in share * (len(domain.labels) - 1)]
        case dt.Text():
            return [["ab", "ac", "c", ""][int(place)] for place in share * 3.999]
        case dt.Profile():
            return {
                name: values_of(part, count) for name, part in zip(domain.names, domain.parts, strict=True)
            }
        case dt.Rectangle():
            return np.column_stack([values_of(domain.x, count), values_of(domain.y, count)[::-1]])
        case dt.Disk():
            ring = domain.radius * 0.99 * share[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
            return ring + np.asarray(domain.centre)
        case dt.maps.Parallelogram():
            sides = np.asarray([domain.first, domain.second])
            return np.asarray(domain.corner) + np.column_stack([share, 1.0 - share]) @ sides * 0.99
        case dt.Sphere():
            return np.column_stack([340.0 * share - 170.0, 80.0 - 160.0 * share])
    raise TypeError(f"{type(domain).__name__} has no values here; add them")


def describe_design(make: Callable[[], Any], *, in_full: bool) -> Data:
    """Return all that is recorded of one design: as it was made, and as it is read from its text."""
    design = make()
    values = _values(design)
    result = {
        "text": attempt(design.to_json),
        "device": attempt(lambda: as_answering(design).device_text),
        "fingerprint": attempt(lambda: design.fingerprint),
        "guarantee": attempt(lambda: _promise(design.guarantee)),
        "described": attempt(design.describe),
        "of a crowd": attempt(lambda: _promise(dt.shuffled(design, n=REPORTS, delta=1e-6))),
    }
    reports = attempt(lambda: [_draw(design, values)])
    if not isinstance(reports, list):
        return {**result, "reports": reports}
    result |= _answers(reports[0], in_full=in_full)
    if isinstance(text := result["text"], str):
        result["read"] = attempt(lambda: _read(text, values))
    return result


def _values(design: Any) -> Any:
    if isinstance(parts := getattr(design, "parts", None), Mapping):  # several questions to one person
        return {name: values_of(part.domain) for name, part in parts.items()}
    if not hasattr(design, "domain"):  # a combinator whose records are rows
        return values_of(design.mechanism.domain)[:, None]
    return values_of(design.domain, getattr(design, "n", REPORTS))


def _draw(design: Any, values: Any) -> Any:
    permanent = isinstance(design, dt.Memoised)  # it draws from its key
    return design.perturb(values) if permanent else design.perturb(values, source=dt.Seeded(7))


def _read(text: str, values: Any) -> Data:
    question = dt.from_json(text)
    return {
        "text": question.to_json(),
        "fingerprint": question.fingerprint,
        "guarantee": _promise(question.guarantee),
        **_answers(_draw(question, values), in_full=False),
    }


def _answers(reports: Any, *, in_full: bool) -> Data:
    """Return what the reports are and what is estimated from them."""
    if isinstance(reports, results.Records):
        return {"parts": {name: _answers(part, in_full=in_full) for name, part in reports.items()}}
    if isinstance(reports, np.ndarray):
        return {"reports": _rows(reports)}
    cells = np.ascontiguousarray(reports.cells)
    result = {
        "reports": {
            "dtype": str(cells.dtype),
            "shape": list(cells.shape),
            "digest": hashlib.sha256(cells.tobytes()).hexdigest(),
            "first": cells[:3].tolist(),
        },
        "bytes": attempt(lambda: hashlib.sha256(reports.to_bytes()).hexdigest()),
        "again": attempt(lambda: bool(dt.from_bytes(reports.to_bytes()) == reports)),
        "values": attempt(lambda: _rows(reports.values[:50])),
        "all guarantee": attempt(lambda: _promise(reports.guarantee)),
        "summary": attempt(lambda: hashlib.sha256(dt.Counts.of(reports).to_bytes()).hexdigest()),
        "mean": attempt(lambda: _estimate(dt.mean(reports))),
        "variance": attempt(lambda: _estimate(dt.variance(reports))),
        "frequencies": attempt(lambda: _estimate(dt.frequencies(reports))),
        "estimate": attempt(lambda: _estimate(dt.estimate(reports))),
        "answers": attempt(lambda: _estimate(dt.stats.answers(reports))),
        "cumulative": attempt(lambda: _table(dt.cumulative(reports))),
        "tables": attempt(lambda: _table(dt.stats.tables(reports))),
        "heavy hitters": attempt(lambda: _table(dt.heavy_hitters(reports))),
        "density": attempt(lambda: _table(dt.maps.density(reports, 4, 4))),
    }
    if in_full:
        result |= {
            "mean, as reported": attempt(lambda: _estimate(dt.mean(reports, method="as reported"))),
            "projected": attempt(lambda: _estimate(dt.frequencies(reports).projected())),
            "resultant": attempt(lambda: _estimate(dt.stats.resultant(reports))),
            "quantile, likelihood": attempt(
                lambda: _estimate(dt.quantile(reports, 0.7, method="likelihood"))
            ),
            "distribution, likelihood": attempt(
                lambda: _distribution(dt.distribution(reports, 8, method="likelihood"))
            ),
            "quantile": attempt(lambda: _estimate(dt.quantile(reports, 0.7))),
            "distribution": attempt(lambda: _distribution(dt.distribution(reports, 8))),
            "any time": attempt(lambda: _estimate(dt.estimate(reports).at_any_time())),
            "lying": attempt(lambda: _estimate(dt.estimate(reports).if_lying(0.01))),
        }
    return result


def attempt(compute: Callable[[], Any]) -> Data:
    """Return a result, or the class and the text of the error in its place."""
    try:
        return compute()
    except Exception as error:
        return {"error": type(error).__name__, "said": _without_paths(str(error))}


def _without_paths(text: str) -> str:
    """Return a text with the last part of every dotted name below `dither`, or `dt`: modules may move."""
    text = re.sub(r" from '[^']*\.pyi?'", "", text)
    return re.sub(r"\b(?:dither|dt)(?:\.\w+)*\.(?=\w)", "dither…", re.sub(r"\b0x[0-9a-f]+", "0x…", text))


def _digest(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def _promise(guarantee: Any) -> Data:
    bound = {name: value for name, value in vars(guarantee.bound).items() if isinstance(value, int | float)}
    return [str(guarantee), bound, str(guarantee.unit), list(guarantee.assumes)]


def _estimate(estimate: Any) -> Data:
    return {
        "value": _rows(estimate.value),
        "error": _rows(estimate.standard_error),
        "intervals": [[_rows(end) for end in estimate.interval(level)] for level in (0.95, 0.5)],
        "n": estimate.n,
        "guarantee": _promise(estimate.guarantee),
        "shown": repr(estimate),
        "html": attempt(lambda: _digest(estimate._repr_html_())),
    }


def _distribution(found: Any) -> Data:
    return {
        "edges": _rows(found.edges),
        "probabilities": _rows(found.probabilities),
        "share": attempt(lambda: _estimate(found.share(float(found.edges[1]), float(found.edges[4])))),
        "shown": repr(found),
        "html": attempt(lambda: _digest(found._repr_html_())),
    }


def _table(found: Any) -> Data:
    rows = found.records() if hasattr(found, "records") else []
    return {
        "shown": repr(found),
        "rows": [{name: _plain(cell) for name, cell in row.items()} for row in rows],
        "html": attempt(lambda: _digest(found._repr_html_())),
    }


def _plain(cell: Any) -> Data:
    return float(cell) if isinstance(cell, float | np.floating) else str(cell)


def _rows(numbers: Any) -> Data:
    array = np.asarray(numbers)
    return array.tolist() if array.dtype.kind in "iufb" else [str(value) for value in array.reshape(-1)]


# --- commands

# Those that wait for a network, run for minutes, or need what is not installed everywhere.
_LEFT_OUT: Final = re.compile(
    r"dither (serve|demo|jrr (pair|collect)|reproduce (?!--list)|conformance)|spark|hdfs:|postgresql://|\|"
)
_PERTURB: Final = shlex.split("dither perturb trips.csv --column minutes --interval 0 180 --epsilon 1")
_TEXTS: Final = {".csv", ".json", ".geojson", ".sql"}  # endings of written files that are compared
_NORMALISED: Final = (
    (re.compile(r"^time \(no part of ε\): .*$", re.MULTILINE), "<time measured>"),
    (re.compile(r"(?<![.\w])(?=\d*[a-f])[0-9a-f]{16,}\b"), "<hex>"),
    (re.compile(r"\b[A-Za-z0-9_-]{43}\b=?"), "<key>"),
    (re.compile(r"\b\d\d:\d\d UTC\b"), "<time> UTC"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT[0-9:.]+Z?"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)? (µs|ms|ns|s|seconds)\b"), "<duration>"),
)


def commands() -> Iterator[tuple[Path, list[str]]]:
    """Return every page with the `dither …` commands that stand on lines of their own."""
    for page in [*PAGES, ROOT / "examples" / "collector" / "README.md"]:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        lines = "\n".join(blocks) + "\n" + "\n".join(re.findall(r"^    +dither .*$", text, re.MULTILINE))
        found = re.findall(r"^\s*(?:\$ )?(dither .*)$", lines, re.MULTILINE)
        if chosen := [line for line in found if not _LEFT_OUT.search(line)]:
            yield page, chosen


def prepare(folder: Path) -> None:
    """Write the files that the commands of the docs read."""
    random = np.random.default_rng(3)
    rows = zip(
        random.gamma(4, 10, 2000).clip(0, 180),
        random.uniform(0, 359, 2000),
        random.choice(["firefox", "chrome", "safari", "other"], 2000),
        random.choice(["tea", "coffee", "neither"], 2000),
        random.uniform(18, 100, 2000),
        random.uniform(10, 60, 2000),
        strict=True,
    )
    table = ["id,minutes,heading,browser,drink,age,bmi"]
    table += [f"p{i},{m:.1f},{h:.0f},{b},{d},{a:.1f},{w:.1f}" for i, (m, h, b, d, a, w) in enumerate(rows)]
    for name in ("people.csv", "trips.csv"):
        (folder / name).write_text("\n".join(table) + "\n")
    for path in (ROOT / "examples" / "survey.toml", *(ROOT / "examples" / "collector").glob("*.toml")):
        (folder / path.name).write_text(path.read_text())
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "mymodule.py").write_text(
        "import random\n\ndice = random.Random(1)\n\n"
        "def randomise(values):\n    return [int(dice.random() < 0.3 + 0.4 * x) for x in values]\n\n"
        "def total(data):\n    return round(sum(data) + dice.expovariate(1) - dice.expovariate(1), 1)\n"
    )
    (folder / "week-2").mkdir()
    points = "".join(
        f'<trkpt lat="{35.7 + 0.01 * math.sin(i):.5f}" lon="{139.7 + 0.004 * i:.5f}"/>' for i in range(40)
    )
    (folder / "in.gpx").write_text(
        f'<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><name>ride</name><trkseg>{points}</trkseg></trk></gpx>'
    )
    people = pandas.DataFrame({"age": np.linspace(18, 100, 60), "bmi": np.linspace(60, 10, 60)})
    joblib.dump(LogisticRegression().fit(people, people["age"] > 50), folder / "model.joblib")
    account = dt.Account.create(folder / "me.account", epsilon=4.0)
    account.close()
    question = dt.Podium(dt.Interval(0, 180), epsilon=1)
    (folder / "minutes.json").write_text(question.to_json())
    cells = question.perturb(np.linspace(0, 180, 500), source=dt.Seeded(5)).cells
    (folder / "export.csv").write_text("\n".join(["report", *map(str, cells.tolist())]) + "\n")


def run_page(lines: list[str]) -> Data:
    """Return what the commands of one page exit with, print and write, in a folder of their own."""
    result = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        prepare(folder)
        for target in ("reports.csv", "monday.csv", "tuesday.csv", "week-2/a.csv"):
            _run([*_PERTURB, "-o", target], folder)
        for number, line in enumerate(lines, 1):
            words = shlex.split(line, comments=True)
            if "-o" in words:  # a page may write a file that another one reads
                Path(words[words.index("-o") + 1]).unlink(missing_ok=True)
            result[f"{number}. {line}"] = _run(words, folder)
    return result


def _run(words: list[str], folder: Path) -> Data:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    with _seeded():
        shown = CliRunner().invoke(command_line, words[1:], prog_name="dither")
    failed = shown.exception if not isinstance(shown.exception, SystemExit) else None
    written = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in _TEXTS and before.get(path) != path.stat().st_mtime_ns:
            text = _normalise(path.read_text(encoding="utf-8"), folder)
            written[path.name] = hashlib.sha256(text.encode()).hexdigest()
    return {
        "exit": shown.exit_code,
        "shown": _normalise(shown.output, folder),
        "failed": _without_paths(repr(failed)) if failed else "",
        "written": written,
    }


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """Let the default source of randomness say the same bytes every time."""
    stream = dt.Seeded(2025)
    with (
        mock.patch.object(dt.randomness.System, "fill", lambda _, buffer: stream.fill(buffer)),
        mock.patch.object(dt.randomness.System, "take", lambda _, size: stream.take(size)),
    ):
        yield


def _normalise(text: str, folder: Path) -> str:
    text = text.replace(str(folder.resolve()), "<folder>").replace(str(folder), "<folder>")
    text = text.replace(str(ROOT), "<repository>").replace(f"{datetime.now(UTC):%Y-%m-%d}", "<today>")
    for pattern, word in _NORMALISED:
        text = pattern.sub(word, text)
    return text


def help_texts() -> Data:
    """Return what `--help` prints of the program, of every verb and of every verb below one."""
    return {
        " ".join(["dither", *words]): CliRunner()
        .invoke(command_line, [*words, "--help"], prog_name="dither")
        .output
        for words in _verbs(command_line, [])
    }


def _verbs(command: click.Command, words: list[str]) -> Iterator[list[str]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _verbs(below, [*words, name])


# --- files


def golden_texts() -> Data:
    """Return the digest of every golden text and file."""
    return _digests(ROOT / "tests" / "golden")


def vectors() -> Data:
    """Return the digest of every file of conformance vectors."""
    return _digests(ROOT / "clients" / "conformance")


def _digests(folder: Path) -> Data:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): _digest(path.read_bytes())
        for path in files
        if path.suffix not in (".py", ".pyc", ".md")
    }


# --- pages in HTML

_CAMPAIGN: Final = """
[campaign]
name = "commute"
asker = "city.example"
contact = "data@city.example"
purpose = "How long people travel, and in which browser they say so."
begins = 2020-01-01
ends = 2120-01-01
people = 50
repeat = "fresh"
labels = ["1.0", "1.1"]
reports_a_batch = 100000

[questions.minutes]
interval = [0, 180]
epsilon = 1
mechanism = "Podium"

[questions.browser]
categories = ["firefox", "chrome", "safari", "other"]
epsilon = 1.0
mechanism = "KRR"
"""
_KEY: Final = "dither-private-key-1:ed25519:" + bytes(range(32)).hex() + "\n"
_ASKED: Final = (  # below the campaign, beside its own text
    "card",
    "answers.json",
    "answers.csv",
    "answers.json?question=minutes&what=distribution&bins=8",
    "answers.json?question=minutes&what=quantile&share=0.9",
    "answers.json?question=browser&by=label",
    "answers.json?question=absent",
    "summary?question=browser",
)


def collector() -> Data:
    """Return what a collector serves, before and after some reports: its pages, answers and routes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "campaign.toml").write_text(_CAMPAIGN, encoding="utf-8")
        (folder / "asker.key").write_text(_KEY, encoding="utf-8")
        (folder / "asker.key").chmod(0o600)
        (folder / "limits.toml").write_text("rate = 1e6\nburst = 1000000\n", encoding="utf-8")
        words = (
            "serve --json campaign.toml --store reports.db --port 0 --key asker.key --settings limits.toml"
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "dither", *words.split()],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with process:
            try:
                line = process.stdout.readline() if process.stdout else b""
                places = json.loads(line)
                return _served(places["page"].rstrip("/"), places["campaigns"][0], folder)
            finally:
                process.terminate()


def _served(page: str, campaign: str, folder: Path) -> Data:
    identity, sent = campaign.rpartition("/")[2], dict[str, Data]()

    def get(address: str, body: bytes | None = None) -> Data:
        asked = urllib.request.Request(address, body, {"content-type": "application/json"} if body else {})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                status, form, read = answer.status, answer.headers["content-type"], answer.read()
        except urllib.error.HTTPError as error:
            status, form, read = error.code, error.headers["content-type"], error.read()
        if not any(word in form for word in ("html", "json", "text", "csv")):
            return [status, form, _digest(read)]
        text = read.decode().replace(identity, "<campaign>").replace(page, "<collector>")
        return [status, form, _normalise(text, folder)]

    def settled(address: str) -> Data:
        """Return a page as soon as nothing on it waits: it is drawn again some seconds later."""
        until = time.monotonic() + 60
        while True:
            found = get(address)
            waits = "is being computed" in found[2] or (bool(sent) and "No reports have arrived" in found[2])
            if not waits or time.monotonic() > until:
                return found
            time.sleep(0.5)

    def pages() -> Data:
        shown = {"/": settled(f"{page}/"), "/campaigns/": settled(f"{page}/campaigns/{identity}")}
        return shown | {f"…/{name}": get(f"{campaign}/{name}") for name in _ASKED}

    described = json.loads(get(f"{page}/openapi.json")[2])
    result = {
        "identity": identity,
        "description": described,
        "routes": sorted(f"{verb} {path}" for path, verbs in described["paths"].items() for verb in verbs),
        "campaign": get(campaign),
        "campaigns": get(f"{page}/v1/campaigns"),
        "log": get(f"{page}/v1/list"),
        "client": {name: get(f"{page}/client/{name}") for name in ("dither.js", "absent.js")},
        "playground": get(f"{page}/playground"),
        "absent": get(f"{page}/absent"),
        "no reports": pages(),
    }
    for number, label in enumerate(("1.0", "1.1")):
        batch = {"batch": f"{number:032x}", "dither": 2, "label": label, "reports": _batch(number)}
        body = json.dumps(batch, sort_keys=True, separators=(",", ":")).encode()
        sent[label] = get(f"{campaign}/batches", body)
    sent["the same again"] = get(f"{campaign}/batches", body)
    sent["malformed"] = get(f"{campaign}/batches", b"{}")
    return {**result, "sent": sent, "reports": pages()}


def _batch(seed: int) -> Data:
    """Return the reports of 400 people to both questions, by fingerprint, in hexadecimal and sorted."""
    result = {}
    for question in dt.Questionnaire.from_toml(_questions()).questions.values():
        cells = question.perturb(values_of(question.domain, 400), source=dt.Seeded(seed)).cells
        rows = cells.astype(cells.dtype.newbyteorder("<"))
        result[question.fingerprint] = sorted(row.tobytes().hex() for row in rows)
    return result


def _questions() -> str:
    return "".join(_CAMPAIGN.partition("[questions")[1:])


def pages() -> Data:
    """Return the other pages and parts of pages in HTML: explanations, cards, tables and estimates."""
    survey = dt.Questionnaire.from_toml(_questions())
    minutes, browser = survey.questions.values()
    some = {
        "minutes": minutes.perturb(values_of(minutes.domain), source=dt.Seeded(1)),
        "browser": browser.perturb(values_of(browser.domain), source=dt.Seeded(2)),
        "again": browser.perturb(values_of(browser.domain), source=dt.Seeded(3)),
        "other": minutes.perturb(values_of(minutes.domain), source=dt.Seeded(4)),
    }
    age = np.where(np.arange(REPORTS) % 3 == 0, "young", "old")
    weights = partial(dt.stats.rake, {"age": age}, {"age": {"young": 400, "old": 600}})
    made: dict[str, Callable[[], Any]] = {
        "explanation": survey.explain,
        "explanation, in batches": lambda: survey.explain(minimum_batch=1000),
        "mean": lambda: dt.mean(some["minutes"]),
        "frequencies": lambda: dt.frequencies(some["browser"]),
        "distribution": lambda: dt.distribution(some["minutes"], 8),
        "quantiles": lambda: dt.quantile(some["minutes"], 0.9),
        "pairs": lambda: dt.stats.crosstab(some["browser"], some["again"]),
        "comparison": lambda: dt.compare(dt.Interval(0, 1), epsilon=1),
        "recommendation": lambda: dt.recommend(dt.Interval(0, 1), dt.goals.Mean(n=1000), epsilon=1),
        "over time": lambda: dt.over_time(dt.KRR(dt.Categories(["yes", "no"]), epsilon=1), days=7),
        "audit": lambda: dt.audit(minutes),
        "guarantee": lambda: minutes.guarantee,
        "weights": weights,
        "weighted": lambda: dt.mean(some["minutes"], weights=weights()),
        "regression": lambda: dt.stats.regression(some["browser"], some["minutes"]),
        "correlation": lambda: dt.stats.correlation(some["minutes"], some["other"]),
        "map": lambda: dt.maps.density(
            dt.PlanarLaplace(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=4).perturb(
                np.column_stack([np.linspace(0, 1, 50), np.linspace(0, 1, 50)]), source=dt.Seeded(3)
            ),
            4,
            4,
        ),
    }
    result = {}
    for name, make in made.items():
        result[name] = attempt(lambda make=make: _normalise(_html(make()), ROOT))  # type: ignore[misc]
    result["card"] = attempt(lambda: survey.card(asker="city.example", contact="data@city.example"))
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        folder = Path(place)
        prepare(folder)
        (folder / "campaign.toml").write_text(_CAMPAIGN, encoding="utf-8")
        for line in (
            "explain campaign.toml --officer -o officer.html",
            "explain campaign.toml --officer -o officer-de.html --language de",
            "explain --officer -o all.html",
            "card campaign.toml --asker city.example --contact data@city.example --people 50",
            "card --schema",
            "classify model.joblib people.csv --row 5 --feature age 18 100 --feature bmi 10 60 --epsilon 4"
            " --budgets 5 --queries 2000 -o classify.html",
        ):
            result[line] = _run(["dither", *line.split()], folder)
        for path in sorted(folder.glob("*.html")):
            result[path.name] = _normalise(path.read_text(encoding="utf-8"), folder)
    return result


def _html(made: Any) -> str:
    return str(made._repr_html_())


# --- public addresses


def addresses() -> Data:
    """Return every public name with what it is, what it takes and which public names it has."""
    result = {}
    for name in vars(dt)["__all__"]:
        result[f"dt.{name}"] = _public(getattr(dt, name))
        if isinstance(module := getattr(dt, name), ModuleType):
            result |= _names_of(f"dt.{name}", module)
    for name in ("errors", "results", "sklearn"):
        result |= _names_of(f"dither.{name}", import_module(f"dither.{name}"))
    result["verbs"] = [" ".join(words) for words in _verbs(command_line, []) if words]
    for path in (ROOT / "pyproject.toml", ROOT / "clients" / "python" / "pyproject.toml"):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        tables = {name: project.get(name, {}) for name in ("scripts", "gui-scripts", "entry-points")}
        result[f"entry points of {project['name']}"] = tables
        result[f"extras of {project['name']}"] = sorted(project.get("optional-dependencies", {}))
    return result


def _names_of(address: str, module: ModuleType) -> Data:
    return {f"{address}.{name}": _public(getattr(module, name)) for name in getattr(module, "__all__", ())}


def _public(value: Any) -> Data:
    if isinstance(value, ModuleType):
        return {"is": "module", "names": dict.fromkeys(sorted(getattr(value, "__all__", ())), "")}
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else type(value).__name__
    result = {"is": kind, "takes": attempt(lambda: _without_paths(str(inspect.signature(value))))}
    if inspect.isclass(value):
        result["names"] = {name: "" for name in dir(value) if not name.startswith("_")}
        result["errors"] = [base.__name__ for base in value.__mro__ if issubclass(base, BaseException)]
    elif not callable(value):
        result["shown"] = _without_paths(repr(value))
    return result


# --- recording and comparing


def observe(only: str) -> Data:
    """Return the recording of the code as it is: of all, or of the names that contain a word."""
    result: Data = {}
    for name, make in designs():
        if only in name:
            in_full = not name.startswith(("larger ε:", "devices:"))  # densities take most of the time
            result[name] = attempt(partial(describe_design, make, in_full=in_full))
    for page, lines in commands():
        name = f"commands: {'/'.join(page.relative_to(ROOT).parts[-2:])}"  # folders may move
        if only in name:
            result[name] = run_page(lines)
    for name, record in (
        ("addresses", addresses),
        ("collector", collector),
        ("golden texts", golden_texts),
        ("help", help_texts),
        ("pages", pages),
        ("vectors", vectors),
    ):
        if only in name:
            result[name] = record()
    return json.loads(json.dumps(result))


def differences(before: Data, now: Data, at: str = "") -> Iterator[str]:
    """Return a line for every place where two recordings differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*before, *(key for key in now if key not in before)]:
            if key not in now or key not in before:
                yield f"{at} / {key}: {'gone' if key in before else 'new'}"
            else:
                yield from differences(before[key], now[key], f"{at} / {key}" if at else key)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, pair in enumerate(zip(before, now, strict=True)):
            yield from differences(*pair, f"{at}[{number}]")
    elif not _same(before, now):
        yield f"{at}:\n    before {_short(before, now)}\n    now    {_short(now, before)}"


def _same(before: Data, now: Data) -> bool:
    if isinstance(before, float) and isinstance(now, float):
        both_nan = math.isnan(before) and math.isnan(now)
        return both_nan or math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=1e-300)
    return type(before) is type(now) and bool(before == now)


def _short(data: Data, other: Data) -> str:
    """Return the text of one side of a difference, from a little before the first character that differs."""
    text, second = (json.dumps(side, ensure_ascii=False) for side in (data, other))
    pairs = enumerate(zip(text, second, strict=False))
    same = next((place for place, (before, after) in pairs if before != after), 0)
    begin = max(0, same - 40)
    return ("…" if begin else "") + text[begin : begin + MOST_SHOWN]


def main() -> int:
    """Record, or check and return 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.net", description=__doc__.partition("\n")[0])
    parser.add_argument("do", choices=["record", "check"])
    parser.add_argument("--file", type=Path, default=Path(tempfile.gettempdir()) / "dither-net.json")
    parser.add_argument(
        "--only", default="", help="names that contain this word, such as `places:` or `help`"
    )
    asked = parser.parse_args()
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "120"}
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the date in pictures
    matplotlib.rcParams["svg.hashsalt"] = "dither"  # else the names of their parts are random
    warnings.simplefilter("ignore")
    found = observe(asked.only)
    spent = f"{len(found)} cases, {time.process_time():.0f} s of processor time"
    if asked.do == "record":
        asked.file.write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
        print(f"{asked.file}: {spent}")
        return 0
    before = json.loads(asked.file.read_text(encoding="utf-8"))
    lines = list(differences({name: value for name, value in before.items() if asked.only in name}, found))
    print(*lines, f"{len(lines)} differences; {spent}", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
