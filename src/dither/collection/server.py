"""The server of a collector: processes, sockets, start and end."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, NamedTuple

from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.collector import Collector, reason_closed, today
from dither.collection.connections import protocol
from dither.collection.kinds import check_counted
from dither.collection.log import log, to_stderr
from dither.collection.ohttp import GatewayKeys, configuration
from dither.collection.published import Published
from dither.collection.refusals import Reason
from dither.collection.secrets import read_sealing_key, read_token
from dither.collection.settings import Settings
from dither.collection.signals import Signals, shared_file
from dither.collection.signer import Signer, list_file, read_list
from dither.collection.store.opening import is_postgresql, open_store
from dither.collection.writer import Writer
from dither.errors import DitherError, InvalidParameter, MissingExtra

if TYPE_CHECKING:
    from starlette.applications import Starlette


_LEAST: Final = 1.0  # seconds until a process that ended is restarted,
_LONGEST: Final = 30.0  # and seconds after repeated early ends


def supervise(bound: socket.socket, count: int) -> None:
    """Run processes on a listening socket until SIGTERM or SIGINT; SIGHUP is passed on to them.

    All processes share the memory of the signals: a process that replaces another one continues its numbers.
    """
    stopping, pause, memory = False, _LEAST, shared_file(count)
    running: dict[int, subprocess.Popen[bytes]] = {}
    begun = [0.0] * count

    def passed_on(number: int, _: object) -> None:
        nonlocal stopping
        stopping = stopping or number != signal.SIGHUP
        for process in list(running.values()):
            process.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, passed_on)
    while not stopping or running:
        ended = [index for index, process in running.items() if process.poll() is not None]
        if ended:
            soon = time.monotonic() - min(begun[index] for index in ended) < _LONGEST
            pause = min(2 * pause, _LONGEST) if soon else _LEAST
            running = {index: process for index, process in running.items() if index not in ended}
        for index in range(count):
            if not stopping and index not in running and time.monotonic() >= begun[index] + pause:
                begun[index] = time.monotonic()
                running[index] = _start(bound, memory, index, count)
        time.sleep(0.2)


def _start(bound: socket.socket, memory: int, index: int, indices: int) -> subprocess.Popen[bytes]:
    handle = bound.fileno()
    words = [sys.executable, "-m", "dither.collection.server", *map(str, (handle, memory, index, indices))]
    started = subprocess.Popen(words, pass_fds=[handle, memory], start_new_session=True)
    log("started a process", process=started.pid)
    return started


def _work(handle: int, memory: int, index: int, indices: int) -> int:
    from dither.collection.server import from_environment, run

    to_stderr()
    try:
        app = from_environment(Signals(memory, index, indices))
    except (DitherError, OSError) as error:  # one line, without the address: it may hold a password
        log("the process cannot start", level=logging.ERROR, error=str(error), process=os.getpid())
        return 1
    run(socket.socket(fileno=handle), app)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_work(*map(int, sys.argv[1:])))


_PLAN: Final = "DITHER_SERVE"  # the environment variable with the plan of a worker
_BACKLOG: Final = 2048
_DRAIN: Final = 30  # time for open requests to end after SIGTERM, in seconds


@dataclass(frozen=True)
class ServerPlan:
    """The campaigns, store, keys and address of a collector to serve."""

    campaigns: tuple[str, ...]
    store: str
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    key: str | None = None
    token: str | None = None  # the file of it
    settings: Settings = field(default_factory=Settings)
    sealing_keys: tuple[str, ...] = ()  # the files of them
    listed: str | None = None  # the file of the list of campaigns
    new_key: bool = False  # True if a missing key is created
    no_list: bool = False  # True if a store with campaigns may start without their list

    def __post_init__(self) -> None:
        shared = is_postgresql(self.store)
        if self.workers > 1 and not shared:
            raise InvalidParameter(
                f"expected one worker with SQLite, got {self.workers}; use --workers 1, or --store "
                "postgresql://…"
            )
        if self.workers > 1 and not hasattr(signal, "SIGHUP"):
            raise InvalidParameter(
                f"expected one worker, because this system cannot share a socket, got {self.workers}; "
                "use "
                "--workers 1"
            )
        unsigned = next(filter(_is_toml, self.campaigns), None)
        lost = self.key is None and shared
        if unsigned is not None and (lost or not (self.new_key or self.key_file.exists())):
            lacks = "no key was given" if lost else f"there is no key {self.key_file}"
            raise InvalidParameter(
                f"expected a signed campaign, got {unsigned}, and {lacks}; sign it where the asker's key "
                f"is kept (`dither campaign publish {unsigned} --key asker.key --new-key -o "
                "campaign.json`) and serve campaign.json, or give "
                f"{'--key FILE' if lost else 'that key with --key FILE'}, or create a key here with "
                "--new-key"
            )

    @property
    def key_file(self) -> Path:
        """The file of the key: by default next to the store."""
        return Path(self.key) if self.key is not None else Path(self.store).with_suffix(".key")

    def read_campaigns(self) -> list[Published]:
        """Return the present campaigns of the files; TOML files are signed with the key.

        Raise InvalidParameter if a current campaign has a sealing key without its private key: all requests
        encrypted to it would be refused.
        """
        made = [self._read_campaign(Path(name)) for name in self.campaigns]
        for published in made:
            check_counted(published.contract)
        for published in made:
            key = published.contract.sealing_key
            over = reason_closed(published, today(), self.settings.grace) in (Reason.LATE, Reason.RETIRED)
            if key is not None and key not in self.private_keys and not over:
                raise InvalidParameter(
                    f"expected the private key of {key[:16]}… because devices encrypt to it for the "
                    f"campaign {published.contract.name!r}; give its file with --sealing-key"
                )
        return made

    @cached_property
    def private_keys(self) -> GatewayKeys:
        """The private sealing keys of the files, by their key configurations."""
        keys = [read_sealing_key(Path(name)) for name in self.sealing_keys]
        return {configuration(key): key for key in keys}

    def _read_campaign(self, path: Path) -> Published:
        if not _is_toml(path):
            return Published.from_json(path.read_bytes())
        return Signer(self.key_file, make=self.new_key).publish(Campaign.read(path))

    def check_list(self) -> None:
        """Raise InvalidParameter if the list next to the key is gone while the store has campaigns.

        Signing would begin another list, and devices that know the old one would refuse every campaign.
        """
        file = list_file(self.key_file)
        if self.no_list or self.listed is not None or file.exists() or not self.key_file.exists():
            return
        if not is_postgresql(self.store) and not Path(self.store).exists():
            return
        store = open_store(self.store)
        try:
            known = [published.contract.name for published in store.campaigns()]
        finally:
            store.close()
        if known:
            raise InvalidParameter(
                f"cannot find the list {file} of the store's campaigns ({known[0]!r}): without "
                "it, devices refuse them; put a copy back, give it with --list FILE, or use "
                "--no-list"
            )

    def campaign_list(self, campaigns: list[Published]) -> CampaignList | None:
        """Return the list of campaigns, by default next to the key, or None.

        Raise InvalidParameter if the list lacks a campaign of its key: devices would refuse that campaign.
        """
        path = list_file(self.key_file) if self.listed is None else Path(self.listed)
        if self.listed is None and not path.exists():
            return None
        known = read_list(path)
        for published in campaigns:
            if published.key == known.key and published.id not in known.campaigns:
                raise InvalidParameter(
                    f"expected the campaign {published.contract.name!r} in the list {path.name}; add it "
                    "with `dither campaign publish`"
                )
        return known

    def writer(self, campaigns: list[Published], signals: Signals | None = None) -> Writer:
        """Open the store and return the writer of a collector with the campaigns."""
        known = self.campaign_list(campaigns)
        store = open_store(self.store)
        collector = Collector(store, self.settings, sealing_keys=self.private_keys, signals=signals)

        def reload() -> list[Published]:
            found = self.read_campaigns()
            collector.listed = self.campaign_list(found)
            return found

        try:
            collector.listed = known
            for published in campaigns:
                collector.publish(published)
        except BaseException:
            collector.store.close()
            raise
        return Writer(collector, reload)


def _is_toml(name: str | Path) -> bool:
    return str(name).endswith(".toml")


def from_environment(signals: Signals | None = None) -> Starlette:
    """Return the application that the environment describes; every worker runs it."""
    given = json.loads(os.environ[_PLAN])
    given |= {name: tuple(given[name]) for name in ("campaigns", "sealing_keys")}
    given["settings"] = Settings(**given["settings"])
    plan = ServerPlan(**given)
    return make_app(plan, plan.read_campaigns(), signals)


def make_app(plan: ServerPlan, campaigns: list[Published], signals: Signals | None = None) -> Starlette:
    """Return the application of a plan and its campaigns; its store is open, and all reports are counted."""
    from dither.collection.web.app import application

    token = None if plan.token is None else read_token(Path(plan.token))
    to_stderr()
    writer = plan.writer(campaigns, signals)
    log("collecting", campaigns=len(writer.collector.campaigns), process=os.getpid())
    app = application(writer, token=token)
    app.state.settings = plan.settings
    return app


class Addresses(NamedTuple):
    """The addresses of a collector, and the public keys of its campaigns."""

    page: str
    campaigns: tuple[str, ...]
    client: str
    keys: tuple[str, ...]  # the public keys that campaigns are signed with


def serve(plan: ServerPlan, tell: Callable[[Addresses], None]) -> None:
    """Serve until SIGTERM or SIGINT. `tell` gets the addresses once connections are accepted."""
    _check_extra()
    with _bound(plan.host, plan.port) as bound:
        plan.check_list()
        campaigns = plan.read_campaigns()
        if plan.workers == 1:
            app = make_app(plan, campaigns)
        else:
            app = None
            to_stderr()
            open_store(plan.store).close()  # an unusable store is reported once, before any process starts
        position = _address(bound)
        reported = tuple(f"{position}/v1/campaigns/{published.id}" for published in campaigns)
        keys = tuple(dict.fromkeys(published.key for published in campaigns))
        tell(Addresses(f"{position}/", reported, f"{position}/client/dither.js", keys))
        if app is not None:
            run(bound, app)
        else:
            os.environ[_PLAN] = json.dumps(asdict(plan))
            supervise(bound, plan.workers)


def _check_extra() -> None:
    """Raise MissingExtra before a key or a store is made, if a package of the extra is not installed."""
    if any(find_spec(name) is None for name in ("httptools", "psycopg", "starlette", "uvicorn")):
        raise MissingExtra("the collector", "service")


def run(bound: socket.socket, app: Starlette) -> None:
    """Serve an application in this process, on a socket."""
    import uvicorn

    config = uvicorn.Config(
        app,
        http=protocol(app.state.settings),
        access_log=False,  # no address is written anywhere
        log_config=None,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_DRAIN,
    )

    class Leaving(uvicorn.Server):
        """A server that closes its open pages at once when it stops."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.stopping = True
            super().handle_exit(sig, frame)

    Leaving(config).run(sockets=[bound])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    # Without this option Windows would let a second server listen at the same address.
    option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    bound.setsockopt(socket.SOL_SOCKET, option, 1)
    bound.bind((host, port))
    bound.set_inheritable(True)
    bound.listen(_BACKLOG)
    return bound


def _address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
