"""The vectors of an account: written by one script, met by two implementations, violated by mutants."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dither_device.state import State
from tests.collection.account import vectors

SECOND = Path(__file__).parent / "second.mjs"
NODE = shutil.which("node")
SCENARIOS = json.loads(vectors.FILE.read_text())["scenarios"]
STEPS = sum(len(scenario["steps"]) for scenario in SCENARIOS)


def test_the_file_is_what_the_script_writes() -> None:
    assert vectors.FILE.read_text() == vectors.text(), "run python -m tests.collection.account.vectors"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_every_step_has_the_outcome_and_the_state_of_the_file(scenario: dict) -> None:
    state = State(scenario["open"])
    expected = scenario["open"]
    if expected["account"] == 2:  # what it holds is of version 3 when it is opened
        both = [
            {**one, "repeat": repeat} for one in expected["choices"] for repeat in ("kept change", "once")
        ]
        expected = {**expected, "account": 3, "choices": both}
    assert state.wire() == expected
    for step in scenario["steps"]:
        assert vectors.run(state, step["event"], scenario["policy"]) == step["outcome"]
        expected = step.get("state", expected)
        assert state.wire() == expected


def test_all_reasons_and_outcomes_occur() -> None:
    outcomes = [step["outcome"] for scenario in SCENARIOS for step in scenario["steps"]]
    assert {one["is"] for one in outcomes} == {
        "drawn", "repeated", "resent", "silent", "refused", "acted", "acknowledged", "unknown", "batched",
        "empty", "split", "merged", "dropped", "present", "message", "withdrawn",
    }  # fmt: skip
    assert {one["reason"] for one in outcomes if "reason" in one} == {
        "id", "policy", "clock", "data", "asker", "quota", "budget", "lifetime", "spent", "person", "limits",
        "rolled back", "conflict", "changed", "answers", "phase",
    }  # fmt: skip


DRIVER = """
import { readFileSync } from "node:fs";
const [vectors, codes] = JSON.parse(readFileSync(0, "utf8"));
for (const code of codes) {
  const { agreeing } = await import("data:text/javascript;base64," + Buffer.from(code).toString("base64"));
  let found;
  try { found = agreeing(vectors.scenarios); } catch { found = -1; }
  console.log(found);
}
"""


def agreeing(codes: list[str], scenarios: list[dict[str, Any]] = SCENARIOS) -> list[int]:
    """Return how many steps agree with each code, up to the first that does not; −1 after an error."""
    assert NODE is not None
    given = json.dumps([{"scenarios": scenarios}, codes])
    command = [NODE, "--input-type=module", "-e", DRIVER]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=60)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.skipif(NODE is None, reason="no JavaScript here")
def test_a_second_implementation_agrees() -> None:
    assert agreeing([SECOND.read_text()]) == [STEPS]


PERIOD = "[today - mod(today - q.start, q.days), q.days]"
UNPAID = "const { id,"  # where an entry is compared with what is asked
PROVED = "at.boot === clock.boot ? elapsed - clock.elapsed : 0"
MUTANTS = {
    "the limit is not reached": ("+ spend[field] > number", "+ spend[field] >= number"),
    "the quota is not reached": ("spend.epsilon > number(quota)", "spend.epsilon >= number(quota)"),
    "a charge is rounded down": ("Math.ceil(x", "Math.floor(x"),
    "the clock goes back": ("Math.max(clock.wall, at.wall)", "at.wall"),
    "another start proves time": (PROVED, "Math.max(0, elapsed - clock.elapsed)"),
    "proved time is not used": ("- clock.wall - proved", "- clock.wall"),
    "one epoch ahead is too far": ("next.clock.ahead > ahead", "next.clock.ahead >= ahead"),
    "an act does not forgive": ("event.at), ahead: 0 }", "event.at) }"),
    "epochs are closed": ("[since, until - 1]", "[since, until]"),
    "only the last epoch is charged": ("first, last };\n  next", "first: last, last };\n  next"),
    "old data have budgets of their own": ("Math.max(second, state.born)", "second"),
    "weeks begin on Thursday": ("(day + 3) / 7", "day / 7"),
    "a year has 365 days": ("new Date(day * DAY * 1000).getUTCFullYear()", "1970 + Math.floor(day / 365)"),
    "askers are admitted without end": (
        "next.openings--;\n  }\n  const queue", "next.openings;\n  }\n  const queue"
    ),
    "a retry is drawn again": ("if (entered) {", "if (entered && !entered) {"),
    "one kind of permanent answer stands for the other": ("&& one.permanent === q.repeat", ""),
    "a permanent answer is charged again": ("if (kept) {", "if (kept && !kept) {"),
    "a permanent answer is queued again": ('{ is: "repeated"', 'queue(event.report) && { is: "repeated"'),
    "a value is queued again": ("if (next.told?.includes(event.mark)) return again(event.report);", ""),
    "a permanent answer that was dropped is gone": ("|| permanent(one));", ");"),
    "what was dropped is sent again at once": (" && one.batch !== ASIDE)", ")"),
    "a value that was dropped never waits again": ("return again(event.report);", "return;"),
    "an answer that was dropped never waits again": ("again(kept.report);", ";"),
    "answers are not counted": ("q.limit && given >= q.limit.answers", "false"),
    "one answer too many": ("given >= q.limit.answers", "given > q.limit.answers"),
    "answers of all campaigns count": ("&& one.campaign === q.limit?.campaign", ""),
    "a campaign's charge stands for another's": ("if (q.limit) told.campaign = q.limit.campaign;", ""),
    "a coin is tossed again": ("if (!coin) keep(campaign,", "if (true) keep(campaign,"),
    "tails answers, too": ('if (!coin.heads) return [...refuse("phase"), drew ? next : undefined];', ""),
    "tails is forgotten": ('[...refuse("phase"), drew ? next : undefined]', 'refuse("phase")'),
    "a device answers both campaigns": ("one.heads && (one.name", "false && (one.name"),
    "another name is another person": (" || one.campaign === follows", ""),
    "who came later answers the first, too": ("if (!coin) keep(follows, false);", ""),
    "tails of another device wins": ("a.heads && !b.heads", "!a.heads && b.heads"),
    "a month has 30 days": ("return [first, after - first];", "return [first, 30];"),
    "a calendar week begins on Thursday": ("mod(today + 3, 7)", "mod(today, 7)"),
    "a choice of version 2 is forgotten": ("choices: spread(scenario.open.choices)", "choices: [].concat()"),
    "a value is queued with the first one alone": ("entry.device === state.device) tell()", "!entry) tell()"),
    "two devices send": (" && entry.device === state.device) tell", ") tell"),
    "an answer that nobody paid for is handed out": ("if (!entry) return false;", "if (!entry) return true;"),
    "any charge is enough": ("isDeepStrictEqual(terms, charged(q))", "true"),
    "what is missing is drawn": (' || (q.repeat === "same" && kept.report === null)', ""),
    "the charge of an identity is not compared": ("|| ((own || kept) && !paid(", "|| (false && !paid("),
    "the size is not compared": ('["data", "times"]', '["data"]'),
    "the span is not compared": ('["data", "times"]', '["times"]'),
    "ε is not compared": (UNPAID, f"entry.epsilon = charged(q).epsilon; {UNPAID}"),
    "δ is not compared": (UNPAID, f"entry.delta = charged(q).delta; {UNPAID}"),
    "assumptions are not compared": (UNPAID, f"entry.assumes = charged(q).assumes; {UNPAID}"),
    "a value may change": ('(q.repeat === "per value" ? LINES : [])', "[]"),
    "only one assumption is asked": ('"per value" ? LINES', '"per value" ? LINES.slice(1)'),
    "the key may leave": ('"per value" ? LINES', '"per value" ? LINES.slice(0, 1)'),
    "the length is secret": ("(q.times ?? 1) > 1 ? [LENGTH]", "false ? [LENGTH]"),
    "every path has a length": ("(q.times ?? 1) > 1", "q.times"),
    "any ε is accepted by default": ("DEFAULT = { epsilon: 1,", "DEFAULT = { epsilon: 50,"),
    "any δ is accepted by default": ("epsilon: 1, delta: 0,", "epsilon: 1, delta: 1,"),
    "a period is known by its number": (PERIOD, "[Math.floor((today - q.start) / q.days), q.days]"),
    "a stale reading counts": ("? Math.max(at.elapsed, clock.elapsed) :", "? at.elapsed :"),
    "a batch has all reports": ("=== one.fingerprint) === at)", "=== one.fingerprint) >= 0)"),
    "a batch has one report to a name": ("other.fingerprint === one.fingerprint", "same(other, one)"),
    "a day is drawn again": ("if (!choice) {", "if (true) {"),
    "a day is answered twice": ("|| choice.answer !== null", ""),
    "a refused day is forgotten": ("[...refuse(reason), drew ? next : undefined]", "refuse(reason)"),
    "the day is biased": ("if (drawn < bound) return drawn;", "return drawn % bound;"),
    "own parts are not kept to": ("state.own], [state.entries", "state.limits], [state.entries"),
    "the whole is not kept to": (", [state.entries, state.limits]]", "]"),
    "what was spent is given away": ('last), own)) return refuse("spent")', "last), own)) break"),
    "the last answer wins": ("a.id < b.id", "a.id > b.id"),
    "an unanswered day wins": ('? "1" : "0"', '? "0" : "1"'),
    "campaigns share a batch": (" && chosen(one) &&", " &&"),
    "a batch is sent in part": ("reports: state.queue.filter(", "reports: queued.filter("),
    "a batch grows": ("one.batch === sent.batch)", "true)"),
    "a use is counted twice": ("if (kept && period <= kept.period)", "if (false)"),
    "a clock that goes back counts twice": ("period <= kept.period", "period === kept.period"),
    "the clock of a use goes back": (
        "next.clock = clockAfter(state.clock, event.at);\n  if (!state.askers.includes(asker))",
        "next.clock = event.at;\n  if (!state.askers.includes(asker))",
    ),
    "the coin of presence is tossed again": ("const first = !kept;", "const first = true;"),
    "the share is not reached": ('"hex")]) < share };\n    next', '"hex")]) <= share };\n    next'),
    "the label is drawn later": ("if (first && kept.permanent &&", "if (kept.permanent && q &&"),
    "the label is drawn without a budget": ("&& !short(state, q, now, now, spend)", ""),
    "the label is drawn by any clock": ("next.clock.ahead <= ahead[state.limits.epoch] && !", "!"),
    "a message is sent after its period": ("[0] !== kept.period)", "[0] < kept.period)"),
    "a message is kept after its period": ("(one === kept ? { ...one, batch: null } : one)", "one"),
    "both labels in a message": ("public: !kept.permanent,", "public: true,"),
    "public labels where the budget was spent": ("public: !kept.permanent,", "public: !label,"),
    "a label for any list": ('one.permanent === "present" && same(one, q)', 'one.permanent === "present"'),
    "a second label for the same list": (" && !known(state)", ""),
    "a label of another device": (
        'from.answers.filter((one) => one.permanent !== "present")', "from.answers"),
    "a message that was taken is sent again": (' acknowledge: "acknowledged",', ""),
    "a message that was refused is sent again": (' drop: "dropped",', ""),
    "a message that was withdrawn is sent again": (', withdraw: "withdrawn" }', " }"),
    "a message is not withdrawn": ("if (event.sent) {", "if (false) {"),
    "presence admits any asker": ('if (state.openings === 0) return refuse("asker");\n    next.askers = '
        "[...state.askers, asker].sort();", "next.askers = [...state.askers, asker].sort();"),
    "presence has no policy": ('if (q && !accepted(policy, q)) return refuse("policy");', ""),
    "names are looked up in the prototype": ("Object.hasOwn(state.limits.quotas, q.asker)", "true"),
}  # fmt: skip


@pytest.mark.skipif(NODE is None, reason="no JavaScript here")
def test_mutants_are_found() -> None:
    code = SECOND.read_text()
    assert [name for name, (right, _) in MUTANTS.items() if code.count(right) != 1] == []
    found = agreeing([code.replace(right, wrong) for right, wrong in MUTANTS.values()])
    missed = [name for name, steps in zip(MUTANTS, found, strict=True) if steps == STEPS]
    assert missed == [], "no vector finds these"
