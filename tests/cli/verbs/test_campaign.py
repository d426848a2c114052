"""`dither campaign` and the errors of `dither serve`."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from pathlib import Path

import pytest

from dither.collection.published import Published
from dither.collection.secrets import make_key
from dither.collection.server import Addresses
from dither.collection.signer import Signer
from dither.collection.store.opening import open_store
from tests.collection.campaigns import TOML
from tests.collection.collectors import make, send
from tests.collection.pages.states import served
from tests.collection.test_next_version import FIRST, minutes, store_of
from tests.collection.test_next_version import TOML as PHASE
from tests.support.terminal import run


@pytest.fixture
def file(tmp_path: Path) -> str:
    place = tmp_path / "campaign.toml"
    place.write_text(TOML, encoding="utf-8")
    return str(place)


def test_check_publish_and_retire(file: str, tmp_path: Path) -> None:
    done = run("campaign", "check", file, "--json")
    code, told = done.exit_code, done.output
    assert code == 0
    identity = json.loads(told)["id"]
    out, key = str(tmp_path / "campaign.json"), str(tmp_path / "asker.key")
    done = run("campaign", "publish", file, "--key", key, "-o", out)
    assert (done.exit_code, "--new-key" in done.output) == (2, True)
    assert not list(tmp_path.glob("*asker*")), "a key or a list was made for a wrong name"
    done = run("campaign", "publish", file, "--key", key, "--new-key", "-o", out)
    code, told = done.exit_code, done.output
    assert code == 0
    assert identity in told
    assert Path(key).stat().st_mode & 0o777 == 0o600
    assert run("campaign", "publish", file, "--key", key, "-o", out).exit_code == 2  # it exists
    done = run("campaign", "check", out)
    code, told = done.exit_code, done.output
    assert code == 0
    assert "signed by" in told
    assert "50 reports" in told
    assert run("campaign", "retire", out, "--key", key, "--day", "2026-05-20").exit_code == 0
    gone = Published.from_json(Path(out).read_bytes())
    assert gone.id == identity
    assert gone.retired is not None
    assert "2026-05-20" in run("campaign", "check", out).output


def test_a_sealing_key_is_made_and_its_public_half_is_printed(file: str, tmp_path: Path) -> None:
    place = tmp_path / "collector.key"
    done = run("campaign", "sealing-key", str(place))
    code, told = done.exit_code, done.output
    assert code == 0
    assert place.stat().st_mode & 0o777 == 0o600
    secret = place.read_text().strip().removeprefix("dither-private-key-1:x25519:")
    assert len(secret) == 64
    assert secret not in told
    assert run("campaign", "sealing-key", str(place)).output == told  # it is not made again
    public = json.loads(run("campaign", "sealing-key", str(place), "--json").output)["sealing_key"]
    assert told == f'sealing_key = "{public}"\n'
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("[campaign]", f"[campaign]\n{told}"), encoding="utf-8")
    assert f"sealed to  {public}" in run("campaign", "check", file).output
    make_key(tmp_path / "asker.key")
    done = run("campaign", "sealing-key", str(tmp_path / "asker.key"))
    code, told = done.exit_code, done.output
    assert (code, "not a sealing key" in told) == (2, True)
    done = run("campaign", "publish", file, "--key", str(place), "-o", str(tmp_path / "out.json"))
    code, told = done.exit_code, done.output
    assert (code, secret in told) == (2, False)
    place.chmod(0o644)
    assert "chmod 600" in run("campaign", "sealing-key", str(place)).output


def test_a_campaign_with_a_sealing_key_is_served_with_it(file: str, tmp_path: Path) -> None:
    place = str(tmp_path / "collector.key")
    line = run("campaign", "sealing-key", place).output
    text = Path(file).read_text(encoding="utf-8").replace("2026-05-31", "2120-05-31")
    Path(file).write_text(text.replace("[campaign]", f"[campaign]\n{line}"), encoding="utf-8")
    done = run("serve", file, "--port", "0", "--new-key")
    code, told = done.exit_code, done.output
    assert (code, "--sealing-key" in told) == (2, True)
    assert not list(tmp_path.glob("*.sqlite"))


def test_a_key_is_replaced(file: str, tmp_path: Path) -> None:
    out, old, new = (str(tmp_path / name) for name in ("campaign.json", "asker.key", "asker-2.key"))
    before = json.loads(
        run("campaign", "publish", file, "--key", old, "--new-key", "-o", out, "--json").stdout
    )
    told = json.loads(run("campaign", "replace-key", old, new, "--json").output)
    assert (told["follows"], told["key"] != before["key"]) == (before["key"], True)
    again = str(tmp_path / "again.json")
    done = run("campaign", "publish", out, "--key", new, "-o", again)
    assert (done.exit_code, told["key"] in done.output) == (0, True)
    assert f"key before {before['key']}" in run("campaign", "check", again).output
    assert Published.from_json(Path(again).read_bytes(), key=before["key"]).id == before["campaign"]
    for words in (
        ("campaign", "replace-key", old, str(tmp_path / "third.key")),
        ("campaign", "publish", file, "--key", old, "-o", str(tmp_path / "x.json")),
        ("campaign", "retire", out, "--key", old),
    ):
        done = run(*words)
        assert (done.exit_code, "was replaced" in done.output) == (2, True)
    assert not (tmp_path / "third.key").exists()


def test_json_is_one_document(file: str, tmp_path: Path) -> None:
    out, key, store = (str(tmp_path / name) for name in ("campaign.json", "asker.key", "one.sqlite"))
    words = ("--key", key, "--new-key", "-o", out, "--json")
    told = json.loads(run("campaign", "publish", file, *words).stdout)
    assert told["file"] == out
    retired = json.loads(run("campaign", "retire", out, "--key", key, "--day", "2026-05-20", "--json").output)
    head = json.loads((tmp_path / "asker.campaigns").read_text(encoding="utf-8"))["list"][-1]
    digest = hashlib.sha256(head.encode()).hexdigest()
    assert retired == {"campaign": told["campaign"], "retired": "2026-05-20", "head": digest}
    open_store(store).close()
    backup = str(tmp_path / "monday.backup")
    assert json.loads(run("collector", "backup", store, backup, "--json").output) == {
        "batches": 0,
        "file": backup,
    }
    assert json.loads(run("collector", "restore", backup, str(tmp_path / "two.sqlite"), "--json").output) == {
        "batches": 0
    }
    written = json.loads(run("sql", file, "--dialect", "duckdb", "--json").output)
    assert written["query"] + "\n" == run("sql", file, "--dialect", "duckdb").output


def test_serve_says_where(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Addresses("http://h/", ("http://h/v1/campaigns/ab",), "http://h/client/dither.js", ("cd",))
    monkeypatch.setattr("dither.collection.server.serve", lambda plan, tell: tell(places))
    assert [line.split() for line in run("serve", file, "--new-key").stdout.splitlines()] == [
        ["page", "http://h/"],
        ["campaign", "http://h/v1/campaigns/ab"],
        ["client", "http://h/client/dither.js"],
        ["key", "cd"],
    ]
    assert json.loads(run("serve", file, "--json", "--new-key").stdout)["campaigns"] == [
        "http://h/v1/campaigns/ab"
    ]


def test_mistakes_are_said_in_a_line(file: str, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    make_key(other)
    out = str(tmp_path / "campaign.json")
    run("campaign", "publish", file, "--key", str(tmp_path / "asker.key"), "--new-key", "-o", out)
    assert "another key" in run("campaign", "retire", out, "--key", str(other)).output
    assert "2026-05-01" in run("campaign", "retire", out, "--key", str(other), "--day", "soon").output
    other.chmod(0o644)
    assert "chmod 600" in run("campaign", "retire", out, "--key", str(other)).output
    other.chmod(0o600)
    other.write_text("hello", encoding="utf-8")
    assert "not a signing key" in run("campaign", "retire", out, "--key", str(other)).output
    assert "file not found" in run("campaign", "retire", out, "--key", str(tmp_path / "none.key")).output
    assert not (tmp_path / "none.key").exists()
    assert "--head and --key with the address" in run("audit", "podium", "--head", "ab").output
    assert "one worker" in run("serve", file, "--workers", "2").output
    for words in (("--store", "postgresql://localhost/x"), (), ("--key", str(tmp_path / "typo.key"))):
        told = " ".join(run("serve", file, *words).output.split())
        assert "dither campaign publish" in told
        assert "--new-key" in told
    assert not list(tmp_path.glob("typo.*"))
    for words in (("--proxy", "10.0.0.1/8"), ("--relay", "relay.example"), ("--proxy", "10.0.0.0/33")):
        assert "neither an address nor a network" in run("serve", file, *words).output
    assert "store to be the path" in run("serve", out, "--store", "mysql://localhost/x").output
    (tmp_path / "limits.toml").write_text("bodi = 3", encoding="utf-8")
    assert "mean body" in run("serve", file, "--settings", str(tmp_path / "limits.toml")).output


def test_the_next_version_of_a_first_phase(tmp_path: Path) -> None:
    place, key, store, out = (tmp_path / name for name in ("one.toml", "asker.key", "store", "two.json"))
    place.write_text(PHASE.split("[questions.pets]")[0], encoding="utf-8")
    terms = ("campaign", "next", str(place), "--key", str(key), "--store", str(store), "-o", str(out))
    assert run(*terms[:1], "publish", *terms[2:5], "--new-key", "-o", str(tmp_path / "1")).exit_code == 0
    store_of(store, 200)
    few = run(*terms)
    assert (few.exit_code, out.exists()) == (2, False)
    assert "more people have to answer" in few.output
    store.unlink()
    store_of(store, 20_000)
    told = json.loads(run(*terms, "--json").stdout)
    made = Published.from_json(out.read_bytes()).contract
    assert (told["follows"], made.version) == (made.phase and made.phase.follows, 2)
    asked = told["bounds"]["minutes"]
    assert asked["outside"]["low"] <= asked["outside"]["share"] <= asked["outside"]["high"]
    assert made.questions["minutes"].domain.device() == {
        "kind": "interval",
        "low": asked["low"],
        "high": asked["high"],
    }
    assert run(*terms).exit_code == 2  # it exists
    again = run(*terms, "--force", "--ends", "2027-03-31")
    assert (again.exit_code, "[" in again.output) == (0, True)
    for wrong in (
        ("campaign", "next", str(place), "--key", str(key), "-o", str(tmp_path / "x")),
        (
            "campaign",
            "next",
            "gone.toml",
            "--key",
            str(key),
            "--store",
            str(store),
            "-o",
            str(tmp_path / "x"),
        ),
        ("campaign", "next", "http://127.0.0.1:9/v1/campaigns/x", *terms[3:]),
        ("campaign", "next", str(out), "--key", str(key), "--store", str(store), "-o", str(tmp_path / "x")),
    ):
        assert run(*wrong).exit_code == 2


def test_the_next_version_from_a_running_collector(tmp_path: Path) -> None:
    """With its address, and the admin token to count what is not shown yet."""
    pytest.importorskip("uvicorn")
    questions = {"minutes": FIRST.questions["minutes"]}
    phase = {"phase": FIRST.phase, "asks": {"minutes": FIRST.asks["minutes"]}, "people": 12_000}
    phase["languages"] = FIRST.languages
    collector, published = make(questions=questions, labels=(), **phase)
    line = questions["minutes"].domain.line
    for n in (12_000, 8_000):  # of which the second do not make a crowd
        send(collector, published, "minutes", line.positions(minutes(n)), seed=n)
    key, token, out = (tmp_path / name for name in ("asker.key", "token", "two.json"))
    Signer(key, make=True)
    token.write_text("correct horse battery", encoding="utf-8")
    token.chmod(0o600)
    with served(collector, campaigns=True, token="correct horse battery") as here:
        terms = ("campaign", "next", f"{here}/v1/campaigns/{published.id}", "--key", str(key), "-o", str(out))
        ends = ("--begins", "2026-05-20", "--ends", "2026-06-30", "--force")
        shown, counted = run(*terms, *ends), run(*terms, "--token-file", str(token), *ends)
    assert (shown.exit_code, counted.exit_code) == (0, 0), shown.output + counted.output
    assert "n = 12 000" in shown.output
    assert "n = 20 000" in counted.output
    made = Published.from_json(out.read_bytes()).contract
    assert made.phase is not None
    assert made.phase.follows == published.id
    checked = run("campaign", "check", str(out))
    assert f"by the answers to campaign {published.id}" in checked.output


def test_check_plans_a_day_of_kept_changes(tmp_path: Path) -> None:
    """One report for all days would have an error of 0.006 here."""
    kept = tmp_path / "kept.toml"
    kept.write_text(
        '[campaign]\nname = "n"\nasker = "a"\ncontact = "c@d.example"\npurpose = "p."\nbegins = 2026-11-01\n'
        'ends = 2027-10-31\nrepeat = "kept change"\ndays = 365\nchanges = 2\n'
        '[questions.uses]\ncategories = ["no", "yes"]\nepsilon = 1\n',
        encoding="utf-8",
    )
    (row,) = json.loads(run("campaign", "check", str(kept), "--people", "100000", "--json").output)["plan"][
        "errors"
    ]
    assert row["estimate"] == "share of yes, one day"
    assert row["±"] == pytest.approx(1.96 * 0.0375, rel=1e-3)  # the table of docs/time_change.md
    assert "2 changes in 365 days" in run("campaign", "check", str(kept)).output


def test_check_says_what_a_wide_range_costs(file: str) -> None:
    assert (
        "times the people of [20, 60]"
        in run("campaign", "check", file, "--guess", "minutes", "20", "60").output
    )
    told = json.loads(run("campaign", "check", file, "--guess", "minutes", "20", "60", "--json").output)
    assert 10 < told["times the people of the guess"]["minutes"] < 30
    for wrong in (("minute", "20", "60"), ("browser", "20", "60"), ("minutes", "60", "20")):
        assert run("campaign", "check", file, "--guess", *wrong).exit_code == 2
    asked = (
        "recommend",
        "--interval",
        "0",
        "1440",
        "--goal",
        "mean",
        "--epsilon",
        "1",
        "--guess",
        "10",
        "100",
    )
    assert "times the people of [10, 100]" in run(*asked, "--people", "1000").output
    assert run(*asked, "--error", "1").exit_code == 2


PRESENCE = """
[campaign]
name = "tool presence"
asker = "tool.example"
contact = "a@tool.example"
purpose = "How many come back."
begins = 2026-11-16
ends = 2027-01-10
people = 20
repeat = "present"
every = "week"
expects = 10000
label_share = 0.7

[questions.installed]
categories = ["2026-11-09", "2026-11-16", "2026-11-23", "2026-11-30"]
installed = true
mechanism = "KRR"
epsilon = 1
"""


def test_check_says_how_long_the_list_of_a_presence_label_may_be(tmp_path: Path) -> None:
    file = tmp_path / "presence.toml"
    file.write_text(PRESENCE)
    checked = run("campaign", "check", str(file))
    assert "at most 128 different reports; longest lists: KRR 128, " in checked.output
    assert "half of a 95 %" not in checked.output  # a share of labels is not what is asked
    assert json.loads(run("campaign", "check", str(file), "--json").output)["plan"]["errors"] == []
    many = ", ".join(f'"{datetime.date(2026, 1, 5) + datetime.timedelta(7 * week)}"' for week in range(129))
    file.write_text(re.sub(r"categories = .*", f"categories = [{many}]", PRESENCE))
    refused = run("campaign", "check", str(file))
    assert refused.exit_code == 2
    assert "more would identify" in refused.output
