"""`dither campaign` and the errors of `dither serve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dither.cli.main import main
from dither.service.contract import Published
from dither.service.server import Addresses
from dither.service.settings import make_key
from dither.service.store.opening import open_store
from tests.service.campaigns import TOML


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, list(words))
    return done.exit_code, done.output


@pytest.fixture
def file(tmp_path: Path) -> str:
    place = tmp_path / "campaign.toml"
    place.write_text(TOML, encoding="utf-8")
    return str(place)


def test_check_publish_and_retire(file: str, tmp_path: Path) -> None:
    code, told = run("campaign", "check", file, "--json")
    assert code == 0
    identity = json.loads(told)["id"]
    out, key = str(tmp_path / "campaign.json"), str(tmp_path / "asker.key")
    code, told = run("campaign", "publish", file, "--key", key, "-o", out)
    assert code == 0
    assert identity in told
    assert Path(key).stat().st_mode & 0o777 == 0o600
    assert run("campaign", "publish", file, "--key", key, "-o", out)[0] == 2  # it exists
    code, told = run("campaign", "check", out)
    assert code == 0
    assert "signed by" in told
    assert "50 reports" in told
    assert run("campaign", "retire", out, "--key", key, "--day", "2026-05-20")[0] == 0
    gone = Published.from_json(Path(out).read_bytes())
    assert gone.id == identity
    assert gone.retired is not None
    assert "2026-05-20" in run("campaign", "check", out)[1]


def test_a_sealing_key_is_made_and_its_public_half_is_told(file: str, tmp_path: Path) -> None:
    place = tmp_path / "collector.key"
    code, told = run("campaign", "sealing-key", str(place))
    assert code == 0
    assert place.stat().st_mode & 0o777 == 0o600
    secret = place.read_text().split()[1]
    assert len(secret) == 64
    assert secret not in told
    assert run("campaign", "sealing-key", str(place))[1] == told  # it is not made again
    public = json.loads(run("campaign", "sealing-key", str(place), "--json")[1])["sealing_key"]
    assert told == f'sealing_key = "{public}"\n'
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("[campaign]", f"[campaign]\n{told}"), encoding="utf-8")
    assert f"sealed to  {public}" in run("campaign", "check", file)[1]
    make_key(tmp_path / "asker.key")
    code, told = run("campaign", "sealing-key", str(tmp_path / "asker.key"))
    assert (code, "not a sealing key" in told) == (2, True)
    code, told = run("campaign", "publish", file, "--key", str(place), "-o", str(tmp_path / "out.json"))
    assert (code, secret in told) == (2, False)
    place.chmod(0o644)
    assert "chmod 600" in run("campaign", "sealing-key", str(place))[1]


def test_a_campaign_with_a_sealing_key_is_served_with_it(file: str, tmp_path: Path) -> None:
    place = str(tmp_path / "collector.key")
    line = run("campaign", "sealing-key", place)[1]
    text = Path(file).read_text(encoding="utf-8").replace("2026-05-31", "2120-05-31")
    Path(file).write_text(text.replace("[campaign]", f"[campaign]\n{line}"), encoding="utf-8")
    code, told = run("serve", file, "--port", "0")
    assert (code, "--sealing-key" in told) == (2, True)
    assert not list(tmp_path.glob("*.sqlite"))


def test_json_is_one_document(file: str, tmp_path: Path) -> None:
    out, key, store = (str(tmp_path / name) for name in ("campaign.json", "asker.key", "one.sqlite"))
    told = json.loads(run("campaign", "publish", file, "--key", key, "-o", out, "--json")[1])
    assert told["file"] == out
    retired = json.loads(run("campaign", "retire", out, "--key", key, "--day", "2026-05-20", "--json")[1])
    assert retired == {"campaign": told["campaign"], "retired": "2026-05-20"}
    open_store(store).close()
    backup = str(tmp_path / "monday.backup")
    assert json.loads(run("collector", "backup", store, backup, "--json")[1]) == {
        "batches": 0,
        "file": backup,
    }
    assert json.loads(run("collector", "restore", backup, str(tmp_path / "two.sqlite"), "--json")[1]) == {
        "batches": 0
    }
    written = json.loads(run("sql", file, "--dialect", "duckdb", "--json")[1])
    assert written["query"] + "\n" == run("sql", file, "--dialect", "duckdb")[1]


def test_serve_says_where(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Addresses("http://h/", ("http://h/v1/campaigns/ab",), "http://h/client/dither.js")
    monkeypatch.setattr("dither.cli.verbs.serve.serve", lambda plan, tell: tell(places))
    assert [line.split() for line in run("serve", file)[1].splitlines()] == [
        ["page", "http://h/"],
        ["campaign", "http://h/v1/campaigns/ab"],
        ["client", "http://h/client/dither.js"],
    ]
    assert json.loads(run("serve", file, "--json")[1])["campaigns"] == ["http://h/v1/campaigns/ab"]


def test_mistakes_are_said_in_a_line(file: str, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    make_key(other)
    out = str(tmp_path / "campaign.json")
    run("campaign", "publish", file, "--key", str(tmp_path / "asker.key"), "-o", out)
    assert "another key" in run("campaign", "retire", out, "--key", str(other))[1]
    assert "2026-05-01" in run("campaign", "retire", out, "--key", str(other), "--day", "soon")[1]
    other.chmod(0o644)
    assert "chmod 600" in run("campaign", "retire", out, "--key", str(other))[1]
    other.chmod(0o600)
    other.write_text("hello", encoding="utf-8")
    assert "hexadecimal" in run("campaign", "retire", out, "--key", str(other))[1]
    assert "one worker" in run("serve", file, "--workers", "2")[1]
    assert "--key" in run("serve", file, "--store", "postgresql://localhost/x")[1]
    assert "store is the path" in run("serve", out, "--store", "mysql://localhost/x")[1]
    (tmp_path / "limits.toml").write_text("bodi = 3", encoding="utf-8")
    assert "mean body" in run("serve", file, "--settings", str(tmp_path / "limits.toml"))[1]
