"""Random events: three implementations agree, sums stay within the limits, hostile exports are refused."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dither.errors import DitherError, MalformedReport
from dither_device.state import EPSILON, State, limit
from tests.collection.account import events, vectors
from tests.collection.account.devices import DAY, make, number
from tests.collection.account.events import LAPTOP, NOON, PHONE
from tests.collection.account.scenarios import LENGTH, LINES
from tests.collection.account.test_account_vectors import NODE, agreeing
from tests.support.repository import ROOT

CLIENT = f"""
import {{ isDeepStrictEqual }} from "node:util";
import {{ happen }} from "{(ROOT / "clients" / "javascript" / "test" / "events.mjs").as_uri()}";
export function agreeing(scenarios) {{
  let agreed = 0;
  for (const {{ open, policy, steps }} of scenarios) {{
    let state = open;
    for (const {{ event, outcome, state: expected = state }} of steps) {{
      const [told, next = state] = happen(state, event, policy);
      if (!isDeepStrictEqual([told, next], [outcome, expected])) return agreed;
      state = next;
      agreed++;
    }}
  }}
  return agreed;
}}
"""
QUARTER = "4000000000000000"  # ε = 0.25 in units
KEPT = {"permanent": "same", "report": "aa"}
KINDS = ("day", "week", "year", "lifetime")
REPEATS: tuple[dict[str, Any], ...] = (
    {"repeat": "fresh"},
    {"repeat": "fresh"},
    {"repeat": "same"},
    {"repeat": "per value"},
    {"repeat": "once", "days": 3, "start": 1},
)


def _account(draw: random.Random) -> dict[str, Any]:
    return events.opened(
        draw.choice([0.5, 1, 2]),
        draw.choice(KINDS),
        delta=draw.choice([0.0, 1e-6]),
        lifetime=draw.choice([None, 1.5, 3.0]),
        quota=draw.choice([None, 0.4]),
        quotas=draw.choice([{}, {"b": 0.2}]),
        askers=draw.choice([None, 1, 2]),
    )


def _question(draw: random.Random, now: int) -> dict[str, Any]:
    since = now + draw.choice([-9 * DAY, -DAY, -100, 0, 5])
    asked = events.question(
        draw.choice("pq"),
        draw.choice([0.1, 0.1, 0.3, 0.5, 1e-7]),
        asker=draw.choice("abc"),
        delta=draw.choice([0, 0, 0, 0, 5e-7]),
        fingerprint=draw.choice(["0123456789abcdef" * 2, "f" * 32]),
        data=draw.choice([None, None, [since, since + draw.choice([1, DAY, 8 * DAY, 0])]]),
    )
    return {**asked, **draw.choice(REPEATS), **draw.choice([{}, {}, {"times": 1}, {"times": 2}])}


def _scenario(seed: int) -> dict[str, Any]:
    """Return random events; each but the first few depends on what the others left."""
    draw = random.Random(seed)
    opened = _account(draw)
    later, elapsed, boot = 0, 0, "first"
    happened: list[dict[str, Any]] = []
    for step in range(40):
        passed = draw.choice([0, 10, DAY // 3, DAY])
        later, elapsed = later + passed + draw.choice([0, 0, 0, DAY, -DAY]), elapsed + passed
        if draw.random() < 0.05:
            boot, elapsed = f"start {step}", 0
        when = events.at(later, elapsed, boot)
        identity = draw.randrange(30)
        random_bytes = bytes(draw.choices([0x00, 0x40, 0x80, 0xC0], k=20)).hex() + "00"
        kind = draw.choices(
            ["answer", "dry run", "act", "batch", "acknowledge", "split", "merge"], [30, 3, 2, 3, 3, 1, 2]
        )[0]
        asked = _question(draw, NOON + later)
        if kind == "answer":
            mark = f"{draw.randrange(3):032x}"
            happened.append(events.answer(identity, asked, when, random=random_bytes, mark=mark))
        elif kind == "dry run":
            happened.append(events.dry(identity, asked, when))
        elif kind == "act":
            happened.append(events.act(when))
        elif kind == "batch":
            some = draw.choice([{}, {"questions": [[asked["question"], asked["fingerprint"]]]}])
            happened.append(events.batch(100 + step, draw.choice("abc"), draw.choice([1, 3]), **some))
        elif kind == "acknowledge":
            happened.append(events.acknowledge(f"{draw.choice([identity, 100 + step - 1]):032x}"))
        elif kind == "split":
            happened.append({"do": "split", "device": f"{step:032x}", "share": [1, draw.choice([2, 3, 7])]})
        else:
            export = {
                **{name: opened[name] for name in ("account", "person", "limits")},
                "device": LAPTOP,
                "entries": [
                    events.entry(draw.randrange(28, 34), draw.choice([LAPTOP, LAPTOP, PHONE]), QUARTER)
                ],
                "answers": [
                    {**events.named("p"), "asker": "a", "id": f"{draw.randrange(60):032x}", **KEPT}
                ],
                "choices": [{**events.kept("q", 6666, 20_000, LAPTOP, None), "asker": "b"}],
            }  # fmt: skip
            happened.append({"do": "merge", "from": export})
    lines = draw.choice([[], [*LINES, LENGTH]])
    policy = {"epsilon": draw.choice([50, 0.4]), "delta": 1, "assumptions": lines, "mechanisms": None}
    return {"name": f"{seed}", "about": "", "policy": policy, "open": opened, "events": happened}


@pytest.mark.skipif(NODE is None, reason="no JavaScript here")
def test_three_implementations_agree_on_random_events() -> None:
    scenarios = [json.loads(json.dumps(vectors.played(_scenario(seed)))) for seed in range(60)]
    told = [step["outcome"] for one in scenarios for step in one["steps"]]
    outcomes = {outcome.get("reason", outcome["is"]) for outcome in told}
    assert outcomes >= {
        "drawn", "repeated", "resent", "silent", "acknowledged", "batched", "split", "merged",
        "policy", "clock", "data", "asker", "quota", "budget", "lifetime", "spent", "rolled back", "id",
        "changed",
    }  # fmt: skip
    assert any(
        len(step["state"].get("told", [])) > 1
        for one in scenarios
        for step in one["steps"]
        if "state" in step
    )
    steps = sum(len(one["steps"]) for one in scenarios)
    second = Path(__file__).with_name("second.mjs").read_text()
    codes = [second, CLIENT]
    assert agreeing(codes, scenarios) == [steps] * len(codes)


def test_sums_stay_within_the_limits_in_exact_fractions() -> None:
    """What this device charged, summed again from the events that were drawn, in fractions of the doubles."""
    for seed in range(150):
        scenario = _scenario(seed)
        state = State(scenario["open"])
        charged: dict[int, Fraction] = {}
        life = Fraction(0)
        for event in scenario["events"]:
            if vectors.run(state, event, scenario["policy"])["is"] != "drawn" or event["do"] == "dry run":
                continue
            entry, epsilon = state.entries[event["id"]], Fraction(event["question"]["epsilon"])
            life += epsilon
            for epoch in range(entry["first"], entry["last"] + 1):
                charged[epoch] = charged.get(epoch, Fraction(0)) + epsilon
        limits = scenario["open"]["limits"]
        assert max(charged.values(), default=0) <= Fraction(int(limits["epsilon"], 16), 1 << EPSILON)
        if limits["lifetime"] is not None:
            assert life <= Fraction(int(limits["lifetime"]["epsilon"], 16), 1 << EPSILON)
    assert limit(1.0, EPSILON) - (1 << EPSILON) < 1 << 13  # the slack is below 10⁻¹⁵


def test_hostile_exports_and_invitations_are_refused_in_words(tmp_path: Path) -> None:
    account = make(tmp_path)
    account.answer(number(), 1)
    before = account.wire()
    good = json.loads(account.export())
    draw = random.Random(3)
    hostile = [None, 1, -1, 1e300, "", "x", "0" * 40, [], {}, [[]], {"a": 1}, True, "ff", 10**18, "\ud800"]
    refused = 0
    for _ in range(300):
        data = json.loads(json.dumps(good))
        place = data
        while True:  # change something at a random depth
            key = draw.choice(list(place)) if isinstance(place, dict) else draw.randrange(len(place))
            if isinstance(place[key], dict | list) and place[key] and draw.random() < 0.8:
                place = place[key]
                continue
            place[key] = draw.choice(hostile)
            break
        try:
            account.merge(json.dumps(data))
        except DitherError:
            refused += 1
    assert refused > 200
    with pytest.raises(MalformedReport, match="invitation"):
        type(account).join(tmp_path / "other", account.export())
    assert not (tmp_path / "other").exists()
    assert before["entries"][0] in account.wire()["entries"]
