"""Names: of the designs, and of those that have each draw."""

from __future__ import annotations

import pytest

import dither as dt
from dither import registry
from dither.errors import MalformedReport
from tests.golden.devices import CASES


def test_every_design_is_listed_with_its_draws() -> None:
    drawn: dict[str, set[str]] = {}
    for make in CASES.values():
        made = make()
        if registry.is_design(type(made)):
            drawn.setdefault(type(made).__name__, set()).add(made.kernel.kind)
    assert set(drawn) == set(registry.names())
    for name, kinds in drawn.items():
        for kind in kinds:
            registry.check_name(name, kind, known=True)
    listed = {(name, kind) for kind, names in registry._DRAWS.items() for name in names.split()}
    assert listed == {(name, kind) for name, kinds in drawn.items() for kind in kinds}


def test_a_design_under_a_false_name() -> None:
    for known in (True, False):
        with pytest.raises(MalformedReport, match="'KRR'"):
            registry.check_name("KRR", "sliding", known=known)
    registry.check_name("Own", "sliding", known=False)
    with pytest.raises(MalformedReport, match="'Own'"):
        registry.check_name("Own", "sliding", known=True)


def test_only_other_packages_register_themselves() -> None:
    assert registry.design("Podium") is dt.Podium
    assert "Podium" not in registry._OWN
