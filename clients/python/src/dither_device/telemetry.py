"""Telemetry of a command-line tool, with consent, a promise and a budget. It never raises into the program.

telemetry = Telemetry.from_campaign("campaign.json", app="mytool", version="1.2", address="https://…")
telemetry.answer("command", "build")
"""

from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.account import Account
    from dither_device.campaign import Campaign
    from dither_device.rules import Policy
    from dither_device.sending import Sent
    from dither_device.state import State

ACTIONS = ("on", "off", "status", "show", "take-back", "erase")
_SWITCHES = ("DO_NOT_TRACK", "NO_TELEMETRY")
# Set by continuous integration: nobody is there.
_MACHINES = ("CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL")
_NEVER = "/etc/dither/no-telemetry"
_HOUR = 3600.0  # seconds between two attempts to send
_WAIT = 0.25  # seconds for which another thread may be answering
WAIT_FILE = 2.0  # seconds for which other processes may hold the account
TEST = "DITHER_TELEMETRY_TEST"  # a switch for developers, and the label of their reports
_TEST_LABEL = "test"
_VERIFIED = 16  # campaigns whose digests are kept
_READER = "dither-device 1"  # what verified a campaign: a later reader verifies it again


class _Lock:
    """A lock that is not waited for: a signal handler in the middle of an answer would wait for itself."""

    def __init__(self) -> None:
        self._lock = allocate_lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=_WAIT):
            raise BlockingIOError("another answer is being given")

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class Telemetry:
    """Questions of a tool to the person who runs it; every answer is randomised before it is kept.

    `campaign` is the file of `dither campaign publish`, `key` the asker's public key; `address` and `relay`
    are the addresses of the collector and of a relay. `version` is sent if the campaign lists it. `epsilon`
    is the tool's budget for a year; by default the campaign's. `ask`: whether to request consent at the first
    answer on a terminal; `background`: whether another process sends, at most once an hour. `presence` is the
    file of a second campaign, with `repeat = "present"`, for `present()`: one consent covers both. `folder`
    has consent and account; `DITHER_ACCOUNT` names an account that several tools share. `problem` says what
    went wrong at the latest answer or sending; None if nothing did. `DITHER_TELEMETRY_TEST=1` is for
    developers: other consent, another account, every day is the drawn one, and the label `test`.
    """

    def __init__(
        self,
        campaign: str | os.PathLike[str],
        *,
        app: str,
        version: str = "",
        address: str | None = None,
        key: str | None = None,
        relay: str | None = None,
        epsilon: float | None = None,
        policy: Policy | None = None,
        folder: str | os.PathLike[str] | None = None,
        ask: bool = True,
        background: bool = True,
        presence: str | os.PathLike[str] | None = None,
    ) -> None:
        self.file, self.app, self.version = campaign, app, version
        self.address, self.key, self.relay = address, key, relay
        self.epsilon, self.policy, self.ask_first, self.background = epsilon, policy, ask, background
        self.problem: str | None = None
        self._folder, self._process, self._own_lock = folder, os.getpid(), _Lock()
        self._campaign: Campaign | None = None
        self._verified: str | None = None
        self._account: Account | None = None
        self._sender: int | None = None  # the process that sends; 0 if it is known to need none
        self._owner: Telemetry | None = None  # the owner of consent and account
        self._counted: Telemetry | None = None
        if presence is not None:
            same: dict[str, Any] = {"address": address, "key": key, "relay": relay, "policy": policy}
            same |= {"folder": folder, "background": background, "epsilon": epsilon}
            self._counted = Telemetry(presence, app=app, version=version, ask=ask, **same)
            self._counted._owner = self

    @property
    def _lock(self) -> _Lock:
        """A lock of this process: one that another thread held at a fork would never be free again."""
        if self._process != os.getpid():
            self._process, self._own_lock, self._sender = os.getpid(), _Lock(), None
        return self._own_lock

    @classmethod
    def from_campaign(
        cls,
        campaign: str | os.PathLike[str],
        *,
        app: str,
        version: str = "",
        address: str | None = None,
        key: str | None = None,
        **more: Any,
    ) -> Telemetry:
        """Return the telemetry of a campaign's file; `more` are the other words of `Telemetry`."""
        return cls(campaign, app=app, version=version, address=address, key=key, **more)

    # --- answers

    def answer(self, question: str, value: object) -> str:
        """Answer a question and return what became of it; whatever happens, nothing is raised.

        drawn (sent later), silent (another day was drawn), repeated (a permanent answer), refused (budget or
        policy), outside (no such answer), closed (not running), off (no consent) or failed (see `problem`).
        `DITHER_TELEMETRY_DEBUG=1` prints it, never a value.
        """
        return self._report(question, lambda: self._answer(question, value))

    def _report(self, name: str, work: Callable[[], str]) -> str:
        """Return what became of an answer; an error is kept in `problem`."""
        self.problem = None
        try:
            with self._lock:
                reported = work()
        except Exception as error:
            reported = self._fail(error)
        if os.environ.get("DITHER_TELEMETRY_DEBUG"):
            _say(f"telemetry: {name}: {reported}{f' ({self.problem})' if reported == 'failed' else ''}\n")
        return reported

    def _agreed(self) -> bool:
        """Return whether keeping and sending is allowed; request consent at the first time."""
        if self._why_off() is not None:
            return False
        consent = self._consent()
        return consent == "on" or (consent is None and self.ask_first and self._ask())

    def _answer(self, name: str, value: object) -> str:
        def draw(account: Account, state: State, campaign: Campaign) -> tuple[str, bool]:
            labels = campaign.question(name).labels
            otherwise = "other" if labels is not None and "other" in labels else None
            asking = campaign.asking(name, otherwise=otherwise)
            if is_test() and asking.repeat == "once":  # the drawn day is today
                asking.facts = {**asking.facts, "days": 1, "start": 0}
                asking.facts.pop("every", None)
            return account.answer_in(state, asking, value).outcome, bool(state.queue)

        return self._with_campaign(draw)

    def _with_campaign(self, draw: Callable[[Account, State, Campaign], tuple[str, bool]]) -> str:
        """Return the outcome of a draw in a transaction; `draw` also returns whether anything waits."""
        if not self._agreed():
            return "off"
        from dither_device.draws import Outside
        from dither_device.text import Refused

        account, text = self._open_account(), self._read_file()
        try:
            with account.transaction() as state:
                campaign = self._trusted(account, state, text)
                if not campaign.is_open(int(time.time()) // 86_400):
                    return "closed"
                outcome, waits = draw(account, state, campaign)
        except Outside:
            return "outside"
        except Refused as error:
            self.problem = f"refused: {error.reason}"
            return "refused"
        if waits:
            self._send_later()
        return outcome

    def present(self, value: object = None) -> str:
        """Say that the tool is used; return what became of it. Whatever happens, nothing is raised.

        The campaign has `repeat = "present"`: one message on the first use in a period. drawn or present
        (sent now or later), silent (this period has a message), refused, closed, off or failed, as `answer`.
        `value` is what the permanent label is about; without one it is the day of the first use.
        """
        return self._report("present", lambda: self._present(value))

    def _present(self, value: object) -> str:
        def draw(account: Account, state: State, campaign: Campaign) -> tuple[str, bool]:
            outcome = account.present_in(state, campaign, value, labels=not is_test())
            return outcome, any(message["batch"] is not None for message in state.present.values())

        if self._counted is None:
            return self._with_campaign(draw)
        if not self._agreed():  # one consent covers both
            return "off"
        reported = self._counted.present(value)
        self.problem = self._counted.problem
        return reported

    def _fail(self, error: BaseException) -> str:
        from dither_device.text import DeviceError

        # The text of another error may hold anything: its kind alone is kept.
        known = isinstance(error, DeviceError)
        self.problem = str(error) if known else f"{type(error).__name__}{_details(error)}"
        damaged = any(word in self.problem for word in ("damaged", "not an account"))
        if known and damaged and self._account_file() == self._path("account"):
            self.problem += f"; `{self.app} telemetry erase` removes it, and what was given is forgotten"
        return "failed"

    # --- sending

    def send(self) -> Sent | None:
        """Send what waits, now, in this process; None if telemetry is off. Nothing is raised."""
        self.problem = None
        try:
            with self._lock:
                if self._why_off() is not None or self._consent() != "on" or self.address is None:
                    return None
                from dither_device.sending import send

                account, text = self._open_account(), self._read_file()
                with account.transaction() as state:
                    campaign = self._trusted(account, state, text)
                if is_test() and _TEST_LABEL not in campaign.terms["labels"]:
                    self.problem = f"the campaign does not list the label {_TEST_LABEL!r}: nothing is sent"
                    return None
                done = send(
                    account,
                    campaign,
                    self.address,
                    relay=self.relay,
                    label=self._label,
                    allowed=lambda: self._why_off() is None and self._consent() == "on",
                )
                self.problem = done.problem
                return done
        except Exception as error:
            self._fail(error)
            return None

    def _send_later(self) -> None:
        """Start a process that sends, at most once in this one and once an hour."""
        if self._sender is not None:
            if self._sender:
                self._sender = _reap(self._sender)
            return
        if not self.background or self.address is None:
            return
        self._sender = 0
        name = "sent" if self._owner is None else "sent-presence"
        marker, now = self._path(name), time.time()
        try:
            last = os.stat(marker).st_mtime
        except FileNotFoundError:
            last = 0.0
        if now - _HOUR < last < now + 2 * 86_400:  # a time far ahead comes from a wrong clock
            return
        self._write(name, "")
        from dither_device.sending import spawn

        self._sender = spawn(
            {
                **{"campaign": os.path.abspath(self.file), "app": self.app, "version": self.version},
                **{"key": self.key, "address": self.address, "relay": self.relay},
                **{"folder": self._own_base(), "marker": marker},
            }
        )

    # --- consent

    def ask(self) -> bool:
        """Request consent, once and only if a person is there; return whether it is given."""
        try:
            with self._lock:
                if self._why_off() is not None:
                    return False
                consent = self._consent()
                return self._ask() if consent is None else consent == "on"
        except Exception as error:
            self._fail(error)
            return False

    def _ask(self) -> bool:
        if self._is_machine() or not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
            return False
        from dither_device.consent import forget_input, general_of, record_of, scrolls, short_of
        from dither_device.text import canonical, digest

        campaign = self._verify()
        shown = digest(canonical([general_of(campaign, self.address, self.relay), record_of(campaign)]), 16)
        path = self._path(f"asked-{shown}")
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        try:  # one of two processes requests consent; an unanswered request is not repeated
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        words = self._words(campaign)
        if scrolls(words):
            words += "\n" + short_of(campaign, self._budget()[0])
        _say(words + "\n")
        read_answer = forget_input()
        _say(f"May {self.app} send such answers? [y/N] ")
        reported = read_answer().strip().lower() in ("y", "yes")
        if reported:
            self._agree_to_both(campaign)
        now = "on" if reported else "off"
        _say(f"Telemetry is {now}; `{self.app} telemetry on` and `off` change it, `show` shows it.\n")
        return reported

    def _agree(self, campaign: Campaign) -> None:
        """Keep a yes to the shown campaign, in addition to other askers'."""
        from dither_device.consent import general_of, record_of
        from dither_device.text import canonical

        records = self._records() or {}
        records.pop("", None)
        mark = self._mark(self._verified or "")
        records[general_of(campaign, self.address, self.relay)] = {**record_of(campaign), "seen": mark}
        self._write("consent", canonical(records) + "\n")

    def _agree_to_both(self, campaign: Campaign) -> None:
        """Keep a yes to the campaign, and to the presence that was shown with it."""
        self._agree(campaign)
        if self._counted is not None:
            self._counted._agree(self._counted._verify())

    def _mark(self, text: str) -> str:
        from dither_device.text import digest

        return digest(f"{self.key}\n{self.address}\n{self.relay}\n{text}", 64)

    def _why_off(self) -> str | None:
        """Return the reason that forbids questions, keeping and sending for any consent, or None."""
        environment = os.environ
        for name in _SWITCHES:
            if environment.get(name, "0").lower() not in ("", "0", "false", "no"):
                return f"{name} is set"
        for path in (_NEVER, os.path.join(_config() or "", "dither", "no-telemetry")):
            if os.path.isabs(path) and os.path.exists(path):
                return f"there is a file {path}"
        if self._is_machine() and not is_test():
            return "this is continuous integration"
        return self._why_foreign()

    def _why_foreign(self) -> str | None:
        """Return why this machine has no folder of this person's own, or None."""
        if "SUDO_UID" in os.environ:
            return "this was started by sudo"
        folder = self._base()
        if folder is None:
            return "no home folder was found"
        while not os.path.exists(folder) and os.path.dirname(folder) != folder:
            folder = os.path.dirname(folder)
        if hasattr(os, "geteuid") and os.stat(folder).st_uid != os.geteuid():
            return f"{folder} belongs to somebody else"
        return None

    @staticmethod
    def _is_machine() -> bool:
        return any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in _MACHINES)

    def _records(self) -> dict[str, Any] | None:
        """Return the kept consent by asker; None without a request, or if the shown campaign is unknown."""
        try:
            with open(self._path("consent"), encoding="utf-8") as stream:
                text = stream.read(1 << 20)
            if text.strip() == "on":
                return None  # an older version: the shown campaign is unknown, so consent is requested again
            from json import loads

            records = loads(text)
            if isinstance(records, dict) and all(isinstance(one, dict) for one in records.values()):
                return records
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            pass
        return {"": {}}  # a no

    def _consent(self) -> str | None:
        """Return on, off, or None without a request about this campaign; an unreadable file means off."""
        records = self._records()
        if records is None:
            return None
        if "" in records:
            return "off"
        text = self._read_file()
        mark = self._mark(text)
        if any(record.get("seen") == mark for record in records.values()):
            return "on"
        from dither_device.consent import covers, general_of

        if self._verified != text:
            self._campaign = None
        campaign = self._verify()
        if not covers(records.get(general_of(campaign, self.address, self.relay)), campaign):
            return None
        self._agree(campaign)  # a version without further questions
        return "on"

    # --- the command

    def run(self, action: str) -> str:
        """Return what `mytool telemetry ACTION` prints: one of ACTIONS. Nothing is raised."""
        try:
            with self._lock:
                if action not in ACTIONS:
                    return f"say one of {', '.join(ACTIONS)}"
                from dither_device.actions import BY_NAME

                return BY_NAME[action](self)
        except Exception as error:
            self._fail(error)
            return f"telemetry: {self.problem}"

    def add_parser(self, subparsers: Any, dest: str = "func") -> Any:
        """Add `telemetry on|off|status|…` to the subparsers of argparse; return its parser.

        The function that runs it and prints is the default `dest` of the parsed words: `args.func(args)`. A
        program with another dispatch of its commands passes another name, or checks `if hasattr(args,
        "func")` first.
        """
        parser = subparsers.add_parser("telemetry", help="Show or switch telemetry.", description=_HELP)
        parser.add_argument("action", choices=ACTIONS, nargs="?", default="status")
        parser.set_defaults(**{dest: lambda words: _say(self.run(words.action) + "\n", sys.stdout)})
        return parser

    def click_command(self) -> Any:
        """Return the same as a command of click: `cli.add_command(telemetry.click_command())`."""
        import click

        @click.command(name="telemetry", help=_HELP)
        @click.argument("action", type=click.Choice(ACTIONS), default="status")
        def command(action: str) -> None:
            _say(self.run(action) + "\n", sys.stdout)

        return command

    def _words(self, campaign: Campaign) -> str:
        """Return the questions, the asker, the purpose and the promise, in plain words."""
        from dither_device.consent import words_of

        words = words_of(campaign, self._budget()[0])
        if self._counted is None:
            return words
        return f"{words}\n{words_of(self._counted._verify(), self._budget()[0])}"

    # --- files

    def _trusted(self, account: Account, state: State, text: str) -> Campaign:
        """Return the campaign: verified once, and then recognised by its digest in the account."""
        from dither_device.campaign import Campaign
        from dither_device.text import digest

        if self._campaign is not None and self._verified == text:
            return self._campaign
        mark = digest(f"{_READER}\n{self.key}\n{text}", 64)
        verified = state.known.get("verified", [])
        known = mark in verified
        campaign = Campaign(text, key=self.key, verified=known)
        if not known:  # some are kept, for tools that share an account
            account.remember_in(state, {**state.known, "verified": [*verified, mark][-_VERIFIED:]})
        self._campaign, self._verified = campaign, text
        return campaign

    def _verify(self) -> Campaign:
        """Return the campaign, verified now, without an account."""
        if self._campaign is None:
            from dither_device.campaign import Campaign

            text = self._read_file()
            self._campaign, self._verified = Campaign(text, key=self.key), text
        return self._campaign

    def _read_file(self) -> str:
        with open(self.file, encoding="utf-8") as stream:
            return stream.read()

    def _account_file(self) -> str:
        own = "" if self._base() is None else self._path("account")
        return own if is_test() else os.environ.get("DITHER_ACCOUNT") or own

    def _open_account(self) -> Account:
        if self._owner is not None:
            return self._owner._open_account()
        if self._account is not None and self._account.path == self._account_file():
            return self._account
        from dither_device.account import Account
        from dither_device.text import AccountUnusable

        position = self._account_file()
        more: dict[str, Any] = {"policy": self.policy, "wait": WAIT_FILE}
        if position == self._path("account") and not os.path.exists(position):
            os.makedirs(os.path.dirname(position), mode=0o700, exist_ok=True)
            epsilon, delta = self._budget()
            try:
                self._account = Account.create(position, epsilon=epsilon, delta=delta, epoch="year", **more)
                return self._account
            except AccountUnusable:
                if not os.path.exists(position):
                    raise  # otherwise another process was faster
        self._account = Account(position, **more)
        return self._account

    def _budget(self) -> tuple[float, float]:
        """Return ε and δ for a year; by default the campaign's."""
        campaign = self._verify()
        terms, promise = campaign.terms, campaign.terms["promise"]
        times = 1
        if terms["repeat"] == "fresh":
            times = terms.get("answers") or 1
        elif terms["repeat"] in ("once", "kept change"):
            from dither_device.campaign import day_of

            length = day_of(terms["ends"]) - day_of(terms["begins"]) + 1
            days = terms.get("days") or {"day": 1, "week": 7, "month": 28}[terms["every"]]
            calendar = "every" in terms and length > 1  # a period may have begun before the campaign
            times = -(-min(366, length) // days) + (length > 366 or calendar)  # periods that a year touches
        times *= 366 if is_test() else 1  # a round of answers on each day of a year
        epsilon = promise["epsilon"] * times if self.epsilon is None else self.epsilon
        if self._counted is not None and self.epsilon is None:
            epsilon += self._counted._verify().terms["promise"]["epsilon"]
        return epsilon, min((promise["delta"] or 0.0) * times, 1.0)

    @property
    def _label(self) -> str:
        return _TEST_LABEL if is_test() else self.version

    def _base(self) -> str | None:
        base = self._own_base()
        return os.path.join(base, "test") if base is not None and is_test() else base

    def _own_base(self) -> str | None:
        if self._folder is not None:
            return os.path.abspath(self._folder)
        state = _state_folder()
        return None if state is None else os.path.join(state, self.app, "telemetry")

    def _path(self, name: str) -> str:
        base = self._base()
        if base is None:
            raise FileNotFoundError(2, "no home")
        return os.path.join(base, name)

    def _write(self, name: str, text: str) -> None:
        """Write a small file completely or not at all, readable only by its owner."""
        path = self._path(name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        part = f"{path}.{os.urandom(4).hex()}"
        number = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            try:
                os.write(number, text.encode())
            finally:
                os.close(number)
            os.replace(part, path)
        except OSError:  # a full disk
            os.unlink(part)
            raise


_HELP = "Switch telemetry on or off, show its questions and data, or erase the data kept here."


def is_test() -> bool:
    """Return whether developers try the tool: `DITHER_TELEMETRY_TEST` is set."""
    return os.environ.get(TEST, "").lower() not in ("", "0", "false", "no")


def _details(error: BaseException) -> str:
    """Return the number and the file of an error of the system (they hold no value); else nothing."""
    from errno import errorcode

    if not isinstance(error, OSError) or error.errno is None or error.errno not in errorcode:
        return ""
    return f" ({errorcode[error.errno]}{f', {error.filename}' if isinstance(error.filename, str) else ''})"


def _reap(number: int) -> int:
    """Return 0 if a process has ended, and let the system forget it; otherwise its number."""
    try:
        return 0 if os.waitpid(number, os.WNOHANG)[0] else number
    except (OSError, AttributeError):
        return 0


def _say(text: str, stream: Any = None) -> None:
    """Write a text to a stream, by default standard error. The stream may lack ε, or be closed."""
    stream = sys.stderr if stream is None else stream
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            stream.write(text.replace("ε", "eps").encode("ascii", "replace").decode("ascii"))
        stream.flush()
    except (AttributeError, OSError, ValueError):  # none, closed, or a pipe that nobody reads
        pass


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # it is missing or closed
        return False


def _home() -> str | None:
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else None


def _place(variable: str, *below: str) -> str | None:
    stated, home = os.environ.get(variable, ""), _home()
    if os.path.isabs(stated):
        return stated
    return None if home is None else os.path.join(home, *below)


def _state_folder() -> str | None:
    if os.name == "nt":
        return _place("LOCALAPPDATA", "AppData", "Local")
    if sys.platform == "darwin":
        return _place("", "Library", "Application Support")
    return _place("XDG_STATE_HOME", ".local", "state")


def _config() -> str | None:
    return _place("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME", ".config")
