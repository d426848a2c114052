"""Several writers of one list of campaigns, and writers that are killed: the list never forks."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dither.collection.campaign_list import CampaignList
from dither.collection.published import Published
from dither.collection.signer import Signer, list_file
from tests.collection.campaigns import DAY, contract
from tests.collection.serving import OPEN, Process
from tests.support.terminal import run

ONE, TWO = contract(), contract(version=2)


def test_two_writers_read_the_list_again(tmp_path: Path) -> None:
    place = tmp_path / "asker.key"
    first, second = Signer(place, make=True), Signer(place)
    signers = (first, second, first, second)
    made = [signer.publish(contract(version=version)) for version, signer in enumerate(signers, 1)]
    gone = first.retire(made[1], DAY)
    assert second.publish(made[1].contract) == gone
    assert list(CampaignList.from_json(list_file(place).read_bytes()).campaigns) == [one.id for one in made]


def test_concurrent_writers_make_one_key_and_one_list(tmp_path: Path) -> None:
    place, heads, failed = tmp_path / "asker.key", list[str | None](), list[Exception]()
    at_once = threading.Barrier(8)

    def publish(version: int) -> None:
        at_once.wait()
        try:
            signer = Signer(place, make=True)
            signer.publish(contract(version=version))
            heads.append(signer.head)
        except Exception as error:  # shown below
            failed.append(error)

    writers = [threading.Thread(target=publish, args=(version,)) for version in range(1, 9)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    log = CampaignList.from_json(list_file(place).read_bytes())
    assert len(log.campaigns) == 8
    assert set(heads) <= set(log.heads)  # every head that somebody saw is in the list


def test_a_key_that_was_replaced_meanwhile_signs_no_more(tmp_path: Path) -> None:
    old, new = tmp_path / "old.key", tmp_path / "new.key"
    late, signer = Signer(old, make=True), Signer(old)
    signer.hand_over(new)
    with pytest.raises(ValueError, match="was replaced"):
        late.publish(contract())
    with pytest.raises(ValueError, match="was replaced"):
        late.hand_over(tmp_path / "other.key")
    assert not (tmp_path / "other.key").exists()


def killed_at(step: int, act: Callable[[], object]) -> bool:
    """Run a function in a child that dies by SIGKILL at the n-th call that changes a file; return if it did.

    A step is the moment before or after such a call: it has no other effect on files.
    """
    child = os.fork()
    if child == 0:  # pragma: no cover
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def watched(call: Callable[..., Any]) -> Callable[..., Any]:
            def called(*words: Any, **more: Any) -> Any:
                count()
                try:
                    return call(*words, **more)
                finally:
                    count()

            return called

        for place, name in (
            *((os, name) for name in ("open", "link", "fsync", "replace", "rename", "unlink")),
            (sqlite3, "connect"),
        ):
            setattr(place, name, watched(getattr(place, name)))
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    ("act", "stride"), [("first", 1), ("publish", 1), ("retire", 1), ("hand over", 1), ("hand over", 3)]
)
@pytest.mark.some("hand over-3")
def test_a_writer_that_is_killed_leaves_a_list_that_goes_on(tmp_path: Path, act: str, stride: int) -> None:
    """At every step: the list is readable, goes on from what was seen, and the action can be repeated."""
    step, killed = 1 - stride, True
    while killed:
        step += stride
        folder = tmp_path / str(step)
        folder.mkdir()
        place, new = folder / "asker.key", folder / "new.key"
        seen = None
        if act != "first":
            made = Signer(place, make=True).publish(ONE)
            seen = Signer(place).listed

        def again(place: Path = place, new: Path = new) -> Signer:
            signer = Signer(place, make=act == "first")
            if act == "retire":
                signer.retire(Published.sign(ONE, signer._key), DAY)
            elif act == "hand over":
                return signer.hand_over(new)
            else:
                signer.publish(TWO)
            return signer

        killed = killed_at(step, again)
        if act == "hand over" and new.exists() and not list_file(new).exists():
            new.unlink()  # a key that signed nothing; the command says that it is there
        done = act == "hand over" and json.loads(list_file(place).read_bytes())["list"][-1].count("next_key")
        log = (Signer(new) if done else again()).listed
        if act == "hand over":
            with pytest.raises(ValueError, match="was replaced"):
                Signer(place)
        assert log is not None
        if seen is not None:
            assert log.continues(len(seen.heads), seen.head)
        if act == "publish":
            assert len(log.campaigns) == 2
            assert made.id in log.campaigns
    assert step > 8


def publish(folder: Path, version: int) -> multiprocessing.process.BaseProcess:
    """Start `dither campaign publish` of a version of the campaign; what it prints is in VERSION.out."""
    file, told = folder / f"{version}.toml", folder / f"{version}.out"
    file.write_text(OPEN.replace("name = ", f"version = {version}\nname = ", 1), encoding="utf-8")
    words = ["campaign", "publish", str(file), "--key", str(folder / "asker.key")]
    words += ["-o", str(folder / f"{version}.json"), "--new-key", "--json", "--force"]

    def act() -> None:
        told.write_text(run(*words).output, encoding="utf-8")

    process = multiprocessing.get_context("fork").Process(target=act)
    process.start()
    return process


@pytest.mark.slow
def test_200_concurrent_publishes_beside_a_collector(tmp_path: Path) -> None:
    """`dither serve` signs and reloads; one publish in four is killed at a random moment and repeated."""
    source, heads, seconds = random.Random(7), list[str](), 3.0
    with Process(tmp_path, str(tmp_path / "store.sqlite")) as collector:
        running = {version: publish(tmp_path, version) for version in range(2, 202)}
        for version in source.sample(sorted(running), 50):
            time.sleep(source.uniform(0, 2 * seconds / 50))
            running[version].kill()
            if version % 10 == 0:
                collector.process.send_signal(signal.SIGHUP)
                with urllib.request.urlopen(collector.address + "/v1/list", timeout=20) as answer:
                    heads.append(CampaignList.from_json(answer.read()).head)
        for version, process in running.items():
            process.join(300)
            assert process.exitcode in (0, -signal.SIGKILL)
            if process.exitcode != 0:
                again = publish(tmp_path, version)
                again.join(300)
                assert again.exitcode == 0
            told = (tmp_path / f"{version}.out").read_text(encoding="utf-8")
            heads.append(json.loads(told)["head"])
    log = CampaignList.from_json(list_file(tmp_path / "asker.key").read_bytes())
    made = [
        Published.from_json((tmp_path / f"{version}.json").read_bytes(), key=log.key)
        for version in range(2, 202)
    ]
    assert set(heads) <= set(log.heads)
    assert len(log.campaigns) == 201
    assert {one.id for one in made} <= set(log.campaigns)
