"""The demonstration of the collector, with fewer devices: it starts, counts, compares, and stops."""

import importlib.util
import re
import shutil

import pytest

from tests.support.repository import ROOT

pytest.importorskip("uvicorn")


@pytest.fixture
def demo(monkeypatch):
    file = ROOT / "examples" / "collector" / "demo.py"
    spec = importlib.util.spec_from_file_location("collector_demo", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setattr(module, "DEVICES", 3000)
    monkeypatch.setattr(module, "IN_NODE", 5)
    return module


def test_the_demonstration_without_a_browser(demo, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "BROWSERS", ())
    demo.run(tmp_path)
    told = capsys.readouterr().out
    assert "The collector has stopped" in told
    assert "http://" not in told  # it has stopped: its addresses are dead
    assert "where Chromium is installed it is a picture" in told
    if shutil.which("node"):
        assert "2995 devices answered here, and 5 by the JavaScript client" in told
    page = (tmp_path / "collector.html").read_text(encoding="utf-8")
    assert "2\u202f000\u202freports" in page  # of each question, and fewer than 1 000 wait
    assert "6\u202f000\u202freports, " in page
    assert "2\u202f000 of them are counted when enough others have come" in page
    rows = re.findall(r" ([\d.]+) +-?[\d.]+  (-?[\d.]+) – (-?[\d.]+)$", told, re.MULTILINE)
    assert len(rows) == 5
    for truth, low, high in ((float(one) for one in row) for row in rows):
        assert low - (high - low) <= truth <= high + (high - low)  # nearly eleven standard errors


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium on this machine")
def test_the_demonstration_with_a_picture(demo, tmp_path, capsys):
    demo.run(tmp_path)
    assert (tmp_path / "collector.png").read_bytes().startswith(b"\x89PNG")
    assert "The page is in" in capsys.readouterr().out
