"""examples/collector is what it says: the files are read, the commands run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import click
import pytest

from dither.cli.main import main
from dither.service.contract import Contract
from dither.service.server import ServerPlan
from dither.service.settings import Settings
from tests.support.repository import ROOT
from tests.support.terminal import run

FOLDER = ROOT / "examples" / "collector"
CONTAINER = (FOLDER / "Containerfile").read_text(encoding="utf-8")


def test_the_campaign_and_the_limits_are_read() -> None:
    made = Contract.read(FOLDER / "campaign.toml")
    assert list(made.questions) == ["minutes", "travel"]
    assert "ε ≤ 2" in str(made.guarantee)
    given, default = Settings.read(FOLDER / "collector.toml"), Settings()
    for name in ("body", "patience", "rate", "burst", "grace", "retry", "group", "queue"):
        assert getattr(given, name) == getattr(default, name), f"{name} is said to be the default"


def commands() -> list[list[str]]:
    """Return the commands of the unit, of the container and of the README that begin with `dither`."""
    unit = re.findall(r"^ExecStart=(.*)$", (FOLDER / "dither-collector.service").read_text(), re.MULTILINE)
    listed = [shlex.split(line) for line in unit]
    listed += [json.loads(line) for line in re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)]
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed += [shlex.split(line) for line in re.findall(r"^dither .*$", readme, re.MULTILINE)]
    return listed


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words)[:40])
def test_every_command_has_words_that_the_command_line_knows(words: list[str], tmp_path: Path) -> None:
    assert Path(words[0]).name == "dither"
    folders = {".toml": FOLDER, ".json": tmp_path}
    (tmp_path / "campaign.json").write_text("{}")
    local = [
        str(folders[Path(word).suffix] / Path(word).name) if Path(word).suffix in folders else word
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


@pytest.mark.slow
def test_the_container_recipe_in_an_empty_environment(tmp_path: Path) -> None:
    """The RUN lines that install, and the CMD, with folders of this machine in place of the container's."""
    runs = re.findall(r"^RUN (python -m venv .*)$", CONTAINER, re.MULTILINE)
    assert len(runs) == 1
    places = {"/opt/dither": str(tmp_path / "venv"), "/src": str(ROOT), "/data": str(tmp_path)}
    line = runs[0].replace("python -m venv", f"{sys.executable} -m venv")
    command = json.loads(re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)[0])
    for inside, outside in places.items():
        line = line.replace(inside, outside)
        command = [word.replace(inside, outside) for word in command]
    signed = str(tmp_path / "campaign.json")
    run("campaign", "publish", FOLDER / "campaign.toml", "--key", tmp_path / "asker.key", "-o", signed)
    places = {"/etc/dither/campaign.json": signed, "/etc/dither": str(FOLDER), "0.0.0.0": "127.0.0.1"}
    for inside, outside in places.items():
        command = [word.replace(inside, outside) for word in command]
    empty = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    installed = subprocess.run(
        line, shell=True, env=empty, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    if "No matching distribution" in installed.stderr or "Could not find a version" in installed.stderr:
        pytest.skip("no package index is reachable")
    assert installed.returncode == 0, installed.stderr
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
    with pytest.raises(ValueError, match="one writer"):
        ServerPlan((str(FOLDER / "campaign.toml"),), "store.sqlite", workers=2)
