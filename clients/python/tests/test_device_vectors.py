"""The client meets every vector, and wrong twins do not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from typing import Any

import pytest
from device_support import SOURCE

import dither as dt
from dither.collection import conformance
from dither_device import conformance as client
from dither_device import draws, ed25519, question, rules
from dither_device.question import Question
from tests.conformance.draws import drawn, questions
from tests.core.kernels.window.test_kernel_constant_bytes import THRESHOLD, leak
from tests.extras.test_versions import STATED, interpreter


def failures(kind: str) -> list[str]:
    """Return the names of the cases of a kind that the client does not meet, or does not know."""
    tally = conformance.VectorCount()
    client._read.clear()
    for name, asked, expected in conformance.requests(kind):
        told = json.loads(json.dumps(client.answer({"id": 0, **asked})))
        conformance._judge(tally, name, expected, told)
    return [*tally.failures, *["unknown"] * tally.unknown] + ([] if tally.passed else ["nothing"])


@pytest.mark.parametrize("kind", conformance.KINDS)
def test_all_vectors_are_met(kind: str) -> None:
    assert failures(kind) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", STATED)
def test_the_verb_drives_it_on_every_version(version: str) -> None:
    """Without `cryptography`, which encrypts, some vectors of OHTTP are not known; all others are met."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    words = [
        "-m",
        "dither",
        "conformance",
        "--json",
        "--",
        found,
        "-W",
        "error",
        "-m",
        "dither_device.conformance",
    ]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SOURCE)}
    )
    assert done.returncode == 0, done.stdout


def test_a_request_that_is_not_known_is_no_error() -> None:
    assert client.answer({"id": 3, "do": "dance"}) == {"id": 3, "unknown": True}


@pytest.mark.parametrize(
    ("kind", "module", "name", "wrong"),
    [
        ("texts", question, "exp_below", lambda epsilon: _exp(epsilon) + (1 << 260)),
        ("bounds", client, "exp_below", lambda epsilon: _exp(epsilon) + 1),
        ("account", rules, "charge", lambda number, places: int(number * 2**places) - 1),
        ("signatures", ed25519, "ORDER", 1 << 252),
        ("draws", draws, "bits", lambda take, size: int.from_bytes(take((size + 7) >> 3)) % (1 << size)),
    ],
)
def test_wrong_twins_are_found(
    kind: str, module: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, wrong)
    assert failures(kind)


_exp = question.exp_below


def test_what_is_charged_is_what_dither_computes() -> None:
    """ε and δ of every question of the vectors, to the last bit: entries of both must be equal."""
    for case in conformance.vectors("draws")["questions"]:
        promised = dt.from_json(case["specification"]).guarantee
        asked = Question(case["specification"])
        if asked.epsilon < float("inf"):
            assert (asked.epsilon, asked.delta) == (promised.epsilon, promised.delta), case["name"]
        else:  # ε of a distance, or one that assumes a dealer: no account takes them
            assert case["name"] in ("PlanarStaircase", "JRR", "JointOLH", "JointSUE")


VALUES = {
    "KRR": ["nobody", None, 3, ["firefox"], object()],
    "Podium": ["7", None, float("nan"), [7], True],
    "OGPM, circle": [float("inf"), "90", None],
    "SetResponse": ["a", 3, None, {"a": 1}],
    "Marginals": [{}, {"age": 1}, [1, 2], {"age": 1, "browser": "other", "more": 1}],
    "PEM": [3, "a\0", "seven letters", None],
    "TraCSC": [[], 3, [[1]], [["a", "b"]], [[1, 2, 3]], [[float("nan"), 1.0]]],
    "JRR": ["firefox", ["firefox", []], ["firefox", [1]]],
}


class Nasty:
    """A value whose every method fails."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("a value of 42")

    def __float__(self) -> float:
        raise RuntimeError("a value of 42")

    def __hash__(self) -> int:
        raise RuntimeError("a value of 42")

    def __iter__(self) -> Any:
        raise RuntimeError("a value of 42")


def test_values_outside_are_refused_and_not_shown() -> None:
    texts = {case["name"]: case["specification"] for case in conformance.vectors("draws")["questions"]}
    for name, values in VALUES.items():
        asked = Question(texts[name])
        for value in [*values, Nasty()]:
            with pytest.raises(draws.Outside) as error:
                asked.report(value, bytes)
            assert "42" not in str(error.value)


def test_unknown_items_of_a_set_become_other_or_are_left_out() -> None:
    """A person who is not counted would bias all shares, and the gap would tell."""
    for items, expected in ((["a", "b", "c"], [1]), (["a", "b", "other"], [1, 2])):
        asked = Question(dt.SetResponse(dt.Several(items, most=2), epsilon=1).to_json())
        assert asked.place(["b", "new", ["b"], 7]) == expected
        assert asked.place(["new"]) == expected[1:]
        assert asked.place([]) == []


def test_labels_are_distinguished_by_type() -> None:
    labels = [True, "1", None, 2.5, 1 << 60, 7]
    asked = Question(dt.KRR(dt.Categories(labels), epsilon=1).to_json())
    assert [asked.place(label) for label in labels] == list(range(6))
    assert asked.place(7.0) == 5

    class Word(str, Enum):  # noqa: UP042  (as older programs have them)
        ONE = "1"

    assert asked.place(Word.ONE) == 1
    with pytest.raises(draws.Outside):
        asked.place(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(questions()))
def test_fresh_draws_on_the_edges_are_those_of_dither(name: str) -> None:
    made = questions()[name]
    asked = Question(made.to_json())
    for draw in drawn(name, made, 1500, "fresh"):
        source = client._Script(draw["bytes"])
        assert asked.report(draw["value"], source).hex() == draw["report"]
        assert source.left == b""


@pytest.mark.slow
def test_the_time_of_a_draw_reveals_neither_the_value_nor_the_window() -> None:
    made = dt.Podium(dt.Interval(0, 1), epsilon=1)
    asked, rng = Question(made.to_json()), random.Random(1)
    device = json.loads(made.device_text)
    first, width = int(device["step"], 16) >> 32, device["width"]

    def by_value(value: Callable[[], float]) -> Iterator[Callable[[], object]]:
        while True:
            yield partial(asked.draw, value(), os.urandom)

    def by_word(word: int) -> Iterator[Callable[[], object]]:
        script = bytes(3), word.to_bytes(4, "little") + b"\x33\x44"
        while True:
            taken = iter(script)
            yield partial(asked.draw, 0.4, lambda size, taken=taken: next(taken))  # type: ignore[misc]

    assert leak(by_value(lambda: 0.3 + 0.0 * rng.random()), by_value(rng.random)) < THRESHOLD
    inside, outside = (tickets * first + 12_345 for tickets in (width // 2, width))
    assert leak(by_word(inside), by_word(outside)) < THRESHOLD
