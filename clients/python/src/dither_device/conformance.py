"""Answers requests on standard input, as clients/conformance/README.md says.

dither conformance -- python -m dither_device.conformance
"""

from __future__ import annotations

import json
import sys

from dither_device.campaign import Campaign, day_of, read_list
from dither_device.exchange import judge, judge_withdrawal, split_address
from dither_device.kept_change import check_change, draw_rows, fingerprint_of, marked
from dither_device.keyed import REPORT, source_of
from dither_device.ohttp import binary_request, binary_response, encapsulate
from dither_device.question import Question, exp_below
from dither_device.rules import Policy, decide
from dither_device.sending import json_body, label_of, packed_body, withdrawal_body
from dither_device.state import State
from dither_device.text import Malformed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Fields = dict[str, Any]

_read: dict[str, Question] = {}


def _question(text: str) -> Question:
    if text not in _read:
        _read[text] = Question(text)
    return _read[text]


class _Script:
    """Random bytes that are given."""

    def __init__(self, text: str) -> None:
        self.left = bytes.fromhex(text)

    def __call__(self, size: int) -> bytes:
        taken, self.left = self.left[:size], self.left[size:]
        if len(taken) < size:
            raise EOFError("more bytes were taken than there are")
        return taken


def _draw(request: Fields) -> Fields:
    source = _Script(request["bytes"])
    report = _question(request["specification"]).report(request["value"], source)
    return {"report": report.hex(), "left": len(source.left)}


def _campaign(request: Fields) -> Fields:
    campaign = Campaign(request["published"], key=request["key"])
    asks = [
        campaign.account_terms(name) if campaign.can_answer(name) else {"question": name, "unknown": True}
        for name in campaign.questions
    ]
    return {"campaign": campaign.id, "retired": campaign.retired, "asks": asks}


def _value(request: Fields) -> Fields:
    campaign = Campaign(request["published"], key=request["key"])
    return {"taken": campaign.value(request["question"], request["value"])}


def _words(request: Fields) -> Fields:
    inquiry = Campaign(request["published"], key=request["key"]).asking(request["question"])
    labels = [{"value": value, "text": text} for value, text in inquiry.labels(*request["languages"])]
    return {"text": inquiry.text(*request["languages"]), "labels": labels}


def _open(request: Fields) -> Fields:
    campaign = Campaign(request["published"], key=request["key"])
    listed = label_of(campaign, request["label"]) == request["label"]
    return {"open": campaign.is_open(day_of(request["day"])), "listed": listed}


def _batch(request: Fields) -> Fields:
    reports = [(report["fingerprint"], bytes.fromhex(report["report"])) for report in request["reports"]]
    reported = request["batch"], request["label"], reports
    return {"json": json_body(*reported), "packed": packed_body(*reported).hex()}


def _list(request: Fields) -> Fields:
    heads, _ = read_list(request["published"], request["key"], request["kept"])
    return {"count": len(heads), "head": heads[-1]}


def _fate(request: Fields) -> Fields:
    return {"fate": judge(request["batch"], request["status"], bytes.fromhex(request["content"]))[0]}


def _withdrawn(request: Fields) -> Fields:
    withdrawn, _ = judge_withdrawal(request["batch"], request["status"], bytes.fromhex(request["content"]))
    return {"withdrawn": withdrawn}


def _address(request: Fields) -> Fields:
    split_address(request["address"])
    return {"used": True}


def _request(request: Fields) -> Fields:
    plain = binary_request(
        request["method"], request["address"], request["form"], bytes.fromhex(request["body"])
    )
    return {"plain": plain.rstrip(b"\0").hex(), "length": len(plain)}


def _response(request: Fields) -> Fields:
    status, _, content = binary_response(bytes.fromhex(request["plain"]))
    return {"status": status, "content": content.hex()}


def _encapsulate(request: Fields) -> Fields:
    plain, ephemeral = (bytes.fromhex(request[name]) for name in ("plain", "ephemeral"))
    sealed, answers = encapsulate(request["configuration"], plain, ephemeral)
    facts = {"sealed": sealed.hex()}
    if request.get("answer"):
        facts["opened"] = answers.open(bytes.fromhex(request["answer"])).hex()
    return facts


def _account(request: Fields) -> Fields:
    state, event = State(request["state"]), request["event"]
    policy = Policy() if request["policy"] is None else Policy(**request["policy"])
    decision = decide(state, event, policy, _Script(event.get("random") or ""))
    if decision.draws and decision.owed is not None:
        decision = decision.with_report(event["report"], tree=marked(decision.owed, event["mark"]))
    elif decision.draws:
        decision = decision.with_report(event["report"], event.get("mark"))
    state.apply(decision.effect)
    return {"outcome": decision.outcome, "state": state.wire()}


def _change(request: Fields) -> Fields:
    question, days, changes = _question(request["specification"]), request["days"], request["changes"]
    check_change(question, days, changes)
    length = 1 << request["group"] - 1 if request["group"] else 1
    owed = {
        **{"group": request["group"], "days": len(request["values"]), "changes": changes},
        **{"before": {"intervals": request["before"]}, "intervals": request["intervals"]},
        "all": -(-(days - 1) // length) if request["group"] else 1,
    }
    source, keyed = _Script(request["bytes"]), _Script(request["keyed"])
    rows, reported = draw_rows(question, request["values"], owed, request["reported"], keyed, source)
    mark = fingerprint_of(question, days, changes)
    left = len(source.left) + len(keyed.left)
    return {"fingerprint": mark, "report": rows.hex(), "reported": reported, "left": left}


def _permanent(request: Fields) -> Fields:
    reports = []
    for ask in request["asks"]:
        question = _question(ask["specification"])
        placed = question.place(ask["value"])
        reported = ask["asker"], ask["question"], question.fingerprint, question.mark(placed)
        reports.append(question.draw(placed, source_of(bytes.fromhex(ask["key"]), *reported, REPORT)).hex())
    return {"reports": reports}


ANSWERS: dict[str, Callable[[Fields], Fields]] = {
    "draw": _draw,
    "read": lambda request: {"fingerprint": _question(request["specification"]).fingerprint},
    "campaign": _campaign,
    "value": _value,
    "words": _words,
    "open": _open,
    "bound": lambda request: {"below": f"{exp_below(request['epsilon']):x}"},
    "batch": _batch,
    "fate": _fate,
    "address": _address,
    "withdrawal": lambda request: {"body": withdrawal_body(request["batch"])},
    "withdrawn": _withdrawn,
    "list": _list,
    "request": _request,
    "response": _response,
    "encapsulate": _encapsulate,
    "account": _account,
    "change": _change,
    "permanent": _permanent,
}


def answer(request: Fields) -> Fields:
    """Return the answer to one request."""
    try:
        facts = ANSWERS[request["do"]](request) if request["do"] in ANSWERS else {"unknown": True}
    except Malformed as error:
        facts = {"refused": str(error)}
    except ImportError:  # nothing can be encrypted without `cryptography`
        facts = {"unknown": True}
    except Exception as error:
        facts = {"error": f"{type(error).__name__}: {error}"}
    return {"id": request["id"], **facts}


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line)), ensure_ascii=False))
