"""One exchange with a server that may be hostile: it ends, it is small, it goes nowhere else."""

from __future__ import annotations

import json
import socket
import time

import pytest

from dither.collection.exchange import MOST_ANSWER, Unreachable, check_address, exchange, judge
from dither.errors import InvalidParameter
from tests.collection.hostile import ENDLESS, Act, drip, flood, serving, write
from tests.conformance.exchange import FILE, USED, text
from tests.support.terminal import run

VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tests.conformance.exchange"


def test_python_meets_the_vectors() -> None:
    for one in VECTORS["answers"]:
        assert judge(one["batch"], one["status"], bytes.fromhex(one["content"])).fate == one["fate"], one
    for one in VECTORS["addresses"]:
        if one["verdict"] == USED:
            assert check_address(one["address"]).hostname
        else:
            with pytest.raises(InvalidParameter):
                check_address(one["address"])


@pytest.mark.parametrize("address", [None, 7, "", "https://a:b/", "https://a:99999/", "https://a:0/"])
def test_invalid_addresses_are_refused(address: object) -> None:
    with pytest.raises(InvalidParameter, match="address"):
        check_address(address)


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("pace", [flood, drip])
def test_an_answer_without_an_end_is_cut_off(kind: str, pace: object) -> None:
    head, part = ENDLESS[kind]
    act = flood(head, part) if pace is flood else drip(head, part[:1])
    with serving(act) as server:
        begin = time.monotonic()
        with pytest.raises(Unreachable, match=r"bytes|within|as a web server does"):
            exchange(check_address(server.address), "GET", "/", timeout=0.1)
        assert time.monotonic() - begin < 2


def test_a_complete_answer_is_at_most_as_long_as_allowed() -> None:
    for size, fine in ((MOST_ANSWER, True), (MOST_ANSWER + 1, False)):
        with serving(_says(write(200, " " * size))) as server:
            to = check_address(server.address)
            if fine:
                assert len(exchange(to, "GET", "/").content) == size
            else:
                with pytest.raises(Unreachable, match=f"more than {MOST_ANSWER} bytes"):
                    exchange(to, "GET", "/")


def test_no_redirect_is_followed() -> None:
    with serving(_says(write(200, "{}"))) as other:
        for status in (301, 302, 303, 307, 308):
            with serving(_says(write(status, "", (("location", other.address),)))) as server:
                assert exchange(check_address(server.address), "POST", "/", b"{}").status == status
        assert other.batches == {}


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unreachable, match="does not answer: Connection refused"):
        exchange(check_address(f"http://127.0.0.1:{port}"), "GET", "/")


def _says(answer: bytes) -> Act:
    return lambda link, first, batch: link.sendall(answer)


MANY = write(200, "{}", tuple((f"x-{at}", "y") for at in range(200)))


@pytest.mark.parametrize("verb", ["audit", "estimate"])
def test_verbs_say_what_a_collector_does_wrong(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dither_device.exchange.WAITS", 0.02)
    body, part = ENDLESS["a body"]
    for act, words in (
        (_says(MANY), "got more than 100 headers"),
        (_says(b"hello"), "as a web server does"),
        (drip(body, part[:1]), "did not answer completely within"),
        (_says(write(302, "", (("location", "http://127.0.0.1:1/"),))), "302"),
    ):
        with serving(act) as server:
            done = run(verb, f"{server.address}/v1/campaigns/{'0' * 64}")
        assert done.exit_code == 2
        assert words in " ".join(done.output.split()), done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
    done = run(verb, f"http://city.example/v1/campaigns/{'0' * 64}")
    assert (done.exit_code, "expected an https address" in " ".join(done.output.split())) == (2, True)
