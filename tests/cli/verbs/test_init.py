"""`dither init`: what it writes can be read, signed and served; nothing is overwritten."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from dither.collection.campaign import Campaign
from dither.collection.published import Published
from tests.support.terminal import run


def test_telemetry_writes_a_campaign_a_key_and_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[project]\nname = "my tool"\n')
    told = json.loads(run("init", "--telemetry", "--address", "https://t.example/", "--json").output)
    contract = Campaign.read("telemetry/campaign.toml")
    published = Published.from_json(Path("telemetry/campaign.json").read_bytes(), key=told["key"])
    assert published.contract.text == contract.text
    assert contract.asker == "my-tool"
    assert contract.whole_guarantee.epsilon == pytest.approx(4.5)
    assert told["address"] == f"https://t.example/v1/campaigns/{contract.id}"
    assert told["page"] == f"https://t.example/campaigns/{contract.id}"
    assert Path("telemetry/asker.key").stat().st_mode & 0o077 == 0
    assert Path("telemetry/.gitignore").read_text() == "asker.key\n"
    code = Path("telemetry/telemetry.py").read_text()
    ast.parse(code)
    assert told["key"] in code
    assert "https://t.example" in code
    for campaign in ("campaign.toml", "presence.toml"):
        assert "warning" not in run("campaign", "check", f"telemetry/{campaign}").stderr


def test_telemetry_of_a_tool_in_go_embeds_the_campaigns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tests/conformance/test_go.py` compiles it."""
    monkeypatch.chdir(tmp_path)
    told = json.loads(run("init", "--telemetry", "--app", "tool", "--language", "go", "--json").output)
    assert told["code"] == "telemetry/telemetry.go"
    code = Path(told["code"]).read_text()
    assert told["key"] in code
    assert "//go:embed campaign.json\n" in code
    assert "//go:embed presence.json\n" in code
    assert not Path("telemetry/telemetry.py").exists()
    words = run("init", "--telemetry", "--app", "tool", "--language", "go", "-o", "asked").output
    assert 'The folder asked is a package of your module: import "MODULE/asked".' in words
    words = run("init", "--telemetry", "--app", "tool", "-o", "python").output
    assert "Copy python/telemetry.py, python/campaign.json and python/presence.json, all into" in words


def test_nothing_is_overwritten_and_the_key_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("init", "--telemetry", "--app", "tool", "-o", "there")
    run(*words)
    key = Path("there/asker.key").read_text()
    assert run(*words).stderr.strip().endswith("use --force")
    run(*words, "--force")
    assert Path("there/asker.key").read_text() == key
    Path("there/.gitignore").write_text("*.pyc")  # of the folder, before
    for _ in range(2):
        run(*words, "--force")
    assert Path("there/.gitignore").read_text() == "*.pyc\nasker.key\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected either FILE or --telemetry"),
        (("--telemetry", "--app", "a b"), "--app to be a name"),
        (("--telemetry", "--app", "a", "--address", "ftp://x"), "expected --address to be the https address"),
        (("--telemetry", "--app", "a", "--address", "http://t.example"), "only to their own machine"),
        (
            ("--telemetry", "--app", "a", "--address", "http://127.0.0.1.t.example"),
            "only to their own machine",
        ),
        (("--telemetry", "--app", "a", "--address", 'https://t.example/"'), "expected --address to be the"),
        (("--telemetry", "--app", "a", "--address", "https://t.example:0"), "expected --address to be the"),
        (("--telemetry", "--app", "a", "--address", "https://t.example:x"), "expected --address to be the"),
        (
            ("--telemetry", "--app", "a", "--address", "https://["),
            "expected --address to be the https address",
        ),
        (("--telemetry", "--app", "a", "--contact", "\x07"), "cannot be shown"),
    ],
)
def test_wrong_words_write_nothing(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in run("init", *words).stderr
    assert list(tmp_path.iterdir()) == []


def test_the_code_that_it_writes_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CI", "DO_NOT_TRACK", "NO_TELEMETRY", "SUDO_UID", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    run("init", "--telemetry", "--app", "tool")  # its collector is on this machine, and not there
    place = Path("telemetry/telemetry.py").resolve()
    code: dict[str, Any] = {"__file__": str(place)}
    exec(compile(place.read_text(), str(place), "exec"), code)
    tool = code["telemetry"]
    assert "Telemetry is on." in tool.run("on")
    assert tool.answer("command", "build") in ("drawn", "silent")
    assert tool.answer("seconds", 3) in ("drawn", "silent")
    assert "which commands" in " ".join(tool.run("show").lower().split())


def test_columns_with_a_common_start_are_suggested_as_one_question(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv"
    file.write_text("age,media_TV,media_radio\n30,1,0\n", encoding="utf-8")
    result = run("init", file)
    assert "media_TV, media_radio may be the items of one question" in result.stderr
    assert "fill in the domains of media_TV, media_radio" in result.stdout
    assert '# several = ["TV", "radio"]' in file.with_suffix(".toml").read_text(encoding="utf-8")


def test_sheets_and_merged_headers_are_seen(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "People"
    for row in (["person", None], ["age", "sex"], [30, "f"]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.create_sheet("Notes")
    file = tmp_path / "survey.xlsx"
    book.save(file)
    remarks = run("init", file).stderr
    assert "read the sheet 'People'; --sheet names another: 'Notes'" in remarks
    assert "--header-row 1-2 joins two rows" in remarks
    run("init", file, "--sheet", "People", "--header-row", "1-2", "--force")
    campaign = file.with_suffix(".toml").read_text(encoding="utf-8")
    assert "# dither check survey.xlsx --sheet=People --header-row=1-2 --campaign survey.toml\n" in campaign
    assert '# [questions."person"]\n# several = ["age", "sex"]\n' in campaign
