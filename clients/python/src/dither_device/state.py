"""The state of an account: its limits, its sums of charges, its answers and its queue; effects are folded in.

docs/account.md is normative. Nothing here reads a clock, touches a file or is given a value.
"""

from __future__ import annotations

from datetime import date, timedelta

from dither_device.text import utf_16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Data = dict[str, Any]

VERSION = 3  # version of the state; version 2 opens and becomes version 3
DAY = 86_400  # seconds
EPSILON, DELTA = 64, 128  # binary places of a unit of ε and of δ
MOST_SECOND = 253_402_300_799  # the last of the year 9999
MOST_BUDGET = float(1 << 20)
_SPEND = (
    *("id", "device", "asker", "question", "fingerprint", "epsilon", "delta", "assumes", "first", "last"),
    *("data", "times", "campaign"),
)
_PERIODIC = ("once", "kept change")


def charge(number: float, places: int) -> int:
    """Return the least integer number of units of 2^−places that is at least a double.

    Proved: charge_enough (proofs/Account.v).
    """
    top, bottom = float(number).as_integer_ratio()
    return -(-(top << places) // bottom)


def limit(number: float, places: int) -> int:
    """Return the units that a budget admits: u + ⌊u/2^52⌋ + 1, u its double in units; 0 for 0.

    Decimal fractions are not doubles: ten times the double 0.1 is more than 1. With the slack of 2^−52 ten
    answers at 0.1 fit into a budget of 1. Proved: limit_slack (proofs/Account.v).
    """
    top, bottom = float(number).as_integer_ratio()
    units = (top << places) // bottom
    return units + (units >> 52) + 1 if units else 0


def epoch_of(kind: str, second: int) -> int:
    """Return the number of the half-open epoch that contains a second since 1970-01-01 UTC.

    Weeks begin on Mondays; the number of a year is the calendar's.
    """
    day = second // DAY
    if kind == "day":
        return day
    if kind == "week":
        return (day + 3) // 7  # 1970-01-01 was a Thursday
    return (date(1970, 1, 1) + timedelta(days=day)).year if kind == "year" else 0


def key_of(question: Data) -> tuple[str, str, str]:
    """Return what names a question in an account: asker, name and fingerprint."""
    return question["asker"], question["question"], question["fingerprint"]


def named(question: Data) -> Data:
    """Return the three names of a question as plain data."""
    return {name: question[name] for name in ("asker", "question", "fingerprint")}


def _order(kept: Data) -> tuple[Any, ...]:
    return *map(utf_16, key_of(kept)), kept.get("permanent"), kept.get("repeat"), kept.get("period")


def pair_of(data: Data) -> tuple[int, int]:
    """Return the units of ε and of δ in plain data."""
    return int(data["epsilon"], 16), int(data["delta"], 16)


def _units(pair: tuple[int, int]) -> Data:
    return {"epsilon": f"{pair[0]:x}", "delta": f"{pair[1]:x}"}


class Allowance:
    """How much may be charged to one epoch, and to all together if that is limited; in units."""

    __slots__ = ("delta", "epsilon", "lifetime")

    def __init__(self, epsilon: int, delta: int, lifetime: tuple[int, int] | None) -> None:
        self.epsilon, self.delta, self.lifetime = epsilon, delta, lifetime

    @staticmethod
    def read(data: Data) -> Allowance:
        """Return the allowance of plain data."""
        life = data["lifetime"]
        return Allowance(*pair_of(data), None if life is None else pair_of(life))

    def part(self, part: int, whole: int) -> Allowance:
        """Return part/whole of every number, rounded down."""
        life = self.lifetime and (self.lifetime[0] * part // whole, self.lifetime[1] * part // whole)
        return Allowance(self.epsilon * part // whole, self.delta * part // whole, life)

    def minus(self, other: Allowance) -> Allowance:
        """Return the rest after another allowance is taken away."""
        life = self.lifetime
        if life is not None and other.lifetime is not None:
            life = (life[0] - other.lifetime[0], life[1] - other.lifetime[1])
        return Allowance(self.epsilon - other.epsilon, self.delta - other.delta, life)

    def covers(self, totals: Totals) -> bool:
        """Return whether these charges are within the allowance, in every epoch and in all."""
        fine = all(e <= self.epsilon and d <= self.delta for e, d in totals.epochs.values())
        life, spent = self.lifetime, totals.lifetime
        return fine and (life is None or (spent[0] <= life[0] and spent[1] <= life[1]))

    def wire(self) -> Data:
        """Return the allowance as plain data."""
        life = None if self.lifetime is None else _units(self.lifetime)
        return {**_units((self.epsilon, self.delta)), "lifetime": life}


class Totals:
    """Sums of charges, in units: by epoch, over all epochs, and by asker and epoch."""

    __slots__ = ("askers", "epochs", "lifetime")

    def __init__(self) -> None:
        self.epochs: dict[int, tuple[int, int]] = {}
        self.lifetime = (0, 0)
        self.askers: dict[tuple[str, int], int] = {}

    def add(self, entry: Data) -> None:
        """Charge an entry to every epoch that its data touch, and once to the lifetime."""
        epsilon, delta = pair_of(entry)
        for epoch in range(entry["first"], entry["last"] + 1):
            before = self.epochs.get(epoch, (0, 0))
            self.epochs[epoch] = (before[0] + epsilon, before[1] + delta)
            name = (entry["asker"], epoch)
            self.askers[name] = self.askers.get(name, 0) + epsilon
        self.lifetime = (self.lifetime[0] + epsilon, self.lifetime[1] + delta)


class State:
    """The state of an account; `apply` folds one effect of `decide` in."""

    def __init__(self, opened: Data) -> None:
        self.person, self.device, self.born = opened["person"], opened["device"], opened["born"]
        self.limits: Data = dict(opened["limits"])
        self.allowed, self.own = Allowance.read(self.limits), Allowance.read(opened["own"])
        self.key: str | None = opened.get("key")  # a digest of the secret key
        self.clock: Data = dict(opened["clock"])
        self.openings: int | None = opened["openings"]
        self.askers: set[str] = set(opened.get("askers", ()))
        self.entries: dict[str, Data] = {}
        self.answers: dict[tuple[str, ...], Data] = {}
        self.choices: dict[tuple[Any, ...], Data] = {}
        self.trees: dict[tuple[Any, ...], Data] = {}
        self.coins: dict[tuple[str, str], Data] = {}
        self.present: dict[tuple[str, str], Data] = {}
        self.told: set[str] = set()
        self.queue: dict[str, Data] = {}
        self.sent: list[Data] = list(opened.get("sent", ()))  # batches that can still be withdrawn
        self.known: Data = {}  # keys and lists of askers, and verified campaigns: not shared
        self.all, self.mine = Totals(), Totals()
        for name in ("entries", "answers", "choices", "trees", "coins", "told", "present"):
            if opened.get(name):
                self.apply({name: opened[name]})
        for item in opened.get("queue", ()):
            self.queue[item["id"]] = item

    def apply(self, effect: Data) -> None:
        """Fold one effect in."""
        for name, change in effect.items():
            if name in ("clock", "openings", "sent"):
                setattr(self, name, change)
            else:
                _APPLY[name](self, change)

    def wire(self) -> Data:
        """Return the complete state as plain data."""
        return {
            "account": VERSION,
            "person": self.person,
            "device": self.device,
            "limits": self.limits,
            "own": self.own.wire(),
            "born": self.born,
            "clock": self.clock,
            "openings": self.openings,
            "askers": sorted(self.askers, key=utf_16),
            "entries": [self.entries[identity] for identity in sorted(self.entries)],
            "answers": sorted(self.answers.values(), key=_order),
            "choices": sorted(self.choices.values(), key=_order),
            **({"coins": sorted(self.coins.values(), key=_coin_order)} if self.coins else {}),
            **({"trees": sorted(self.trees.values(), key=_order)} if self.trees else {}),
            **({"told": sorted(self.told)} if self.told else {}),
            **({"present": sorted(self.present.values(), key=_coin_order)} if self.present else {}),
            "queue": list(self.queue.values()),
            **({"sent": self.sent} if self.sent else {}),
        }

    def export(self) -> Data:
        """Return what another device of the same person merges. It holds no key, no queue and no value."""
        complete = self.wire()
        names = ("account", "person", "device", "limits", "entries", "answers", "choices", "coins")
        shared = [answer for answer in complete["answers"] if answer["permanent"] != "present"]
        return {name: complete[name] for name in names if name in complete} | {"answers": shared}


def choice_key(choice: Data) -> tuple[Any, ...]:
    """Return what names the choice of a day: question, way of repeating and period."""
    return (*key_of(choice), choice["repeat"], choice["period"])


def with_repeat(choices: Iterable[Data]) -> list[Data]:
    """Return choices with their kind; a choice of version 2 has none and means both."""
    return [
        {**choice, "repeat": repeat}
        for choice in choices
        for repeat in ([choice["repeat"]] if "repeat" in choice else _PERIODIC)
    ]


def _coin_order(coin: Data) -> tuple[bytes, bytes]:
    return utf_16(coin["asker"]), utf_16(coin["name"])


def _enter(state: State, entries: Iterable[Data]) -> None:
    for entry in entries:
        state.entries[entry["id"]] = {name: entry[name] for name in _SPEND if name in entry}
        state.all.add(entry)
        if entry["device"] == state.device:
            state.mine.add(entry)


def _bundle(state: State, batch: Data) -> None:
    for identity in batch["reports"]:
        state.queue[identity] = {**state.queue[identity], "batch": batch["id"]}


def _dequeue(state: State, identities: Iterable[str]) -> None:
    for identity in identities:
        del state.queue[identity]


_APPLY: dict[str, Callable[[State, Any], None]] = {
    "own": lambda state, own: setattr(state, "own", Allowance.read(own)),
    "asker": lambda state, asker: state.askers.add(asker),
    "askers known": lambda state, known: setattr(state, "known", known),
    "entries": _enter,
    "answers": lambda state, some: state.answers.update({(*key_of(a), a["permanent"]): a for a in some}),
    "choices": lambda state, some: state.choices.update({choice_key(c): c for c in with_repeat(some)}),
    "coins": lambda state, some: state.coins.update({(c["asker"], c["name"]): c for c in some}),
    "trees": lambda state, some: state.trees.update({(*key_of(t), t["period"]): t for t in some}),
    "told": lambda state, marks: state.told.update(marks),
    "present": lambda state, some: state.present.update({(p["asker"], p["name"]): p for p in some}),
    "queue": lambda state, item: state.queue.update({item["id"]: item}),
    "batch": _bundle,
    "unqueue": _dequeue,
}
