"""A whole collection of 64 processes on this machine, by the command line alone."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dither as dt
from dither import results
from dither.extensions import protocols
from dither.extensions.protocols import Certificates, Terms
from dither.extensions.protocols.exchange import Deadline, tell
from dither.extensions.protocols.messages import Kind, pack_address
from dither.extensions.protocols.pairs import free_ports
from tests.extensions.protocols.network import certificates
from tests.support.chi_square import ALARM
from tests.support.terminal import run

pytest.importorskip("nacl")
ROUNDS, DEVICES, HOLDERS = 500, 64, 60
JRR = dt.JRR(dt.Categories(["no", "yes"]), p=0.6, rho=-0.65, n=DEVICES)
TERMS = Terms(JRR, bits=8)


def write_question(file: Path, jrr: dt.JRR, bits: int = 16, **changes: object) -> None:
    """Write the file of a question as `dither jrr question` does, or a changed one."""
    told = {"dither-jrr": 1, "bits": bits, "grouping": "dealt", "question": jrr.to_json()}
    file.write_text(json.dumps(told | changes))


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run `dither jrr …` beside the test; it never outlives it."""
    running = subprocess.Popen(
        [sys.executable, "-m", "dither", "jrr", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def listens_at(running: subprocess.Popen[str]) -> str:
    """Return the address at which a process says that it listens."""
    assert running.stderr is not None
    found = re.fullmatch(r"listening at (\S+)\n", running.stderr.readline())
    assert found
    return found[1]


def collection(
    question: Path,
    answers: list[str],
    reports: Path,
    timeout: float,
    *,
    servers: bool = False,
    tls: Certificates | None = None,
) -> tuple[dict[str, object], list[list[str]]]:
    """Run all processes, and return what the collector prints and what each device prints."""
    devices, rounds = len(answers), answers[0].count("\n")
    shared = ["--question", str(question), "--timeout", str(timeout)]
    pairing = ["--people", str(devices), "--timeout", str(timeout)]
    if tls is not None:
        files = ["--tls-certificate", tls.certificate, "--tls-key", tls.key, "--tls-authority", tls.authority]
        shared, pairing = ([*options, *map(str, files)] for options in (shared, pairing))
    meetings = [pairing]
    if servers:
        addresses = ",".join(f"127.0.0.1:{port}" for port in free_ports(3))
        meetings = [[*pairing, "--servers", addresses, "--index", str(index)] for index in range(3)]
    with ExitStack() as open_:
        pairs = [open_.enter_context(process("pair", *one)) for one in meetings]
        collect = ["--rounds", str(rounds), "--json", "-o", str(reports)]
        desk = open_.enter_context(process("collect", *shared, *collect))
        to = ["--to", listens_at(desk)]
        for one in pairs:
            to += ["--pair", listens_at(one)]
        begun = [open_.enter_context(process("device", *shared, *to, "--show-pair")) for _ in answers]
        for one, text in zip(begun, answers, strict=True):
            assert one.stdin is not None
            one.stdin.write(text)
            one.stdin.close()
            one.stdin = None
        said = [one.communicate(timeout=timeout)[0].split() for one in begun]
        told = json.loads(desk.communicate(timeout=timeout)[0])
        for one in pairs:
            assert (
                one.communicate(timeout=timeout)[0]
                == f"{devices} of {devices} devices were told their place\n"
            )
    return told, said


@pytest.mark.slow
@pytest.mark.parametrize("servers", [False, True], ids=["a dealer", "three servers in TLS"])
def test_a_small_collection(tmp_path: Path, servers: bool) -> None:
    if servers and find_spec("mpyc") is None:  # importing it would read the command line of pytest
        pytest.skip("mpyc is not installed")
    question = tmp_path / "question.json"
    asked = f"jrr question --categories no,yes --p 0.7 --rho -0.4 --people 3 --bits 5 -o {question}"
    written = run(*asked.split(), *(["--shuffled"] if servers else []))
    assert written.exit_code == 0
    assert "partners follow the protocol" in written.output
    tls = certificates(tmp_path) if servers else None  # so the servers' sockets among themselves have it too
    told, said = collection(
        question, ["yes\nno\n"] * 3, tmp_path / "reports.jsonl", 240, servers=servers, tls=tls
    )
    assert told["devices"] == 3
    assert told["paired"] == 2
    assert "1 stayed alone" in str(told["what happened"])
    for text in (written.output, str(told["guarantee"])):
        assert ("no two of the three servers" in text) is servers
    assert np.shape(told["frequencies"]) == (2, 2)
    assert sorted(one[1] for one in said) == ["alone", "paired", "paired"]
    assert len({one[2] for one in said if one[1] == "paired"}) == 1
    rows = [json.loads(line) for line in (tmp_path / "reports.jsonl").read_text().splitlines()]
    assert sorted(row["standing"] for row in rows) == ["alone", "paired", "paired"]
    assert all(set(row["reports"]) <= {0, 1} for row in rows)


@pytest.mark.slow
def test_a_device_that_vanishes(tmp_path: Path) -> None:
    """One of two enrols and is gone: the other answers by itself, and the collector says so."""
    question = tmp_path / "question.json"
    asked = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2)
    write_question(question, asked, 5)
    shared = ["--question", str(question)]
    with (
        process("pair", "--people", "2", "--timeout", "240") as meeting,
        process("collect", *shared, "--json", "--timeout", "240") as desk,
    ):
        pair, to = listens_at(meeting), listens_at(desk)
        host, _, port = pair.rpartition(":")
        with socket.create_connection((host, int(port))) as gone:
            enrol = b"a" * 16 + pack_address(("127.0.0.1", 9))  # where nobody listens
            tell(gone, Kind.ENROL, enrol, Deadline.after(60))
            with process("device", *shared, "--pair", pair, "--to", to, "--timeout", "8") as left:
                said, why = left.communicate("yes\n", timeout=240)
        assert said.split()[1:] == ["lost"]
        assert "tossed alone" in why
        late = results.Tossed(Terms(JRR).alone(1), results.Standing.UNPLACED)  # so that two have reported
        terms = Terms(asked, bits=5)
        sent = terms.mechanism.reports(np.array([0], dtype=np.uint8))
        host, _, port = to.rpartition(":")
        protocols.report(terms, late, sent, (host, int(port)))
        told = json.loads(desk.communicate(timeout=240)[0])
    assert told["paired"] == 0
    assert "1 lost their partner" in told["what happened"]
    assert "plain randomized response" in told["what happened"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["device", "--pair", "nowhere", "--to", "localhost:1"], "HOST:PORT"),
        (["device", "--pair", "localhost:1", "--to", "localhost:0"], "HOST:PORT"),
        (["collect", "--timeout", "-1"], "positive number of seconds"),
        (["collect", "--timeout", "0.1"], "no device reported"),
        (["collect", "--host", "203.0.113.1"], "does not belong to this machine"),
    ],
)
def test_mistakes_at_the_terminal(arguments: list[str], said: str, tmp_path: Path) -> None:
    question = tmp_path / "question.json"
    write_question(question, JRR)
    asked = [arguments[0], "--question", str(question), *arguments[1:]]
    shown = run("jrr", *asked, input="yes\n")
    assert shown.exit_code == 2
    assert said in shown.output


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bits": 3}, "from 4 to 20"),
        ({"grouping": "dealed"}, "dealt"),
        ({"dither-jrr": 2}, "of this version of dither"),
        ({"question": 7}, "of this version of dither"),
        ({"more": 1}, "expected a file that `dither jrr question` wrote"),
    ],
)
def test_a_question_that_was_changed(changes: dict[str, object], said: str, tmp_path: Path) -> None:
    question = tmp_path / "question.json"
    write_question(question, JRR, **changes)
    shown = run("jrr", "collect", "--question", str(question))
    assert shown.exit_code == 2
    assert said in shown.output
    question.write_text(JRR.to_json())
    shown = run("jrr", "collect", "--question", str(question))
    assert "expected a file that `dither jrr question` wrote" in shown.output


@pytest.mark.slow
def test_an_interrupted_collection_leaves_no_file(tmp_path: Path) -> None:
    """One of two devices has reported when the collector is interrupted."""
    question, out = tmp_path / "question.json", tmp_path / "reports.jsonl"
    jrr = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2)
    write_question(question, jrr, 5)
    terms = Terms(jrr, bits=5)
    shared = ["--question", str(question), "--timeout", "240", "-o", str(out)]
    with process("collect", *shared) as desk:
        host, _, port = listens_at(desk).rpartition(":")
        tossed = results.Tossed(terms.alone(1), results.Standing.UNPLACED)
        protocols.report(terms, tossed, tossed.coins[0].apply("yes"), (host, int(port)))
        desk.send_signal(signal.SIGINT)
        desk.communicate(timeout=60)
        assert desk.returncode
    assert list(tmp_path.iterdir()) == [question]


@pytest.mark.parametrize("verb", ["question", "collect"])
def test_a_file_is_written_completely_or_not_at_all(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when the file is complete: what was there before is still there, and nothing else."""
    question, out = tmp_path / "question.json", tmp_path / "out"
    jrr = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2)
    write_question(question, jrr)
    out.write_text("before")
    came = results.Collection(Terms(jrr), np.zeros((1, 1), np.uint8), (results.Standing.ALONE,), ("00" * 16,))
    monkeypatch.setattr(protocols, "collect", lambda *_, **__: came)
    given = {
        "question": ["--categories", "no,yes", "--p", "0.7", "--rho", "-0.4", "--people", "2"],
        "collect": ["--question", str(question)],
    }[verb]

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        assert run("jrr", verb, *given, "-o", out).exit_code
    assert sorted(tmp_path.iterdir()) == [out, question]
    assert out.read_text() == "before"
    assert run("jrr", verb, *given, "-o", out).exit_code == 0
    assert out.read_text() != "before"


@pytest.mark.parametrize("verb", ["pair", "collect", "device"])
def test_tls_takes_all_three_files(verb: str, tmp_path: Path) -> None:
    question = tmp_path / "question.json"
    write_question(question, JRR)
    given = {
        "pair": ["--people", "2"],
        "collect": ["--question", str(question)],
        "device": ["--question", str(question), "--pair", "localhost:1", "--to", "localhost:1"],
    }[verb]
    shown = run("jrr", verb, *given, "--tls-key", question, input="yes\n")
    assert "together" in shown.output
    files = [f"--tls-{one}={question}" for one in ("certificate", "key", "authority")]
    shown = run("jrr", verb, *given, *files, input="yes\n")
    assert "PEM files" in shown.output


def test_more_mistakes_at_the_terminal(tmp_path: Path) -> None:
    question = tmp_path / "question.json"
    write_question(question, JRR, question=dt.KRR(JRR.domain, epsilon=1).to_json())
    shown = run("jrr", "collect", "--question", question)
    assert "question for joint randomized response, got" in shown.output
    shown = run("jrr", "pair", "--people", "2", "--index", "1")
    assert "together" in shown.output
    for wrong in ("localhost:1,localhost:2", "localhost:1,localhost:2,localhost:2", "a:1,b:2,c"):
        asked = ["jrr", "pair", "--people", "2", "--servers", wrong, "--index", "1"]
        shown = run(*asked)
        assert shown.exit_code == 2
        assert "server" in shown.output
    write_question(question, JRR)
    asked = ["jrr", "device", "--question", str(question), "--pair", "localhost:1", "--to", "localhost:1"]
    shown = run(*asked, input="perhaps\n")
    assert shown.exit_code == 2
    assert "perhaps" not in shown.output
    shown = run(*asked, input="")
    assert "at least one answer" in shown.output


# --- the real thing ----------------------------------------------------------------------------------------


def law(pairs: NDArray[np.bool_]) -> float:
    """Return the chi-square p-value of pairs of coins under the table that the devices state."""
    table = TERMS.mechanism.pairs
    weights = np.array([table.both, table.one, table.one, table.neither])
    counts = np.bincount((2 * ~pairs[..., 0] + ~pairs[..., 1]).reshape(-1), minlength=4)
    return float(stats.chisquare(counts, counts.sum() * weights / table.total).pvalue)


def count_variance(pairs: list[tuple[int, int]], answers: NDArray[np.int64]) -> float:
    """Return the variance of the estimated count for the pairs formed.

    [Thesis, Thm 4] before the mean over pairings is taken: n·p·q, and for each pair twice the covariance,
    with the sign with which the two answers pull.
    """
    table, rule = TERMS.mechanism.pairs, TERMS.mechanism
    p = float(table.chance)
    pulls = 2 * answers - 1
    together = sum(int(pulls[one] * pulls[other]) for one, other in pairs)
    return (len(answers) * p * (1 - p) + 2 * float(table.covariance) * together) / float(2 * rule.p - 1) ** 2


@pytest.mark.slow
def test_64_processes_deal_500_coins_to_each_pair(tmp_path: Path) -> None:
    question, timeout = tmp_path / "question.json", 1_500.0
    write_question(question, JRR, TERMS.bits)
    answers = np.array([1] * HOLDERS + [0] * (DEVICES - HOLDERS))
    labels = [("no\n", "yes\n")[answer] * ROUNDS for answer in answers]
    told, said = collection(question, labels, tmp_path / "reports.jsonl", timeout)
    assert told["devices"] == told["paired"] == DEVICES

    # Who was whose partner, the devices say; the collector is not told.
    number = {one[0]: place for place, one in enumerate(said)}
    tags = [one[2] for one in said]
    partners = [
        next(at for at, tag in enumerate(tags) if tag == own and at != one) for one, own in enumerate(tags)
    ]
    pairs = [(one, other) for one, other in enumerate(partners) if one < other]
    assert len(pairs) == DEVICES // 2
    assert all(partners[other] == one for one, other in pairs)

    # The joint law. With two categories a coin is seen in the report of an answer that is known.
    rows = [json.loads(line) for line in (tmp_path / "reports.jsonl").read_text().splitlines()]
    order = [number[row["name"]] for row in rows]
    cells = np.empty((DEVICES, ROUNDS), dtype=np.int64)
    cells[order] = [row["reports"] for row in rows]
    coins = cells == answers[:, None]
    tossed = np.array([[coins[one], coins[other]] for one, other in pairs]).transpose(0, 2, 1)
    assert law(tossed) > ALARM
    strangers = np.stack([tossed[:, :, 0], np.roll(tossed[:, :, 1], 1, axis=0)], axis=2)
    assert law(strangers) < ALARM  # a broken twin: everybody with somebody else's partner

    # The estimate: unbiased, and with the variance of Theorem 4 for these pairs.
    counts = np.array(told["frequencies"])[:, 1] * DEVICES
    variance = count_variance(pairs, answers)
    assert abs(counts.mean() - HOLDERS) < 4.9 * np.sqrt(variance / ROUNDS)
    low, high = stats.chi2.ppf([ALARM / 2, 1 - ALARM / 2], ROUNDS - 1)
    statistic = ((counts - counts.mean()) ** 2).sum()
    assert low < statistic / variance < high
    independent = count_variance([], answers)
    assert not low < statistic / independent < high  # as if coins were plain: rejected
    assert len(set(chain.from_iterable(pairs))) == DEVICES
