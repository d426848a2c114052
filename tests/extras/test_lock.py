"""The locked development environment: complete, hashed, and free of addresses of registries."""

from __future__ import annotations

import re
import subprocess
import sys

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.repository import ROOT

LOCK = (ROOT / "tools" / "requirements" / "dev.lock").read_text(encoding="utf-8")


def pinned() -> dict[str, set[str]]:
    """Return the versions of every package: several where they depend on the machine."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", LOCK, re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


def test_everything_that_pyproject_asks_for_is_locked() -> None:
    listed = subprocess.run(
        [sys.executable, "tools/requirements/list_dev.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    needed = [Requirement(line) for line in listed.stdout.splitlines()]
    assert len(needed) > 25
    versions = pinned()
    for requirement in needed:
        for version in versions[canonicalize_name(requirement.name)]:
            assert requirement.specifier.contains(version), requirement


def test_every_package_has_hashes() -> None:
    entries = re.split(r"^(?=[A-Za-z])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == sum(map(len, pinned().values()))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)


def test_the_lock_names_no_registry() -> None:
    assert "://" not in LOCK
    assert not re.search(r"^\s*-(-index|-extra-index|-find|i |f )", LOCK, re.MULTILINE)
