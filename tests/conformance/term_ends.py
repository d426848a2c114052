"""Vectors of terms at the ends of their ranges, and on questions that they do not fit: a part of texts.json.

`test_each_rule.py` drops one requirement of a reader after the other. Each of these cases is there because a
reader without one requirement gave the same verdict on all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import dither as dt
from dither.collection.secrets import public_part
from dither.errors import MalformedReport
from dither.foundation.canonical import canonical, digest
from dither_device.conformance import answer
from tests.conformance.signatures import KEY

READ, REFUSED = "read", "refused"
LATER: Final = "a draw that nobody knows"
LINE: Final = dt.SW(dt.Interval(0, 4), epsilon=1)
YES: Final = dt.Categories(["no", "yes"])
MOOD: Final = dt.KRR(dt.Categories(["good", "bad"]), epsilon=1)
TURN: Final = dt.OGPM(dt.Circle(1440), epsilon=1)
PLACES: Final = dt.Optimal(
    dt.Places(["home", "shop", "station"], distances=[[0, 1, 5], [1, 0, 4], [5, 4, 0]]), epsilon=1
)
PROFILE: Final = dt.Marginals(
    dt.Profile({"age": dt.Categories(3), "mood": dt.Categories(["good", "bad"])}), epsilon=1
)
RINGS: Final = dt.PlanarStaircase(dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1)), epsilon=1)
SUM: Final[dict[str, Any]] = {"delta": None, "assumptions": []}

Stated = dict[str, Any]
Case = tuple[str, str, str, str]


def _interval(parts: int) -> Any:
    return dt.SW(dt.Interval(0, parts), epsilon=1)


def _declared() -> Iterator[tuple[str, str, str, Any, Stated]]:
    """Yield the verdict, the term, the reason, the question and what is stated with it."""
    for parts, edges in ((READ, 256), (REFUSED, 257), (REFUSED, 1)):
        reason = f"{edges + 1} edges"
        yield parts, "scale", reason, _interval(edges), {"scale": list(range(edges + 1))}
    moved = dt.SW(dt.Interval(1, 4), epsilon=1)
    yield REFUSED, "scale", "an interval from 1", moved, {"scale": [0, 1, 2, 3, 4]}
    yield REFUSED, "scale", "a list of answers", MOOD, {"scale": [0, 1, 2]}
    minutes = dt.Podium(dt.Interval(0, 180), epsilon=1)
    yield READ, "step", "a step that does not divide an interval", minutes, {"step": 7}
    yield READ, "step", "500 steps", minutes, {"step": 0.36}
    yield READ, "step", "one step", minutes, {"step": 180}
    yield REFUSED, "step", "a step below 0", minutes, {"step": -1}
    yield REFUSED, "step", "a list of answers", MOOD, {"step": 1}
    for shares, reason in (
        ([0.02, -0.01, 0.04], "a share below 0"),
        ([0.02, 0.03, 0.04], "a share below its interval"),
        ([0.02, 0.01, 0.04, 0.05], "four numbers"),
        ([0.02, 0.01, "0.04"], "a text for a share"),
        ({"0": 0.02}, "an object for a list"),
    ):
        yield REFUSED, "outside", reason, LINE, {"clipped": True, "outside": shares}
    yield READ, "outside", "shares from 0 to 1", LINE, {"clipped": True, "outside": [0, 0, 1]}
    yield REFUSED, "clipped", "a circle", TURN, {"clipped": True}
    yield REFUSED, "form", "a time of an interval of 1 440", _interval(1440), {"form": "time"}
    yield REFUSED, "form", "a date of a circle", TURN, {"form": "date"}
    yield REFUSED, "form", "a date of a list", MOOD, {"form": "date"}
    yield REFUSED, "unit", "a profile", PROFILE, {"unit": "h"}
    yield REFUSED, "unit", "times of the day", TURN, {"form": "time", "unit": "min"}


def _named() -> Iterator[tuple[str, str, Any, list[str]]]:
    """Yield the verdict, the reason, the question, and names of its answers in one language."""
    yield REFUSED, "names of an interval in steps", dt.SW(dt.Interval(0, 1, step=1), epsilon=1), ["a", "b"]
    yield REFUSED, "names of a profile", PROFILE, ["a", "b"]
    yield READ, "names of places of a list", PLACES, ["a", "b", "c"]
    yield READ, "names of answers without labels", dt.KRR(dt.Categories(2), epsilon=1), ["a", "b"]
    yield REFUSED, "names on two lines", MOOD, ["a", "b\nc"]


def _of_presence(asked: Callable[..., str], state: Callable[..., Stated]) -> Iterator[Case]:
    count = {"repeat": "present", "every": "week", "expects": 10**6, "label_share": 700}
    weeks = dt.KRR(dt.Categories(["2026-01-05", "2026-02-02"]), epsilon=2)
    for form in ("date", "time", "week", "toString"):
        yield (
            REFUSED,
            "form",
            f"{form}, of days of installation",
            asked(state("since", weeks, form=form), **count),
        )
    coded = dt.KRR(dt.Categories(2), epsilon=2)
    yield REFUSED, "form", "labels without names", asked(state("since", coded, form="installed"), **count)
    yield REFUSED, "present", "numbers would be an identifier", asked(state("age", LINE), **count)


def term_ends(state: Callable[..., Stated], asked: Callable[..., str]) -> Iterator[Case]:
    """Yield the verdict, the name, the reason and the published text of each case.

    `state` returns a question as a campaign states it, and `asked` a signed campaign with such questions.
    """
    for verdict, term, reason, question, stated in _declared():
        yield verdict, f"declared, {term}", reason, asked(state("asks", question, **stated))
    for verdict, reason, question, names in _named():
        yield verdict, "words", reason, asked(state("asks", question, names={"en": names}), languages=["en"])
    for verdict, edges in ((REFUSED, ["a"]), (REFUSED, "ab")):
        yield (
            verdict,
            "words",
            f"names that are {edges!r}",
            asked(state("asks", MOOD, names={"en": edges}), languages=["en"]),
        )
    yield from _of_presence(asked, state)
    change = {"repeat": "kept change", "days": 28, "changes": 1}
    for mechanism in (dt.OUE, dt.OLH, dt.SubsetSelection, dt.HadamardResponse):
        two = state("smokes", mechanism(YES, epsilon=1))
        yield REFUSED, "kept change", f"two answers by {mechanism.__name__}", asked(two, **change)

    plain, much = state("a", LINE), state("b", dt.SW(dt.Interval(0, 4), epsilon=2))
    noise = dt.Gaussian(dt.Interval(0, 180), epsilon=1, delta=1e-6, cells=1024)
    normal = state("noise", noise)
    bare = {name: value for name, value in normal.items() if name != "delta"}
    yield REFUSED, "δ", "a question without the δ of its integers", asked(bare)
    for delta in (normal["delta"] * 2, 0, -1e-6, None, "0.1"):
        total = SUM | {"epsilon": normal["epsilon"], "delta": delta or None}
        yield (
            REFUSED,
            "δ",
            f"{delta!r} for the δ of the integers",
            asked(normal | {"delta": delta}, promise=total),
        )
    total = SUM | {"epsilon": plain["epsilon"], "delta": 1e-6}
    yield (
        REFUSED,
        "δ",
        "a δ that the question does not need, and promises",
        asked(plain | {"delta": 1e-6}, promise=total),
    )
    far = state("where", RINGS)
    for epsilon in (-0.5, 0, -plain["epsilon"]):
        less = SUM | {"epsilon": plain["epsilon"] + epsilon}
        reason = f"an ε of {epsilon:.3g}, which hides that of another question"
        yield REFUSED, "promise", reason, asked(plain, far | {"epsilon": epsilon}, promise=less)
    for delta in (0, -1e-6):
        less = SUM | {"epsilon": plain["epsilon"] + far["epsilon"], "delta": delta or None}
        yield REFUSED, "promise", f"a δ of {delta:g}", asked(plain, far | {"delta": delta}, promise=less)
    twice = SUM | {"epsilon": 2 * plain["epsilon"]}
    yield (
        REFUSED,
        "questions",
        "one question twice; the promise is that of both",
        asked(plain, plain, promise=twice),
    )
    other = plain | {"name": "c"}
    yield (
        REFUSED,
        "questions",
        "two names of one device text; the promise is that of both",
        asked(plain, other),
    )
    yield (
        REFUSED,
        "questions",
        "one name of two questions; the promise is that of both",
        asked(plain, much | {"name": "a"}),
    )
    nothing = SUM | {"epsilon": 0}
    yield REFUSED, "questions", "no question, and nothing is promised", asked(promise=nothing)
    yield REFUSED, "questions", "null for a question", asked(plain, questions=[None, plain])


def read_later(published: str) -> dict[str, Any]:
    """Return what dither-device reads from a published campaign with such a question."""
    found = answer({"id": 0, "do": "campaign", "published": published, "key": public_part(KEY)})
    if "campaign" not in found:
        raise MalformedReport(str(found))
    return {name: found[name] for name in ("campaign", "retired", "asks")}


def _later(state: Callable[..., Stated], draw: str = "a later draw", **parts: Any) -> Stated:
    """Return a question with a draw that no reader knows, with other parts of its specification."""
    stated = state("later", LINE)
    whole = json.loads(stated["specification"])
    device = canonical(json.loads(whole["device"]) | {"draw": draw})
    whole |= {"device": device, "fingerprint": digest(device)} | parts
    return stated | {"specification": json.dumps(whole)}


def later_draws(state: Callable[..., Stated], asked: Callable[..., str]) -> Iterator[Case]:
    """Yield campaigns with a question that no reader knows. Python, which has all draws, refuses them."""
    plain, later = state("a", LINE), _later(state)

    def believed(epsilon: Any, delta: Any = None, **more: Any) -> str:
        known = epsilon if isinstance(epsilon, int | float) else 0
        promise = SUM | {"epsilon": plain["epsilon"] + known, "delta": delta or None}
        stated = {"delta": delta} if delta is not None else {}
        return asked(plain, later | {"epsilon": epsilon} | stated | more, promise=promise)

    yield READ, LATER, "the other question is answered", asked(plain, later)
    yield READ, LATER, "no other question", asked(later)
    yield READ, LATER, "its ε and δ are believed", believed(3, 1e-6)
    yield READ, LATER, "its other fields are not read", believed(1, note="\u001b", unit=7, names=[], text="a")
    for name in ("constructor", "__proto__", "toString"):
        yield READ, LATER, f"a draw of the name {name}", asked(plain, _later(state, name))
    yield READ, LATER, "an answer of a kept change", asked(later, repeat="kept change", days=28, changes=1)
    for epsilon in (-0.5, 0, "1", None, True):
        yield REFUSED, LATER, f"{epsilon!r} for its ε", believed(epsilon)
    for delta in (-1e-6, 0, "1"):
        yield REFUSED, LATER, f"{delta!r} for its δ", believed(1, delta)
    alone = SUM | {"epsilon": plain["epsilon"]}
    yield REFUSED, LATER, "its ε is not in the promise", asked(plain, later, promise=alone)
    yield REFUSED, LATER, "another fingerprint", asked(plain, _later(state, fingerprint="0" * 64))
    yield REFUSED, LATER, "a part of the specification that nobody knows", asked(plain, _later(state, note=1))
    yield REFUSED, LATER, "another version of the specification", asked(plain, _later(state, dither=3))
    yield REFUSED, LATER, "a name on two lines", asked(plain, later | {"name": "a\nb"})
    yield REFUSED, LATER, "the name of the other question", asked(plain, later | {"name": "a"})
    for draw in ("walk", "each", "indicator", "joint response", "kept changes"):
        yield REFUSED, LATER, f"a draw that campaigns do not have: {draw}", asked(plain, _later(state, draw))
