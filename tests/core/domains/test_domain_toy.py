"""A domain that is defined outside of dither is asked, counted, described, audited, written and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import dither as dt
from dither.advice.explain import explain
from dither.core.counts import summarise
from dither.core.domains import Domain
from dither.core.domains.domain import read_domain
from dither.core.kernels.channel import Channel, CodeChannelKernel, LinearReading
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.mechanisms.mechanism import Mechanism

TABLE = [[4, 2, 1], [2, 4, 2], [1, 2, 4]]  # a mood is confused with the next one rather than with the last


@dataclass(frozen=True)
class Moods(Domain):
    """Words for moods, from the first to the last."""

    names: tuple[str, ...]

    kind: ClassVar[str] = "moods"
    outside: ClassVar[str] = "refuse"
    hint = "ask for one of the moods"

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.names)

    def check(self, values: object) -> np.ndarray[Any, Any]:
        words = np.asarray(values, dtype=object)
        if not all(isinstance(word, str) and word in self.names for word in words.flat):
            raise OutsideDomain("a value is not one of the moods")
        codes = [self.names.index(word) for word in words.flat]
        return np.array(codes, dtype=np.int64).reshape(words.shape)

    def clip(self, values: object) -> np.ndarray[Any, Any]:
        raise InvalidParameter("moods cannot be clipped")

    def device(self) -> dict[str, Any]:
        return {"kind": self.kind, "names": list(self.names)}

    @classmethod
    def from_device(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple(data["names"]))

    def words(self) -> str:
        return f"one of the moods {', '.join(self.names)}"

    def examples(self, *, few: bool = False) -> list[str]:
        return list(self.names)

    def __str__(self) -> str:
        return f"{len(self.names)} moods"


@dataclass(frozen=True)
class Confused(Mechanism[Moods]):
    """A mood is reported by a table of its own: the next mood is likelier than one far away."""

    queries: Sequence[Sequence[float]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    _takes = (Moods,)

    def _kernel(self) -> CodeChannelKernel:
        return CodeChannelKernel(Channel.of(TABLE))

    def _codebook(self, kernel: CodeChannelKernel) -> LinearReading:
        return kernel.read_codebook(None, {"queries": self.queries})


MOODS = Moods(("calm", "glad", "sad"))


@pytest.fixture(scope="module")
def asked() -> Confused:
    return Confused(MOODS, epsilon=1.5)


@pytest.fixture(scope="module")
def reports(asked: Confused) -> dt.Reports:
    values = ["calm"] * 6_000 + ["glad"] * 3_000 + ["sad"] * 1_000
    return asked.perturb(values, source=dt.Seeded(1))


def test_it_is_randomised_by_its_table(asked: Confused, reports: dt.Reports) -> None:
    assert asked.guarantee.epsilon == pytest.approx(np.log(4))
    assert [round(float(chance), 6) for chance in asked.probabilities("calm")] == [
        0.571429,
        0.285714,
        0.142857,
    ]
    assert reports.cells.shape == (10_000,)
    with pytest.raises(OutsideDomain):
        asked.perturb(["angry"])
    with pytest.raises(InvalidParameter, match=r"expected an ε that integers can represent"):
        Confused(MOODS, epsilon=1.0).question.certify()


def test_it_is_counted(reports: dt.Reports) -> None:
    halves = [reports.question.reports(part) for part in np.split(reports.cells, 2)]
    assert summarise(halves[0]) + summarise(halves[1]) == summarise(reports)
    shares = dt.stats.answers(reports)
    assert np.abs(shares.value - np.array([0.6, 0.3, 0.1])).max() < 0.05
    assert shares.value.sum() == pytest.approx(1.0)


def test_it_is_described(asked: Confused, reports: dt.Reports) -> None:
    assert MOODS.words() == "one of the moods calm, glad, sad"
    assert asked.describe().startswith("Confused on 3 moods with ε = 1.5. A mood is reported by a table")
    assert repr(reports) == "Reports(10 000 of Confused on 3 moods, uint8)"
    assert "Confused" in explain({"mood": asked}).officer


def test_it_is_audited_by_its_integers_and_as_a_black_box(asked: Confused) -> None:
    found = dt.audit(asked)
    assert found.ok, found
    assert "every report under 3 inputs" in found.how
    assert "16384 draws of an input" in found.how
    assert dt.audit_function(
        lambda values: asked.perturb(values).cells, MOODS, epsilon=1.5, timing=False, samples=5_000
    ).ok
    revealing = dt.audit_function(MOODS.check, MOODS, epsilon=1.5, timing=False, samples=5_000)
    assert not revealing.ok


def test_it_is_written_as_json_and_read(asked: Confused, reports: dt.Reports) -> None:
    question = dt.from_json(asked.to_json())
    assert question == asked.question
    assert question.domain == MOODS
    assert question.fingerprint == asked.fingerprint
    assert dt.from_bytes(reports.to_bytes()) == reports
    with pytest.raises(MalformedReport, match="expected a complete domain in the specification, one of"):
        read_domain({"kind": "weather", "names": ["sun"]})


def test_a_column_of_a_table_is_randomised_and_read(asked: Confused, tmp_path: Path) -> None:
    source, out = tmp_path / "moods.csv", tmp_path / "reports.csv"
    source.write_text("mood\n" + "calm\nglad\nsad\n" * 400, encoding="utf-8")
    dt.data.perturb_file(source, out, {"mood": asked})
    assert "calm" not in out.read_text(encoding="utf-8").partition("\n")[2]
    read = dt.data.read(out)["mood"]
    assert read.question == asked.question
    assert len(read) == 1_200
    assert np.abs(dt.stats.answers(read).value - 1 / 3).max() < 0.2
    source.write_text("mood\ncalm\nangry\n", encoding="utf-8")
    with pytest.raises(OutsideDomain, match="the value is not in 3 moods; ask for one of the moods"):
        dt.data.perturb_file(source, tmp_path / "none.csv", {"mood": asked})


def test_a_person_answers_for_good(asked: Confused) -> None:
    device = dt.Memoised(asked, dt.Memoised.new_key(), name="mood")
    first = device.perturb(["sad", "calm", "sad"]).cells
    assert first[0] == first[2]
    assert (device.perturb(["sad", "calm", "sad"]).cells == first).all()


def test_a_domain_outside_of_dither_does_not_replace_one_of_its_own() -> None:
    with pytest.raises(
        InvalidParameter, match="expected a kind that no domain of dither has, got 'categories'"
    ):
        type("Categories", (Moods,), {"kind": "categories"})
    assert isinstance(read_domain({"kind": "categories", "count": 3}), dt.Categories)


def test_a_domain_says_what_it_is_written_as() -> None:
    with pytest.raises(InvalidParameter, match="expected Weather to state `fields`, or to define `device`"):
        type("Weather", (Domain,), {"kind": "weather"})
