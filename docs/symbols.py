"""The symbols of plain formulas, and what TeX calls them."""

from __future__ import annotations


def _pairs(text: str) -> dict[str, str]:
    """Return the symbols and names of a text in which they alternate."""
    parts = text.split()
    return dict(zip(parts[::2], parts[1::2], strict=True))


RELATIONS = _pairs(r"= = ≤ \le ≥ \ge < < > > ≈ \approx ≠ \ne ∈ \in → \to ∝ \propto ≪ \ll ≫ \gg")
SUMS = _pairs(r"+ + − - ± \pm … \dots")
PRODUCTS = {"·": "\\cdot ", "×": "\\times ", "/": "/"}
BRACKETS = {
    "(": (")", "(", ")"),
    "[": ("]", "[", "]"),
    "{": ("}", "\\{", "\\}"),
    "⌈": ("⌉", "\\lceil ", "\\rceil "),
    "⌊": ("⌋", "\\lfloor ", "\\rfloor "),
    "|": ("|", "|", "|"),
    "‖": ("‖", "\\|", "\\|"),
}
SUPERSCRIPTS = _pairs(r"⁰ 0 ¹ 1 ² 2 ³ 3 ⁴ 4 ⁵ 5 ⁶ 6 ⁷ 7 ⁸ 8 ⁹ 9 ⁺ + ⁻ - ⁿ n ᵀ \top")
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙₘ", "0123456789+-ijknm", strict=True))
ACCENTS = {"\u0302": "\\hat", "\u0304": "\\bar", "\u0303": "\\tilde"}
LARGE = {"Σ": "\\sum ", "∏": "\\prod ", "∫": "\\int "}
FRACTIONS = {"½": "\\tfrac12 ", "¼": "\\tfrac14 ", "¾": "\\tfrac34 ", "⅓": "\\tfrac13 "}
FUNCTIONS = _pairs(
    r"ln \ln log \log exp \exp sin \sin cos \cos sinh \sinh cosh \cosh tanh \tanh coth \coth "
    r"min \min max \max sup \sup inf \inf lim \lim"
) | {name: f"\\operatorname{{{name}}}" for name in ("Var", "Pr", "tr", "diag", "sign", "clamp")}
_LETTERS = _pairs(
    "α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta κ kappa λ lambda μ mu ν nu ξ xi π pi "
    "ρ rho σ sigma τ tau φ varphi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Π Pi Φ Phi Ψ Psi "
    "Ω Omega ℓ ell ∞ infty"
)
LETTERS = {letter: f"\\{name} " for letter, name in _LETTERS.items()}
