"""`dt.ask`: milliseconds until a mechanism is chosen, for every kind of domain.

`python -m tools.benchmarks.ask`. The goal is 50 ms on the clock. Each budget is asked for once, with an empty
cache, so that nothing is remembered; imports are not counted.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
import warnings

import dither as dt
from dither.foundation.tables import as_text
from dither.mechanisms.optimal import store

GOAL = 50.0  # ms on the clock
BUDGETS = (0.52, 0.77, 1.3, 2.3, 3.0, 4.4, 5.5, 8.0)
DOMAINS = {
    "an interval": dt.Interval(0, 180),
    "a circle": dt.Circle(360),
    "2 categories": dt.Categories(2),
    "50 categories": dt.Categories(50),
    "70 000 categories": dt.Categories(70_000),
    "sets of up to 3 of 40": dt.Several(40, most=3),
    "an interval or no answer": dt.Nullable(dt.Interval(0, 180)),
}


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ[store.VARIABLE] = folder
        for name, domain in DOMAINS.items():
            dt.ask(domain, epsilon=9.0)  # imports what a choice needs
            taken = []
            for epsilon in BUDGETS:
                begin = time.perf_counter()
                dt.ask(domain, epsilon=epsilon)
                taken.append((time.perf_counter() - begin) * 1e3)
            missed = "" if max(taken) <= GOAL else "  MISSED"
            rows.append((name, f"{sum(taken) / len(taken):.1f}", f"{max(taken):.1f}", f"{GOAL:g}{missed}"))
    print(
        f"Python {platform.python_version()}. Budgets: {', '.join(f'{epsilon:g}' for epsilon in BUDGETS)}.\n"
    )
    print(as_text(["domain", "mean, ms", "largest, ms", "goal, ms"], rows, align="lrrl"))


if __name__ == "__main__":
    main()
