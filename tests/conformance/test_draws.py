"""The vectors of draws: Python meets them, they are what Python draws, and wrong draws do not meet them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.alias import Alias
from dither.core.kernels.coin import BiasedCoin
from dither.core.kernels.window.integers import Lottery
from dither.foundation.randomness import Source
from tests.conformance.draws import FILE, questions, text, vectors
from tests.conformance.second import PAGE, weights_of_noise
from tests.conformance.second import report as by_the_page
from tests.conformance.values import sent
from tests.support.repository import ROOT
from tests.support.sources import Exhausted, Scripted

QUESTIONS = json.loads(FILE.read_text(encoding="utf-8"))["questions"]


def draw_of(one: dict[str, Any]) -> str:
    """Return the kind of draw of a question."""
    return str(json.loads(json.loads(one["specification"])["device"])["draw"])


def differences(one: dict[str, Any]) -> int:
    """Return how many draws of a question end with another report, or with bytes left or lacking."""
    mechanism = dt.from_json(one["specification"])
    wrong = 0
    for draw in one["draws"]:
        source = Scripted(bytes.fromhex(draw["bytes"]))
        try:
            told = sent(mechanism, draw["value"], source).hex()
        except (Exhausted, ValueError, IndexError, OverflowError):
            told = "?"
        wrong += told != draw["report"] or bool(source.left)
    return wrong


@pytest.mark.some(every=2)
@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one["name"])
def test_single_values_meet_the_vectors(one: dict[str, Any]) -> None:
    assert len(one["draws"]) >= 60
    assert differences(one) == 0


@pytest.mark.some(every=5)
@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one["name"])
def test_the_file_is_what_the_script_writes(one: dict[str, Any]) -> None:
    assert text(vectors(only=one["name"])) == text([one])


def test_the_file_holds_the_questions_of_the_script() -> None:
    assert FILE.read_text(encoding="utf-8") == text(QUESTIONS)
    assert [one["name"] for one in QUESTIONS] == list(questions())


def test_every_mechanism_that_travels_has_vectors() -> None:
    listed = {json.loads(json.loads(one["specification"])["device"])["draw"] for one in QUESTIONS}
    golden = json.loads((ROOT / "tests/golden/device-2.json").read_text(encoding="utf-8"))
    kinds = {json.loads(one["device"])["draw"] for one in golden.values()}
    # No specification is written of the first three; the integers of `divided` depend on the length.
    assert kinds - listed == {"each", "sampled", "indicator", "divided"}


@pytest.mark.parametrize(
    "one", [one for one in QUESTIONS if draw_of(one) in PAGE], ids=lambda one: one["name"]
)
def test_a_second_implementation_by_the_page_alone(one: dict[str, Any]) -> None:
    device = json.loads(json.loads(one["specification"])["device"])
    for draw in one["draws"]:
        source = Scripted(bytes.fromhex(draw["bytes"]))
        assert by_the_page(device, draw["value"], source.take).hex() == draw["report"]
        assert not source.left


@pytest.mark.parametrize(
    "one", [one for one in QUESTIONS if draw_of(one) == "lattice"], ids=lambda one: one["name"]
)
def test_the_weights_of_noise_are_those_of_the_page(one: dict[str, Any]) -> None:
    lattice = json.loads(json.loads(one["specification"])["device"])["lattice"]
    weights = weights_of_noise(lattice["noise"], lattice["kind"])
    content = b"".join(weight.to_bytes(17, "little") for weight in weights)
    assert hashlib.sha256(content).hexdigest()[:16] == lattice["noise"]["digest"]


@pytest.mark.parametrize("away", [-4, 4])
def test_reports_of_vectors_do_not_depend_on_the_last_bits_of_exp(
    away: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines differ in them, and a weight that changes by 1 would change which point a number falls to."""
    exact = np.exp
    monkeypatch.setattr(np, "exp", lambda x: exact(x) * (1.0 + away * 2.0**-52))
    assert [differences(one) for one in QUESTIONS if one["name"] in ("NGram", "Gridding", "ATP")] == [0, 0, 0]


def test_a_sampled_attribute_is_drawn_first() -> None:
    parts = {
        "age": dt.Podium(dt.Interval(18, 100), epsilon=1),
        "browser": dt.KRR(dt.Categories(4), epsilon=1),
    }
    word, rest = (1 << 63 | 1).to_bytes(8, "little"), bytes(range(4))
    source = Scripted(word + rest)
    records = dt.Sampled(parts).perturb({"age": [30], "browser": [2]}, source=source)
    alone = parts["browser"].perturb([2], source=Scripted(rest))
    assert not source.left
    assert records.chosen.tolist() == [1]
    assert records["browser"].cells.tolist() == alone.cells.tolist()


def at_most(self: Lottery, source: Source, extra: int) -> tuple[bool, int, int]:
    """The draw with ≤ for < in the first comparison."""
    early, more = (self.bits - 32) >> 3, (extra + 7) >> 3
    taken = source.take(early + more)
    word, first = int.from_bytes(taken[:early], "little"), self.step >> 32
    drawn, ticket = word <= self.tickets * first, word // max(first, 1)
    last = word - (1 << (self.bits - 32)) + self.tickets
    if last >= 0:
        taken = taken[early:] + source.take(4)
        late = int.from_bytes(taken[:4], "little")
        drawn, ticket, early = late < self.step & 0xFFFFFFFF, last, 4
    return drawn, ticket, int.from_bytes(taken[early:], "little") >> (8 * more - extra)


def late_at_most(self: Lottery, source: Source, extra: int) -> tuple[bool, int, int]:
    """The draw with ≤ for < where the late word is compared."""
    drawn, ticket, rest = _ORIGINAL(self, watched := _Watched(source), extra)
    return drawn or watched.late == self.step & 0xFFFFFFFF, ticket, rest


def no_late_word(self: Lottery, source: Source, extra: int) -> tuple[bool, int, int]:
    """The draw without its late word."""
    early, more = (self.bits - 32) >> 3, (extra + 7) >> 3
    taken = source.take(early + more)
    word, first = int.from_bytes(taken[:early], "little"), max(self.step >> 32, 1)
    uniform = int.from_bytes(taken[early:], "little") >> (8 * more - extra)
    return word < self.tickets * first, word // first, uniform


class _Watched(Source):
    """A source that remembers the first four bytes that a late word is made of."""

    def __init__(self, source: Source) -> None:
        self._source, self._first, self.late = source, b"", -1

    def take(self, size: int) -> bytes:
        taken = self._source.take(size)
        if self._first:
            self.late = int.from_bytes((self._first + taken)[:4], "little")
        self._first = taken[4:]
        return taken

    def fill(self, buffer: memoryview | bytearray) -> None:
        raise AssertionError("single draws take")

    def spawn(self) -> Source:
        return self

    @property
    def private(self) -> bool:
        return False


_ORIGINAL = Lottery.draw_one


@pytest.mark.parametrize("wrong", [at_most, late_at_most, no_late_word])
def test_a_wrong_window_does_not_meet_the_vectors(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = [one for one in QUESTIONS if one["name"] in ("Podium", "OGPM, 16 cells", "KRR", "TwoPoint")]
    monkeypatch.setattr(Lottery, "draw_one", wrong)
    assert sum(map(differences, windows)) > 0


def test_a_coin_without_its_tie_does_not_meet_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    unary = [one for one in QUESTIONS if one["name"] in ("SUE", "OUE", "HadamardResponse")]
    monkeypatch.setattr(BiasedCoin, "toss_one", lambda self, source: source.bits(64) < self.heads >> 64)
    assert sum(map(differences, unary)) > 0


def test_an_alias_table_with_the_wrong_tie_does_not_meet_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy = [one for one in QUESTIONS if one["name"] in ("Laplace", "Staircase")]

    def at_most(self: Alias, source: Source, row: int = 0) -> int:
        column = source.bits(self.bits)
        own = source.bits(128 - self.bits) <= self.thresholds[column]
        return column if own else int(self.others[column])

    monkeypatch.setattr(Alias, "draw_one", at_most)
    assert sum(map(differences, noisy)) > 0
