"""Scenarios of an account: what is opened, the policy, the events. `vectors.py` writes what follows."""

from __future__ import annotations

from typing import Any, Final

from dither.account.units import DELTA, EPSILON, limit
from dither.device_text import hexadecimal

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
        "account": 2,
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


def acknowledge(identity: str) -> dict[str, Any]:
    return {"do": "acknowledge", "id": identity}


def batch(number: int, asker: str = "clinic.example", most: int = 100) -> dict[str, Any]:
    return {"do": "batch", "id": f"{number:032x}", "asker": asker, "most": most}


def merge(entries: list[dict[str, Any]], device: str = LAPTOP, **more: Any) -> dict[str, Any]:
    """Return a merge of the export of another device with the limits of `opened(2)`."""
    export = {
        "account": 2, "person": PERSON, "device": device, "limits": opened(2)["limits"], "entries": entries,
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


def kept(name: str, period: int, day: int, device: str, answered: str | None) -> dict[str, Any]:
    return {**named(name), "period": period, "day": day, "device": device, "answer": answered}


def scenario(
    name: str, about: str, state: dict[str, Any], *events: dict[str, Any], **policy: Any
) -> dict[str, Any]:
    return {"name": name, "about": about, "policy": {**OPEN, **policy}, "open": state, "events": list(events)}


SAME = {"repeat": "same"}
PER_VALUE = {"repeat": "per value", "assumes": ["the value never changes"]}
WEEKLY = {"repeat": "once", "days": 7, "start": 0}  # days 19 999 to 20 005 are one period: 19 999 = 2857·7

SCENARIOS: Final = [
    scenario(
        "spend",
        "answers until the budget is used up; a smaller answer still fits",
        opened(2),
        answer(1, question("age", 1.5)),
        answer(2, question("income", 1.0)),
        answer(3, question("income", 0.5)),
        answer(4, question("steps", 1e-6)),
    ),
    scenario(
        "decimal fractions",
        "ten answers at the double 0.1 fit into a budget of 1, an eleventh does not",
        opened(1),
        *(answer(number, question("age", 0.1)) for number in range(1, 12)),
    ),
    scenario(
        "rounding",
        "a charge below 2^-11 is rounded up to a unit; a budget of 0 admits nothing",
        opened(0.25),
        answer(1, question("a", 1e-5)),
        answer(2, question("b", 3e-7)),
        answer(3, question("c", 0.25)),
    ),
    scenario("nothing", "a budget of 0 admits nothing", opened(0), answer(1, question("a", 1e-6))),
    scenario(
        "delta",
        "delta is added up beside epsilon",
        opened(2, delta=1e-6),
        answer(1, question("a", 0.5, delta=6e-7)),
        answer(2, question("b", 0.5, delta=6e-7)),
        answer(3, question("c", 0.5)),
    ),
    scenario(
        "retry",
        "the same identity gets the stored bytes and is charged once; another question is refused",
        opened(1),
        answer(1, question("age", 0.75)),
        answer(1, question("age", 0.75), report="ffff"),
        answer(1, question("income", 0.75)),
        answer(1, question("age", 0.75), at(50 * DAY, 0)),
        acknowledge(f"{1:032x}"),
        answer(1, question("age", 0.75)),
    ),
    scenario(
        "policy",
        "what the policy does not accept is refused before anything else is looked at",
        opened(5),
        answer(1, question("age", 1.5)),
        answer(2, question("age", 1.0, mechanism="Laplace")),
        answer(3, question("age", 1.0, assumes=["the value never changes"])),
        answer(4, question("age", 1.0)),
        answer(5, question("age", 1.0, delta=1e-9)),
        epsilon=1,
        delta=0,
        mechanisms=["Podium", "KRR"],
    ),
    scenario(
        "clock back",
        "a clock that goes back refills nothing, and what it shows later is counted from the latest",
        opened(1, "day"),
        answer(1, question()),
        answer(2, question(), at(-3 * DAY, 10)),
        answer(3, question(), at(-3 * DAY + 60, 70)),
        answer(4, question(), at(12 * 3600 - 1)),
        answer(5, question(), at(12 * 3600)),
        answer(6, question(), at(9 * DAY)),
        answer(7, question("other", 0.5), at(5 * DAY, 9 * DAY + 60)),
    ),
    scenario(
        "clock ahead",
        "a clock may be one epoch ahead of what the steady clock proves, not more",
        opened(1, "day"),
        answer(1, question()),
        answer(2, question(), at(DAY, 0)),
        answer(3, question(), at(DAY + 1, 0)),
        answer(4, question(), at(2 * DAY, DAY)),
        answer(5, question(), at(9 * DAY, DAY + 60)),
        answer(6, question(), at(2 * DAY + 60, DAY + 60)),
        answer(7, question(), at(3 * DAY, 2 * DAY)),
    ),
    scenario(
        "another start",
        "nothing is proved by a steady clock that was started anew; an act of the person is believed",
        opened(1, "day"),
        answer(1, question()),
        answer(2, question(), at(2 * DAY, 5 * DAY, "second")),
        act(at(2 * DAY, 5 * DAY, "second")),
        answer(3, question(), at(2 * DAY, 5 * DAY, "second")),
        answer(4, question(), at(3 * DAY, 6 * DAY, "second")),
        answer(5, question(), at(5 * DAY, 6 * DAY, "third")),
    ),
    scenario(
        "slow clock",
        "time that the steady clock proved and the wall clock did not show is believed later",
        opened(1, "day"),
        answer(1, question("a", 0.5)),
        answer(2, question("b", 0.25), at(0, 5 * DAY)),
        answer(3, question(), at(6 * DAY, 5 * DAY)),
        answer(4, question(), at(6 * DAY + 1, 5 * DAY)),
    ),
    scenario(
        "epochs of data",
        "an answer is charged to every epoch that its data touch; epochs are half-open",
        opened(1, "day"),
        act(at(3 * DAY)),
        answer(1, question("a", 0.75, data=[NOON + 43_200 - 60, NOON + 43_200]), at(3 * DAY)),
        answer(2, question("b", 0.75, data=[NOON + 43_200 - 60, NOON + 43_201]), at(3 * DAY)),
        answer(3, question("b", 0.75, data=[NOON + 43_200, NOON + 43_201]), at(3 * DAY)),
        answer(4, question("c", 0.25, data=[NOON, NOON + 2 * DAY]), at(3 * DAY)),
        answer(5, question("d", 0.25, data=[NOON, NOON + 1]), at(3 * DAY)),
        answer(6, question("e", 0.5, data=[0, 1]), at(3 * DAY)),
        answer(7, question("f", 0.5, data=[NOON + 3 * DAY, NOON + 3 * DAY + 2]), at(3 * DAY)),
        answer(8, question("g", 0.5, data=[NOON + 3 * DAY, NOON + 3 * DAY]), at(3 * DAY)),
    ),
    scenario(
        "too long",
        "data that touch more than 366 epochs are refused",
        opened(1, "day"),
        act(at(400 * DAY)),
        answer(1, question("a", 0.5, data=[NOON, NOON + 366 * DAY]), at(400 * DAY)),
        answer(2, question("a", 0.5, data=[NOON, NOON + 365 * DAY]), at(400 * DAY)),
    ),
    scenario(
        "weeks",
        "a week begins on Monday 00:00 UTC",
        opened(1, "week"),
        answer(1, question()),
        answer(2, question(), at(2 * DAY + 43_199)),
        answer(3, question(), at(2 * DAY + 43_200)),
    ),
    scenario(
        "years",
        "a year begins on 1 January 00:00 UTC, leap years included",
        opened(1, "year"),
        answer(1, question()),
        answer(2, question(), at(88 * DAY + 43_199)),
        answer(3, question(), at(88 * DAY + 43_200)),
        answer(4, question(), at((88 + 365) * DAY + 43_199)),
        answer(5, question(), at((88 + 365) * DAY + 43_200)),
    ),
    scenario(
        "lifetime",
        "a cap over all epochs",
        opened(1, "day", lifetime=1.5),
        answer(1, question()),
        answer(2, question(), at(DAY)),
        answer(3, question("b", 0.5), at(DAY)),
        answer(4, question("b", 0.5), at(2 * DAY)),
    ),
    scenario(
        "quotas",
        "quotas only restrict, and new names are admitted by acts of the person",
        opened(2, "day", quota=0.5, quotas={"lab": 1.0}, askers=2),
        answer(1, question("a", 0.5, asker="first")),
        answer(2, question("b", 0.25, asker="first")),
        answer(3, question("a", 0.5, asker="second")),
        answer(4, question("a", 0.5, asker="lab")),
        act(at(60)),
        answer(5, question("a", 1.0, asker="lab"), at(60)),
        answer(6, question("a", 0.25, asker="fourth"), at(60)),
        answer(7, question("a", 0.0001, asker="fifth"), at(60)),
        answer(8, question("b", 0.5, asker="first"), at(DAY)),
    ),
    scenario(
        "same answer",
        "the first report is kept and repeated: charged once, whatever the epoch",
        opened(1, "day"),
        answer(1, question("sex", 1.0, **SAME)),
        answer(2, question("sex", 1.0, **SAME), at(60)),
        answer(3, question("sex", 1.0, **SAME), at(DAY)),
        acknowledge(f"{1:032x}"),
        answer(4, question("sex", 1.0, **SAME), at(DAY)),
        answer(5, question("sex", 1.0, asker="other", **SAME), at(DAY)),
    ),
    scenario(
        "per value",
        "charged once; every report is made from the device's key, so none is kept",
        opened(1, "day"),
        answer(1, question("home", 1.0, **PER_VALUE)),
        answer(2, question("home", 1.0, **PER_VALUE), at(60)),
        answer(2, question("home", 1.0, **PER_VALUE), at(61), report="ffff"),
        acknowledge(f"{2:032x}"),
        assumptions=["the value never changes"],
    ),
    scenario(
        "once in a period",
        "the day is drawn at the first question and kept; other days are silent",
        opened(1, "day"),
        answer(1, question("mood", 1.0, **WEEKLY), random="ff60"),
        answer(2, question("mood", 1.0, **WEEKLY)),
        answer(3, question("mood", 1.0, **WEEKLY), at(DAY)),
        answer(4, question("mood", 1.0, **WEEKLY), at(2 * DAY)),
        answer(5, question("mood", 1.0, **WEEKLY), at(2 * DAY)),
        answer(6, question("mood", 1.0, **WEEKLY), at(6 * DAY), random="40"),
    ),
    scenario(
        "once, today",
        "the drawn day may be today; it is kept even if the budget refuses",
        opened(1, "day"),
        answer(1, question("age", 0.5)),
        answer(2, question("mood", 1.0, **WEEKLY), random="20"),
        answer(3, question("mood", 0.5, **WEEKLY)),
        answer(4, question("hour", 0.5, repeat="once", days=1, start=0), at(DAY)),
        answer(5, question("hour", 0.5, repeat="once", days=1, start=0), at(DAY + 1)),
    ),
    scenario(
        "dry run",
        "the outcome of an answer; nothing is spent, drawn, kept or queued",
        opened(1),
        dry(1, question("age", 0.75)),
        dry(2, question("age", 1.25)),
        answer(1, question("age", 0.75)),
        dry(2, question("age", 0.5)),
        dry(1, question("age", 0.75)),
        dry(3, question("mood", 0.1, **WEEKLY)),
    ),
    scenario(
        "queue",
        "reports wait, are put in batches that never change, and leave when they are acknowledged",
        opened(5),
        batch(100),
        answer(1, question("a")),
        answer(2, question("b")),
        answer(3, question("c", asker="other")),
        batch(101, most=1),
        batch(102),
        acknowledge(f"{101:032x}"),
        acknowledge(f"{101:032x}"),
        batch(103),
        batch(104, "other"),
        acknowledge(f"{2:032x}"),
        acknowledge(f"{104:032x}"),
        batch(105),
    ),
    scenario(
        "split",
        "a device gives a part of its budget to another one, before both work alone",
        opened(1, lifetime=None),
        answer(1, question("a", 0.25)),
        {"do": "split", "device": LAPTOP, "share": [2, 3]},
        answer(2, question("b", 0.25)),
        answer(3, question("b", 0.05)),
        {"do": "split", "device": "c3" * 16, "share": [1, 2]},
    ),
    scenario(
        "merge",
        "entries are united; merging again changes nothing; other people and limits are refused",
        opened(2),
        answer(1, question("a", 0.5)),
        merge([entry(11), entry(12)]),
        merge([entry(12), entry(11)]),
        merge([entry(12, units_of_epsilon="1")]),
        merge([entry(13, PHONE)]),
        merge([entry(14)], person="00" * 16),
        merge([entry(14)], limits=opened(3)["limits"]),
        answer(2, question("b", 0.75)),
        answer(3, question("b", 0.5)),
        merge([entry(1, PHONE, HALF) | {"question": "a"}]),
    ),
    scenario(
        "merge of permanent answers",
        "the one with the smaller identity is kept on every device",
        opened(2),
        answer(5, question("a", 0.5, **SAME)),
        answer(6, question("b", 0.5, **SAME)),
        merge(
            [entry(4) | {"question": "a"}, entry(7) | {"question": "b"}, entry(8) | {"question": "c"}],
            answers=[
                {**named("a"), "id": f"{4:032x}", "permanent": "same", "report": "0a0a"},
                {**named("b"), "id": f"{7:032x}", "permanent": "same", "report": "0b0b"},
                {**named("c"), "id": f"{8:032x}", "permanent": "same", "report": "0c0c"},
            ],
        ),
        answer(9, question("a", 0.5, **SAME)),
        answer(10, question("b", 0.5, **SAME)),
        answer(11, question("c", 0.5, **SAME)),
    ),
    scenario(
        "merge of kept days",
        "an answered day wins, then the smaller identity, then the smaller device",
        opened(2),
        answer(1, question("mood", 0.5, **WEEKLY), random="80"),
        merge([], choices=[kept("mood", 2857, 20_001, LAPTOP, None)]),
        merge([entry(9) | {"question": "mood"}], choices=[kept("mood", 2857, 20_000, LAPTOP, f"{9:032x}")]),
        answer(2, question("mood", 0.5, **WEEKLY)),
        merge([], choices=[kept("hour", 2857, 20_000, LAPTOP, None)]),
        answer(3, question("hour", 0.5, **WEEKLY)),
    ),
    scenario(
        "names",
        "names are any texts, and sorted by their UTF-16 code units",
        opened(5, quota=0.5, quotas={"__proto__": 1.0}),
        *(
            answer(number, question(name, 0.5, asker=asker, **SAME))
            for number, (asker, name) in enumerate(
                [
                    ("__proto__", "constructor"),
                    ("constructor", "__proto__"),
                    ("\uf900", "\U0001f600"),
                    ("\U0001f600", "\uf900"),
                    ("", "a"),
                    ("toString", "valueOf"),
                    ("constructor", "again"),
                    ("__proto__", "again"),
                ],
                1,
            )
        ),
    ),
    scenario(
        "to the last unit",
        "a sum may reach a limit exactly: here limits are 1, 1/2 for an asker, without slack",
        exact(),
        answer(1, question("a", 0.5)),
        answer(2, question("b", 2**-40)),
        answer(3, question("a", 0.5 - 2**-40, asker="other")),
        answer(4, question("b", 2**-40, asker="other")),
        answer(5, question("c", 2**-40, asker="third")),
    ),
]
