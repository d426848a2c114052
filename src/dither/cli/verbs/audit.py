"""`dither audit`: check the ε of a mechanism, a Python function or a command; compare a list of campaigns."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from dither.cli.options import JSON_OPTION, build, domain_options, mechanism_names, need_domain
from dither.cli.output import emphasise, print_json, save_picture, verdict
from dither.cli.protection import bound_words
from dither.cli.questions import ADDRESSES, find_questions, holds_questions
from dither.errors import InvalidParameter

if TYPE_CHECKING:
    from dither.advice.audits.finding import Evidence, Finding
    from dither.core.domains import Domain

_WORDS: Final = "dither.audit.command"


class _WithCommand(click.Command):
    """A verb whose options may be followed by `--` and another command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command(cls=_WithCommand)
@click.argument("mechanism", required=False, shell_complete=mechanism_names)
@domain_options
@click.option(
    "--inputs", help="A JSON list of inputs, any two of which are neighbours, in place of a domain."
)
@click.option("--epsilon", type=float, help="The budget ε.")
@click.option("--delta", type=float, default=0.0, help="The claimed δ of a function or command.")
@click.option("--samples", type=int, help="The largest number of reports to draw from a function or command.")
@click.option(
    "--confidence", type=float, default=0.99, help="The confidence of the lower bound.", show_default=True
)
@click.option("--each", is_flag=True, help="The function takes one value, not an array of them.")
@click.option("--seed", type=int, default=0, help="The seed of the audit's own choices.", show_default=True)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    help="Test the event of the finding again on this number of fresh reports of each of its inputs.",
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw the evidence.")
@click.option(
    "--assume",
    multiple=True,
    help="An assumption that you accept, as the audit prints it; may be repeated.",
)
@click.option("--head", help="The head of a list of campaigns that another person saw, to compare with.")
@click.option("--key", help="The asker's public key from another source, to compare with.")
@JSON_OPTION
@click.pass_context
def command(
    ctx: click.Context,
    mechanism: str | None,
    domain: Domain | None,
    inputs: str | None,
    epsilon: float | None,
    delta: float,
    samples: int | None,
    confidence: float,
    each: bool,
    seed: int,
    repeat: int | None,
    plot: Path | None,
    assume: tuple[str, ...],
    head: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Check the ε of MECHANISM; exit code 1 if it does not hold.

    A mechanism of dither, a specification, and every question of a campaign (signed or not) or of a file of
    reports are audited exactly, from their integers and their draw code. The exit code is also 1 if a
    guarantee has an assumption that --assume does not name.

    MODULE:FUNCTION is a Python function: an array of values in, the same number of reports out. After --
    write a command that reads a JSON value a line and writes a report a line. Both are sampled: the finding
    is a lower bound on ε, with the two inputs and the event that prove it.

    https://… is a collector: its list of campaigns is checked, and its head printed. With the --head
    that another person saw, the exit code is 0 if the list contains it: then you both saw the same list.
    For the address of a campaign, https://…/v1/campaigns/ID, the facts that hold without trusting the
    operator are printed, and those that do not.

    \b
    dither audit podium --interval 18 100 --epsilon 1
    dither audit design.json
    dither audit survey.toml
    dither audit reports.csv
    dither audit mymodule:randomise --interval 0 1 --epsilon 1
    dither audit --categories yes,no --epsilon 1 -- node client.js
    dither audit https://city.example --head 5d41…
    dither audit https://city.example/v1/campaigns/4014… --key 8a88…
    """
    from dither.advice.audits.api import audit, audit_function

    if mechanism and mechanism.startswith(ADDRESSES):
        _audit_address(mechanism, head, key, assume, as_json)
    if head is not None or key is not None:
        raise click.UsageError(
            "expected --head and --key with the address of a collector, https://…; leave them out, or give "
            "the address"
        )
    words: tuple[str, ...] | None = ctx.meta.get(_WORDS)
    if words is None and mechanism and holds_questions(mechanism):
        if domain is not None or epsilon is not None or plot is not None or repeat is not None:
            raise click.UsageError(
                "expected no domain, --epsilon, --plot or --repeat with a file because it states its own "
                "domains and ε; leave them out"
            )
        _audit_file(mechanism, assume, as_json)
    randomiser = _randomiser(mechanism, words)
    if randomiser is not None:
        if epsilon is None:
            raise click.UsageError("expected the claimed ε; give --epsilon")
        finding = audit_function(
            randomiser,
            need_domain(domain) if inputs is None else _inputs(inputs),
            epsilon=epsilon,
            delta=delta,
            samples=samples,
            confidence=confidence,
            each=each,
            seed=seed,
        )
    else:
        if repeat is not None:
            raise click.UsageError(
                "expected --repeat with a function or a command; leave it out, because a mechanism is "
                "audited exactly"
            )
        finding = audit(build(str(mechanism), domain, epsilon), assume=assume)
    if plot is not None:
        save_picture(finding.plot(), plot)
    again = finding.evidence.repeat(repeat) if repeat is not None and finding.evidence is not None else None
    if as_json:
        print_json({**_as_data(finding), **({} if again is None else {"repeated": _as_evidence(again)})})
    else:
        click.echo(verdict(str(finding), finding.ok))
        if again is not None:
            click.echo(f"repeated on fresh reports:\n  {again}")
    raise SystemExit(0 if finding.ok else 1)


def _audit_list(address: str, head: str | None, key: str | None, as_json: bool) -> NoReturn:
    """Check the list of campaigns of a collector; exit with code 1 if it does not have a head."""
    from dither.collection.client import fetch_list

    log = fetch_list(address, key=key)
    seen = None if head is None else head in log.heads
    facts = {"head": log.head, "entries": len(log.heads), "campaigns": len(log.campaigns), "key": log.key}
    if as_json:
        print_json({**facts, "continues": seen})
    else:
        for name, value in facts.items():
            click.echo(f"{name:10} {value}")
        if seen is not None:
            later = len(log.heads) - log.heads.index(str(head)) - 1 if seen else 0
            since = f"; entries since: {later}" if later else ""
            click.echo(
                verdict(
                    f"one list: the given head is in it{since}"
                    if seen
                    else "another list: the given head is not in it; another person saw other campaigns",
                    seen,
                )
            )
    raise SystemExit(0 if seen is not False else 1)


def _audit_address(
    address: str, head: str | None, key: str | None, assume: tuple[str, ...], as_json: bool
) -> NoReturn:
    """Print the verifiable facts about a campaign at an address. Exit with code 1 if a check fails."""
    head, key = (None if text is None else text.strip().lower() for text in (head, key))
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise click.UsageError(
            f"expected --head to be all 64 hexadecimal digits of a head, got {len(head)} characters; copy "
            "the head again"
        )
    if "/v1/campaigns/" not in address:
        _audit_list(address, head, key, as_json)
    from dither.collection.audit import verify_campaign

    checks, limits = verify_campaign(address, head=head, key=key, assume=assume)
    if as_json:
        print_json({"checks": [check._asdict() for check in checks], "not checked": list(limits)})
    else:
        click.echo(emphasise("What can be believed without trusting the operator", "bold"))
        for check in checks:
            mark = {True: "yes", False: "NO", None: "?"}[check.ok]
            lines = check.words.split("\n")
            click.echo(verdict(f"  {mark:4}{check.name:11}{lines[0]}", check.ok is not False))
            for line in lines[1:]:
                click.echo(f"{'':17}{line}")
        click.echo(emphasise("What cannot", "bold"))
        for line in limits:
            click.echo(click.wrap_text(line, 96, "  -   ", "      "))
    raise SystemExit(0 if all(check.ok is not False for check in checks) else 1)


def _audit_file(file: str, assume: tuple[str, ...], as_json: bool) -> NoReturn:
    """Audit every question of a file exactly; exit with code 1 if one does not hold."""
    from dither.advice.audits.api import audit

    found = find_questions(file)
    findings = {name: audit(question, assume=assume) for name, question in found.campaign.questions.items()}
    if as_json:
        print_json({name: _as_data(finding) for name, finding in findings.items()})
    else:
        for name, finding in findings.items():
            click.echo(verdict(f"{name}: {finding}", finding.ok))
        if found.total is not None:
            click.echo(f"in total, a person is promised {found.total.words()}")
        else:
            who = "row" if found.kept is not None and found.rows is None else "person"
            click.echo(f"in total, a {who} is promised {bound_words(found.guarantee)}")
    raise SystemExit(0 if all(finding.ok for finding in findings.values()) else 1)


def _randomiser(mechanism: str | None, words: tuple[str, ...] | None) -> Callable[..., Any] | None:
    """Return the command or function to sample; None for a mechanism of dither."""
    from dither.advice.audits.black_box.calls import Command

    if words is not None:
        if mechanism is not None:
            raise click.UsageError(
                "expected either a mechanism or a command after --, got both; leave one of them out"
            )
        if not words:
            raise click.UsageError("expected a command after --; write for example -- node client.js")
        return Command(words)
    if mechanism is None:
        raise click.UsageError(
            "expected something to audit; give a mechanism, MODULE:FUNCTION, or a command after --"
        )
    return _import_function(mechanism) if ":" in mechanism else None


def _inputs(text: str) -> list[Any]:
    try:
        inputs = json.loads(text)
    except ValueError:
        inputs = None
    if not isinstance(inputs, list):
        raise click.UsageError(
            f"expected --inputs to be a JSON list such as '[[0, 0], [1, 1]]', got {text!r}"
        )
    return inputs


def _import_function(name: str) -> Callable[..., Any]:
    """Return the function that MODULE:FUNCTION names; modules of the working directory are also found."""
    module, _, path = name.partition(":")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidParameter(
            f"cannot import {name}: {error}; check the name MODULE:FUNCTION and the working directory"
        ) from None
    finally:
        if added:
            sys.path.remove(here)
    if not callable(found):
        raise InvalidParameter(
            f"expected {name} to be a function, got {type(found).__name__}; name a function of the module"
        )
    return found  # type: ignore[no-any-return]


def _as_data(finding: Finding) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "mechanism": finding.mechanism,
        "claimed": finding.claimed,
        "realised": finding.realised,
        "delta": finding.realised_delta,
        "ok": finding.ok,
        "how": finding.how,
        "assumptions": list(finding.assumptions),
        "problems": list(finding.problems),
    }
    if finding.coverage:
        answer["coverage"] = list(finding.coverage)
    if finding.notes:
        answer["notes"] = list(finding.notes)
    evidence = finding.evidence
    if evidence is not None:
        answer["evidence"] = _as_evidence(evidence)
    if finding.seed is not None:
        answer["seed"] = finding.seed
    if finding.timing is not None:
        answer["timing"] = {"t": finding.timing.t, "differs": finding.timing.differs}
    return answer


def _as_evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "first": repr(evidence.first),
        "second": repr(evidence.second),
        "event": evidence.event,
        "hits": list(evidence.hits),
        "trials": list(evidence.trials),
        "epsilon": evidence.epsilon,
        "confidence": evidence.confidence,
    }
