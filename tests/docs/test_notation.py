"""Plain formulas of pages and docstrings are found and set, and ordinary text is left alone."""

from __future__ import annotations

import math
import sys

import pytest

import dither as dt
from dither.core.registry import names
from tests.support.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import definitions
import notation

FORMULAS = {
    "e^ε/(e^ε + 1)": r"e^{\varepsilon}/(e^{\varepsilon}+1)",
    "k < 3e^ε + 2": r"k<3e^{\varepsilon}+2",
    "f_x ≤ E·f_x′": r"f_{x}\leE\cdotf_{x′}",
    "k(E−1)s^(k+1) + (k+1)s^k = 1": r"k(E-1)s^{k+1}+(k+1)s^{k}=1",
    "ε·⌈d/Δ⌉": r"\varepsilon\cdot\lceild/\Delta\rceil",
    "2^⌈log₂(k + 1)⌉": r"2^{\lceil\log_{2}(k+1)\rceil}",
    "√(n(n−1)/((n−L)(n−L−1)))": r"\sqrt{n(n-1)/((n-L)(n-L-1))}",
    "exp(λx − ψ(λ)x²) ≤ 1 + λx": r"\exp(\lambdax-\psi(\lambda)x^{2})\le1+\lambdax",
    "ψ(λ) = −ln(1 − λ) − λ": r"\psi(\lambda)=-\ln(1-\lambda)-\lambda",
    "Σ μ_i + min(0, min_y D(y))": r"\sum\mu_{i}+\min(0,\min_{y}D(y))",
    "E[Y|x_i] = x_i": r"E[Y\midx_{i}]=x_{i}",
    "P(report | x)": r"P(\text{report}\midx)",
    "∫ℓ·h′ ≥ ∫ℓ·h": r"\int\ell\cdot{h′}\ge\int\ell\cdoth",
    "e^(ε₁ + ε₂)": r"e^{\varepsilon_{1}+\varepsilon_{2}}",
    "λ_j = 2^−(j+1)": r"\lambda_{j}=2^{-(j+1)}",
    "Ŝ(c) − S(c)": r"\hat{S}(c)-S(c)",
    "n = 10 000": r"n=10\,000",
    "10⁻¹⁰": r"10^{-10}",
    "{0, …, L}^m": r"\{0,\dots,L\}^{m}",
    "p_max/p_min": r"p_{\mathrm{max}}/p_{\mathrm{min}}",
    "ε": r"\varepsilon",
    "(ε, δ)": r"(\varepsilon,\delta)",
}
TEXTS = (
    "I/O, A/B tests, e.g. a 5 % rise, i.e. item 3a, 1e-6, k-RR, TraCS-D",
    "On [0, 1] the mean is 44.2 ± 0.8 in 6 s; 1/2 of 40 000 people.",
    "dt.mean reads what a person's device sent; a file.md or (see below), a | b",
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_found_whole_and_translated(formula: str) -> None:
    text = f"the words {formula}, then others"
    assert notation.pieces(text) == [
        ("the words ", ""),
        (formula, notation.pieces(formula)[0][1]),
        (", then others", ""),
    ]
    assert notation.pieces(text)[1][1].replace(" ", "") == FORMULAS[formula]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_left_alone(text: str) -> None:
    assert notation.pieces(text) == [(text, "")]


def test_a_letter_is_set_where_the_page_has_it_in_a_formula() -> None:
    text = "a value x, of s after 6 s"
    assert [piece for piece, tex in notation.pieces(text, frozenset("xas")) if tex] == ["x", "s"]
    assert notation.letters("with f(x) = e^ε·z and words") == frozenset("fxeεz")


def test_lines_may_break_at_relations() -> None:
    assert notation.breakable(r"g \le f(a = b) \le E") == ["g", r"\le f(a = b)", r"\le E"]


def test_every_formula_of_every_page_is_set() -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        pieces = notation.pieces(text)
        assert "".join(piece for piece, _ in pieces) == text
        for part in {part for _, tex in pieces if tex for part in notation.breakable(tex)}:
            assert convert(part).startswith("<math"), part


def test_every_mechanism_is_defined_by_a_formula() -> None:
    convert = pytest.importorskip("latex2mathml.converter").convert
    assert sorted(definitions.DEFINITIONS) == sorted(names())
    for name, (formula, _) in definitions.DEFINITIONS.items():
        assert "$$" in definitions.definition(name)
        assert "merror" not in convert(formula)


def test_definitions_have_the_numbers_of_the_mechanisms() -> None:
    """The printed widths and probabilities, evaluated here, are those of the library."""
    e, domain = math.exp(1.5), dt.Interval(0, 1)
    assert dt.PM(domain, epsilon=1.5).shape().width == pytest.approx(1 / (1 + math.exp(0.75)))
    assert dt.SW(domain, epsilon=1.5).shape().width == pytest.approx((0.5 + 1 / e) / (e + 1 / e - 2))
    s = dt.OGPM(domain, epsilon=1.5, loss="squared").shape().width
    assert 2 * (e - 1) * s**3 + 3 * s**2 == pytest.approx(1)
    six = dt.Categories(6)
    for question, p, q in (
        (dt.KRR(six, epsilon=1.5), e / (e + 5), 1 / (e + 5)),
        (dt.OUE(six, epsilon=1.5), 0.5, 1 / (e + 1)),
        (dt.OLH(six, epsilon=1.5), e / (e + 4), 1 / 5),
        (dt.rivals.BLH(six, epsilon=1.5), e / (e + 1), 0.5),
        (dt.HadamardResponse(six, epsilon=1.5), e / (e + 1), 0.5),
    ):
        assert float(question.p) == pytest.approx(p, rel=1e-6)
        assert float(question.q) == pytest.approx(q, rel=1e-6)
