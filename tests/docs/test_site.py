"""The site builds offline without a warning, and every link in it leads somewhere. Needs the group `docs`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dither.registry import names
from tests.support.repository import ROOT

PAGES = {
    "start",
    "epsilon",
    "choose",
    "missing",
    "collect",
    "threats",
    "theory",
    "reproduce",
    "extend",
    "api",
    "cli",
    "glossary",
    "nist",
    "from_diffprivlib",
    "from_opendp",
    "from_pure_ldp",
    "from_rappor",
    "notebooks/analyse",
    "api/javascript",
    "api/collector",
    "project/changelog",
    "project/cite",
    "project/security",
    "playground/index",
}


@pytest.mark.slow
def test_the_site(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    for name in ("myst_nb", "sphinx_copybutton", "latex2mathml"):
        pytest.importorskip(name)
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", str(tmp_path)]
    offline = {**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(build, cwd=ROOT, env=offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    built = {page.relative_to(tmp_path).with_suffix("").as_posix() for page in tmp_path.rglob("*.html")}
    assert PAGES | {f"mechanisms/{name}" for name in names()} <= built
    assert "<math" in (tmp_path / "theory.html").read_text(encoding="utf-8")
    assert "image/png" in (tmp_path / "notebooks" / "analyse.html").read_text(encoding="utf-8") or list(
        (tmp_path / "_images").glob("*.png")
    )
    lost = [
        (page.name, link)
        for page in tmp_path.rglob("*.html")
        for link in re.findall(r'(?:href|src)="([^"#?:]+)(?:[#?][^"]*)?"', page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert lost == []
