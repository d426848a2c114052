"""The Java client meets the vectors, and keeps and sends what a person answered."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.campaign import Campaign
from dither.collection.conformance import KINDS, run, vectors
from dither.collection.ohttp import GATEWAY, configuration
from dither.collection.published import Published
from dither.collection.secrets import make_sealing_key
from dither.core import registry
from dither.core.wire import read_named
from dither.errors import DitherError
from dither.foundation.canonical import canonical, digest
from tests.collection.campaigns import KEY, published
from tests.collection.hostile import SIGNED, Hostile, check_endless, check_hostile, check_redirects
from tests.collection.serving import OPEN, Process
from tests.conformance.consent import FILE as CONSENT
from tests.conformance.presence_terms import TOML
from tests.conformance.texts import edge
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
    done = subprocess.run(
        [*java, "dither.Checks", *words], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_the_java_client_conforms(java: list[str], every: int) -> None:
    """It knows every draw of the vectors."""
    tallies = run([*java, "dither.Conformance"], every=every)
    told = {kind: (one.failed, one.unknown, one.failures) for kind, one in tallies.items()}
    assert told == dict.fromkeys(KINDS, (0, 0, []))
    assert tallies["draws"].passed == -(
        -sum(len(one["draws"]) for one in vectors("draws")["questions"]) // every
    )


# Draws that texts.json cannot have, since clients/javascript does not know them.
LAST_UNITS: dict[str, Any] = {
    "indices": (dt.SubsetSelection(dt.Categories(12), epsilon=1, report="indices"), "heads", 1),
    "prefix": (dt.PEM(dt.Text(6), epsilon=1), "step", -1),
    "questions": (
        dt.Marginals({"age": dt.Categories(3), "sex": dt.Categories(2)}, epsilon=1),
        "draws.0.heads",
        1,
    ),
    "polar": (dt.Polar(dt.Disk(2.5), epsilon=2), "first.step", 1),
    "table": (dt.optimal.Cumulative(dt.Categories(4), epsilon=2), "values.0", 1),
    "channel": (dt.Exponential(dt.Interval(0, 1), [0, 0.5, 1], epsilon=1), "values.0", 1),
}


@pytest.mark.parametrize("kinds", [("prefix",), pytest.param(tuple(LAST_UNITS), marks=pytest.mark.slow)])
def test_the_last_unit_of_every_draw_decides(java: list[str], kinds: tuple[str, ...]) -> None:
    """What keeps ε is read, and one unit more is refused, as in Python; noise by distance is refused."""
    asked = [text for kind in kinds for text in edge(*LAST_UNITS[kind])]
    every = {one["name"]: one["specification"] for one in vectors("draws")["questions"]}
    asked += [every[name] for name in ("PlanarLaplace", "PlanarStaircase", "JRR", "JointSUE")]
    made = dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=2, unit="trajectory")
    asked.append(made.to_json())
    told = [one.get("refused", "read") for one in read_by([*java, "dither.Conformance"], asked)]
    assert told == [*("read", "privacy") * len(kinds), "read", "privacy", "number", "number", "draw"]


def test_the_names_of_mechanisms_are_those_of_python() -> None:
    """In the client and on the page."""
    code = (CLIENT / "src" / "dither" / "Question.java").read_text(encoding="utf-8")
    listed = dict(re.findall(r'\{"([a-z ]+)", "([A-Za-z ]+)"\},', code))
    known: dict[str, set[str]] = {}
    for name, kind in registry.names().items():
        for draw in kind._draws:
            known.setdefault(draw, set()).add(name)
    assert {draw: set(listed[draw].split()) for draw in known} == known
    page = " ".join((ROOT / "docs" / "wire.md").read_text(encoding="utf-8").split())
    told = page.partition("*Names of mechanisms*, by draw: ")[2].partition(".")[0]
    found: dict[str, set[str]] = {}
    for part in re.split(r"; |, (?=`)", told):
        draws = re.findall(r"`([a-z ]+)`", part)
        found |= {draw: set(re.findall(r"[A-Z]\w+", part)) for draw in draws}
    assert {draw: found[draw] for draw in known} == known


WEIRD = [None, True, 0, -1, 1, 2, 0.5, 64, 96, 1 << 16, 1 << 20, 1 << 32, 1e300, -1e300, 1e-300]
WEIRD += ["", "0", "1", "ff", "f" * 32, "line", "clip", [], {}, [1]]
COLLECTORS = {"codebooks", "labels"}  # what Python alone checks: the codebook beside the text


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all fields, of the first and last entries of lists, and of a field too many."""
    if isinstance(part, dict):
        for name in part:
            yield from places(part[name], (*path, name))
        yield (*path, "more")
    elif isinstance(part, list):
        for at in {0, len(part) - 1} if part else ():
            yield from places(part[at], (*path, at))
    if path:
        yield path


def changed_texts(picked: random.Random) -> Iterator[tuple[Any, str]]:
    """Yield specifications with one field changed, and their fingerprint right."""
    skipped = ("points", "grid", "two copies", "rings", "joint response", "joint bits", "joint hashed")
    for one in vectors("draws")["questions"]:
        whole = json.loads(one["specification"])
        if json.loads(whole["device"])["draw"] in skipped:
            continue
        for path in places(json.loads(whole["device"])):
            device = json.loads(whole["device"])
            holder = device
            for name in path[:-1]:
                holder = holder[name]
            before = holder[path[-1]] if path[-1] != "more" else 0
            near = before + picked.choice([-1, 1, 0.5]) if isinstance(before, int | float) else before
            holder[path[-1]] = picked.choice([*WEIRD, near])
            text = canonical(device)
            if text != whole["device"] and not COLLECTORS & set(path):
                yield (one["name"], path), json.dumps(whole | {"device": text, "fingerprint": digest(text)})


def read_by(command: list[str], texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return what a client answers for each specification."""
    lines = "\n".join(json.dumps({"id": 0, "do": "read", "specification": text}) for text in texts)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def other_verdicts(command: list[str], asked: Sequence[tuple[Any, str]]) -> list[Any]:
    """Return the texts, each after its name, of which a client that knows the draw has another verdict."""
    wrong = []
    answers = read_by(command, (text for _, text in asked))
    for (case, text), told in zip(asked, answers, strict=True):
        try:
            read_named(text)
            expected = "fingerprint"
        except DitherError:
            expected = "refused"
        if expected not in told and not told.get("unknown"):
            wrong.append((case, expected, told))
    return wrong


@pytest.mark.slow
def test_changed_texts_have_the_verdict_of_python(java: list[str]) -> None:
    """Thousands of texts that nobody wrote: what one refuses the other refuses, by `Malformed` alone."""
    picked = random.Random("changed texts")
    asked = [case for _ in range(4) for case in changed_texts(picked)]
    assert other_verdicts([*java, "dither.Conformance"], asked) == []
    assert len(asked) > 3000


def doubles(count: int) -> Iterator[float]:
    """Yield numbers that are hard to write: around powers of two, decimals, subnormals, any bits."""
    # Java's own Double.toString has a digit too many for some of these before Java 19.
    yield from (
        2.0**-44,
        2e-323,
        2e23,
        8.41e21,
        1.1e-323,
        2.2250738585072014e-308,
        1125899906842624.25,
        9.5e-7,
    )
    yield from (0.0, -0.0, 1e21, 1e-7, 123456789012345680000.0, 1e-6, 5e-324, sys.float_info.max, 0.1 + 0.2)
    picked = random.Random("doubles")
    for exponent in range(-1074, 1024, 7):
        (bits,) = struct.unpack("<Q", struct.pack("<d", 2.0**exponent))
        yield from (
            struct.unpack("<d", struct.pack("<Q", bits + away))[0] for away in (-1, 0, 1) if bits + away
        )
    for _ in range(count):
        yield picked.uniform(-10, 10) ** picked.randrange(1, 40)
        yield float(f"{picked.randrange(10 ** picked.randrange(1, 18))}e{picked.randrange(-40, 40)}")
        (number,) = struct.unpack("<d", picked.randbytes(8))
        if number - number == 0:
            yield number


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.slow)])
def test_numbers_are_written_as_ecmascript_does(java: list[str], count: int) -> None:
    numbers = list(doubles(count))
    given = "\n".join(struct.pack(">d", number).hex() for number in numbers)
    assert checks(java, "numbers", given=given) == [canonical(number) for number in numbers]


ORDER = (1 << 252) + 27742317777372353535851937790883648493
PRIME = (1 << 255) - 19
# [RFC 8032, 7.1]: key, message, signature.
RFC = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        "d25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        "387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
        "4a7c15e9716ed28dc027beceea1ec40a",
    ),
)
# The points of order 1, 2, 4 and 8, and forms of them that are not canonical.
SMALL = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
)


def signatures() -> Iterator[tuple[str, str, str, bool]]:
    """Yield messages, signatures, keys, and whether the signature is valid."""
    for key, message, signature in RFC:
        yield message, signature, key, True
        yield message + "00", signature, key, False
        late = (int.from_bytes(bytes.fromhex(signature[64:]), "little") + ORDER).to_bytes(32, "little")
        yield message, signature[:64] + late.hex(), key, False  # the same number modulo the order
        yield message, signature[:-2], key, False
        yield message, signature, key[:-2], False
    for key in SMALL:  # with S = 0 and R = A, or the zero point, anybody could sign for such a key
        for point in (key, SMALL[0]):
            for message in ("", "00", "01", "02", "03"):
                yield message, point + "00" * 32, key, False
    yield "", RFC[0][2], PRIME.to_bytes(32, "little").hex(), False
    yield "", RFC[0][2], "02" + "00" * 31, False  # on no point: the RFC's y without an x
    picked = random.Random("signatures")
    for _ in range(20):
        secret, content = Ed25519PrivateKey.from_private_bytes(picked.randbytes(32)), picked.randbytes(40)
        whole = [content, secret.sign(content), secret.public_key().public_bytes_raw()]
        yield whole[0].hex(), whole[1].hex(), whole[2].hex(), True
        for place in (0, 1, 2):
            parts = [bytearray(one) for one in whole]
            parts[place][picked.randrange(len(parts[place]))] ^= 1 << picked.randrange(8)
            yield parts[0].hex(), parts[1].hex(), parts[2].hex(), False


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

    def fates(server: Hostile, many: int, seconds: float) -> list[str]:
        given = f"{SIGNED.to_json()}\n{KEY.public_key().public_bytes_raw().hex()}\n"
        words = ("hostile", server.address, str(many), str(round(seconds * 1000)))
        return checks([*java, "-Xmx64m"], *words, given=given)

    check_hostile(fates, many)
    check_endless(fates)
    check_redirects(fates)


def test_a_yes_covers_what_was_shown(java: list[str], tmp_path: Path) -> None:
    """And nothing else: the vectors are those of the other clients."""
    given = json.loads(CONSENT.read_text(encoding="utf-8"))
    told = checks(java, "consent", str(tmp_path / "me.account"), given=json.dumps(given))
    covered = [f"{name} {str(one['covered']).lower()}" for name, one in given["campaigns"].items()]
    assert told == covered


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_a_file_is_private_from_its_beginning_on(java: list[str], tmp_path: Path) -> None:
    """It is written 100 times, where every other new file would be everybody's, and watched."""
    file, beside = tmp_path / "me.account", tmp_path / "me.account.new"
    command = ["sh", "-c", 'umask 0; exec "$@"', "sh", *java, "dither.Checks", "writes", str(file), "100"]
    modes: set[int] = set()
    with subprocess.Popen(command) as writing:
        while writing.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                modes.add(stat.S_IMODE(beside.stat().st_mode))
    assert writing.returncode == 0
    assert modes == {0o600}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def fetched(collector: Process) -> tuple[str, str]:
    """Return the address of the campaign and the asker's public key."""
    return collector.campaign, json.loads(_get(collector.campaign))["key"]


@pytest.mark.slow
def test_reports_come_to_a_collector_directly_and_through_a_relay(java: list[str], tmp_path: Path) -> None:
    """Two processes answer on one account at once; here the gateway is its own relay."""
    file = tmp_path / "sealing.key"
    sealing = configuration(make_sealing_key(file))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{sealing}"')
    options = ("--sealing-key", str(file))
    with Process(tmp_path, str(tmp_path / "reports.db"), *options, toml=toml) as collector:
        address, key = fetched(collector)
        words = [*java, "dither.Checks", "answers", str(tmp_path / "me.account"), address, key, "20"]
        both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        told = [line for one in both for line in one.communicate(timeout=120)[0].splitlines()]
        assert [line.split()[1] for line in told] == ["drawn"] * 40
        assert checks(java, "send", str(tmp_path / "me.account"), address, key) == ["40 0 [] -1"]
        checks(java, "answers", str(tmp_path / "me.account"), address, key, "4")
        relay = collector.address + GATEWAY
        sent = checks(java, "send", str(tmp_path / "me.account"), address, key, relay, sealing)
        assert sent == ["4 0 [] -1"]
        done = subprocess.run(
            [*java, "Ask", address, key, str(tmp_path / "you.account")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == "drawn 1"
        assert "2.72 times likelier" in done.stdout


def _get(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        return str(answer.read().decode())


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
