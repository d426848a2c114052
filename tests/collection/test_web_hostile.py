"""Bodies over a socket that come slowly, in part, again, out of order or without end."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator

import pytest

from dither.collection.campaign import Campaign
from dither.core.batch import JSON, PACKED
from tests.collection.load import answer, batches, request
from tests.collection.serving import OPEN, Process
from tests.collection.test_server_kill import PATH

CONTRACT = Campaign.from_toml(OPEN)
SOURCE = batches(CONTRACT, 21, 3)


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "limits.toml").write_text("patience = 0.4\nbody = 4000\nburst = 100000", encoding="utf-8")
    with Process(folder, str(folder / "store.sqlite"), "--settings", str(folder / "limits.toml")) as process:
        yield process


def talk(collector: Process, *pieces: bytes, pause: float = 0.0, answers: int = 1) -> list[int]:
    """Send pieces over one connection, with pauses; return the statuses of the answers.

    For an empty piece an answer is read first.
    """

    async def talked() -> list[int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", collector.port)
        found = []
        try:
            for piece in pieces:
                if not piece:
                    found.append((await asyncio.wait_for(answer(reader), 20))[0])
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
            for _ in range(answers):
                found.append((await asyncio.wait_for(answer(reader), 20))[0])
        except (ConnectionError, asyncio.IncompleteReadError):
            found.append(0)
        finally:
            writer.close()
        return found

    return asyncio.run(talked())


def reports(collector: Process) -> int:
    with urllib.request.urlopen(collector.address + "/health") as told:
        return int(json.loads(told.read())["reports"])


def test_a_slow_body_is_given_up(collector: Process) -> None:
    _, body = next(SOURCE)
    sent = request(PATH, body)
    assert talk(collector, sent[:-9], sent[-9:-5], pause=0.1) == [408]
    assert talk(collector, sent[:-20], sent[-20:], pause=0.1) == [200]  # slow, and in time


def test_a_truncated_body_changes_nothing(collector: Process) -> None:
    before = reports(collector)
    _, body = next(SOURCE)
    talk(collector, request(PATH, body)[:-3], answers=0)  # the connection is closed
    head = request(PATH, body)[: -len(body)].replace(f"{len(body)}".encode(), f"{len(body) - 3}".encode())
    assert talk(collector, head + body[:-3]) == [400]
    assert reports(collector) == before


def test_oversized_bodies_are_refused_before_they_are_read(collector: Process) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: {PACKED}\r\n"
    for length in ("4001", "1000000000"):
        assert talk(collector, f"{head}content-length: {length}\r\n\r\n".encode()) == [413]
    assert talk(collector, f"{head}content-length: {'9' * 30}\r\n\r\n".encode()) in ([400], [413])
    endless = f"{head}transfer-encoding: chunked\r\n\r\n".encode()
    chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"
    assert talk(collector, endless, *[chunk] * 6) == [413]


def test_replayed_and_reordered_requests_on_one_connection(collector: Process) -> None:
    before = reports(collector)
    (_, one), (_, two) = next(SOURCE), next(SOURCE)
    first, second = request(PATH, one), request(PATH, two)
    assert talk(collector, second + first + second + first, answers=4) == [200] * 4
    assert talk(collector, *[first] * 3, answers=3) == [200] * 3
    assert 6 <= reports(collector) - before <= 8


def test_reports_out_of_order_are_no_batch(collector: Process) -> None:
    name = CONTRACT.questions["minutes"].fingerprint
    text = {"batch": "ab" * 16, "dither": 2, "label": "", "reports": {name: ["ffff", "0000"]}}
    body = json.dumps(text, separators=(",", ":")).encode()
    assert talk(collector, request(PATH, body, JSON)) == [400]
    text["reports"] = {name: ["0000", "ffff"]}
    good = json.dumps(text, separators=(",", ":")).encode()
    assert talk(collector, request(PATH, good, JSON)) == [200]
    assert talk(collector, request(PATH, good + b" ", JSON)) == [400]


def test_bytes_that_are_not_http_do_not_stop_the_collector(collector: Process) -> None:
    for garbage in (b"\x00" * 100, b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"A" * 100_000 + b"\r\n\r\n"):
        talk(collector, garbage, answers=0)
    _, body = next(SOURCE)
    assert talk(collector, request(PATH, body)) == [200]


def test_nothing_that_identifies_is_written(collector: Process) -> None:
    """No address, cookie or user agent is in any file of the collector."""
    _, body = next(SOURCE)
    marked = request(PATH, body).replace(
        b"host: x",
        b"host: x\r\nuser-agent: Marked/1.0\r\ncookie: marked=cookie\r\nx-forwarded-for: 198.51.100.23",
    )
    assert talk(collector, marked) == [200]
    assert talk(collector, marked[:-1] + b"\x00") == [400]
    files = [path for path in collector.folder.rglob("*") if path.is_file()]
    assert len(files) >= 4
    for path in files:
        data = path.read_bytes()
        for mark in (b"Marked", b"marked=cookie", b"198.51.100.23", b"127.0.0.1"):
            assert mark not in data, path.name


OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"


@pytest.mark.parametrize("pieces", [1, 2, 3, 20])
def test_an_offer_of_http_2_does_not_cost_the_body(collector: Process, pieces: int) -> None:
    """The HTTP client of Java offers it with every request; the head may come in several packets."""
    before, sent = reports(collector), []
    for _ in range(2):  # two requests on one connection
        whole = request(PATH, next(SOURCE)[1]).replace(b"host: x\r\n", b"host: x\r\n" + OFFER)
        size = -(-len(whole) // pieces)
        sent += [*(whole[at : at + size] for at in range(0, len(whole), size)), b""]
    assert talk(collector, *sent, pause=0.002, answers=0) == [200, 200]
    assert reports(collector) > before
