"""The Java client meets the vectors, and keeps and sends what a person answered."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from dither.collection.campaign import Campaign
from dither.collection.conformance import vectors
from dither.collection.published import Published
from tests.collection.campaigns import KEY, published
from tests.collection.serving import OPEN, Process
from tests.conformance import ports
from tests.conformance.consent import FILE as CONSENT
from tests.conformance.ports import (
    LAST_UNITS,
    check_changed_texts,
    check_hostile_answers,
    check_numbers,
    collected,
    conforming,
    fetched,
    modes_of_file,
    names_by_draw,
    signatures,
    verdicts_of_units,
)
from tests.conformance.presence_terms import TOML
from tests.support.repository import ROOT

CLIENT = ROOT / "clients" / "java"
OPTIONS = ("--release", "8", "-Xlint:all,-options,-serial,-try", "-Werror")  # what the README has
PAGE = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
FAST = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # for a process that lives for seconds


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the command of Java with the compiled client and its tests, or skip."""
    found = compiled(tmp_path_factory.mktemp("java"))
    if found is None:
        pytest.skip(
            "there is no JDK on this machine: a package of the system, such as openjdk-17-jdk-headless"
        )
    return found


def compiled(folder: Path) -> list[str] | None:
    """Return the command of Java with the client compiled into a folder; a JDK of 9 or later has javac."""
    found = [shutil.which(name) for name in ("java", "javac")]
    if None in found:
        return None
    files = sorted(str(file) for part in ("src", "test") for file in (CLIENT / part).rglob("*.java"))
    files += map(str, sorted((Path(__file__).parent / "android").rglob("*.java")))
    readme = (CLIENT / "README.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```java\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL):
        file = folder / (code.partition("final class ")[2].split()[0] + ".java")
        file.write_text(code, encoding="utf-8")
        files.append(str(file))
    done = subprocess.run(
        [str(found[1]), *(f"-J{word}" for word in FAST), *OPTIONS, "-d", str(folder), *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [str(found[0]), *FAST, "-Xmx512m", "-cp", str(folder)]


def checks(java: list[str], *words: str, given: str = "") -> list[str]:
    """Return the lines that `dither.Checks` prints."""
    return ports.checks([*java, "dither.Checks"], *words, given=given)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_the_java_client_conforms(java: list[str], every: int) -> None:
    """It knows every draw of the vectors."""
    tallies = conforming([*java, "dither.Conformance"], every)
    assert tallies["draws"].passed == -(
        -sum(len(one["draws"]) for one in vectors("draws")["questions"]) // every
    )


@pytest.mark.parametrize("kinds", [("prefix",), pytest.param(tuple(LAST_UNITS), marks=pytest.mark.slow)])
def test_the_last_unit_of_every_draw_decides(java: list[str], kinds: tuple[str, ...]) -> None:
    """What keeps ε is read, and one unit more is refused, as in Python; noise by distance is refused."""
    joint = ("PlanarLaplace", "PlanarStaircase", "JRR", "JointSUE")
    told = verdicts_of_units([*java, "dither.Conformance"], kinds, joint)
    assert told == [*("read", "privacy") * len(kinds), "read", "privacy", "number", "number", "draw"]


def test_the_names_of_mechanisms_are_those_of_python() -> None:
    """In the client and on the page."""
    code = (CLIENT / "src" / "dither" / "Question.java").read_text(encoding="utf-8")
    listed = dict(re.findall(r'\{"([a-z ]+)", "([A-Za-z ]+)"\},', code))
    known = names_by_draw()
    assert {draw: set(listed[draw].split()) for draw in known} == known
    page = " ".join((ROOT / "docs" / "wire.md").read_text(encoding="utf-8").split())
    told = page.partition("*Names of mechanisms*, by draw: ")[2].partition(".")[0]
    found: dict[str, set[str]] = {}
    for part in re.split(r"; |, (?=`)", told):
        draws = re.findall(r"`([a-z ]+)`", part)
        found |= {draw: set(re.findall(r"[A-Z]\w+", part)) for draw in draws}
    assert {draw: found[draw] for draw in known} == known


@pytest.mark.slow
def test_changed_texts_have_the_verdict_of_python(java: list[str]) -> None:
    """Thousands of texts that nobody wrote: what one refuses the other refuses, by `Malformed` alone."""
    check_changed_texts([*java, "dither.Conformance"], "changed texts")


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.slow)])
def test_numbers_are_written_as_ecmascript_does(java: list[str], count: int) -> None:
    check_numbers([*java, "dither.Checks"], count)


def test_signatures_are_verified_with_the_platform_and_without(java: list[str]) -> None:
    cases = list(signatures())
    told = checks(java, "signatures", given="\n".join(",".join(case[:3]) for case in cases))
    assert told == [f"{str(valid).lower()} {str(valid).lower()}" for *_, valid in cases]


def test_a_device_answers_keeps_and_sends(java: list[str], tmp_path: Path) -> None:
    """Values that are none, budgets, rules, a damaged file, ten threads, any answer of a collector."""
    given = f"{published().to_json()}\n{KEY.public_key().public_bytes_raw().hex()}\n"
    assert checks(java, "device", str(tmp_path), given=given) == ["fine"]


def test_presence_over_weeks(java: list[str], tmp_path: Path) -> None:
    """One message in each, by a clock that is set; offline, without consent, turned back, erased."""
    present = Published.sign(Campaign.from_toml(TOML), KEY).to_json()
    given = f"{present}\n{KEY.public_key().public_bytes_raw().hex()}\n"
    assert checks(java, "uses", str(tmp_path / "account"), given=given) == ["fine"]


@pytest.mark.parametrize("many", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_hostile_answers_acknowledge_nothing(java: list[str], many: int) -> None:
    """With little memory; `tests/collection/test_exchange_hostile.py` asks the others the same."""

    check_hostile_answers([*java, "-Xmx64m", "dither.Checks"], many, unit=0.001)


def test_a_yes_covers_what_was_shown(java: list[str], tmp_path: Path) -> None:
    """And nothing else: the vectors are those of the other clients."""
    given = json.loads(CONSENT.read_text(encoding="utf-8"))
    told = checks(java, "consent", str(tmp_path / "me.account"), given=json.dumps(given))
    covered = [f"{name} {str(one['covered']).lower()}" for name, one in given["campaigns"].items()]
    assert told == covered


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_a_file_is_private_from_its_beginning_on(java: list[str], tmp_path: Path) -> None:
    assert modes_of_file([*java, "dither.Checks"], tmp_path) == {0o600}


@pytest.mark.slow
def test_reports_come_to_a_collector_directly_and_through_a_relay(java: list[str], tmp_path: Path) -> None:
    """Two processes answer on one account at once; here the gateway is its own relay."""
    with collected([*java, "dither.Checks"], tmp_path) as (address, key):
        done = subprocess.run(
            [*java, "Ask", address, key, str(tmp_path / "you.account")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "drawn 1"
        assert "2.72 times likelier" in done.stdout


@pytest.mark.slow
def test_an_account_survives_kill_9(java: list[str], tmp_path: Path) -> None:
    """What was told is charged and waits, once; at most one answer more was on disk before it was told."""
    picked, file = random.Random("kill"), tmp_path / "me.account"
    with Process(tmp_path, str(tmp_path / "reports.db"), toml=OPEN) as collector:
        address, key = fetched(collector)
        words = [*java, "dither.Checks", "answers", str(file), address, key, "100000"]
        told: list[str] = []
        for _ in range(15):
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
                assert process.stdout is not None
                wanted = picked.randrange(1, 40)
                told += _first(process.stdout, wanted)
                os.kill(process.pid, signal.SIGKILL)
                told += [line for line in process.stdout.read().splitlines() if line.endswith(" drawn")]
            state = json.loads(checks(java, "show", str(file))[0])["state"]
            known = [one["id"] for one in state["entries"]]
            assert len(set(known)) == len(known)
            assert {line.split()[0] for line in told} <= set(known)
            assert sorted(one["id"] for one in state["queue"]) == sorted(known)
        assert len(told) <= len(known) <= len(told) + 15


def _first(stream: IO[str], count: int) -> list[str]:
    return [stream.readline().strip() for _ in range(count)]


@pytest.mark.slow
def test_maven_makes_three_jars(tmp_path: Path) -> None:
    """Without a network: with the plugins of Debian's packages, where Maven and these are installed."""
    repository = Path("/usr/share/maven-repo")
    plugins = repository / "org/apache/maven/plugins"
    if shutil.which("mvn") is None or not (plugins / "maven-javadoc-plugin").is_dir():
        pytest.skip("there is no Maven with its plugins on this machine")
    shutil.copytree(CLIENT, tmp_path / "java")
    command = ["mvn", "-o", "-q", "-B", f"-Dmaven.repo.local={repository}", "package"]
    subprocess.run(command, cwd=tmp_path / "java", check=True, capture_output=True)
    made = {path.name for path in (tmp_path / "java" / "target").glob("*.jar")}
    assert made == {f"dither-device-0.1.0{kind}.jar" for kind in ("", "-sources", "-javadoc")}
    size = (tmp_path / "java" / "target" / "dither-device-0.1.0.jar").stat().st_size / 1000
    readme = (CLIENT / "README.md").read_text(encoding="utf-8")
    stated = re.findall(r"jar of (\d+) kB", PAGE) + re.findall(r"the client \((\d+) kB", readme)
    assert [*map(int, stated)] == [pytest.approx(size, abs=8)] * 2
