"""Options that several verbs share."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import click
import pytest

from dither.cli.options import DAY
from tests.support import terminal


def test_a_day_is_a_date_today_or_yesterday() -> None:
    before = datetime.now(UTC).date()
    given = {text: DAY.convert(text, None, None) for text in ("2026-05-01", "today", "yesterday")}
    after = datetime.now(UTC).date()
    assert given["2026-05-01"] == date(2026, 5, 1)
    assert before <= given["today"] <= after
    assert given["today"] - given["yesterday"] == timedelta(days=1) or before != after
    for text in ("tomorrow", "01.05.2026", "2026-02-30", ""):
        with pytest.raises(click.BadParameter, match="today or yesterday"):
            DAY.convert(text, None, None)


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (("perturb", "shop.csv", "--ordered", "1"), "--time, --categories and --several"),  # not --force
        (("perturb", "shop.csv", "--catgories", "a,b"), "Did you mean '--categories'?"),
        (("compare", "--eps", "1"), "Did you mean '--epsilon'?"),
        (("init", "shop.csv", "--from", "x"), "No such option '--from'."),
    ],
)
def test_only_options_with_nearly_the_same_name_are_suggested(words: tuple[str, ...], end: str) -> None:
    assert terminal.run(*words).stderr.rstrip().endswith(end)
