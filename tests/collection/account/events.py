"""The parts that scenarios of an account are made of: states to begin with, questions, events."""

from __future__ import annotations

from typing import Any, Final

from dither.foundation.canonical import hexadecimal
from dither_device.state import DELTA, EPSILON, limit

PERSON, PHONE, LAPTOP = "9e" * 16, "a1" * 16, "b2" * 16
NOON: Final = 20_000 * 86_400 + 43_200  # 2024-10-04 12:00 UTC, a Friday
DAY: Final = 86_400
HALF: Final = "8000000000000000"  # ε = 0.5 in units
OPEN: Final = {"epsilon": 50, "delta": 1, "assumptions": [], "mechanisms": None}


def units(epsilon: float, delta: float = 0.0) -> dict[str, str]:
    return {"epsilon": hexadecimal(limit(epsilon, EPSILON)), "delta": hexadecimal(limit(delta, DELTA))}


def opened(
    epsilon: float,
    epoch: str = "lifetime",
    *,
    delta: float = 0.0,
    lifetime: float | None = None,
    quota: float | None = None,
    quotas: dict[str, float] | None = None,
    askers: int | None = None,
    device: str = PHONE,
) -> dict[str, Any]:
    """Return what an account is opened with."""
    whole = {**units(epsilon, delta), "lifetime": None if lifetime is None else units(lifetime, delta)}
    return {
        "account": 3,
        "person": PERSON,
        "device": device,
        "limits": {
            "epoch": epoch,
            **whole,
            "quota": None if quota is None else hexadecimal(limit(quota, EPSILON)),
            "quotas": {name: hexadecimal(limit(one, EPSILON)) for name, one in (quotas or {}).items()},
            "askers": askers,
        },
        "own": whole,
        "born": NOON,
        "clock": {"wall": NOON, "boot": "first", "elapsed": 100, "ahead": 0},
        "openings": askers,
        "askers": [],
        "entries": [],
        "answers": [],
        "choices": [],
        "queue": [],
    }


def question(name: str = "age", epsilon: float = 1.0, **more: Any) -> dict[str, Any]:
    facts = {
        "asker": "clinic.example",
        "question": name,
        "fingerprint": "0123456789abcdef0123456789abcdef",
        "mechanism": "Podium",
        "epsilon": epsilon,
        "delta": 0,
        "assumes": [],
        "repeat": "fresh",
        "days": None,
        "start": None,
        "data": None,
    }
    return {**facts, **more}


def at(later: int = 0, elapsed: int | None = None, boot: str = "first") -> dict[str, Any]:
    """Return a moment, so many seconds after the account was opened; the steady clock agrees if not told."""
    return {"wall": NOON + later, "boot": boot, "elapsed": 100 + (later if elapsed is None else elapsed)}


def answer(
    number: int, asked: dict[str, Any], when: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    report = f"{number:02x}{(number * 7) % 256:02x}"
    return {
        "do": "answer", "id": f"{number:032x}", "question": asked, "at": when or at(), "report": report,
        **more,
    }  # fmt: skip


def dry(number: int, asked: dict[str, Any], when: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"do": "dry run", "id": f"{number:032x}", "question": asked, "at": when or at()}


def act(when: dict[str, Any]) -> dict[str, Any]:
    return {"do": "act", "at": when}


def acknowledge(identity: str, sent: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"do": "acknowledge", "id": identity, **({} if sent is None else {"sent": sent})}


def sent(day: int, retry: int = 14, campaign: str = "c0" * 32) -> dict[str, Any]:
    """Return what is noted of a batch that is acknowledged on a day."""
    return {"campaign": campaign, "day": day, "retry": retry}


def withdraw(identity: str) -> dict[str, Any]:
    return {"do": "withdraw", "id": identity}


def batch(number: int, asker: str = "clinic.example", most: int = 100, **more: Any) -> dict[str, Any]:
    return {"do": "batch", "id": f"{number:032x}", "asker": asker, "most": most, **more}


def label(number: int = 0, epsilon: float = 1.0) -> dict[str, Any]:
    """Return the question that is the permanent label; another number is another list."""
    return question(
        "installed", epsilon, fingerprint=f"{number:032x}", mechanism="ProjectiveResponse", repeat="present",
        every="week",
    )  # fmt: skip


def use(
    number: int,
    when: dict[str, Any] | None = None,
    asked: dict[str, Any] | None = None,
    *,
    share: int = 700,
    every: str = "week",
    name: str = "tool",
    asker: str = "clinic.example",
    **more: Any,
) -> dict[str, Any]:
    """Return the use of a tool; without a label the campaign counts alone."""
    presence = {"asker": asker, "name": name, "every": every, **({} if asked is None else {"share": share})}
    told = {"id": f"{number:032x}", "question": asked, "at": when or at(), "presence": presence}
    return {"do": "present", **told, **({} if asked is None else {"report": f"{number:02x}"}), **more}


def message(
    when: dict[str, Any] | None = None,
    asked: dict[str, Any] | None = None,
    *,
    every: str = "week",
    name: str = "tool",
    asker: str = "clinic.example",
) -> dict[str, Any]:
    presence = {"asker": asker, "name": name, "every": every}
    return {"do": "message", "question": asked, "at": when or at(), "presence": presence}


def merge(entries: list[dict[str, Any]], device: str = LAPTOP, **more: Any) -> dict[str, Any]:
    """Return a merge of the export of another device with the limits of `opened(2)`."""
    export = {
        "account": 3, "person": PERSON, "device": device, "limits": opened(2)["limits"], "entries": entries,
        "answers": [], "choices": [], **more,
    }  # fmt: skip
    return {"do": "merge", "from": export}


def entry(number: int, device: str = LAPTOP, units_of_epsilon: str = "8000000000000000") -> dict[str, Any]:
    return {
        "id": f"{number:032x}", "device": device, "asker": "clinic.example", "question": "age",
        "fingerprint": "0123456789abcdef0123456789abcdef", "epsilon": units_of_epsilon, "delta": "0",
        "assumes": [], "first": 0, "last": 0,
    }  # fmt: skip


def exact() -> dict[str, Any]:
    state = opened(1, quota=0.5)
    state["limits"].update(epsilon="1" + "0" * 16, quota=HALF)
    state["own"] = {**state["own"], "epsilon": "1" + "0" * 16}
    return state


def named(name: str) -> dict[str, Any]:
    return {key: question(name)[key] for key in ("asker", "question", "fingerprint")}


def kept(
    name: str, period: int, day: int, device: str, answered: str | None, repeat: str = "once"
) -> dict[str, Any]:
    found = {"repeat": repeat, "period": period, "day": day, "device": device, "answer": answered}
    return {**named(name), **found}


def drop(identity: str) -> dict[str, Any]:
    return {"do": "drop", "id": identity}


def scenario(
    name: str, about: str, state: dict[str, Any], *events: dict[str, Any], **policy: Any
) -> dict[str, Any]:
    """Return a scenario. `policy=None` is the policy of an account that was given none."""
    given = None if "policy" in policy else {**OPEN, **policy}
    return {"name": name, "about": about, "policy": given, "open": state, "events": list(events)}
