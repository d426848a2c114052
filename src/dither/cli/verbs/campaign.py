"""`dither campaign`: check, publish and retire a campaign, a contract with the people who answer."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.options import DAY, FORCE_OPTION, JSON_OPTION, NEW_KEY_OPTION
from dither.cli.output import print_json
from dither.cli.protection import check_protection, print_answering
from dither.cli.questions import ADDRESSES
from dither.errors import DitherError, InvalidParameter, unknown_name
from dither.foundation.atomic import refuse_to_overwrite, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dither.advice.plan import Plan
    from dither.collection.campaign import Campaign
    from dither.collection.published import Published
    from dither.core.counts import Counts
    from dither.estimation.bounds import Bounds

_KEY = click.option("--key", type=click.Path(path_type=Path), required=True, help="The file of the key.")


@click.group()
def command() -> None:
    """Check, publish or retire a campaign, or write its next phase; make keys.

    A published campaign never changes. Its identity is the digest of its text; a change is a new version.

    \b
    dither campaign check campaign.toml
    dither campaign sealing-key collector.key
    dither campaign publish campaign.toml --key asker.key --new-key -o campaign.json
    dither campaign next campaign.json --key asker.key --store campaign.sqlite -o version-2.json
    dither campaign retire campaign.json --key asker.key
    dither campaign replace-key asker.key asker-2.key
    """


def _read(file: Path) -> tuple[Campaign, Published | None]:
    """Return the campaign of a file in TOML, or of a published one."""
    from dither.collection.campaign import Campaign
    from dither.collection.published import Published

    if file.suffix == ".toml":
        return Campaign.read(file), None
    published = Published.from_json(file.read_bytes())
    return published.contract, published


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--people",
    type=click.IntRange(min=2),
    default=10_000,
    show_default=True,
    help="Plan for this number of people: print the error of each question.",
)
@click.option(
    "--guess",
    "guesses",
    nargs=3,
    type=(str, float, float),
    multiple=True,
    metavar="QUESTION LOW HIGH",
    help="The likely range of most values; prints the cost of a wider interval. Repeatable.",
)
@JSON_OPTION
def check(file: Path, people: int, guesses: tuple[tuple[str, float, float], ...], as_json: bool) -> None:
    """Check FILE, a campaign in TOML or published, and print its promise and its expected errors.

    The plan has half of the 95 % interval of each question and of pairs of up to four questions, and the
    errors for the same ε if each person answers only one question.

    \b
    dither campaign check campaign.toml --people 50000
    dither campaign check campaign.toml --guess minutes 10 100
    """
    from dither.advice.plan import cost_of_range, range_words
    from dither.collection.kinds import rows
    from dither.collection.next_version import found_ranges

    contract, published = _read(file)
    facts = {
        "id": contract.id,
        "name": contract.name,
        "version": contract.version,
        "promise": str(contract.guarantee),
        "in total": contract.total.words(),
        "signed by": None if published is None else published.key,
        "key before": None if published is None or published.before is None else published.before.key,
        "sealed to": contract.sealing_key,
        "retired": None if published is None or published.retired is None else str(published.retired[0]),
    }
    present = presence_facts(contract)
    planned = None if present else _plan_of(contract, people)
    for name, *_ in guesses:
        if name not in contract.questions:
            raise unknown_name("question", name, list(contract.questions))
    if as_json:
        wide = {name: cost_of_range(contract.questions[name], (low, high)) for name, low, high in guesses}
        more: dict[str, object] = {"times the people of the guess": wide} if guesses else {}
        more |= {"presence": present} if present else {}
        plans = {"people": people, "errors": [] if planned is None else list(planned.rows)}
        print_json({**facts, "asks": rows(contract), "plan": plans, **more})
        return
    for name, value in facts.items():
        if value is not None:
            click.echo(f"{name:10} {value}")
    print_answering(contract, err=False)
    for name, words in found_ranges(contract).items():
        click.echo(f"{'range':10} {name}: {words}")
    click.echo(f"{'days':10} {contract.begins} to {contract.ends}")
    click.echo(f"{'people':10} no answer is shown for fewer than {contract.people} reports")
    click.echo("\n".join(click.wrap_text(line, 80) for line in contract.explain().person.split("\n")))
    for line in present.get("notes", []):
        click.echo(f"{'note':10} {line}")
    for line in present.get("warnings", []):
        click.echo(f"{'warning':10} {line}", err=True)
    if "longest lists" in present:
        lists = ", ".join(f"{name} {count}" for name, count in present["longest lists"].items())
        click.echo(f"{'label':10} at most {present['reports']} different reports; longest lists: {lists}")
    if planned is not None:
        click.echo(f"\n{planned}")
    for name, low, high in guesses:
        click.echo(f"\n{name}: {range_words(contract.questions[name], (low, high))}")
    check_protection(contract.whole_guarantee)


def _plan_of(contract: Campaign, people: int) -> Plan | None:
    """Return the predicted errors of a campaign, or None without questions."""
    from dither.advice.plan import plan, plan_of_days

    if not contract.questions:
        return None
    if contract.repeat == "kept change":
        return plan_of_days({name: contract.change(name) for name in contract.questions}, people)
    return plan(contract.questions, people)


def presence_facts(contract: Campaign) -> dict[str, Any]:
    """Return notes, warnings and limits for a campaign that counts presence; empty for others."""
    from dither.collection.presence import (
        counts_presence,
        most_reports_of_label,
        presence_notes,
        presence_warnings,
    )

    if not counts_presence(contract):
        return {}
    facts: dict[str, Any] = {"notes": presence_notes(contract), "warnings": presence_warnings(contract)}
    if contract.questions:
        (question,) = contract.questions.values()
        most = most_reports_of_label(contract)
        facts |= {"reports": most, "longest lists": _longest_lists(question.guarantee.epsilon, most)}
    return facts


def _longest_lists(epsilon: float, most: int) -> dict[str, int]:
    """Return the longest list that each mechanism allows with this number of different reports."""
    from dither import KRR, Categories, HadamardResponse, ProjectiveResponse

    found = {}
    for maker in (KRR, HadamardResponse, ProjectiveResponse):
        for count in range(most, 1, -1):
            try:
                if (maker(Categories(count), epsilon=epsilon).question.outcomes or most + 1) <= most:
                    found[maker.__name__] = count
                    break
            except DitherError:  # the mechanism has no design of this size
                continue
    return found


@command.command(name="sealing-key")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@JSON_OPTION
def sealing_key(file: Path, as_json: bool) -> None:
    """Print the key configuration (RFC 9458) of the key in FILE, as a line for the campaign in TOML.

    A missing key is created. Devices encrypt requests to it, so that a relay cannot read them. Give
    FILE to the collector (`dither serve --sealing-key FILE`) and to nobody else.
    """
    from dither.collection.ohttp import configuration
    from dither.collection.secrets import make_sealing_key, read_sealing_key

    key = read_sealing_key(file) if file.exists() else make_sealing_key(file)
    public = configuration(key)
    if as_json:
        print_json({"sealing_key": public, "file": str(file)})
    else:
        click.echo(f'sealing_key = "{public}"')


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_KEY
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write."
)
@NEW_KEY_OPTION
@FORCE_OPTION
@JSON_OPTION
def publish(file: Path, key: Path, out: Path, new_key: bool, force: bool, as_json: bool) -> None:
    """Sign FILE, a campaign in TOML, and write the text that devices read.

    A published campaign is signed again, with another key. Every signed campaign is entered in the list of
    campaigns next to the key (asker.campaigns next to asker.key). The collector serves this list.
    """
    from dither.collection.signer import Signer

    contract, _ = _read(file)
    refuse_to_overwrite(out, file, force=force)
    check_protection(contract.whole_guarantee)
    print_answering(contract)
    if not (new_key or key.exists()):
        raise InvalidParameter(
            f"cannot find the key {key}; check the name, or give --new-key to make a new key"
        )
    signer = Signer(key, make=new_key)
    made = signer.publish(contract)
    with whole(out) as stream:
        stream.write(made.to_json() + "\n")
    facts = {"campaign": made.id, "key": made.key, "head": signer.head, "file": str(out)}
    if as_json:
        print_json(facts)
    else:
        for name, value in facts.items():
            click.echo(f"{name:10} {value}")


@command.command(name="next")
@click.argument("file", metavar="CAMPAIGN")
@_KEY
@click.option("--store", help="The collector's store: a SQLite file, or postgresql://…")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With an address: the file of the admin token; unpublished reports are also counted.",
)
@click.option("--begins", type=DAY, help="The first day of the next version.  [default: today]")
@click.option("--ends", type=DAY, help="Its last day.  [default: the last day of CAMPAIGN]")
@click.option(
    "-o", "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write."
)
@FORCE_OPTION
@JSON_OPTION
def next_version(
    file: str,
    key: Path,
    store: str | None,
    token_file: Path | None,
    begins: datetime.date | None,
    ends: datetime.date | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write and sign the version that follows a first phase, with bounds from its reports.

    CAMPAIGN is a file, in TOML or published, with --store, or the address of the campaign at a collector. It
    states phase = { share = … } and has questions about numbers on a scale. The next version asks the other
    people for the same numbers on an interval that is a little wider than from the 2 % to the 98 % quantile.
    Values outside are clipped; every estimate says so, with the share of people outside.

    Nothing is written until the quantiles are known well enough: the widest interval that the reports allow
    may be at most twice as long as the narrowest. Otherwise the number of missing people is printed.

    \b
    dither campaign next campaign.json --key asker.key --store campaign.sqlite -o version-2.json
    dither campaign next https://collect.example/v1/campaigns/ID --key asker.key --token-file token -o v2.json
    """
    from dither.collection.next_version import next_version as follow
    from dither.collection.next_version import stored_counts
    from dither.collection.remote import fetch
    from dither.collection.secrets import read_token
    from dither.collection.signer import Signer

    counts: Mapping[str, Counts | str]
    if file.startswith(ADDRESSES):
        if store is not None:
            raise click.UsageError(
                "expected no --store with an address because it implies its collector's store; "
                "leave --store out"
            )
        contract, counts = fetch([file], [] if token_file is None else [read_token(token_file)])
    else:
        if store is None or token_file is not None:
            raise click.UsageError(
                "expected --store, the collector's store, with a file, and --token-file only with an "
                "address; change the options"
            )
        if not Path(file).is_file():
            raise click.UsageError(
                f"file not found: {file}; check the name, or give the address of the campaign"
            )
        refuse_to_overwrite(out, Path(file), force=force)
        contract, _ = _read(Path(file))
        counts = stored_counts(store, contract)
    refuse_to_overwrite(out, force=force)
    signer = Signer(key)
    today = datetime.datetime.now(datetime.UTC).date()
    first = max(today, contract.begins) if begins is None else begins
    contract, found = follow(contract, counts, begins=first, ends=ends)
    check_protection(contract.whole_guarantee)
    print_answering(contract)
    made = signer.publish(contract)
    with whole(out) as stream:
        stream.write(made.to_json() + "\n")
    if as_json:
        request = {name: _bounds_data(each) for name, each in found.items()}
        follows = None if contract.phase is None else contract.phase.follows
        print_json({"campaign": made.id, "follows": follows, "bounds": request, "file": str(out)})
        return
    for name, each in found.items():
        click.echo(f"{name}: {each}")
    for name, value in {"campaign": made.id, "key": made.key, "head": signer.head, "file": str(out)}.items():
        click.echo(f"{name:10} {value}")


def _bounds_data(found: Bounds) -> dict[str, object]:
    share, low, high = found.outside
    return {
        "low": found.low,
        "high": found.high,
        "outside": {"share": share, "low": low, "high": high},
        "quantiles": [dict(row) for row in found.over_looks(100).records()],
    }


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_KEY
@click.option("--day", type=DAY, help="The first day without new reports.  [default: today]")
@JSON_OPTION
def retire(file: Path, key: Path, day: datetime.date | None, as_json: bool) -> None:
    """Retire FILE, a published campaign: collectors that read it again accept nothing from --day on."""
    from dither.collection.published import Published
    from dither.collection.signer import Signer

    first = datetime.datetime.now(datetime.UTC).date() if day is None else day
    published, signer = Published.from_json(file.read_bytes()), Signer(key)
    gone = signer.retire(published, first)
    with whole(file) as stream:
        stream.write(gone.to_json() + "\n")
    if as_json:
        print_json({"campaign": gone.id, "retired": str(first), "head": signer.head})
    else:
        click.echo(
            f"retired from {first} on: send SIGHUP to the collector, or start it again\n"
            f"head       {signer.head}"
        )


@command.command(name="replace-key")
@click.argument("old", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(dir_okay=False, path_type=Path))
@JSON_OPTION
def replace_key(old: Path, new: Path, as_json: bool) -> None:
    """Make a key in NEW that follows the one in OLD. Devices that pinned the old one follow it, once.

    The list of campaigns continues next to NEW. Sign all running campaigns again (`dither campaign publish
    campaign.json --key NEW -o …`): OLD signs nothing any more, and devices with NEW refuse it.
    """
    from dither.collection.signer import Signer

    before = Signer(old)
    signer = before.hand_over(new)
    facts = {"key": signer.key, "follows": before.key, "head": signer.head, "file": str(new)}
    if as_json:
        print_json(facts)
    else:
        for name, value in facts.items():
            click.echo(f"{name:10} {value}")
