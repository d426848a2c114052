"""What tests of the clients in Java and Go have in common: their input, and what each client must do."""

from __future__ import annotations

import contextlib
import json
import random
import stat
import struct
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import dither as dt
from dither.collection.conformance import KINDS, VectorCount, run, vectors
from dither.collection.ohttp import GATEWAY, configuration
from dither.collection.secrets import make_sealing_key, public_part
from dither.core import registry
from dither.core.wire import read_named
from dither.errors import DitherError
from dither.foundation.canonical import canonical, digest
from tests.collection.campaigns import KEY
from tests.collection.hostile import SIGNED, Hostile, check_endless, check_hostile, check_redirects
from tests.collection.serving import OPEN, Process
from tests.conformance.texts import edge

Command = Sequence[str]  # words that run a client


def checks(command: Command, *words: str, given: str = "") -> list[str]:
    """Return the lines that a check of a client prints."""
    done = subprocess.run([*command, *words], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def conforming(command: Command, every: int) -> dict[str, VectorCount]:
    """Return the tallies of a client that meets all vectors and knows all requests."""
    tallies = run([*command], every=every)
    told = {kind: (one.failed, one.unknown, one.failures) for kind, one in tallies.items()}
    assert told == dict.fromkeys(KINDS, (0, 0, []))
    return tallies


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


def verdicts_of_units(command: Command, kinds: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the verdicts on draws that keep ε, the same with one unit more, and others of the vectors."""
    asked = [text for kind in kinds for text in edge(*LAST_UNITS[kind])]
    every = {one["name"]: one["specification"] for one in vectors("draws")["questions"]}
    asked += [every[name] for name in others]
    made = dt.TraCSD(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=2, unit="trajectory")
    asked.append(made.to_json())
    return [one.get("refused", "read") for one in read_by(command, asked)]


def names_by_draw() -> dict[str, set[str]]:
    """Return the names of the mechanisms that draw in each way."""
    known: dict[str, set[str]] = {}
    for name, kind in registry.names().items():
        for draw in kind._draws:
            known.setdefault(draw, set()).add(name)
    return known


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


def read_by(command: Command, texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return what a client answers for each specification."""
    lines = "\n".join(json.dumps({"id": 0, "do": "read", "specification": text}) for text in texts)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def other_verdicts(command: Command, asked: Sequence[tuple[Any, str]]) -> list[Any]:
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


def check_changed_texts(command: Command, seed: str) -> None:
    """Thousands of texts that nobody wrote: what Python refuses a client refuses."""
    picked = random.Random(seed)
    asked = [case for _ in range(4) for case in changed_texts(picked)]
    assert other_verdicts(command, asked) == []
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


def check_numbers(command: Command, count: int) -> None:
    """A client writes numbers as ECMAScript does."""
    numbers = list(doubles(count))
    given = "\n".join(struct.pack(">d", number).hex() for number in numbers)
    assert checks(command, "numbers", given=given) == [canonical(number) for number in numbers]


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
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
        "454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
        "3dca179c138ac17ad9bef1177331a704",
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


def check_hostile_answers(command: Command, many: int, unit: float = 1.0) -> None:
    """A client acknowledges nothing for a hostile answer; it is given seconds in a unit of its own."""

    def fates(server: Hostile, many: int, seconds: float) -> list[str]:
        given = f"{SIGNED.to_json()}\n{public_part(KEY)}\n"
        words = ("hostile", server.address, str(many), f"{seconds / unit:g}")
        return checks(command, *words, given=given)

    check_hostile(fates, many)
    check_endless(fates)
    check_redirects(fates)


def modes_of_file(command: Command, folder: Path) -> set[int]:
    """Return the modes of a file that is written 100 times, where any other new file would be everybody's."""
    file, beside = folder / "me.account", folder / "me.account.new"
    words = ["sh", "-c", 'umask 0; exec "$@"', "sh", *command, "writes", str(file), "100"]
    modes: set[int] = set()
    with subprocess.Popen(words) as writing:
        while writing.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                modes.add(stat.S_IMODE(beside.stat().st_mode))
    assert writing.returncode == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return modes


def fetched(collector: Process) -> tuple[str, str]:
    """Return the address of the campaign and the asker's public key."""
    with urllib.request.urlopen(collector.campaign) as answer:
        return collector.campaign, json.loads(answer.read())["key"]


@contextlib.contextmanager
def collected(command: Command, folder: Path) -> Iterator[tuple[str, str]]:
    """Two processes answer on one account at once, and send directly and through a relay, the gateway itself.

    Yield the campaign's address and key while the collector runs.
    """
    file = folder / "sealing.key"
    sealing = configuration(make_sealing_key(file))
    toml = OPEN.replace("[campaign]", f'[campaign]\nsealing_key = "{sealing}"')
    options, account = ("--sealing-key", str(file)), str(folder / "me.account")
    with Process(folder, str(folder / "reports.db"), *options, toml=toml) as collector:
        address, key = fetched(collector)
        words = [*command, "answers", account, address, key, "20"]
        both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        told = [line for one in both for line in one.communicate(timeout=120)[0].splitlines()]
        assert [line.split()[1] for line in told] == ["drawn"] * 40
        assert checks(command, "send", account, address, key) == ["40 0 [] -1"]
        checks(command, "answers", account, address, key, "4")
        relay = collector.address + GATEWAY
        assert checks(command, "send", account, address, key, relay, sealing) == ["4 0 [] -1"]
        yield address, key
