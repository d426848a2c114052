"""The natural question of reports: a mean for numbers, a direction for angles, shares for answers."""

from __future__ import annotations

from dither.errors import NotIdentifiable
from dither.estimation.answers import mean
from dither.estimation.estimate import Estimate
from dither.estimation.frequency import frequencies
from dither.estimation.likelihood import likelihood
from dither.estimation.summary import Summary, summarise
from dither.mechanisms.frequency.protocol import PureProtocol
from dither.reports import Reports


def estimate(reports: Reports | Summary) -> Estimate:
    """Estimate what such reports are collected for: a mean, a mean direction, or frequencies.

    Where a mean cannot be had without bias, it is the likelihood's, with its resolution.

    >>> import dither as dt
    >>> browser = dt.KRR(dt.Categories(["firefox", "chrome"]), epsilon=8)
    >>> estimate(browser.perturb(["chrome"] * 900 + ["firefox"] * 100, source=dt.Seeded(1)))["chrome"]
    0.900 ± 0.019 (95 %, n = 1 000)
    """
    summary = summarise(reports)
    if isinstance(summary.mechanism, PureProtocol):
        return frequencies(summary)
    try:
        return mean(summary)
    except NotIdentifiable:
        if not summary.n:
            raise
        return mean(summary, method=likelihood)
