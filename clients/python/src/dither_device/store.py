"""One SQLite file that holds an account: an append-only chain of effects, and the bytes of reports.

Every effect is a row whose digest includes the digest of the row before, so that a changed, removed or added
row is found. A transaction is on disk when it returns (`synchronous = EXTRA`: the removal of the journal is
synced as well), or it has changed nothing. `dither_device.Account` and `dt.Account` both use `Store`.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
from _thread import RLock
from time import sleep

from dither_device.draws import Outside
from dither_device.rules import decide
from dither_device.state import VERSION, State
from dither_device.text import AccountUnusable, DeviceError, canonical, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.rules import Decision, Policy
    from dither_device.state import Data

_APPLICATION = 0x64697468  # "dith": SQLite recognises such files by this number
_SCHEMA = (
    "CREATE TABLE secret (key BLOB)",
    "CREATE TABLE log (sequence INTEGER PRIMARY KEY, effect TEXT NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE last (sequence INTEGER NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE reports (name TEXT PRIMARY KEY, salt BLOB NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID",
)
_SETTINGS = (
    "PRAGMA journal_mode = DELETE",  # one file; a second one exists only during a transaction
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = 1",
    "PRAGMA secure_delete = ON",  # acknowledged reports are overwritten
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_BEGIN = bytes(32)
_GONE = "gone"  # in the place of bytes that were deleted
_PRAGMAS = ("application_id", "user_version", "page_size", "page_count", "quick_check(1)")


class Store:
    """The file of one account, and the state that its effects add up to.

    `wait` is how long another process may hold the file, in seconds. `sequence` and `head` are the number and
    the digest of the last effect. An error in `failed` is raised when the transaction is on disk.
    """

    def __init__(self, path: str | os.PathLike[str], wait: float = 30.0) -> None:
        self.path, self.wait = os.fspath(path), wait
        self.sequence, self.head = -1, _BEGIN
        self.failed: BaseException | None = None
        self._lock = RLock()
        self._abandoned: list[sqlite3.Connection] = []  # connections of the process that forked this one
        self._connect()

    @staticmethod
    def create(
        path: str | os.PathLike[str], opened: Data, key: bytes | None, known: Data | None = None
    ) -> None:
        """Write a new file. It appears under its name when it is complete, readable by its owner only.

        `opened` is what the account is opened with, without the digest of the secret `key`. `key` is kept in
        the file; with None it is kept elsewhere, and `opened` has its digest. `known` are entries, answers
        and choices that another device of the person exported.
        """
        target_path = os.fspath(path)
        begun = opened if key is None else {**opened, "key": key_digest(key)}
        text = canonical({"open": begun})
        head = sha256(_BEGIN + text.encode()).digest()
        folder, name = os.path.split(os.path.abspath(target_path))
        part = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with _Explain(target_path):
                connection = sqlite3.connect(part, isolation_level=None)
                try:
                    for line in (
                        *_SETTINGS,
                        f"PRAGMA application_id = {_APPLICATION}",
                        f"PRAGMA user_version = {VERSION}",
                        *("BEGIN", *_SCHEMA),
                    ):
                        connection.execute(line)
                    connection.execute("INSERT INTO secret VALUES (?)", (key,))
                    connection.execute("INSERT INTO log VALUES (0, ?, ?)", (text, head))
                    connection.execute("INSERT INTO last VALUES (0, ?)", (head,))
                    connection.execute("COMMIT")
                finally:
                    connection.close()
            if known:
                store = Store(part)
                with store.transaction() as state:
                    store.keep(state, {name: rows for name, rows in known.items() if rows})
                store.close()
            _give_name(part, target_path)
            if os.name == "posix":
                number = os.open(folder, os.O_RDONLY)
                os.fsync(number)
                os.close(number)
        except FileExistsError:
            raise AccountUnusable(f"{target_path} exists already; open it, or choose another name") from None
        except OSError as error:
            raise AccountUnusable(f"{target_path} cannot be written: {error.strerror}") from None
        finally:
            try:
                os.unlink(part)
            except OSError:
                pass

    def _connect(self) -> None:
        self._process, self._file = os.getpid(), check_private(self.path)
        self._state: State | None = None
        self.failed = None
        path = os.path.abspath(self.path)
        quoted = "".join(letter if letter not in "%?#" else f"%{ord(letter):02x}" for letter in path)
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

    def close(self) -> None:
        """Close the file. Nothing waits to be written."""
        if self._process == os.getpid():
            self._connection.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # a store that was never opened
            pass

    def transaction(self) -> Transaction:
        """Return a context that locks the file and yields its state; it commits at the end, or rolls back.

        A report is sent after this, so that nothing is sent uncharged: sent_was_charged (proofs/Account.v).
        """
        return Transaction(self)

    # --- writing

    def settle(
        self, state: State, event: Data, policy: Policy, draw: Callable[[Decision], Decision]
    ) -> Decision | None:
        """Decide an event, draw its report if it needs one, and keep the effect; return the decision.

        If `draw` fails, a drawn day is kept all the same, because it must not depend on values. Its error is
        raised after the transaction, and None is returned.
        """
        decision = decide(state, event, policy, os.urandom)
        if decision.draws:
            try:
                decision = draw(decision)
            except BaseException as error:  # methods of the value may also fail
                self.keep(state, decision.without_report())
                self.failed = error
                return None
        self.keep(state, decision.effect)
        return decision

    def keep(self, state: State, effect: Data) -> None:
        """Add an effect to the chain and apply it to the state; the bytes of reports are kept apart."""
        if not effect:
            return
        stored = dict(effect)
        if "queue" in stored:
            stored["queue"] = self._put("queue", stored["queue"])
        if "answers" in stored:
            stored["answers"] = [self._put("answer", answer) for answer in stored["answers"]]
        text = canonical(stored)
        head, sequence = sha256(self.head + text.encode()).digest(), self.sequence + 1
        execute = self._connection.execute
        execute("INSERT INTO log VALUES (?, ?, ?)", (sequence, text, head))
        execute("UPDATE last SET sequence = ?, head = ?", (sequence, head))
        state.apply(effect)
        self.sequence, self.head = sequence, head
        gone = [f"queue {identity}" for identity in effect.get("unqueue", ())]
        if "answers" in effect:
            held = {f"answer {answer['id']}" for answer in state.answers.values()}
            gone += [name for name in self._names() if name.startswith("answer ") and name not in held]
        for name in gone:
            execute("DELETE FROM reports WHERE name = ?", (name,))

    def _put(self, kind: str, item: Data) -> Data:
        """Store the bytes of a report, and return the item with their salted digest in their place.

        The salt is deleted with the bytes, so that the digest in the chain does not identify them afterwards.
        """
        if item["report"] is None:
            return item
        data, salt = bytes.fromhex(item["report"]), os.urandom(16)
        row = (f"{kind} {item['id']}", salt, data)
        self._connection.execute("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", row)
        return {**item, "report": sha256(salt + data).hexdigest()}

    def _names(self) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM reports")]

    # --- loading the file

    def key(self) -> bytes | None:
        """Return the secret key, if it is kept in the file."""
        with _Explain(self.path):
            ((key,),) = self._connection.execute("SELECT key FROM secret").fetchall()
        return key if isinstance(key, bytes) else None

    def mark(self) -> str:
        """Return the position of the chain: its length and its last digest."""
        return f"{self.sequence} {self.head.hex()}"

    def has(self, mark: str) -> bool:
        """Return whether the chain passed through a mark."""
        sequence, _, head = mark.partition(" ")
        if not sequence.isdecimal():
            return False
        row = self._connection.execute("SELECT head FROM log WHERE sequence = ?", (int(sequence),)).fetchone()
        return row is not None and row[0].hex() == head

    def _current(self) -> State:
        """Return the state as the file has it: effects that other processes added since are folded in."""
        if self._state is None:
            return self._read()
        if self._last() != (self.sequence, self.head):
            ours = self._connection.execute(
                "SELECT head FROM log WHERE sequence = ?", (self.sequence,)
            ).fetchone()
            if ours is None or ours[0] != self.head:
                raise AccountUnusable(
                    f"{self.path} was rolled back while it was open: it lacks later charges. Put the "
                    "latest copy back; do not go on with this one"
                )
            self._fold(self._state)
        return self._state

    def _last(self) -> tuple[int, bytes]:
        ((sequence, head),) = self._connection.execute("SELECT sequence, head FROM last").fetchall()
        return sequence, head

    def _read(self) -> State:
        """Read and check the complete file: every page, every link of the chain, every report."""
        found = {name: self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _PRAGMAS}
        if found["application_id"] != _APPLICATION:
            raise AccountUnusable(f"{self.path} is not an account of dither")
        if found["user_version"] == VERSION - 1:  # all that it holds is read; older programs must not go on
            self._connection.execute(f"PRAGMA user_version = {VERSION}")
        elif found["user_version"] != VERSION:
            raise AccountUnusable(
                f"{self.path} is an account of version {found['user_version']}; this dither reads {VERSION}"
            )
        # Only SQLite may open the file here: closing it otherwise would drop the locks of this process.
        size = os.stat(self.path).st_size
        if size != found["page_size"] * found["page_count"] or found["quick_check(1)"] != "ok":
            raise _Damaged
        ((text, head),) = self._connection.execute(
            "SELECT effect, head FROM log WHERE sequence = 0"
        ).fetchall()
        if sha256(_BEGIN + text.encode()).digest() != head:
            raise _Damaged
        state = State(json.loads(text)["open"])
        self.sequence, self.head = 0, head
        self._fold(state)
        queued = {f"queue {identity}" for identity in state.queue}
        kept = {f"answer {answer['id']}" for answer in state.answers.values() if answer["report"] is not None}
        if queued | kept != set(self._names()):
            raise _Damaged
        self._state = state
        return state

    def _fold(self, state: State) -> None:
        """Apply the effects after the state's last one, and check each link of the chain."""
        sequence, head = self.sequence, self.head
        after = self._connection.execute(
            "SELECT sequence, effect, head FROM log WHERE sequence > ? ORDER BY sequence", (sequence,)
        ).fetchall()  # no name refers to the cursor: if a text is damaged, its lock ends here
        for number, text, link in after:
            head, sequence = sha256(head + text.encode()).digest(), sequence + 1
            if number != sequence or link != head:
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
        self.sequence, self.head = sequence, head

    def _get(self, kind: str, item: Data) -> Data:
        """Return an item with the stored bytes in the place of their digest; they may have been deleted."""
        if item["report"] is None:
            return item
        name = (f"{kind} {item['id']}",)
        row = self._connection.execute("SELECT salt, bytes FROM reports WHERE name = ?", name).fetchone()
        if row is not None and sha256(row[0] + row[1]).hexdigest() != item["report"]:
            raise _Damaged
        return {**item, "report": _GONE if row is None else row[1].hex()}


class Transaction:
    """Locks the file and yields its state; commits at the end, or changes nothing if an error is raised."""

    __slots__ = ("_explain", "_store")

    def __init__(self, store: Store) -> None:
        self._store, self._explain = store, _Explain(store.path)

    def __enter__(self) -> State:
        store = self._store
        if store._process != os.getpid():  # another thread may have held it at the fork
            store._lock = RLock()
        store._lock.acquire()
        try:
            if store._process != os.getpid():  # a connection does not survive a fork, and is not closed by it
                store._abandoned.append(store._connection)
                store._connect()
        except BaseException:
            store._lock.release()
            raise
        if store._connection.in_transaction:  # a signal handler, or a finaliser, in the middle of an answer
            store._lock.release()
            raise AccountUnusable(f"{store.path} is in use by this very thread; try again afterwards")
        try:
            if check_private(store.path) != store._file:
                raise AccountUnusable(f"{store.path} was replaced while it was open; open it again")
            store.failed = None
            with self._explain:
                store._connection.execute("BEGIN IMMEDIATE")
                return store._current()
        except BaseException:
            self._roll_back()
            raise

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        store = self._store
        if error is not None:
            self._roll_back()
            if isinstance(error, sqlite3.Error):
                with self._explain:
                    raise error
            return
        try:
            with self._explain:
                store._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        failed, store.failed = store.failed, None
        store._lock.release()
        if failed is not None:
            raise failed

    def _roll_back(self) -> None:
        store = self._store
        store._state = store.failed = None  # the disk is read again
        try:
            store._connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass
        store._lock.release()


class _Damaged(Exception):
    """The bytes read differ from the bytes written."""


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
                    f"{self._path} is in use by another process; try again. Nothing was spent"
                ) from None
            if not any(
                word in text for word in ("malformed", "decode")
            ):  # the second message quotes the data
                raise AccountUnusable(
                    f"{self._path} cannot be used: {text}. Nothing was spent or sent"
                ) from None
        if isinstance(
            error,
            _Damaged | sqlite3.Error | LookupError | TypeError | ValueError | AttributeError | RecursionError,
        ):
            raise AccountUnusable(
                f"{self._path} is damaged or truncated, so the spent budget is unknown. Put the latest copy "
                "back; a new account would promise the budget a second time"
            ) from None


def check_private(path: str) -> tuple[int, int]:
    """Return what identifies a file; raise AccountUnusable if it is missing, or others may read it."""
    try:
        about = os.stat(path)
        for _ in range(50):  # a process that makes the file gives it a name, and then removes another one
            if about.st_nlink < 2:
                break
            sleep(0.01)
            about = os.stat(path)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise AccountUnusable(
                f"account not found: {path}; Account.create(path, epsilon=…) makes one"
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
    """Return the check value of the account's key."""
    return sha256(b"dither account key\0" + key).hexdigest()
