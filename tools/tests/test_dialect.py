"""The dialect of `tools/words.txt` only shrinks, and its patterns find what they are for."""

from __future__ import annotations

import re

import pytest

from tools import dialect

EXAMPLES = {
    "told": "a number that it was told",
    "whole": "in whole numbers",
    "that of": "its error is that of the mean",
    "none": "None if there is none",
    "which": "a file, which is written last",
    "what": "what travels is small",
    "for": "nothing is lost, for it is synced",
    "too": "files are private, too.",
    "is no": "this is no promise",
    "this page": "After reading this page you can count",
}


def test_no_habit_grows() -> None:
    allowed, found = dialect.recorded(), dialect.counts()
    assert set(allowed) == set(found)
    grown = {key: (count, allowed[key]) for key, count in found.items() if count > allowed[key]}
    assert grown == {}, "python -m tools.dialect HABIT PART lists the lines"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pattern_finds_its_habit_and_leaves_plain_english(name: str) -> None:
    assert re.search(dialect.PROSE[name], EXAMPLES[name])
    assert not re.search(dialect.PROSE[name], "Return the number of reports of each category.")


def test_texts_are_docstrings_comments_and_messages() -> None:
    content = (
        'x = 1  # of a comment\ndef f():\n    """Tell.\n\n    >>> told\n    """\n    raise E("what is")\n'
    )
    lines = list(dialect._python("f.py", content))
    assert [line.number for line in lines] == [1, 3, 7]
    assert "told" not in lines[1].text
    page = list(dialect._markdown("f.md", "One; two.\n\n```\ntold\n```\n\nThree `told`.\n"))
    assert [line.number for line in page] == [1, 7]
