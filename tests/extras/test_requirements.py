"""No requirement keeps `cryptography` from a release: each of them may fix a vulnerability."""

from __future__ import annotations

import re
from importlib.metadata import requires
from typing import Any

import pytest

from tests.support.repository import PYPROJECT

CAP = re.compile(r"<|==|~=")


def declared(project: dict[str, Any]) -> list[str]:
    """Return every requirement of the package, of its extras and of its groups of development."""
    tables = [*project["project"]["optional-dependencies"].values(), *project["dependency-groups"].values()]
    return [
        *project["project"]["dependencies"],
        *(one for table in tables for one in table if isinstance(one, str)),
    ]


def capped(requirements: list[str], names: set[str]) -> list[str]:
    """Return the requirements of these packages that allow no newer release than some."""
    return [
        one
        for one in requirements
        if re.split(r"[^A-Za-z0-9_.-]", one)[0].lower() in names and CAP.search(one.partition(";")[0])
    ]


def test_cryptography_has_no_upper_bound() -> None:
    found = declared(PYPROJECT)
    assert any(one.startswith("cryptography") for one in found)
    assert capped(found, {"cryptography"}) == []


@pytest.mark.parametrize(("package", "extra"), [("PyNaCl", "protocols"), ("mpyc", "servers")])
def test_what_the_extra_brings_does_not_bound_it_either(package: str, extra: str) -> None:
    """`cryptography` and PyNaCl both need cffi, so a bound on cffi is a bound on `cryptography`."""
    pytest.importorskip({"PyNaCl": "nacl"}.get(package, package))
    assert any(one.startswith(package) for one in PYPROJECT["project"]["optional-dependencies"][extra])
    assert capped(requires(package) or [], {"cryptography", "cffi"}) == []


def test_a_bound_is_noticed() -> None:
    wrong = ["cryptography>=42,<46.0.1", "cryptography[ssh] ~= 45.0", "cffi==1.17"]
    right = ["cryptography>=42", "xxhash<4", "cryptography>=42; python_version < '4'"]
    assert capped([*wrong, *right], {"cryptography", "cffi"}) == wrong
