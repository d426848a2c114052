"""examples/collector is what it says: the files are read, the commands run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import click
import pytest

from dither.cli.main import main
from dither.collection.campaign import Campaign
from dither.collection.collector import Collector
from dither.collection.server import ServerPlan
from dither.collection.settings import Networks, Settings
from dither.collection.store.sqlite import SqliteStore
from tests.support.repository import ROOT
from tests.support.terminal import run

yaml = pytest.importorskip("yaml", reason="the smaller environments of other versions have no PyYAML")

FOLDER = ROOT / "examples" / "collector"
CONTAINER = (FOLDER / "Containerfile").read_text(encoding="utf-8")


def test_the_campaign_and_the_limits_are_read() -> None:
    made = Campaign.read(FOLDER / "campaign.toml")
    assert list(made.questions) == ["minutes", "travel"]
    assert "ε ≤ 2" in str(made.guarantee)
    given, default = Settings.read(FOLDER / "collector.toml"), Settings()
    for name in ("body", "patience", "rate", "burst", "grace", "group", "queue"):
        assert getattr(given, name) == getattr(default, name), f"{name} is said to be the default"


def commands() -> list[list[str]]:
    """Return the commands of the unit, of the container and of the README that begin with `dither`."""
    units = [file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.service"))]
    listed = [
        shlex.split(line) for unit in units for line in re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    ]
    listed += [json.loads(line) for line in re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)]
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    listed += [compose["services"][name]["command"] for name in ("collector", "export")]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed += [shlex.split(line) for line in re.findall(r"^dither .*$", readme, re.MULTILINE)]
    return listed


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words)[:40])
def test_every_command_has_words_that_the_command_line_knows(words: list[str], tmp_path: Path) -> None:
    assert Path(words[0]).name == "dither"
    folders = {".toml": FOLDER, ".json": tmp_path, ".campaigns": tmp_path}
    for name in ("campaign.json", "asker.campaigns", "admin_token"):
        (tmp_path / name).write_text("{}")
    local = [
        str(folders.get(Path(word).suffix, tmp_path) / Path(word).name)
        if Path(word).suffix in folders or Path(word).name == "admin_token"
        else word
        for word in words[1:]
    ]
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group):
        name, found, local = command.resolve_command(context, local)
        assert found is not None
        command = found
        context = (
            command.make_context(str(name), list(local)) if not isinstance(command, click.Group) else context
        )
    assert context.params


def secret_and_list(folder: Path) -> dict[str, str]:
    """Return the files of this machine for the token and the list of campaigns of a container."""
    token = folder / "admin.token"
    token.touch(mode=0o600)
    token.write_text("0123456789abcdef" * 3)
    listed = {"/etc/dither/asker.campaigns": str(folder / "asker.campaigns")}
    return {**listed, "/run/secrets/admin_token": str(token)}


@pytest.mark.slow
def test_the_container_recipe_in_an_empty_environment(tmp_path: Path) -> None:
    """The RUN lines that install, and the CMD, with folders of this machine in place of the container's."""
    runs = re.findall(r"^RUN (python -m venv .*)$", CONTAINER, re.MULTILINE)
    assert len(runs) == 2  # what runs, and the list of it
    places = {"/opt/dither": str(tmp_path / "venv"), "/opt/bill": str(tmp_path / "bill")}
    places |= {"/src": str(ROOT), "/data": str(tmp_path)}
    line = " && ".join(runs).replace("python -m venv", f"{sys.executable} -m venv")
    command = json.loads(re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)[0])
    for inside, outside in places.items():
        line = line.replace(inside, outside)
        command = [word.replace(inside, outside) for word in command]
    signed = str(tmp_path / "campaign.json")
    run(
        "campaign",
        "publish",
        FOLDER / "campaign.toml",
        "--key",
        tmp_path / "asker.key",
        "--new-key",
        "-o",
        signed,
    )
    places = {"/etc/dither/campaign.json": signed, **secret_and_list(tmp_path), "0.0.0.0": "127.0.0.1"}
    places["/etc/dither"] = str(FOLDER)
    for inside, outside in places.items():
        command = [word.replace(inside, outside) for word in command]
    empty = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    installed = subprocess.run(
        line, shell=True, env=empty, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    if "No matching distribution" in installed.stderr or "Could not find a version" in installed.stderr:
        pytest.skip("no package index is reachable")
    assert installed.returncode == 0, installed.stderr
    bill = json.loads((tmp_path / "venv" / "dither.cdx.json").read_text())
    listed = {part["name"].lower() for part in bill["components"]}
    assert listed >= {"dither", "uvicorn", "starlette", "psycopg", "cryptography", "numpy"}
    assert not listed & {"cyclonedx-bom", "pytest"}
    served = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, env={**empty, "PYTHONUNBUFFERED": "1"}, text=True
    )
    try:
        stream = served.stdout
        assert stream is not None
        page, campaign = stream.readline().split()[1], stream.readline().split()[1]
        for _ in range(100):
            try:
                ready = json.loads(urllib.request.urlopen(page + "ready").read())
                break
            except OSError:
                time.sleep(0.1)
        assert ready == {"ready": True}
        answered = subprocess.run(
            [str(tmp_path / "venv/bin/python"), str(FOLDER / "answer.py"), campaign],
            capture_output=True,
            check=False,
            text=True,
            env=empty,
            cwd=tmp_path,
        )
        assert "2 reports were acknowledged" in answered.stdout, answered.stderr
        assert json.loads(urllib.request.urlopen(page + "health").read())["reports"] == 2
    finally:
        served.terminate()
        served.communicate(timeout=30)


def test_workers_need_a_database() -> None:
    with pytest.raises(ValueError, match="one worker with SQLite"):
        ServerPlan((str(FOLDER / "campaign.toml"),), "store.sqlite", workers=2)
    for workers in (1, 2):
        with pytest.raises(ValueError, match="expected a store to be the path of a file"):
            ServerPlan((str(FOLDER / "campaign.toml"),), "mysql://localhost/dither", workers=workers)


COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def test_the_compose_file_names_what_is_there() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"collector", "database", "export", "proxy"}
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            here = source.startswith("./")
            assert source in COMPOSE["volumes"] if not here else source != "./campaign.toml"
            assert (
                not here or source in ("./campaign.json", "./asker.campaigns") or (FOLDER / source).is_file()
            )
        assert set(service["networks"]) <= set(COMPOSE["networks"])
    build = services["collector"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()
    words = services["collector"]["command"]
    (subnet,) = (config["subnet"] for config in COMPOSE["networks"]["outside"]["ipam"]["config"])
    assert words[words.index("--proxy") + 1] == subnet
    assert "172.30.0.5" in Networks([subnet])
    store = words[words.index("--store") + 1]
    assert store == f"postgresql://{services['database']['environment']['POSTGRES_USER']}@database/dither"
    assert "key" not in " ".join(words)  # no private key is on the collector's machine
    host, _, port = services["proxy"]["environment"]["COLLECTOR"].partition(":")
    assert (host, port) == ("collector", "8000")
    assert "{$COLLECTOR:127.0.0.1:8000}" in (FOLDER / "Caddyfile").read_text(encoding="utf-8")
    assert list(services["database"]["networks"]) == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True


@pytest.mark.slow
def test_the_command_of_the_compose_file_serves(database: str, tmp_path: Path) -> None:
    """The words of the file, with a database and folders of this machine in place of the containers'."""
    signed = str(tmp_path / "campaign.json")
    run(
        "campaign",
        "publish",
        FOLDER / "campaign.toml",
        "--key",
        tmp_path / "asker.key",
        "--new-key",
        "-o",
        signed,
    )
    places = {
        "/opt/dither/bin/dither": "dither",
        "/etc/dither/campaign.json": signed,
        "/etc/dither/collector.toml": str(FOLDER / "collector.toml"),
        "postgresql://dither@database/dither": database,
        "0.0.0.0": "127.0.0.1",
        **secret_and_list(tmp_path),
    }
    words = [places.get(word, word) for word in COMPOSE["services"]["collector"]["command"]]
    served = subprocess.Popen(
        [sys.executable, "-m", *words, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stream = served.stdout
        assert stream is not None
        page = stream.readline().split()[1]
        for _ in range(300):
            try:
                assert json.loads(urllib.request.urlopen(page + "ready").read()) == {"ready": True}
                break
            except OSError:
                time.sleep(0.1)
    finally:
        served.terminate()
        served.communicate(timeout=40)


def test_the_board_shows_metrics_that_there_are(tmp_path: Path) -> None:
    """A lint of the Grafana board: panels that do not overlap, with words, units and known metrics."""
    board = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
    kinds = metric_kinds(tmp_path)
    parts = {
        f"{name}{end}"
        for name, kind in kinds.items()
        for end in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))
    }
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    taken: set[tuple[int, int]] = set()
    shown: set[str] = set()
    for panel in board["panels"]:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        for target in panel["targets"]:
            expression = target["expr"]
            assert expression.count("(") == expression.count(")")
            assert expression.count("{") == expression.count("}") == expression.count('{job=~"$job"}')
            found = re.findall(r"dither_\w+", expression)
            assert found
            assert set(found) <= parts
            shown |= set(found)
            for name in found:  # a counter is shown by its rate, a gauge as it is
                base = re.sub(r"_(bucket|sum|count)$", "", name)
                counter = kinds.get(name, kinds.get(base)) in ("counter", "histogram")
                assert counter == (f"rate({name}{{" in expression), expression
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown} >= set(kinds) - {
        "dither_campaigns",
        "dither_start_time_seconds",
    }
    assert {entry["name"] for entry in board["templating"]["list"]} == {"source", "job"}


def metric_kinds(folder: Path) -> dict[str, str]:
    """Return the metrics that a collector has, with their kinds."""
    store = SqliteStore(folder / "store.sqlite")
    collector = Collector(store, Settings())
    text = collector.signals.exposition(collector)
    store.close()
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def test_alerts_are_about_metrics_that_there_are(tmp_path: Path) -> None:
    file = FOLDER / "alerts.yml"
    (group,) = yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]
    kinds = metric_kinds(tmp_path)
    assert len({rule["alert"] for rule in group["rules"]}) == len(group["rules"]) == 5
    for rule in group["rules"]:
        assert re.fullmatch(r"\d+[mh]", rule["for"])
        assert rule["annotations"]["description"].endswith(".")
        for name in re.findall(r"dither_\w+", rule["expr"]):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            counter = kinds.get(name, kinds.get(base)) in ("counter", "histogram")
            assert name in kinds or base in kinds, name
            assert counter == bool(re.search(rf"(rate|increase)\({name}\[", rule["expr"])), rule["expr"]
    if promtool := shutil.which("promtool"):
        checked = subprocess.run(
            [promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_token_is_a_secret_and_the_export_has_a_timer() -> None:
    assert COMPOSE["secrets"] == {"admin_token": {"file": "./admin.token"}}
    assert COMPOSE["services"]["collector"]["secrets"] == ["admin_token"]
    assert "LoadCredential=admin_token:" in (FOLDER / "dither-collector.service").read_text(encoding="utf-8")
    assert "OnCalendar=" in (FOLDER / "dither-export.timer").read_text(encoding="utf-8")
    assert "[service,frames]" in CONTAINER
