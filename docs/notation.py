"""Formulas that are written in plain Unicode, such as e^ε/(e^ε + 1), found in a text and translated to TeX.

Pages and docstrings stay readable as text; the site sets what this module finds. A formula is the longest
stretch that `grammar` accepts. Whatever is not accepted stays text.
"""

from __future__ import annotations

import re
from functools import cache

from grammar import FormulaReader, NotFormula
from symbols import ACCENTS, LETTERS, RELATIONS, SUBSCRIPTS, SUMS, SUPERSCRIPTS

GLUED = set("_^·×/(")  # a formula does not end before these
WORDS = {"a", "A", "C", "I"}  # letters that are words, or a language
NOT_FORMULAS = re.compile(r"[A-Z]/[A-Z]\b|\d+(?:\.\d+)?[A-Za-z]\b(?![\^_(])")  # A/B, item 3a


def _begins_at(text: str, at: int) -> bool:
    before = text[at - 1] if at else " "
    return not (
        before.isalnum() or before in "_^·×/.-'’#@√″′" or before in SUPERSCRIPTS or before in SUBSCRIPTS
    )


def _ends_at(text: str, at: int) -> bool:
    after, further = text[at : at + 1], text[at + 1 : at + 2]
    if not after:
        return True
    if after.isalnum() or after in GLUED or after in ACCENTS:
        return False
    return not (after == "-" and further.isdigit()) and not (after in ".'’" and further.isalpha())


@cache
def _found(text: str) -> tuple[tuple[int, int, str, frozenset[str], bool], ...]:
    """Return (start, end, TeX, letters, is more than one letter) of everything that could be a formula."""
    found, at = [], 0
    while at < len(text):
        begins = text[at].isalnum() or text[at] in "−√∫([{⌈⌊|‖½±" or text[at] in LETTERS
        if begins and _begins_at(text, at) and not NOT_FORMULAS.match(text, at):
            best = _longest(text, at)
            if best:
                end, tex, letters, marks = best
                if letters or "^" in tex or "\\sqrt" in tex:
                    found.append((at, end, tex, frozenset(letters), marks > 0))
                    at = end
                    continue
        word = re.compile(r"\w+").match(text, at)
        at = word.end() if word and text[at] not in LETTERS else at + 1
    return tuple(found)


def _longest(text: str, at: int) -> tuple[int, str, set[str], int] | None:
    """Return the longest formula that begins here and ends at the end of a word."""
    best = None
    reader = FormulaReader(text, at)
    done = ""
    try:
        for sign, part in reader.chain(RELATIONS | SUMS, "signed"):
            done += f" {sign} {part}" if sign else part
            if _ends_at(text, reader.at):
                best = reader.at, done, set(reader.letters), reader.marks
    except NotFormula:
        pass
    return best


def pieces(text: str, known: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """Return the text as pairs (text, "") and (text, TeX) of formulas, in order.

    A letter by itself is a formula if it is Greek, or one of `known`.
    """
    parts, done = [], 0
    for start, end, tex, _, compound in _found(text):
        if not compound and not _lone(text, start, end, known):
            continue
        if start > done:
            parts.append((text[done:start], ""))
        parts.append((text[start:end], tex.strip()))
        done = end
    if done < len(text):
        parts.append((text[done:], ""))
    return parts


def _lone(text: str, start: int, end: int, known: frozenset[str]) -> bool:
    letter = text[start:end]
    if letter in LETTERS:
        return True
    if letter in WORDS or letter not in known or (text[end : end + 1] == "." and letter.isupper()):
        return False
    return not re.search(r"\d[ \u00a0]?$", text[:start])  # 6 s, 3 m: units


def letters(text: str) -> frozenset[str]:
    """Return the letters that stand in formulas of a text."""
    return frozenset().union(*(some for *_, some, compound in _found(text) if compound))


def breakable(tex: str) -> list[str]:
    """Return a formula in parts at whose ends a line may break: relations, and sums if it is long."""
    parts, depth, part = [], 0, ""
    for token in re.findall(r"\\[A-Za-z]+ ?|\\.|.", tex):
        depth += (token in "([{" or token.strip() in ("\\lceil", "\\lfloor", "\\{")) - (
            token in ")]}" or token.strip() in ("\\rceil", "\\rfloor", "\\}")
        )
        relation = token.strip() in RELATIONS.values() and token.strip() not in ("\\to", "\\in")
        long = token in "+-" and len(part) > 30 and part.endswith(" ")
        if depth == 0 and part.strip() and (relation or long) and "|" not in part.replace("\\|", ""):
            parts.append(part.strip())
            part = ""
        part += token
    return [*parts, part.strip()]
