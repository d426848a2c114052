"""One SQLite file that holds an account: an append-only chain of effects, and the bytes of reports.

Every effect is a row whose digest includes that of the row before, so that a row that was changed, removed or
added is found. A transaction is on disk when it returns (`synchronous = EXTRA`: the removal of the journal is
synced, too), or has changed nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from dither.collection.account.exports import new_file, private
from dither.collection.account.state import VERSION, Data, State
from dither.errors import AccountUnusable, DitherError
from dither.foundation.canonical import canonical
from dither.foundation.randomness import SYSTEM

_APPLICATION: Final = 0x64697468  # "dith": by this number SQLite tells such files from others
_SCHEMA: Final = (
    "CREATE TABLE secret (key BLOB)",
    "CREATE TABLE log (sequence INTEGER PRIMARY KEY, effect TEXT NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE last (sequence INTEGER NOT NULL, head BLOB NOT NULL)",
    "CREATE TABLE reports (name TEXT PRIMARY KEY, salt BLOB NOT NULL, bytes BLOB NOT NULL) WITHOUT ROWID",
)
_SETTINGS: Final = (
    "PRAGMA journal_mode = DELETE",  # one file: nothing is beside it but while a transaction runs
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = 1",
    "PRAGMA secure_delete = ON",  # acknowledged reports are overwritten
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
)
_BEGIN: Final = bytes(32)
_GONE: Final = "gone"  # in the place of bytes that were deleted


class Store:
    """The file of one account, and the state that its effects add up to."""

    def __init__(self, path: Path, wait: float = 30.0) -> None:
        self.path, self.wait = path, wait
        self.sequence, self.head = -1, _BEGIN
        self._abandoned: list[sqlite3.Connection] = []  # those of the process that forked this one
        self._connect()

    @staticmethod
    def create(path: Path, opened: Data, known: Data, key: bytes | None) -> None:
        """Write a new file, which appears under its name when it is whole, readable by its owner alone.

        `opened` is what the account is opened with, `known` what another device of the person told.
        """
        text = canonical({"open": opened})
        head = _chain(_BEGIN, text)
        with new_file(path) as part, _explain_errors(path):
            connection = sqlite3.connect(part, isolation_level=None)
            try:
                for line in (
                    *_SETTINGS,
                    f"PRAGMA application_id = {_APPLICATION}",
                    f"PRAGMA user_version = {VERSION}",
                    "BEGIN",
                    *_SCHEMA,
                ):
                    connection.execute(line)
                connection.execute("INSERT INTO secret VALUES (?)", (key,))
                connection.execute("INSERT INTO log VALUES (0, ?, ?)", (text, head))
                connection.execute("INSERT INTO last VALUES (0, ?)", (head,))
                connection.execute("COMMIT")
            finally:
                connection.close()
            store = Store(part)
            with store.transaction() as state:
                store.keep(state, {name: rows for name, rows in known.items() if rows})
            store.close()

    def _connect(self) -> None:
        self._process, self._file = os.getpid(), private(self.path)
        self._state: State | None = None
        self.connection = sqlite3.connect(
            self.path.absolute().as_uri() + "?mode=rw",
            uri=True,
            isolation_level=None,
            timeout=self.wait,
            check_same_thread=False,
        )
        with _explain_errors(self.path):
            for line in _SETTINGS:
                self.connection.execute(line)

    def close(self) -> None:
        """Close the file."""
        if self._process == os.getpid():
            self.connection.close()

    def __del__(self) -> None:
        with suppress(AttributeError, sqlite3.Error):  # of a store that was never opened
            self.close()

    @contextmanager
    def transaction(self) -> Iterator[State]:
        """Lock the file and yield its state; commit at the end, or change nothing if an error is raised.

        A report is sent after this, so that nothing is sent uncharged: sent_was_charged (proofs/Account.v).
        """
        if self._process != os.getpid():  # a connection does not survive a fork, and is not closed by it
            self._abandoned.append(self.connection)
            self._connect()
        if self.connection.in_transaction:  # a signal handler, or a finaliser, in the middle of an answer
            raise AccountUnusable(f"{self.path} is in use by this very thread; try again afterwards")
        if private(self.path) != self._file:
            raise AccountUnusable(f"{self.path} was replaced while it was open; open it again")
        try:
            with _explain_errors(self.path):
                self.connection.execute("BEGIN IMMEDIATE")
                state = self._current()
            yield state
            with _explain_errors(self.path):
                self.connection.execute("COMMIT")
        except BaseException:
            self._state = None  # what is on disk is read again
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    # --- writing

    def keep(self, state: State, effect: Data) -> None:
        """Add an effect to the chain and apply it to the state; the bytes of reports are kept apart."""
        if effect:
            with _explain_errors(self.path):
                self._keep(state, effect)

    def _keep(self, state: State, effect: Data) -> None:
        told = dict(effect)
        if "queue" in told:
            told["queue"] = self._store_report("queue", told["queue"])
        if "answers" in told:
            told["answers"] = [self._store_report("answer", answer) for answer in told["answers"]]
        text = canonical(told)
        head, sequence = _chain(self.head, text), self.sequence + 1
        self.connection.execute("INSERT INTO log VALUES (?, ?, ?)", (sequence, text, head))
        self.connection.execute("UPDATE last SET sequence = ?, head = ?", (sequence, head))
        state.apply(effect)
        self.sequence, self.head = sequence, head
        gone = [f"queue {identity}" for identity in effect.get("unqueue", ())]
        if "answers" in effect:
            held = {f"answer {answer['id']}" for answer in state.answers.values()}
            gone += [name for name in self._names() if name.startswith("answer ") and name not in held]
        self.connection.executemany("DELETE FROM reports WHERE name = ?", [(name,) for name in gone])

    def _store_report(self, kind: str, item: Data) -> Data:
        """Store the bytes of a report, and return the item with their salted digest in their place.

        The salt is deleted with the bytes, so that the digest in the chain does not tell them afterwards.
        """
        if item["report"] is None:
            return item
        data, salt = bytes.fromhex(item["report"]), SYSTEM.take(16)
        row = (f"{kind} {item['id']}", salt, data)
        self.connection.execute("INSERT OR REPLACE INTO reports VALUES (?, ?, ?)", row)
        return {**item, "report": _digest(salt, data)}

    def _names(self) -> list[str]:
        return [name for (name,) in self.connection.execute("SELECT name FROM reports")]

    # --- reading

    def _current(self) -> State:
        """Return the state as the file has it: what other processes added since is folded in."""
        if self._state is None:
            return self._read()
        sequence, head = self._last()
        if (sequence, head) == (self.sequence, self.head):
            return self._state
        ours = self.connection.execute("SELECT head FROM log WHERE sequence = ?", (self.sequence,)).fetchone()
        if ours is None or ours[0] != self.head:
            raise AccountUnusable(
                f"{self.path} was rolled back while it was open: it lacks what was spent since. Put the "
                "latest copy back; do not go on with this one"
            )
        self._fold(self._state)
        return self._state

    def _last(self) -> tuple[int, bytes]:
        ((sequence, head),) = self.connection.execute("SELECT sequence, head FROM last").fetchall()
        return sequence, head

    def _read(self) -> State:
        """Read and check the whole file: every page, every link of the chain, every report."""
        application, version = (
            self.connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if application != _APPLICATION:
            raise AccountUnusable(f"{self.path} is not an account of dither")
        if version != VERSION:
            raise AccountUnusable(
                f"{self.path} is an account of version {version}; this dither reads {VERSION}"
            )
        size, pages = (
            self.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count")
        )
        # Nobody may open the file here beside SQLite: closing it would drop the locks of this process.
        if self.path.stat().st_size != pages * size:
            raise _Damaged
        if self.connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise _Damaged
        ((text, head),) = self.connection.execute(
            "SELECT effect, head FROM log WHERE sequence = 0"
        ).fetchall()
        if _chain(_BEGIN, text) != head:
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
        """Apply the effects that follow what the state has, and check each link of the chain."""
        sequence, head = self.sequence, self.head
        after = self.connection.execute(
            "SELECT sequence, effect, head FROM log WHERE sequence > ? ORDER BY sequence", (sequence,)
        ).fetchall()  # nothing names the cursor: if a text is damaged, its lock ends here
        for found, text, link in after:
            head, sequence = _chain(head, text), sequence + 1
            if found != sequence or link != head:
                raise _Damaged
            effect = json.loads(text)
            if "queue" in effect:
                effect["queue"] = self._with_report("queue", effect["queue"])
            if "answers" in effect:
                effect["answers"] = [self._with_report("answer", answer) for answer in effect["answers"]]
            state.apply(effect)
        held = [*state.queue.values(), *state.answers.values()]
        if self._last() != (sequence, head) or any(item["report"] == _GONE for item in held):
            raise _Damaged
        self.sequence, self.head = sequence, head

    def _with_report(self, kind: str, item: Data) -> Data:
        """Return an item with the stored bytes in the place of their digest; bytes may have been deleted."""
        if item["report"] is None:
            return item
        name = (f"{kind} {item['id']}",)
        row = self.connection.execute("SELECT salt, bytes FROM reports WHERE name = ?", name).fetchone()
        if row is not None and _digest(*row) != item["report"]:
            raise _Damaged
        return {**item, "report": _GONE if row is None else row[1].hex()}

    def key(self) -> bytes | None:
        """Return the secret key, if it is kept in the file."""
        with _explain_errors(self.path):
            ((key,),) = self.connection.execute("SELECT key FROM secret").fetchall()
        return key if isinstance(key, bytes) else None

    def mark(self) -> str:
        """Return where the chain stands: its length and its last digest."""
        return f"{self.sequence} {self.head.hex()}"

    def has(self, mark: str) -> bool:
        """Return whether the chain passed through a mark."""
        sequence, _, head = mark.partition(" ")
        if not sequence.isdecimal():
            return False
        found = self.connection.execute(
            "SELECT head FROM log WHERE sequence = ?", (int(sequence),)
        ).fetchone()
        return found is not None and found[0].hex() == head


class _Damaged(Exception):
    """What was read is not what was written."""


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite, and of data that are not an account's, into one line that says what to do."""
    try:
        yield
    except DitherError:
        raise
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise AccountUnusable(
                f"{path} is in use by another process; try again. Nothing was spent"
            ) from None
        if not any(words in text for words in ("malformed", "decode")):  # the second shows what it read
            raise AccountUnusable(f"{path} cannot be used: {text}. Nothing was spent or sent") from None
        raise AccountUnusable(_damage_text(path)) from None
    except (_Damaged, sqlite3.Error, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise AccountUnusable(_damage_text(path)) from None


def _damage_text(path: Path) -> str:
    return (
        f"{path} is damaged or truncated, so what was spent is not known. Put the latest copy back; a new "
        "account would promise the budget a second time"
    )


def key_digest(key: bytes) -> str:
    """Return what tells whether a key is the account's."""
    return hashlib.sha256(b"dither account key\0" + key).hexdigest()


def _chain(head: bytes, text: str) -> bytes:
    return hashlib.sha256(head + text.encode()).digest()


def _digest(salt: bytes, data: bytes) -> str:
    return hashlib.sha256(salt + data).hexdigest()
