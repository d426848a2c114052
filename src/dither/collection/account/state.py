"""The state of an account: a fold of effects. Plain data, the same in every language; see docs/account.md.

Nothing here reads a clock, draws a number or touches a file, and nothing here is ever given a value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dither.collection.account.clock import Epoch
from dither.foundation.canonical import from_hexadecimal, hexadecimal

VERSION: Final = 2
Data = dict[str, Any]
_SPEND: Final = (
    "id", "device", "asker", "question", "fingerprint", "epsilon", "delta", "assumes", "first", "last",
    "data", "times",
)  # fmt: skip


@dataclass(frozen=True)
class Allowance:
    """How much may be charged to one epoch, and to all of them together if that is limited; in units."""

    epsilon: int
    delta: int
    lifetime: tuple[int, int] | None

    @staticmethod
    def read(data: Mapping[str, Any]) -> Allowance:
        """Return the allowance of plain data."""
        life = data["lifetime"]
        return Allowance(*_pair(data), None if life is None else _pair(life))

    def part(self, part: int, whole: int) -> Allowance:
        """Return part/whole of every number, rounded down."""
        life = self.lifetime and (self.lifetime[0] * part // whole, self.lifetime[1] * part // whole)
        return Allowance(self.epsilon * part // whole, self.delta * part // whole, life)

    def minus(self, other: Allowance) -> Allowance:
        """Return what is left when another allowance is taken away."""
        life = self.lifetime
        if life is not None and other.lifetime is not None:
            life = (life[0] - other.lifetime[0], life[1] - other.lifetime[1])
        return Allowance(self.epsilon - other.epsilon, self.delta - other.delta, life)

    def covers(self, totals: Totals) -> bool:
        """Return whether these charges are within the allowance, in every epoch and in all."""
        bounds = [(totals.most, (self.epsilon, self.delta))]
        if self.lifetime is not None:
            bounds.append((totals.lifetime, self.lifetime))
        return all(spent[0] <= most[0] and spent[1] <= most[1] for spent, most in bounds)

    def wire(self) -> Data:
        """Return the allowance as plain data."""
        life = None if self.lifetime is None else _write_amounts(self.lifetime)
        return {**_write_amounts((self.epsilon, self.delta)), "lifetime": life}


@dataclass
class Totals:
    """Sums of charges, in units: by epoch, over all epochs, and by asker and epoch."""

    epochs: dict[int, tuple[int, int]] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))
    lifetime: tuple[int, int] = (0, 0)
    askers: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, entry: Mapping[str, Any]) -> None:
        """Charge an entry to every epoch that its data touch, and once to the lifetime."""
        epsilon, delta = _pair(entry)
        for epoch in range(entry["first"], entry["last"] + 1):
            before = self.epochs[epoch]
            self.epochs[epoch] = (before[0] + epsilon, before[1] + delta)
            self.askers[entry["asker"], epoch] += epsilon
        self.lifetime = (self.lifetime[0] + epsilon, self.lifetime[1] + delta)

    @property
    def most(self) -> tuple[int, int]:
        """The largest sum of ε, and of δ, over the epochs."""
        sums = self.epochs.values()
        return max((epsilon for epsilon, _ in sums), default=0), max((delta for _, delta in sums), default=0)


class State:
    """What an account holds: limits, clock, entries, permanent answers, choices, trees, marks, the queue.

    `apply` folds one effect in. An effect is what an event changed; `rules.decide` makes them.
    """

    def __init__(self, opened: Mapping[str, Any]) -> None:
        self.person: str = opened["person"]
        self.device: str = opened["device"]
        self.limits: Data = dict(opened["limits"])
        self.epoch = Epoch(self.limits["epoch"])
        self.allowed = Allowance.read(self.limits)
        self.own = Allowance.read(opened["own"])
        self.born: int = opened["born"]
        self.key: str | None = opened.get("key")  # a digest of the secret key, of which nothing else is here
        self.clock: Data = dict(opened["clock"])
        self.openings: int | None = opened["openings"]
        self.askers: set[str] = set()
        self.entries: dict[str, Data] = {}
        self.answers: dict[tuple[str, str, str, str], Data] = {}
        self.choices: dict[tuple[str, str, str, int], Data] = {}
        self.trees: dict[tuple[str, str, str, int], Data] = {}
        self.told: set[str] = set()
        self.queue: dict[str, Data] = {}
        self.askers_known: Data = {}  # keys and lists of askers, beside what all languages share
        self.all, self.mine = Totals(), Totals()
        self.apply({key: opened[key] for key in ("entries", "answers", "choices") if key in opened})

    def apply(self, effect: Mapping[str, Any]) -> None:
        """Fold one effect in."""
        for key, change in effect.items():
            _APPLY[key](self, change)

    def wire(self) -> Data:
        """Return the whole state as plain data."""
        return {
            "account": VERSION,
            "person": self.person,
            "device": self.device,
            "limits": self.limits,
            "own": self.own.wire(),
            "born": self.born,
            "clock": self.clock,
            "openings": self.openings,
            "askers": sorted(self.askers, key=_utf_16),
            **self.shared_data(),
            **({"trees": sorted(self.trees.values(), key=_order)} if self.trees else {}),
            **({"told": sorted(self.told)} if self.told else {}),
            "queue": list(self.queue.values()),
        }

    def shared_data(self) -> Data:
        """Return what devices of one person tell each other: entries, permanent answers, kept choices."""
        return {
            "entries": [self.entries[identity] for identity in sorted(self.entries)],
            "answers": sorted(self.answers.values(), key=_order),
            "choices": sorted(self.choices.values(), key=_order),
        }

    def export(self) -> Data:
        """Return what another device of the same person merges. It holds no key, no queue and no value."""
        whole = self.wire()
        names = ("account", "person", "device", "limits", "entries", "answers", "choices")
        return {name: whole[name] for name in names}

    # --- effects

    def _enter(self, entries: Iterable[Data]) -> None:
        for entry in entries:
            self.entries[entry["id"]] = {name: entry[name] for name in _SPEND if name in entry}
            self.all.add(entry)
            if entry["device"] == self.device:
                self.mine.add(entry)

    def _keep_answers(self, answers: Iterable[Data]) -> None:
        for answer in answers:
            self.answers[*question_key(answer), answer["permanent"]] = answer

    def _keep_choices(self, choices: Iterable[Data]) -> None:
        for choice in choices:
            self.choices[*question_key(choice), choice["period"]] = choice

    def _keep_trees(self, trees: Iterable[Data]) -> None:
        for tree in trees:
            self.trees[*question_key(tree), tree["period"]] = tree

    def _keep_told(self, marks: Iterable[str]) -> None:
        self.told.update(marks)

    def _enqueue(self, item: Data) -> None:
        self.queue[item["id"]] = item

    def _bundle(self, batch: Data) -> None:
        for identity in batch["reports"]:
            self.queue[identity] = {**self.queue[identity], "batch": batch["id"]}

    def _dequeue(self, identities: Iterable[str]) -> None:
        for identity in identities:
            del self.queue[identity]

    def _set_clock(self, clock: Data) -> None:
        self.clock = clock

    def _set_openings(self, openings: int | None) -> None:
        self.openings = openings

    def _set_own(self, own: Data) -> None:
        self.own = Allowance.read(own)

    def _admit(self, asker: str) -> None:
        self.askers.add(asker)

    def _know_askers(self, known: Data) -> None:
        self.askers_known = known


_APPLY: Final[dict[str, Callable[[State, Any], None]]] = {
    "clock": State._set_clock,
    "openings": State._set_openings,
    "own": State._set_own,
    "asker": State._admit,
    "askers known": State._know_askers,
    "entries": State._enter,
    "answers": State._keep_answers,
    "choices": State._keep_choices,
    "trees": State._keep_trees,
    "told": State._keep_told,
    "queue": State._enqueue,
    "batch": State._bundle,
    "unqueue": State._dequeue,
}


def question_key(question: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what names a question in an account: asker, name and fingerprint."""
    return question["asker"], question["question"], question["fingerprint"]


def _utf_16(text: str) -> bytes:
    """Return what texts are sorted by: their UTF-16 code units, as in canonical JSON and in JavaScript."""
    return text.encode("utf-16-be", "surrogatepass")


def _order(kept: Mapping[str, Any]) -> tuple[Any, ...]:
    return *map(_utf_16, question_key(kept)), kept.get("permanent"), kept.get("period")


def _pair(data: Mapping[str, Any]) -> tuple[int, int]:
    return from_hexadecimal(data["epsilon"]), from_hexadecimal(data["delta"])


def _write_amounts(pair: tuple[int, int]) -> Data:
    return {"epsilon": hexadecimal(pair[0]), "delta": hexadecimal(pair[1])}
