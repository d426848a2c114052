"""What the pages about devices show in JavaScript works, against the stub that the example comes with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from tests.conformance.test_javascript import CLIENT, node
from tests.support.repository import ROOT

EXAMPLE = ROOT / "examples" / "browser"
QUESTION = dt.Podium(dt.Interval(0, 180), epsilon=1)


@pytest.fixture
def stub() -> Iterator[tuple[Any, str]]:
    """Return the stub's module and its address."""
    found = spec_from_file_location("browser_example_stub", EXAMPLE / "serve.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    with ThreadingHTTPServer(("127.0.0.1", 0), module.Stub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield module, f"http://127.0.0.1:{server.server_port}/reports"
        finally:
            server.shutdown()


PARTS = ("devices", "devices_page", "devices_client", "devices_where", "devices_account", "devices_errors")


@pytest.mark.parametrize(
    "pages",
    [[CLIENT / "README.md"], [ROOT / "docs" / f"{name}.md" for name in PARTS]],
    ids=["README", "devices"],
)
def test_the_lines_send_a_report(pages: list[Path], stub: tuple[Any, str]) -> None:
    """The pages about devices are one session, in the order of the tree of contents."""
    module, address = stub
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"^```js\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    folder = (CLIENT / "dist").as_uri()
    code = "".join(blocks).replace('"dither-ldp"', '"./dither.js"').replace("indexedStore", "memoryStore")
    code = re.sub(r'from "\./', f'from "{folder}/', code)
    code = code.replace("https://clinic.example/reports", address)
    code = f"const specification = {json.dumps(QUESTION.to_json())};\n{code}"
    done = subprocess.run(
        [node(), "--input-type=module"], input=code, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (batch,) = module.RECEIVED.values()
    ((fingerprint, reports),) = batch.reports.items()
    assert fingerprint == QUESTION.fingerprint
    assert [len(one) for one in reports] == [2]


def test_the_stub_refuses_what_is_no_batch(stub: tuple[Any, str]) -> None:
    module, address = stub
    code = f"""
import urllib.request
try:
    urllib.request.urlopen({address!r}, data=b"x" * 100)
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "400" in done.stdout
    assert module.RECEIVED == {}


def test_the_page_asks_the_question_of_python() -> None:
    text = (EXAMPLE / "question.js").read_text(encoding="utf-8")
    assert json.loads(text.partition("SPECIFICATION = ")[2].rstrip(";\n")) == QUESTION.to_json()


def test_every_word_of_malformed_is_explained() -> None:
    source = "".join(file.read_text(encoding="utf-8") for file in (CLIENT / "src").glob("*.ts"))
    checks = re.findall(r"\bneed\([^;]*;", source)
    found = [re.search(r', "(\w+)"(?:, (?:"\w+"|field))?\)+;', check) for check in checks]
    words = {one[1] for one in found if one} | set(re.findall(r'Malformed\("(\w+)"', source))
    assert len(words) > 10
    page = (ROOT / "docs" / "devices_errors.md").read_text(encoding="utf-8")
    assert [word for word in words if f"`{word}`" not in page] == []
