"""What one person has given, in one SQLite file: that of `dt.Account`, which may be used in turns with it.

Every call is one transaction. What was spent is on disk before a report is returned. Every effect is a row
whose digest includes that of the row before; the whole file is checked when it is opened.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import time
from _thread import RLock

from dither_device.draws import Outside
from dither_device.question import Question, repeat_bound
from dither_device.rules import (
    EPOCHS,
    MOST_BUDGET,
    MOST_SECOND,
    VERSION,
    Decision,
    Policy,
    State,
    decide,
    epoch_of,
    limit,
)
from dither_device.text import (
    AccountUnusable,
    DeviceError,
    Refused,
    canonical,
    is_digits,
    need,
    sha256,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from dither_device.rules import Data

_APPLICATION = 0x64697468  # "dith"
_SCHEMA = (
    "CREATE TABLE secret (key BLOB)",
    "CREATE TABLE log (sequence INTEGER PRIMARY KEY, effect TEXT NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE last (sequence INTEGER NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE reports (name TEXT PRIMARY KEY, salt BLOB NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID",
)
_SETTINGS = (
    "PRAGMA journal_mode = DELETE",  # one file: nothing is beside it but while a transaction runs
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = 1",
    "PRAGMA secure_delete = ON",  # acknowledged reports are overwritten
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_BEGIN = bytes(32)
_GONE = "gone"  # in the place of bytes that were deleted
_REPEATS = ("fresh", "same", "per value", "once")


class Inquiry:
    """A question with its name, who asks it, and how often it may be answered. `Account.answer` takes it.

    `days` and `start` (a day since 1970) are the periods of `"once"`. `times` is the number of locations of a
    path. `data` are the seconds that the value is about, the second excluded. `otherwise` is the value that
    stands for all that are not in the domain.
    """

    def __init__(
        self,
        name: str,
        question: Question,
        *,
        asker: str = "",
        repeat: str = "fresh",
        days: int | None = None,
        start: int = 0,
        times: int | None = None,
        data: tuple[int, int] | None = None,
        otherwise: Any = None,
    ) -> None:
        once = repeat == "once"
        for text, least in ((name, 1), (asker, 0)):
            need(isinstance(text, str) and least <= len(text) <= 200 and text.isprintable(), "asking")
        need(isinstance(question, Question) and repeat in _REPEATS, "asking")
        need(days is None or (type(days) is int and 1 <= days <= 36_600), "asking", "days")
        need(once == (days is not None) and type(start) is int, "asking", "days go with once")
        need(question.is_path == (times is not None), "asking", "times, the number of locations of a path")
        need(times is None or (type(times) is int and 1 <= times <= 1 << 16), "asking", "times")
        need(question.epsilon < float("inf") and not question.is_joint, "asking", "an account counts ε")
        self.name, self.question, self.asker, self.otherwise = name, question, asker, otherwise
        self.repeat, self.times = repeat, times
        epsilon, delta = question.epsilon, question.delta
        if times is not None and times > 1:
            epsilon, delta = repeat_bound(epsilon, times), repeat_bound(delta, times)
        self.facts: Data = {
            "asker": asker,
            "question": name,
            "fingerprint": question.fingerprint,
            "mechanism": question.mechanism,
            "epsilon": epsilon,
            "delta": min(delta, 1.0),
            "assumes": [],
            "repeat": repeat,
            "days": days,
            "start": start if once else None,
            "data": None if data is None else list(data),
            **({} if times is None else {"times": times}),
        }

    def place(self, value: object) -> Any:
        """Return the input of a value; raise Outside if nobody may answer with it."""
        try:
            placed = self.question.place(value)
        except Outside:
            if self.otherwise is None:
                raise
            placed = self.question.place(self.otherwise)
        if self.times is not None and len(placed) != self.times:
            raise Outside("another number of locations than is charged")
        return placed


class Answer:
    """What became of an answer: `outcome` is drawn, repeated, resent, acknowledged or silent."""

    __slots__ = ("outcome", "report")

    def __init__(self, outcome: str, report: bytes | None) -> None:
        self.outcome, self.report = outcome, report

    def __repr__(self) -> str:
        return f"Answer({self.outcome!r})"


class Moment:
    """What the clocks of this machine show: `Moment.now()` is a moment as plain data."""

    _boot: tuple[str, int | None] | None = None

    @classmethod
    def now(cls) -> Data:
        """Read the clocks; years before 1970 and after 9999 are not believed."""
        if cls._boot is None:
            try:
                with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
                    cls._boot = stream.read().strip(), time.CLOCK_BOOTTIME  # counts in sleep, too
            except (OSError, ValueError, AttributeError):
                cls._boot = f"process {os.urandom(8).hex()}", None
        name, clock = cls._boot
        elapsed = int(time.monotonic() if clock is None else time.clock_gettime(clock))
        return {"boot": name, "elapsed": elapsed, "wall": min(max(int(time.time()), 0), MOST_SECOND)}


class Account:
    """What one person has given: entries, permanent answers, drawn days, reports that wait.

    `Account.create` makes a file, `Account(path)` opens one. A file that is damaged, missing or readable by
    others is refused (AccountUnusable). `policy` says what is accepted: by default answers of ε ≤ 1 without δ
    that assume nothing. `wait` is how long another process may hold the file, in seconds.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        wait: float = 30.0,
        now: Callable[[], Data] = Moment.now,
    ) -> None:
        self.path, self.wait, self.policy, self._now = os.fspath(path), wait, policy or Policy(), now
        self._lock = RLock()
        self._abandoned: list[sqlite3.Connection] = []  # those of the process that forked this one
        self._sequence, self._head = -1, _BEGIN
        self._connect()
        try:
            with self._transaction() as state:
                key = self._key()
                if key is not None and key_digest(key) != state.key:
                    raise AccountUnusable(f"{self.path}: the secret key in it is damaged")
        except BaseException:
            self.close()
            raise

    @staticmethod
    def create(
        path: str | os.PathLike[str],
        *,
        epsilon: float,
        epoch: str = "lifetime",
        delta: float = 0.0,
        lifetime: float | None = None,
        quota: float | None = None,
        askers: int | None = None,
        now: Callable[[], Data] = Moment.now,
        **more: Any,
    ) -> Account:
        """Make a new account and open it: `epsilon` and `delta` for each epoch, over all askers.

        `lifetime` is the most ε over all epochs, `quota` the most that one asker may take of an epoch,
        `askers` how many new askers are admitted until the person acts. The file appears when it is whole,
        readable by its owner alone.
        """
        need(epoch in EPOCHS and (lifetime is None or epoch != "lifetime"), "epsilon", "no such epoch")
        for budget in (epsilon, delta, lifetime, quota):
            fine = budget is None or (type(budget) in (int, float) and 0 <= budget <= MOST_BUDGET)
            need(fine, "epsilon", "a budget is a number from 0 upwards")
        need(0 <= delta <= 1 and (askers is None or (type(askers) is int and askers >= 0)), "epsilon")
        place, moment, secret = os.fspath(path), now(), os.urandom(32)

        def units(most: float) -> Data:
            return {"epsilon": f"{limit(most, 64):x}", "delta": f"{limit(delta, 128):x}"}

        own = {**units(epsilon), "lifetime": None if lifetime is None else units(lifetime)}
        limits = {
            **{"epoch": epoch, **own, "quotas": {}, "askers": askers},
            "quota": None if quota is None else f"{limit(quota, 64):x}",
        }
        opened = {
            **{"account": VERSION, "person": os.urandom(16).hex(), "device": os.urandom(16).hex()},
            **{"limits": limits, "own": own, "born": moment["wall"], "clock": {**moment, "ahead": 0}},
            **{"openings": askers, "key": key_digest(secret)},
        }
        text = canonical({"open": opened})
        head = sha256(_BEGIN + text.encode()).digest()
        folder, name = os.path.split(os.path.abspath(place))
        part = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with _Explain(place):
                connection = sqlite3.connect(part, isolation_level=None)
                try:
                    for line in (
                        *_SETTINGS,
                        f"PRAGMA application_id = {_APPLICATION}",
                        f"PRAGMA user_version = {VERSION}",
                        *("BEGIN", *_SCHEMA),
                    ):
                        connection.execute(line)
                    connection.execute("INSERT INTO secret VALUES (?)", (secret,))
                    connection.execute("INSERT INTO log VALUES (0, ?, ?)", (text, head))
                    connection.execute("INSERT INTO last VALUES (0, ?)", (head,))
                    connection.execute("COMMIT")
                finally:
                    connection.close()
            _give_name(part, place)
            if os.name == "posix":
                number = os.open(folder, os.O_RDONLY)
                os.fsync(number)
                os.close(number)
        except FileExistsError:
            raise AccountUnusable(f"{place} exists already; Account(path) opens it") from None
        except OSError as error:
            raise AccountUnusable(f"{place} cannot be written: {error.strerror}") from None
        finally:
            try:
                os.unlink(part)
            except OSError:
                pass
        return Account(place, now=now, **more)

    # --- answers

    def answer(self, asking: Inquiry, value: object, *, identity: str | None = None) -> Answer:
        """Answer a question: check the policy, spend, draw, store; raise Refused if it is not answered.

        Whether it is refused does not depend on the value. A value outside the domain raises Outside, and
        nothing is spent.
        """
        with self._transaction() as state:
            return self.answer_in(state, asking, value, identity)

    def answer_in(self, state: State, asking: Inquiry, value: object, identity: str | None = None) -> Answer:
        """Answer within a transaction that is open."""
        need(identity is None or is_digits(identity, 32), "asking", "an identity")
        event = {
            **{"do": "answer", "id": identity or os.urandom(16).hex()},
            **{"question": asking.facts, "at": self._now()},
        }
        decision = decide(state, event, self.policy, os.urandom)
        if decision.draws:
            try:
                decision = self._draw(decision, asking, value)
            except BaseException as error:
                self._keep(state, decision.without_report())  # a drawn day must not depend on values
                self._failed: BaseException | None = error  # raised when the transaction is on disk
                return Answer("failed", None)
        self._keep(state, decision.effect)
        if decision.outcome["is"] == "refused":
            self._failed = Refused(decision.outcome["reason"])
            return Answer("refused", None)
        report = decision.outcome.get("report")
        return Answer(decision.outcome["is"], None if report is None else bytes.fromhex(report))

    def _draw(self, decision: Decision, asking: Inquiry, value: object) -> Decision:
        placed, question = asking.place(value), asking.question
        if asking.repeat != "per value":
            return decision.with_report(question.draw(placed, os.urandom).hex())
        from dither_device.keyed import MARK, REPORT, source_of

        key = self._key()
        if key is None:
            raise AccountUnusable(f"{self.path}: the secret key is kept elsewhere; use dt.Account")
        told = asking.asker, asking.name, question.fingerprint, question.mark(placed)
        report = question.draw(placed, source_of(key, *told, REPORT))
        mark = None if decision.told is None else source_of(key, *told, MARK)(16).hex()
        return decision.with_report(report.hex(), mark)

    def dry_run(self, asking: Inquiry) -> str:
        """Return what an answer would do: drawn, repeated, silent, or "refused: " and the reason."""
        with self._transaction() as state:
            event = {"do": "dry run", "id": os.urandom(16).hex(), "question": asking.facts, "at": self._now()}
            told = decide(state, event, self.policy, None).outcome
            return f"refused: {told['reason']}" if told["is"] == "refused" else str(told["is"])

    def act(self) -> None:
        """Say that the person did something themselves: new askers are admitted, the clock is believed."""
        self._happen({"do": "act", "at": self._now()})

    def batch(
        self, asker: str = "", *, most: int = 100, questions: Iterable[Inquiry] | None = None
    ) -> tuple[str, list[Data]] | None:
        """Return the identity and the reports to send next; the same until they are acknowledged, or None."""
        with self._transaction() as state:
            event: Data = {"do": "batch", "id": os.urandom(16).hex(), "asker": asker, "most": most}
            if questions is not None:
                event["questions"] = [[asking.name, asking.question.fingerprint] for asking in questions]
            return self.batch_in(state, event)

    def batch_in(self, state: State, event: Data) -> tuple[str, list[Data]] | None:
        """Return the reports of a batch within a transaction that is open."""
        decision = decide(state, event, self.policy, None)
        self._keep(state, decision.effect)
        if decision.outcome["is"] == "empty":
            return None
        return decision.outcome["id"], [state.queue[name] for name in decision.outcome["reports"]]

    def acknowledge(self, identity: str) -> int:
        """Take a report, or a batch, off the queue: the collector has it. Return how many reports it was."""
        gone: int = self._happen({"do": "acknowledge", "id": identity}).get("reports", 0)
        return gone

    @property
    def queue(self) -> list[Data]:
        """The reports that are not acknowledged, in the order in which they were drawn."""
        with self._transaction() as state:
            return list(state.queue.values())

    def remember(self, change: Callable[[Data], Data]) -> None:
        """Replace what is kept about askers by what a function makes of it, at once."""
        with self._transaction() as state:
            self.remember_in(state, change(state.known))

    def remember_in(self, state: State, known: Data) -> None:
        """Keep what is known about askers within a transaction that is open."""
        if known != state.known:
            self._keep(state, {"askers known": known})

    @property
    def left(self) -> float:
        """The ε that this device may still spend now."""
        with self._transaction() as state:
            return left_of(state, self._now()["wall"])

    @property
    def mark(self) -> str:
        """Where the file stands: its length and its last digest."""
        with self._transaction():
            return f"{self._sequence} {self._head.hex()}"

    def wire(self) -> Data:
        """Return the whole state as plain data: see docs/account.md."""
        with self._transaction() as state:
            return state.wire()

    def _happen(self, event: Data) -> Data:
        with self._transaction() as state:
            decision = decide(state, event, self.policy, None)
            self._keep(state, decision.effect)
            return decision.outcome

    def transaction(self) -> _Transaction:
        """Return a context that holds the file and yields its state, for several steps at once."""
        return self._transaction()

    def close(self) -> None:
        """Close the file. Nothing waits to be written."""
        if self._process == os.getpid():
            self._connection.close()

    def __enter__(self) -> Account:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # of an account that was never opened
            pass

    # --- the file

    def _transaction(self) -> _Transaction:
        return _Transaction(self)

    def _connect(self) -> None:
        self._process, self._file = os.getpid(), check_private(self.path)
        self._state: State | None = None
        self._failed = None
        place = os.path.abspath(self.path)
        quoted = "".join(letter if letter not in "%?#" else f"%{ord(letter):02x}" for letter in place)
        with _Explain(self.path):
            self._connection = sqlite3.connect(
                f"file:{quoted}?mode=rw",
                uri=True,
                isolation_level=None,
                timeout=self.wait,
                check_same_thread=False,
            )
            for line in _SETTINGS:
                self._connection.execute(line)

    def _key(self) -> bytes | None:
        ((key,),) = self._connection.execute("SELECT key FROM secret").fetchall()
        return key if isinstance(key, bytes) else None

    def _keep(self, state: State, effect: Data) -> None:
        """Add an effect to the chain and apply it; the bytes of reports are kept apart, under a salt."""
        if not effect:
            return
        told = dict(effect)
        if "queue" in told:
            told["queue"] = self._put("queue", told["queue"])
        if "answers" in told:
            told["answers"] = [self._put("answer", answer) for answer in told["answers"]]
        text = canonical(told)
        head, sequence = sha256(self._head + text.encode()).digest(), self._sequence + 1
        execute = self._connection.execute
        execute("INSERT INTO log VALUES (?, ?, ?)", (sequence, text, head))
        execute("UPDATE last SET sequence = ?, head = ?", (sequence, head))
        state.apply(effect)
        self._sequence, self._head = sequence, head
        gone = [f"queue {identity}" for identity in effect.get("unqueue", ())]
        if "answers" in effect:
            held = {f"answer {answer['id']}" for answer in state.answers.values()}
            gone += [name for name in self._names() if name.startswith("answer ") and name not in held]
        for name in gone:
            execute("DELETE FROM reports WHERE name = ?", (name,))

    def _put(self, kind: str, item: Data) -> Data:
        if item["report"] is None:
            return item
        data, salt = bytes.fromhex(item["report"]), os.urandom(16)
        row = (f"{kind} {item['id']}", salt, data)
        self._connection.execute("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", row)
        return {**item, "report": sha256(salt + data).hexdigest()}

    def _names(self) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM reports")]

    def _current(self) -> State:
        """Return the state as the file has it: what other processes added since is folded in."""
        if self._state is None:
            return self._read()
        if self._last() != (self._sequence, self._head):
            ours = self._connection.execute(
                "SELECT head FROM log WHERE sequence = ?", (self._sequence,)
            ).fetchone()
            if ours is None or ours[0] != self._head:
                raise AccountUnusable(
                    f"{self.path} was rolled back while it was open: put the latest copy back"
                )
            self._fold(self._state)
        return self._state

    def _last(self) -> tuple[int, bytes]:
        ((sequence, head),) = self._connection.execute("SELECT sequence, head FROM last").fetchall()
        return sequence, head

    def _read(self) -> State:
        """Read and check the whole file: every page, every link of the chain, every report."""
        pragmas = {
            name: self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "page_size", "page_count", "quick_check(1)")
        }
        if pragmas["application_id"] != _APPLICATION or pragmas["user_version"] != VERSION:
            raise AccountUnusable(f"{self.path} is not an account of dither, or one of another version")
        size = os.stat(self.path).st_size
        if size != pragmas["page_size"] * pragmas["page_count"] or pragmas["quick_check(1)"] != "ok":
            raise _Damaged
        ((text, head),) = self._connection.execute(
            "SELECT effect, head FROM log WHERE sequence = 0"
        ).fetchall()
        if sha256(_BEGIN + text.encode()).digest() != head:
            raise _Damaged
        state = State(json.loads(text)["open"])
        self._sequence, self._head = 0, head
        self._fold(state)
        queued = {f"queue {identity}" for identity in state.queue}
        kept = {f"answer {one['id']}" for one in state.answers.values() if one["report"] is not None}
        if queued | kept != set(self._names()):
            raise _Damaged
        self._state = state
        return state

    def _fold(self, state: State) -> None:
        """Apply the effects that follow what the state has, and check each link of the chain."""
        sequence, head = self._sequence, self._head
        after = self._connection.execute(
            "SELECT sequence, effect, head FROM log WHERE sequence > ? ORDER BY sequence", (sequence,)
        ).fetchall()
        for found, text, link in after:
            head, sequence = sha256(head + text.encode()).digest(), sequence + 1
            if found != sequence or link != head:
                raise _Damaged
            effect = json.loads(text)
            if "queue" in effect:
                effect["queue"] = self._get("queue", effect["queue"])
            if "answers" in effect:
                effect["answers"] = [self._get("answer", answer) for answer in effect["answers"]]
            state.apply(effect)
        held = [*state.queue.values(), *state.answers.values()]
        if self._last() != (sequence, head) or any(item["report"] == _GONE for item in held):
            raise _Damaged
        self._sequence, self._head = sequence, head

    def _get(self, kind: str, item: Data) -> Data:
        """Return an item with the stored bytes in the place of their digest; they may have been deleted."""
        if item["report"] is None:
            return item
        name = (f"{kind} {item['id']}",)
        row = self._connection.execute("SELECT salt, bytes FROM reports WHERE name = ?", name).fetchone()
        if row is not None and sha256(row[0] + row[1]).hexdigest() != item["report"]:
            raise _Damaged
        return {**item, "report": _GONE if row is None else row[1].hex()}


class _Transaction:
    """Locks the file and yields its state; commits at the end, or changes nothing if an error is raised."""

    __slots__ = ("_account", "_explain")

    def __init__(self, account: Account) -> None:
        self._account, self._explain = account, _Explain(account.path)

    def __enter__(self) -> State:
        account = self._account
        if account._process != os.getpid():  # another thread may have held it at the fork
            account._lock = RLock()
        account._lock.acquire()
        try:
            if account._process != os.getpid():  # a connection does not survive a fork
                account._abandoned.append(account._connection)
                account._connect()
            if account._connection.in_transaction:  # a signal handler in the middle of an answer
                raise AccountUnusable(f"{account.path} is in use by this very thread; try again afterwards")
            if check_private(account.path) != account._file:
                raise AccountUnusable(f"{account.path} was replaced while it was open; open it again")
            account._failed = None
            with self._explain:
                account._connection.execute("BEGIN IMMEDIATE")
                return account._current()
        except BaseException:
            self._roll_back()
            raise

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        account = self._account
        if error is not None:
            self._roll_back()
            if isinstance(error, sqlite3.Error):
                with self._explain:
                    raise error
            return
        try:
            with self._explain:
                account._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        failed, account._failed = account._failed, None
        account._lock.release()
        if failed is not None:
            raise failed

    def _roll_back(self) -> None:
        account = self._account
        if not isinstance(account._state, State) or account._connection.in_transaction:
            account._state = None  # what is on disk is read again
        try:
            account._connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass
        account._lock.release()


class _Damaged(Exception):
    """What was read is not what was written."""


class _Explain:
    """Turns errors of SQLite, and of data that are not an account's, into AccountUnusable."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, DeviceError | OSError | Outside):
            return
        if isinstance(error, sqlite3.OperationalError):
            text = str(error)
            if "locked" in text or "busy" in text:
                raise AccountUnusable(
                    f"{self._path} is in use by another process. Nothing was spent"
                ) from None
            if not any(word in text for word in ("malformed", "decode")):  # the second shows what it read
                raise AccountUnusable(f"{self._path} cannot be used: {text}. Nothing was spent") from None
        if isinstance(
            error, _Damaged | sqlite3.Error | LookupError | TypeError | ValueError | AttributeError
        ):
            raise AccountUnusable(
                f"{self._path} is damaged or truncated, so what was spent is not known: "
                "put the latest copy back"
            ) from None


def check_private(path: str) -> tuple[int, int]:
    """Return what identifies a file; raise AccountUnusable if it is missing, or others may read it."""
    try:
        about = os.stat(path)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise AccountUnusable(
                f"there is no account {path}; Account.create(path, epsilon=…) makes one"
            ) from None
        raise AccountUnusable(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(about.st_mode):
        raise AccountUnusable(f"{path} is not a file")
    if os.name == "posix" and about.st_mode & 0o077:
        raise AccountUnusable(
            f"{path} may be read or written by others; say chmod 600 {path}, if it is yours"
        )
    if about.st_nlink > 1:  # the journal of an interrupted transaction is found by the name of the file
        raise AccountUnusable(f"{path} has another name (a hard link); remove one of the names")
    return about.st_dev, about.st_ino


def _give_name(part: str, path: str) -> None:
    """Publish a file under its name; raise FileExistsError if there is such a file."""
    try:
        os.link(part, path)  # unlike a renaming, this fails if there is such a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then replace it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        os.replace(part, path)


def key_digest(key: bytes) -> str:
    """Return what tells whether a key is the account's."""
    return sha256(b"dither account key\0" + key).hexdigest()


def left_of(state: State, now: int) -> float:
    """Return the ε that this device may still spend: the smaller of its part and the whole, rounded down."""
    index = epoch_of(state.limits["epoch"], max(now, state.clock["wall"]))
    parts = [(state.own, state.mine), (state.allowed, state.all)]
    units = [most.epoch[0] - spent.epochs.get(index, (0, 0))[0] for most, spent in parts]
    units += [most.lifetime[0] - spent.life[0] for most, spent in parts if most.lifetime is not None]
    left = max(0, min(units)) / 2.0**64
    dust = state.allowed.epoch[0] / 2.0**104
    if left <= dust:
        return 0.0
    near = float(f"{left:.6g}")
    return near if near <= left + dust else near - 10.0 ** (int(f"{near:e}".partition("e")[2]) - 5)
