"""Every mechanism of the tables of cases is counted in a database as `Counts` counts it, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.data import sql
from dither.errors import DitherError
from tests.support import report_tables as tables
from tests.support.cases.frequency import KINDS
from tests.support.cases.numbers import EVERY
from tests.support.cases.places import PATHS

duckdb, pyarrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")


def mechanisms() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for case in EVERY:
        found.setdefault(case().fingerprint, (case.name, case()))  # equal reports are counted once
    made = dict(found.values())
    made |= {kind.__name__: kind(dt.Categories(10), epsilon=0.7) for kind in KINDS}
    made["Polar"] = dt.Polar(dt.Disk(0.5, (0.5, 0.5)), epsilon=2, cells=64)
    return made


def values(mechanism: Any, rng: np.random.Generator) -> Any:
    domain = mechanism.domain
    if isinstance(domain, dt.Categories):
        return rng.integers(0, len(domain), 60)
    if hasattr(domain, "low"):
        return rng.uniform(domain.low, domain.high, 60)
    if hasattr(domain, "period"):
        return rng.uniform(0, domain.period, 60)
    return rng.uniform(0.4, 0.6, (60, 2))


def test_numbers_and_categories_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    reports = {name: one.perturb(values(one, rng), source=dt.Seeded(4)) for name, one in mechanisms().items()}
    assert len(reports) > 30
    path = tmp_path / "reports.db"
    with duckdb.connect(str(path)) as base:
        base.register("loaded", pyarrow.Table.from_pylist(tables.rows_of(reports)))
        base.execute("CREATE TABLE reports AS SELECT * FROM loaded")
    asked = {name: some.question for name, some in reports.items()}
    with sql.connect(f"duckdb://{path}") as engine:
        found = sql.summaries(asked, engine.counts(asked))
    for name, some in reports.items():
        assert found[name] == dt.Counts.of(some), name


@pytest.mark.parametrize("name", sorted(PATHS))
def test_paths_are_refused(name: str) -> None:
    with pytest.raises(DitherError, match=r"expected a grid|belong together") as caught:
        sql.counting_query({"where": PATHS[name](epsilon=1.0)}, "duckdb")
    assert "'where'" in str(caught.value)
