"""`dither jrr`: joint randomized response between processes: dealer, devices and collector."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import print_json
from dither.cli.protection import check_protection

if TYPE_CHECKING:
    import ssl

    from dither.extensions import protocols
    from dither.extensions.protocols.collector import Collection
    from dither.extensions.protocols.messages import Address, Certificates
    from dither.extensions.protocols.pairing import Grouping

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FORMAT = "dither-jrr"  # the first key of a question's file
_QUESTION = click.option(
    "--question",
    "asked",
    required=True,
    type=_FILE,
    help="The question, a file written by `dither jrr question`.",
)
_BITS = click.option(
    "--bits", default=16, show_default=True, help="The number of bits of the integer that two devices share."
)
_TIMEOUT = click.option("--timeout", default=60.0, show_default=True, help="The deadline, in seconds.")
_HOST = click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
_PORT = click.option("--port", default=0, help="The port to listen on.  [default: a free one]")
_GROUPING = click.option(
    "--shuffled", is_flag=True, help="Three servers draw the pairs; the guarantee states this."
)


def _tls(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for TLS, and pass the certificates, or None, as `tls`."""

    @click.option("--tls-certificate", type=_FILE, help="Use TLS; this process's certificate, in PEM.")
    @click.option("--tls-key", type=_FILE, help="With --tls-certificate: its private key, in PEM.")
    @click.option(
        "--tls-authority", type=_FILE, help="With --tls-certificate: the authority that signs all, in PEM."
    )
    @wraps(command)
    def with_tls(
        *args: object,
        tls_certificate: Path | None,
        tls_key: Path | None,
        tls_authority: Path | None,
        **kwargs: object,
    ) -> None:
        tls = None
        if tls_certificate is not None and tls_key is not None and tls_authority is not None:
            from dither.extensions.protocols.messages import Certificates

            tls = Certificates(tls_certificate, tls_key, tls_authority)
            tls.server()  # raises now if the files cannot be read
        elif (tls_certificate, tls_key, tls_authority) != (None, None, None):
            raise click.UsageError(
                "expected --tls-certificate, --tls-key and --tls-authority together; give all three, or none"
            )
        command(*args, tls=tls, **kwargs)

    return with_tls


@click.group()
def command() -> None:
    """Joint randomized response, with coins that two devices toss together.

    Read docs/protocols.md first: randomized response without partners is often better.

    \b
    dither jrr question --categories no,yes --p 0.7 --rho -0.2 --people 2 -o question.json
    dither jrr pair --people 2 --port 7001
    dither jrr collect --question question.json --port 7002
    echo yes | dither jrr device --question question.json --pair localhost:7001 --to localhost:7002
    echo no | dither jrr device --question question.json --pair localhost:7001 --to localhost:7002

    Without --tls-certificate nothing is encrypted: then use one machine only, or a tunnel.
    """


@command.command()
@click.option("--categories", required=True, metavar="A,B,…", help="The answers, separated by commas.")
@click.option("--p", required=True, type=float, help="The probability of the truth.")
@click.option("--rho", required=True, type=float, help="The correlation of two partners' coins.")
@click.option("--people", required=True, type=int, help="The number of devices.")
@click.option("-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file.")
@_BITS
@_GROUPING
@JSON_OPTION
def question(
    categories: str, p: float, rho: float, people: int, out: Path, bits: int, shuffled: bool, as_json: bool
) -> None:
    """Write the question that devices and collector share, and print its guarantee."""
    from dither.core.domains import Categories
    from dither.extensions import protocols
    from dither.foundation import atomic
    from dither.mechanisms.joint.joint import JRR

    jrr = JRR(Categories(categories.split(",")), p=p, rho=rho, n=people)
    terms = protocols.Terms(jrr, bits, _grouping(shuffled))
    check_protection(terms.guarantee)
    with atomic.whole(out) as stream:
        facts = {_FORMAT: 1, "bits": bits, "grouping": terms.grouping, "question": jrr.to_json()}
        stream.write(json.dumps(facts, indent=1) + "\n")
    if as_json:
        print_json({"guarantee": str(terms.guarantee)})
    else:
        click.echo(f"each answer is promised {terms.guarantee}")


@command.command()
@click.option("--people", required=True, type=int, help="The number of devices.")
@_HOST
@_PORT
@click.option("--servers", metavar="A,B,C", help="Pair as one of three servers; the addresses of all three.")
@click.option("--index", type=click.IntRange(0, 2), help="With --servers: the index of this server.")
@_tls
@JSON_OPTION
@_TIMEOUT
def pair(
    people: int,
    host: str,
    port: int,
    servers: str | None,
    index: int | None,
    tls: Certificates | None,
    as_json: bool,
    timeout: float,
) -> None:
    """Assign partners to devices, as a trusted dealer or as one of three servers."""
    from dither.extensions.protocols.exchange import Deadline
    from dither.extensions.protocols.rendezvous import dealer, seat, server

    if (servers is None) != (index is None):
        raise click.UsageError("expected --servers and --index together, got only one of them; give both")
    bodies = dealer if servers is None or index is None else server(index, servers.split(","), tls)
    with _listen(host, port) as listener:
        sent = seat(listener, people, bodies, Deadline.after(timeout), tls=_server(tls))
    if as_json:
        print_json({"told": sent, "people": people})
    else:
        click.echo(f"{sent} of {people} devices received their slot")


@command.command()
@_QUESTION
@click.option(
    "--pair",
    "meetings",
    required=True,
    multiple=True,
    metavar="HOST:PORT",
    help="The dealer or, given three times, the three servers.",
)
@click.option("--to", "collector", required=True, metavar="HOST:PORT", help="The collector.")
@click.option(
    "--answers",
    type=click.File(),
    default="-",
    help="A file with one answer per line.  [default: standard input]",
)
@click.option("--delay", default=0.0, help="Report after a random time of up to this many seconds.")
@click.option("--show-pair", is_flag=True, help="Also print a text that is the same for both partners.")
@_HOST
@_tls
@JSON_OPTION
@_TIMEOUT
def device(
    asked: Path,
    meetings: tuple[str, ...],
    collector: str,
    answers: TextIO,
    delay: float,
    show_pair: bool,
    host: str,
    tls: Certificates | None,
    as_json: bool,
    timeout: float,
) -> None:
    """Answer a question with coins tossed together with another device, one line for each answer."""
    from dither.core.reports import Reports
    from dither.extensions import protocols

    terms, to = _terms(asked), _address(collector)
    at = [_address(meeting) for meeting in meetings]
    values = [line.rstrip("\n") for line in answers if line.strip()]
    if not values:
        raise click.UsageError("expected at least one answer; give one answer per line")
    terms.mechanism.domain.check(
        values
    )  # before anything is sent: an invalid answer must not leave a partner waiting
    contexts = None if tls is None else tls.device()
    tossed = protocols.toss(terms, len(values), at, timeout=timeout, host=host, tls=contexts)
    sent = Reports.concatenate([coin.apply(value) for coin, value in zip(tossed.coins, values, strict=True)])
    servers = None if contexts is None else contexts.servers
    protocols.report(terms, tossed, sent, to, timeout=timeout, delay=delay, tls=servers)
    said = {"name": tossed.name.hex(), "standing": tossed.standing.name.lower()}
    if show_pair and tossed.pair is not None:
        said["pair"] = tossed.pair
    if as_json:
        print_json(said)
    else:
        click.echo(" ".join(said.values()))
    if tossed.reason:
        click.echo(f"tossed alone: {tossed.reason}", err=True)


@command.command()
@_QUESTION
@click.option("--rounds", default=1, show_default=True, help="The number of answers of each device.")
@_HOST
@_PORT
@_tls
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file for the reports, as JSON lines.",
)
@JSON_OPTION
@_TIMEOUT
def collect(
    asked: Path,
    rounds: int,
    host: str,
    port: int,
    tls: Certificates | None,
    out: Path | None,
    as_json: bool,
    timeout: float,
) -> None:
    """Wait for the reports of the devices, and print the estimates."""
    from dither.extensions import protocols
    from dither.foundation import atomic

    terms = _terms(asked)
    with _listen(host, port) as listener:
        came = protocols.collect(listener, terms, rounds=rounds, timeout=timeout, tls=_server(tls))
    if out is not None:
        rows = zip(came.names, came.standings, came.cells.tolist(), strict=True)
        lines = [
            json.dumps({"name": name, "standing": standing.name.lower(), "reports": row})
            for name, standing, row in rows
        ]
        with atomic.whole(out) as stream:
            stream.write("\n".join(lines) + "\n")
    entries = [came.frequencies(number) for number in range(came.rounds)]
    if as_json:
        print_json(_answer(came, entries))
        return
    for number, estimate in enumerate(entries):
        click.echo(f"{number + 1}: {estimate}" if came.rounds > 1 else str(estimate))
    click.echo(str(came))
    click.echo(f"each person is promised {came.guarantee}")


def _answer(came: Collection, entries: list[Any]) -> dict[str, Any]:
    import numpy as np

    return {
        "devices": len(came.standings),
        "paired": came.paired,
        "labels": list(entries[0].labels),
        "frequencies": [np.asarray(estimate.value).tolist() for estimate in entries],
        "errors": [np.asarray(estimate.standard_error).tolist() for estimate in entries],
        "guarantee": str(came.guarantee),
        "what happened": str(came),
    }


def _terms(path: Path) -> protocols.Terms:
    """Return the question, the number of bits and the grouping from a file of `dither jrr question`."""
    from dither.core.kernels.joint import JointKernel
    from dither.core.wire import from_json
    from dither.extensions import protocols
    from dither.mechanisms.joint.joint import Joint

    text = path.read_text(encoding="utf-8")
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict) or set(data) != {_FORMAT, "bits", "grouping", "question"}:
        raise click.UsageError(
            f"{path.name}: expected a file that `dither jrr question` wrote; write one with this command"
        )
    if data[_FORMAT] != 1 or not isinstance(data["question"], str):
        raise click.UsageError(
            f"{path.name}: expected a file of this version of dither; write it again with `dither jrr "
            "question`"
        )
    question = from_json(data["question"])
    jrr = question.design() if isinstance(question.kernel, JointKernel) else None
    if not isinstance(jrr, Joint):
        raise click.UsageError(
            f"{path.name}: expected a question for joint randomized response, got one for {question.name}; "
            "write one with `dither jrr question`"
        )
    return protocols.Terms(jrr, data["bits"], data["grouping"])


def _server(tls: Certificates | None) -> ssl.SSLContext | None:
    return None if tls is None else tls.server()


def _grouping(shuffled: bool) -> Grouping:
    return "shuffled" if shuffled else "dealt"


def _listen(host: str, port: int) -> socket.socket:
    try:
        listener = socket.create_server((host, port), backlog=1024)
    except OSError:
        raise click.UsageError(
            f"cannot listen on {host}:{port}: the address is in use, or does not belong to this machine; "
            "choose another --host or --port"
        ) from None
    print("listening at {}:{}".format(*listener.getsockname()[:2]), file=sys.stderr, flush=True)
    return listener


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise click.UsageError(f"expected an address HOST:PORT such as localhost:7001, got {text!r}")
    return host, int(port)
