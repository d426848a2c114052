"""The proofs in `proofs/`: Coq accepts them, their program meets the vectors, and it refuses broken twins."""

from __future__ import annotations

import json
import re
import resource
import shutil
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither.collection.conformance import run, vectors
from dither.core.kernels import alias
from dither.core.kernels.alias import Alias
from dither.core.kernels.window import integers as draw
from dither.core.kernels.window.integers import Blocks, Nearest, Sliding
from tests.proofs.test_alias_table import rows as small_rows
from tests.support.extracted import built, draw_many
from tests.support.repository import ROOT
from tests.support.sources import Scripted
from tools import proofs

PAGE = ROOT / "docs" / "proved.md"
KINDS = {"response", "sectors", "sliding", "optional", "nearest", "box", "listing", "channel", "table"}
# The axioms of real numbers in Coq's standard library. They are needed for e^ε and for nothing else.
REALS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}


def sources() -> dict[str, str]:
    return {file.stem: file.read_text(encoding="utf-8") for file in proofs.PROOFS.glob("*.v")}


def theorems() -> dict[str, str]:
    """Return the file of each theorem whose axioms are printed."""
    text = sources()
    named = re.findall(r"@(\w+)", text["Assumptions"])
    return {
        name: file
        for name in named
        for file in proofs.CHAPTERS
        if re.search(rf"^\s*(Theorem|Corollary|Lemma) {name}\b", text[file], re.MULTILINE)
    }


# --- what needs no Coq ---


def test_nothing_is_admitted_and_no_axiom_is_added() -> None:
    for name, text in sources().items():
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort)\b", text), name


def test_the_proofs_are_short() -> None:
    lines = {name: len(text.splitlines()) for name, text in sources().items()}
    assert sum(lines.values()) - lines["Tables"] <= 2000


def test_the_page_names_every_theorem_and_no_other() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`, `(\w+)\.v`", page))
    assert named == {(name, file) for name, file in theorems().items()}


def test_the_page_counts_vectors_and_twins_right() -> None:
    page = PAGE.read_text(encoding="utf-8")
    count = f"{sum(len(question['draws']) for question in own_questions()):,}".replace(",", " ")
    assert f"{count} draws of" in page
    assert f"{len(vectors('bounds')['bounds'])} bounds of e^ε" in page
    extracted = [twin for twin in TWINS.values() if twin.vector is not None]
    seen = sum(twin.vector is True for twin in extracted)
    assert f"{len(TWINS)} changes of the model" in page
    assert f"for {seen} of the {len(extracted)} that can be extracted" in " ".join(page.split())


def own_questions() -> list[dict[str, Any]]:
    """Return the questions of the vectors that the extracted program draws."""
    return [
        question
        for question in vectors("draws")["questions"]
        if json.loads(json.loads(question["specification"])["device"])["draw"] in KINDS
    ]


def test_a_theorem_is_named_beside_the_python_that_it_is_about() -> None:
    """A row of the page names a theorem and a file, of the package or of its device; the file names it."""
    rows = re.findall(r"`(\w+)`, `\w+\.v` \| `([\w/]+\.py)`", PAGE.read_text(encoding="utf-8"))
    assert len(rows) >= 15
    for name, file in rows:
        folder = ROOT if file.startswith("clients/") else ROOT / "src" / "dither"
        text = (folder / file).read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", text), (name, file)


# --- what needs Coq ---


@pytest.mark.slow
def test_coq_accepts_every_file_and_needs_no_axiom_but_those_of_real_numbers(tmp_path: Path) -> None:
    if (lacking := proofs.missing()) is not None:
        pytest.skip(lacking)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = proofs.check(tmp_path, proofs.CHAPTERS)["Assumptions"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 30  # seconds of one core
    verdicts = re.findall(r"^(Closed under the global context|Axioms:)$", printed, re.MULTILINE)
    assert verdicts == ["Closed under the global context", "Axioms:"]
    first, second = sources()["Assumptions"].split("Print Assumptions without_axioms.")
    files = theorems()
    assert {files[name] for name in re.findall(r"@(\w+)", first)} == set(proofs.CHAPTERS[:-1]) - {
        "Exponential"
    }
    assert [files[name] for name in re.findall(r"@(\w+)", second)] == ["Exponential"] * 8
    axioms = set(re.findall(r"^([A-Z]\w*(?:\.\w+)+)\s*(?::|$)", printed, re.MULTILINE))
    assert axioms == REALS


@pytest.mark.slow
def test_the_extracted_program_meets_every_vector_of_its_draws() -> None:
    tallies = run([*bridge(), str(built() / "draws")], ("draws", "bounds"))
    assert [tally.failures for tally in tallies.values()] == [[], []]
    assert tallies["draws"].passed == sum(len(question["draws"]) for question in own_questions()) > 1500
    assert tallies["bounds"].passed == len(vectors("bounds")["bounds"])


def bridge() -> list[str]:
    return [sys.executable, str(proofs.PROOFS / "bridge.py")]


# --- every word at small sizes: words of 8 bits and 8 late bits in place of 32 and 32 ---


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "LATE", 8)
    monkeypatch.setattr(draw, "MOST", 16)


def every_tape(tickets: int, after: list[bytes]) -> list[bytes]:
    """Return every first word, with every late word where the first decides nothing, and all bytes after."""
    late = [bytes([byte]) for byte in range(256)]
    return [
        bytes([word]) + middle + end
        for word in range(256)
        for middle in (late if word >= 256 - tickets else [b""])
        for end in after
    ]


def padded(tapes: list[bytes]) -> np.ndarray:
    size = max(map(len, tapes))
    return np.array([list(tape.ljust(size, b"\0")) for tape in tapes], dtype=np.uint8)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("cells", "width", "step"), [(4, 1, 900), (4, 3, 5_000), (8, 5, 257), (8, 3, 20_000)]
)
def test_every_word_of_a_sliding_window(cells: int, width: int, step: int) -> None:
    window, bits = Sliding(cells, width, step, 16), cells.bit_length() - 1
    tapes = every_tape(width, [bytes([byte]) for byte in range(256)])
    for start in range(cells):
        expected = [window.draw_one(start, Scripted(tape)) for tape in tapes]
        inputs = np.full(len(tapes), start)
        found = draw_many(("sliding", 1, 1, bits, width, step, 0), inputs, padded(tapes))
        assert found.tolist() == expected


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("blocks", "width", "step"), [(2, 1, 20_000), (5, 1, 300), (3, 2, 9_000), (3, 4, 257)]
)
def test_every_word_of_blocks(blocks: int, width: int, step: int) -> None:
    window, bits = Blocks(blocks * width, width, step, 16), width.bit_length() - 1
    tapes = every_tape(blocks, [bytes([byte]) for byte in range(256)] if bits else [b""])
    for code in range(blocks):
        expected = [window.draw_one(code * width, Scripted(tape)) for tape in tapes]
        found = draw_many(("blocks", 1, 1, bits, blocks, step), np.full(len(tapes), code), padded(tapes))
        assert found.tolist() == expected


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_every_word_of_the_nearest_numbers() -> None:
    """Every first word, every late word, and every uniform number of three bits, in up to two tries."""
    cells, near, step = 5, [[3, 0], [1, 4]], 7_000
    window = Nearest(cells, 2, step, 16)
    numbers = [bytes([number << 5]) for number in range(8)]
    uniform = [one for one in numbers if one[0] >> 5 < cells]
    uniform += [one + two for one, two in product(numbers, uniform) if one[0] >> 5 >= cells]
    tapes = every_tape(2, uniform)
    lists = ";".join(",".join(map(str, row)) for row in near)
    for row, numbers_near in enumerate(near):
        expected = [window.draw_one(numbers_near, Scripted(tape)) for tape in tapes]
        inputs = np.full(len(tapes), row)
        found = draw_many(("nearest", 1, 1, cells, 2, step, lists), inputs, padded(tapes))
        assert found.tolist() == expected


@pytest.mark.slow
def test_every_column_and_coin_of_every_small_alias_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of three weights with the total 2^6: the columns that are filled, and what they draw."""
    monkeypatch.setattr(alias, "TOTAL_BITS", 6)
    listed = small_rows(64, 3)
    tapes = [bytes([column << 6, coin << 4]) for column in range(4) for coin in range(16)]
    table = Alias.of(listed)
    expected = [table.draw_one(Scripted(tape), row) for row in range(len(listed)) for tape in tapes]
    inputs = np.repeat(np.arange(len(listed)), len(tapes))
    words = ("alias", 6, ";".join(",".join(map(str, row)) for row in listed))
    assert draw_many(words, inputs, padded(tapes * len(listed))).tolist() == expected


# --- broken twins ---


@dataclass(frozen=True)
class Twin:
    """A change of the model: the file, the texts, the theorem that fails first, and whether a vector does."""

    file: str
    changes: dict[str, str]
    theorem: str
    vector: bool | None = None  # None: not about what is extracted


LATE = "else if u <? r then Some (v - (A - T)) else None"
LATE_BYTES = "Some (if value (firstn late z) <? r then Some (v - (A - T)) else None"
GIVEN = "then at_place d (fun x => Device"
TWINS = {
    "fits allows one value of v fewer": Twin(
        "Lottery",
        {"T * (step / room late + 1) <=? room early": "T * (step / room late) <=? room early"},
        "lottery_exactly",
        vector=False,
    ),
    "fits is off by one": Twin(
        "Lottery", {"+ 1) <=? room early": "+ 1) <=? room early + 1"}, "lottery_exactly", vector=False
    ),
    "late bits are compared by ≤": Twin(
        "Lottery",
        {LATE: LATE.replace("<?", "<=?"), LATE_BYTES: LATE_BYTES.replace("<?", "<=?")},
        "each_ticket_exactly",
        vector=True,
    ),
    "late bits decide nothing": Twin(
        "Lottery",
        {
            LATE: LATE.replace("u <? r", "(u <? r) || true"),
            LATE_BYTES: LATE_BYTES.replace(
                "value (firstn late z) <? r", "(value (firstn late z) <? r) || true"
            ),
        },
        "each_ticket_exactly",
        vector=True,
    ),
    "the last bit of the late word is ignored": Twin(
        "Lottery",
        {
            LATE: LATE.replace("u <? r", "u / 2 <? r / 2"),
            LATE_BYTES: LATE_BYTES.replace("z) <? r", "z) / 2 <? r / 2"),
        },
        "each_ticket_exactly",
        vector=True,
    ),
    "a late bit is compared in the model and not in the program": Twin(
        "Lottery",
        {LATE_BYTES: LATE_BYTES.replace("z) <? r", "z) / 2 <? r / 2")},
        "lottery_exactly",
        vector=True,
    ),
    "the last ticket has the words of the one before it": Twin(
        "Lottery",
        {"then Some (v / d)": "then Some (if v / d =? T - 2 then T - 1 else v / d)"},
        "each_ticket_exactly",
        vector=True,
    ),
    "the early word is compared by ≤": Twin(
        "Lottery", {"if v <? T * d then": "if v <=? T * d then"}, "each_ticket_exactly", vector=True
    ),
    "late bytes are read after the uniform ones": Twin(
        "Lottery", {"let z := e ++ w in": "let z := w ++ e in"}, "lottery_exactly", vector=True
    ),
    "a uniform cell is compared by ≤": Twin(
        "Window", {"if x <? n then Some": "if x <=? n then Some"}, "below_exactly", vector=True
    ),
    "equal cells are allowed": Twin(
        "Window", {"&& negb (existsb (N.eqb x) t) &&": "&&"}, "different_sound", vector=False
    ),
    "windows do not wrap": Twin(
        "Window", {"(start c + i) mod 2 ^ k.": "start c + i."}, "wrapped_selects", vector=False
    ),
    "no answer has a window one cell too far": Twin(
        "Window", {"else 2 ^ k - K + i.": "else 2 ^ k - K + i + 1."}, "optional_selects", vector=True
    ),
    "the lowest byte comes last": Twin(
        "Counting",
        {"y mod 256 :: message m (y / 256)": "message m (y / 256) ++ [y mod 256]"},
        "message_value",
        vector=True,
    ),
    "terms of the series are rounded up": Twin(
        "Exponential", {"num / (den * i) in": "num / (den * i) + 1 in"}, "series_below", vector=True
    ),
    "a column takes one unit too many": Twin(
        "Tables", {"let b' := b - (C - a) in": "let b' := b - (C - a) + 1 in"}, "fill_exactly", vector=False
    ),
    "a coin is compared by ≤": Twin(
        "Tables", {"if v <? threshold c then": "if v <=? threshold c then"}, "total_chosen", vector=False
    ),
    "a charge may exceed by one unit": Twin(
        "Account", {"r <=? own (fst p))": "r <=? own (fst p) + 1)"}, "affordable_within"
    ),
    "a second process does not wait": Twin(
        "Account",
        {
            "| Some _ => x\n": "| Some t => Device (own x) (asks t :: entries x) "
            "(Some (Transaction p r (entries x))) (sent x)\n"
        },
        "happens_fine",
    ),
    "a permanent answer is charged again": Twin(
        "Account", {"(if permanent r then kept entries (name r) else None)": "(None)"}, "happens_fine"
    ),
    "a device keeps what it gave away": Twin(
        "Account",
        {f"{GIVEN} (fun c => own x c - part c)": f"{GIVEN} (own x)"},
        "step_sound",
    ),
}


def changed(twin: Twin) -> str:
    text = sources()[twin.file]
    for before, after in twin.changes.items():
        assert before in text, before
        text = text.replace(before, after)
    return text


def without_proofs(text: str) -> str:
    return re.sub(r"Proof\..*?Qed\.", "Proof. Admitted.", text, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_a_broken_twin_has_no_proof(name: str, tmp_path: Path) -> None:
    """Coq accepts the twin's definitions and refuses a proof; what the vectors say of it is known, too."""
    twin = TWINS[name]
    folder = tmp_path / "twin"
    shutil.copytree(built(), folder)
    text = changed(twin)
    with pytest.raises(proofs.NotProved) as refused:
        proofs.check(folder, (twin.file,), {twin.file: text})
    line = int(re.findall(r"line (\d+), characters", str(refused.value))[0])
    before = "\n".join(text.splitlines()[:line])
    assert re.findall(r"(?:Theorem|Lemma|Corollary) (\w+)", before)[-1] == twin.theorem
    names = proofs.EXTRACTED if twin.vector is not None else ("Account",)
    stripped = {file: without_proofs(source) for file, source in sources().items()}
    proofs.check(folder, names[names.index(twin.file) :], {**stripped, twin.file: without_proofs(text)})
    if twin.vector is not None:
        proofs.compile_program(folder)
        tallies = run([*bridge(), str(folder / "draws")], ("draws", "bounds"))
        assert any(tally.failed for tally in tallies.values()) == twin.vector


def test_every_twin_changes_its_file() -> None:
    for twin in TWINS.values():
        assert changed(twin) != sources()[twin.file]
