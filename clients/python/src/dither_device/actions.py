"""The actions of `mytool telemetry`: on, off, status, show, take back, erase.

They are the part of `Telemetry` that only a person's command runs: an answer does not load it.
"""

from __future__ import annotations

import os
import time

from dither_device import telemetry
from dither_device.rules import ASIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dither_device.account import Account
    from dither_device.campaign import Campaign
    from dither_device.telemetry import Telemetry


def _on(tool: Telemetry) -> str:
    campaign, reason, records = tool._verify(), tool._why_foreign(), tool._records()
    if reason is not None:  # nothing is written: a file of root would lock its owner out
        return f"Telemetry stays off here: {reason}."
    tool._agree_to_both(campaign)
    reason = tool._why_off()
    if reason is not None:
        return f"Consent is kept, but telemetry stays off here: {reason}."
    account = tool._open_account()
    account.act()  # the person did this themselves
    dropped = _unqueue(tool, account, campaign.asker) if records is not None and "" in records else 0
    unsent = f" {_count(dropped, 'was', 'were')} deleted: drawn before `off`, never sent." if dropped else ""
    return f"{tool._words(campaign)}\nTelemetry is on.{unsent}"


def _unqueue(tool: Telemetry, account: Account, asker: str) -> int:
    """Delete the reports to an asker that wait to be sent; return their number.

    Permanent answers may be given again, unless they are in a batch that may have arrived.
    """
    waiting = [item for item in account.queue if item["asker"] == asker and _waits(item)]
    unsent = _unsent(account, asker)
    for item in waiting:
        (account.acknowledge if item["batch"] else account.drop)(item["id"])
    dropped = len(waiting) + sum(account.drop(message) for message in account.messages(asker))
    _keep_deleted(tool, unsent - _unsent(account, asker))
    return dropped


def _unsent(account: Account, asker: str) -> set[str]:
    """Return the identities of an asker's reports and messages that no attempt to send included."""
    items = {
        item["id"] for item in account.queue if item["asker"] == asker and item["batch"] in (None, ASIDE)
    }
    return items | set(account.messages(asker))


def _keep_deleted(tool: Telemetry, identities: set[str]) -> None:
    """Keep the identities of reports that were deleted unsent, for `show` and `erase`."""
    if identities:
        tool._write("deleted", "\n".join(sorted(_deleted(tool) | identities)))


def _deleted(tool: Telemetry) -> set[str]:
    """Return the identities of the reports that were deleted unsent."""
    try:
        with open(tool._path("deleted"), encoding="utf-8") as stream:
            return set(stream.read().split())
    except (FileNotFoundError, NotADirectoryError):
        return set()


def _off(tool: Telemetry) -> str:
    if tool._base() is None:
        return "Telemetry is off: no home folder was found."
    tool._write("consent", "off\n")
    waiting = 0
    try:
        if os.path.exists(tool._account_file()):
            from dither_device.account import Account

            with Account(tool._account_file(), wait=telemetry.WAIT_FILE) as account:
                waiting = _waiting(account)
    except Exception as error:  # the choice "off" holds anyway
        tool._fail(error)
    wait = (
        f" {_count(waiting)} here and will not be sent, not even after `on`; `erase` deletes all of it."
        if waiting
        else ""
    )
    return f"Telemetry is off. Nothing is kept or sent from now on.{wait}"


def _status(tool: Telemetry) -> str:
    reason = tool._why_off()
    try:
        consent = tool._consent()
    except Exception as error:  # an unreadable campaign: nothing is answered or sent
        tool._fail(error)
        consent = "off"
    lines = ["Telemetry is on." if consent == "on" and reason is None else "Telemetry is off."]
    if reason is not None:
        lines.append(f"Here it is off whatever you say: {reason}.")
    elif consent is None:
        lines.append("You were not asked about this campaign yet.")
    try:
        if os.path.exists(tool._account_file()):
            from dither_device.account import Account

            with Account(tool._account_file(), wait=telemetry.WAIT_FILE) as account:
                waiting, left = _waiting(account), account.left
                sent = account.withdrawable
            lines.append(f"{_count(waiting)} to be sent. ε = {left:g} is left.")
            if sent:
                reported = _count(sum(len(entry["questions"]) for entry in sent), "was", "were")
                lines.append(f"{reported} sent and can still be deleted: `{tool.app} telemetry take-back`.")
    except Exception as error:  # the state is printed anyway
        tool._fail(error)
    if tool.problem is not None:
        lines.append(f"The last problem: {tool.problem}.")
    if telemetry.is_test():
        lines.append(f"{telemetry.TEST} is set: this is a test, with an account and a label of its own.")
    return "\n".join(lines)


def _show(tool: Telemetry) -> str:
    campaign = state = None
    try:
        campaign = tool._verify()
        lines = [tool._words(campaign)]
    except Exception as error:  # the answers are printed anyway
        tool._fail(error)
        lines = [f"The questions cannot be read, so nothing is answered or sent: {tool.problem}."]
    try:
        if os.path.exists(tool._account_file()):
            from dither_device.account import Account

            with Account(tool._account_file(), wait=telemetry.WAIT_FILE) as account:
                state = account.wire()
    except Exception as error:
        tool._fail(error)
        lines.append(f"What was given cannot be read: {tool.problem}.")
    else:
        lines += _given(campaign, state or {"entries": [], "queue": []}, _deleted(tool))
    if campaign is not None and state is not None:
        from dither_device.sending import preview

        bodies = preview(state, campaign, tool._label)
        if tool._counted is not None:
            bodies += preview(state, tool._counted._verify(), tool._label)
        lines += [f"As it travels, {_times(len(bodies))}:", *bodies] if bodies else []
    where = tool.address or "nobody: no address is set"
    lines.append(f"It is sent to {where}, without a name, an identity of this computer or a time.")
    return "\n".join([*lines, *_status(tool).split("\n")])


def _given(campaign: Campaign | None, state: dict[str, Any], deleted: set[str]) -> list[str]:
    """Return the given and the waiting answers; other askers of a shared account are named."""
    own = None if campaign is None else campaign.asker

    def name_of(item: dict[str, Any]) -> str:
        name, asker = str(item["question"]), str(item["asker"])
        return name if asker == own or own is None else f"{asker}: {name}"

    given: dict[str, list[float]] = {}
    for entry in state["entries"]:
        given.setdefault(name_of(entry), []).append(int(entry["epsilon"], 16) / 2.0**64)
    waiting = [name_of(item) for item in state["queue"] if _waits(item)]
    unsent = [name_of(item) for item in state["queue"]]  # also those that are set aside
    gone = [name_of(entry) for entry in state["entries"] if entry["id"] in deleted]
    lines = []
    for name, spent in given.items():
        more = f", {gone.count(name)} deleted unsent" if name in gone else ""
        text = f"{name}, {_times(len(spent))} ({unsent.count(name)} not sent yet{more})"
        lines.append(f"Given so far: {text}; ε = {sum(spent):.6g}.")
    if waiting:
        lines.append(f"Waits to be sent: {', '.join(waiting)}.")
    today = int(time.time()) // 86_400
    for entry in state.get("sent", ()):
        if entry["until"] >= today:
            until = time.strftime("%Y-%m-%d", time.gmtime(entry["until"] * 86_400))
            names = ", ".join(name_of({**entry, "question": name}) for name in entry["questions"])
            lines.append(f"Sent, and can be taken back until {until} (UTC): {names}.")
    return lines or ["Nothing was given so far."]


def _take_back(tool: Telemetry) -> str:
    """Ask the collector to delete everything that it still can; unsent reports are not sent any more."""
    from dither_device.sending import JSON, request, take_back

    campaign = tool._verify()
    if not os.path.exists(tool._account_file()):
        return "Nothing was given so far."
    if tool.address is None:
        return "No address is set, so nothing was sent; `erase` deletes what is kept here."
    position, key = tool.address.rstrip("/"), campaign.terms.get("sealing_key")

    def post(whose: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        to = f"{position}/v1/campaigns/{whose}/withdrawals"
        return request("POST", to, body, key, tool.relay, form=JSON)

    account = tool._open_account()
    unsent = _unsent(account, campaign.asker)
    done = take_back(account, campaign.asker, campaign.id, post)
    _keep_deleted(tool, unsent - _unsent(account, campaign.asker))
    lines = []
    if done.withdrawn:
        reported = _count(done.withdrawn, "was", "were").replace("report", "answer")
        lines.append(f"{reported} taken back: the collector leaves them out of its next numbers.")
    if done.unsent:
        reported = _count(done.unsent, "was", "were").replace("report", "answer")
        lines.append(f"{reported} not sent yet, and will not be.")
    if done.left:
        reported = ", ".join(dict.fromkeys(done.refused))
        lines.append(f"{done.left} more could not be taken back now ({reported}): try again later.")
    if not lines:
        return "Nothing can be taken back any more: what was sent is counted, without anybody's name."
    return " ".join([*lines, "The ε that was spent stays spent."])


def _erase(tool: Telemetry) -> str:
    tool._write("consent", "off\n")  # first: a process that sends looks at it before every batch
    sent = _forget(tool)
    if tool._account is not None:
        tool._account.close()
        tool._account = None
    own = tool._path("account")
    for path in (own, own + "-journal", *map(tool._path, ("sent", "sent-presence", "deleted"))):
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
    shared = (
        f" {tool._account_file()} is shared by other tools, and stays; what waited there was deleted."
        if own != tool._account_file()
        else ""
    )
    return (
        f"What was kept here is erased, and telemetry is off. {sent} What was sent and not taken back "
        f"before stays with the collector: nobody can say which reports were yours.{shared}"
    )


def _forget(tool: Telemetry) -> str:
    """Remove everything for this asker from the queue; return the number of answers sent before."""
    if not os.path.exists(tool._account_file()):
        return "Nothing had been sent."
    try:
        from dither_device.account import Account

        asker = tool._verify().asker
        with Account(tool._account_file(), wait=telemetry.WAIT_FILE) as account:
            waiting = [item["id"] for item in account.queue if item["asker"] == asker]
            sent_before = [entry for entry in account.withdrawable if entry["asker"] == asker]
            given = [entry for entry in account.wire()["entries"] if entry["asker"] == asker]
            waiting += account.messages(asker)
            for identity in waiting:
                account.acknowledge(identity)
            for entry in sent_before:
                account.withdraw(entry["id"])
        sent = len({entry["id"] for entry in given} - set(waiting) - _deleted(tool))
    except Exception as error:
        tool._fail(error)
        return "How many answers had been sent cannot be read."
    return f"{'1 answer' if sent == 1 else f'{sent} answers'} had been sent before."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _count(reports: int, verb: str = "waits", verbs: str = "wait") -> str:
    return f"1 report {verb}" if reports == 1 else f"{reports} reports {verbs}"


def _waits(item: dict[str, Any]) -> bool:
    """Return whether a report of the queue waits to be sent, and is not set aside."""
    return bool(item["batch"] != ASIDE)


def _waiting(account: Account) -> int:
    """Return how many reports and messages wait to be sent."""
    return sum(map(_waits, account.queue)) + len(account.messages())


BY_NAME: dict[str, Callable[[Telemetry], str]] = {
    "on": _on,
    "off": _off,
    "status": _status,
    "show": _show,
    "take-back": _take_back,
    "erase": _erase,
}
