"""The budget of an account: what it is opened with, and what it promises as a guarantee and as a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dither.account import words
from dither.account.clock import ClockReading, Epoch
from dither.account.names import check_name
from dither.account.state import VERSION, Data, State
from dither.account.units import DELTA, EPSILON, as_bound, limit
from dither.device_text import hexadecimal
from dither.errors import InvalidParameter, found
from dither.privacy import Guarantee, Ledger, Nothing, Unit
from dither.privacy.ledger import Entry

LATEST: Final = "no earlier copy of the account's file is put back"
PARTS: Final = "every device of the person keeps to the part that it was given, and uses its invitation once"
_MOST_ASKERS: Final = 1 << 20


def limits(
    epsilon: float,
    delta: float,
    epoch: Epoch,
    lifetime: float | None,
    quota: float | None,
    quotas: Mapping[str, float],
    askers: int | None,
) -> Data:
    """Return the limits of a person as plain data; raise InvalidParameter if one is not valid."""
    if not isinstance(epoch, Epoch):
        raise InvalidParameter(f"epoch is one of dt.Epoch, not {found(epoch)}")
    if epoch is Epoch.LIFETIME and lifetime is not None:
        raise InvalidParameter(
            "lifetime is for a budget per day, week or year; without epoch, epsilon is for life"
        )
    if not isinstance(delta, int | float) or not 0.0 <= delta <= 1.0:
        raise InvalidParameter("delta of a budget is a probability")
    for name in quotas:
        check_name("the name of an asker", name, least=0)
    whole = isinstance(askers, int) and not isinstance(askers, bool)
    if askers is not None and not (whole and 0 <= askers <= _MOST_ASKERS):
        raise InvalidParameter("askers is a whole number: the new askers that an act of the person admits")
    return {
        "epoch": epoch.value,
        **_units(epsilon, delta),
        "lifetime": None if lifetime is None else _units(lifetime, delta),
        "quota": None if quota is None else hexadecimal(limit(quota, EPSILON)),
        "quotas": {name: hexadecimal(limit(most, EPSILON)) for name, most in quotas.items()},
        "askers": askers,
    }


def opened(
    person: str, device: str, limits: Data, own: Data, moment: ClockReading, born: int | None = None
) -> Data:
    """Return what an account is opened with."""
    begun = moment.wall if born is None else born  # of the person's first device
    clock = {**moment.wire(), "wall": max(begun, moment.wall), "ahead": 0}
    return {
        "account": VERSION,
        "person": person,
        "device": device,
        "limits": limits,
        "own": own,
        "born": begun,
        "clock": clock,
        "openings": limits["askers"],
    }


def guarantee(state: State) -> Guarantee:
    """Return what the person is promised over all time and all askers; nothing if only epochs are limited."""
    most = state.allowed
    life = (most.epsilon, most.delta) if state.epoch is Epoch.LIFETIME else most.lifetime
    assumes = ((LATEST,) if state.own == most else (LATEST, PARTS)) + words.accepted(state)
    bound = Nothing(words.per_epoch(state)) if life is None else as_bound(*life)
    return Guarantee(bound, Unit.PERSON, assumes)


def ledger(state: State) -> Ledger:
    """Return everything charged so far; the budget is the account's for all time, or infinite."""
    promised = guarantee(state)
    entries = [
        Entry(
            f"{one['asker']} {one['question']}".strip(),
            Guarantee(
                as_bound(int(one["epsilon"], 16), int(one["delta"], 16)), assumes=tuple(one["assumes"])
            ),
            int(one["id"], 16),
        )
        for one in state.entries.values()
    ]
    return Ledger(promised.epsilon, promised.delta, entries=frozenset(entries))


def _units(epsilon: float, delta: float) -> Data:
    return {"epsilon": hexadecimal(limit(epsilon, EPSILON)), "delta": hexadecimal(limit(delta, DELTA))}
