"""The grammar of plain formulas: a recursive descent that turns one into TeX.

relation = sum {("=" | "≤" | …) sum}      factor = base {"′" | "²" | "₁" | "^" script | "_" script}
sum = term {("+" | "−" | "±" | "…") term} base   = number | letter | function | brackets | "√" factor | …
term = factor {["·" | "×" | "/"] factor}
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from symbols import (
    ACCENTS,
    BRACKETS,
    FRACTIONS,
    FUNCTIONS,
    LARGE,
    LETTERS,
    PRODUCTS,
    RELATIONS,
    SUBSCRIPTS,
    SUMS,
    SUPERSCRIPTS,
)

NUMBER = re.compile(r"\d+(?:[\u00a0\u202f ]\d{3}(?!\d))*(?:\.\d+)?")
WORD = re.compile("[A-Za-zÀ-ɏΑ-Ωα-ωℓ]+")


class NotFormula(Exception):
    """What follows is no part of a formula."""


class FormulaReader:
    """A recursive descent over one text; every method returns TeX and moves `at`."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.letters: set[str] = set()
        self.marks = 0  # operators, scripts and roots: what tells a formula from a word

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def spaces(self) -> None:
        while self.peek() in (" ", "\u00a0", "\n") and self.peek():
            self.at += 1

    def chain(self, operators: dict[str, str], part: str) -> Iterator[tuple[str, str]]:
        """Yield (operator, operand) while both are found; `at` stays after the last operand."""
        yield "", getattr(self, part)()
        while True:
            before = self.at, self.marks, set(self.letters)
            self.spaces()
            sign = self.peek()
            try:
                if sign not in operators or not sign:
                    raise NotFormula
                self.at += 1
                self.marks += 1
                self.spaces()
                found = getattr(self, part)()
            except NotFormula:
                self.at, self.marks, self.letters = before
                return
            yield operators[sign], found

    def relation(self) -> str:
        return "".join(f" {sign} {part}" if sign else part for sign, part in self.chain(RELATIONS, "sum"))

    def sum(self) -> str:
        return "".join(f" {plus} {part}" if plus else part for plus, part in self.chain(SUMS, "signed"))

    def signed(self) -> str:
        sign = {"−": "-", "+": "+", "±": "\\pm "}.get(self.peek(), "")
        self.at += bool(sign)
        return sign + self.term()

    def term(self) -> str:
        parts = [self.factor()]
        while True:
            before = self.at, self.marks, set(self.letters)
            sign = self.peek()
            try:
                if sign and sign in PRODUCTS:
                    self.at += 1
                    self.marks += 1
                    parts.append(PRODUCTS[sign] + self.factor())
                elif self._begins():
                    self.marks += 1
                    parts.append(self.factor())
                elif sign == " " and (word := WORD.match(self.text, self.at + 1)) and word[0] in FUNCTIONS:
                    self.at += 1
                    parts.append("\\," + self.factor())
                elif sign == " " and self.text[self.at + 1 : self.at + 2] in ("·", "/", "×"):
                    self.at += 2
                    self.spaces()
                    self.marks += 1
                    parts.append(PRODUCTS[self.text[before[0] + 1]] + self.factor())
                else:
                    raise NotFormula
            except NotFormula:
                self.at, self.marks, self.letters = before
                return "".join(parts)

    def _begins(self) -> bool:
        """Return whether a factor follows without a space, as in 2k or (a)(b)."""
        sign = self.peek()
        return bool(sign) and (sign in "([√⌈⌊½" or unicodedata.normalize("NFD", sign)[0].isalpha())

    def factor(self) -> str:
        return self._scripts(self._base())

    def _scripts(self, base: str) -> str:
        below, above = "", ""
        while sign := self.peek():
            if sign == "′":
                base = f"{{{base}′}}"
                self.at += 1
            elif sign in SUPERSCRIPTS:
                while self.peek() and self.peek() in SUPERSCRIPTS:
                    above += SUPERSCRIPTS[self.peek()]
                    self.at += 1
            elif sign in SUBSCRIPTS:
                while self.peek() and self.peek() in SUBSCRIPTS:
                    below += SUBSCRIPTS[self.peek()]
                    self.at += 1
            elif sign == "^" or (sign == "_" and not below):
                self.at += 1
                if sign == "^":
                    above += self._script()
                else:
                    below += self._script(below=True)
            else:
                break
            self.marks += 1
        return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")

    def _script(self, below: bool = False) -> str:
        sign = self.peek()
        if sign in ("(", "{") and sign:
            self.at += 1
            inside = self._inside(BRACKETS[sign][0])
            self.at += 1
            return inside
        if below and (word := WORD.match(self.text, self.at)) and word[0] not in LETTERS:
            self.at = word.end()
            primes = len(self.text[self.at :]) - len(self.text[self.at :].lstrip("′"))
            self.at += primes
            name = word[0] if len(word[0]) < 3 else f"\\mathrm{{{word[0]}}}"
            return name + ("′" if primes else "")
        minus = sign == "−"
        self.at += minus
        if (plus := self.peek()) in ("+", "*") and plus:
            self.at += 1
            return plus
        found = self._base()
        index = ""
        while self.peek() and self.peek() in SUBSCRIPTS:
            index += SUBSCRIPTS[self.peek()]
            self.at += 1
        if below and self.peek() == "′":
            self.at += 1
            found += "′"
        return ("-" if minus else "") + found + (f"_{{{index}}}" if index else "")

    def _base(self) -> str:
        sign = self.peek()
        if not sign:
            raise NotFormula
        if number := NUMBER.match(self.text, self.at):
            self.at = number.end()
            return re.sub(r"[\u00a0\u202f ]", r"\\,", number[0])
        if sign in FRACTIONS or sign == "…":
            self.at += 1
            return FRACTIONS.get(sign, "\\dots ")
        if sign == "√":
            self.at += 1
            self.marks += 1
            if self.peek() == "(":
                return f"\\sqrt{{{self._script()}}}"
            return f"\\sqrt{{{self._base()}}}"
        if sign in LARGE:
            self.at += 1
            self.marks += 1
            found = self._scripts(LARGE[sign])
            self.spaces()
            return found + self.term()
        if sign in BRACKETS:
            closing, left, right = BRACKETS[sign]
            self.at += 1
            inside = self._inside(closing)
            self.at += 1
            return f"{left}{inside}{right}"
        return self._letters()

    def _inside(self, closing: str, words: bool = False) -> str:
        """Return what stands between brackets: relations with commas or bars between them."""
        parts = []
        while True:
            self.spaces()
            word = WORD.match(self.text, self.at)
            if words and word and len(word[0]) > 1 and word[0] not in FUNCTIONS:
                self.at = word.end()
                parts.append(f"\\text{{{word[0]}}}")
            else:
                parts.append(self.relation())
            self.spaces()
            sign = self.peek()
            if sign == closing:
                return "".join(parts)
            if sign not in (",", "|", ";") or not sign:
                raise NotFormula
            parts.append("\\mid " if sign == "|" else f"{sign} ")
            self.marks += any(letter in LETTERS for letter in self.letters)  # (ε, δ)
            self.at += 1

    def _letters(self) -> str:
        """Return a letter, or a function with its argument; raise NotFormula at a word."""
        found = WORD.match(self.text, self.at)
        sign = unicodedata.normalize("NFD", self.peek())
        if found is None and sign not in LETTERS:
            raise NotFormula
        word = found[0] if found else self.peek()
        if word in FUNCTIONS:
            self.at += len(word)
            name = self._scripts(FUNCTIONS[word])
            space = self.peek() == " "
            self.at += space
            self.marks += 1
            return f"{name}{'' if self.peek() == '(' else ' '}{self._argument()}"
        if len(word) > 1 and not (len(word) <= 3 and any(letter in LETTERS for letter in word)):
            raise NotFormula
        if len(word) > 1:
            self.marks += 1
        self.at += 1
        letter, accent = sign[0], ACCENTS.get(sign[1:] or "", "")
        if not accent and self.peek() in ACCENTS:
            accent = ACCENTS[self.peek()]
            self.at += 1
        tex = LETTERS.get(letter, letter)
        self.letters.add(letter)
        if len(word) == 1 and word in "PE" and self.peek() in ("(", "["):  # words may stand in these
            opening, closing = self.peek(), BRACKETS[self.peek()][0]
            before = self.at
            try:
                self.at += 1
                self.marks += 1
                inside = self._inside(closing, words=True)
                self.at += 1
            except NotFormula:
                self.at = before
                return tex
            return f"{tex}{opening}{inside}{closing}"
        return f"{accent}{{{tex}}}" if accent else tex

    def _argument(self) -> str:
        if self.peek() == "(":
            return self.factor()
        return self.term()
