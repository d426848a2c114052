"""One request to a collector and its complete answer; the collector may be broken or hostile.

docs/wire.md defines the addresses that a device may use, the limits of an answer's time and size, and the
answers that acknowledge a batch.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from dither.errors import DitherError, InvalidParameter, found
from dither_device import exchange as wire
from dither_device.text import Malformed

TIMEOUT: Final = 10.0  # largest time of each wait, in seconds
MOST_ANSWER: Final = wire.MOST  # largest number of bytes of an answer to a batch
MOST_CAMPAIGN: Final = 1 << 22  # largest number of bytes of a campaign, or of a list of campaigns


class Unreachable(DitherError, ConnectionError):
    """A collector does not answer, or its answer does not fit the request."""


class HttpAnswer(NamedTuple):
    """The answer to a request."""

    status: int
    form: str  # the content type
    content: bytes
    retry_after: str


class Verdict(NamedTuple):
    """The fate of a batch after an answer, and the collector's word for a refusal, or an empty text."""

    fate: str  # "acknowledged", "dropped" or "kept"
    word: str


def check_address(address: object) -> SplitResult:
    """Return the parts of an address; raise InvalidParameter unless it uses https or is on this machine."""
    if not isinstance(address, str):
        raise InvalidParameter(
            f"expected an address to be a text such as https://…/v1/campaigns/…, got {found(address)}"
        )
    try:
        wire.split_address(address)
        return urlsplit(address.rstrip("/"))
    except (Malformed, ValueError):
        pass
    try:
        wire.split_address("https:" + address.removeprefix("http:"))
        host = urlsplit(address).hostname
    except (Malformed, ValueError):
        raise InvalidParameter(
            f"expected an address such as https://…/v1/campaigns/…, got {found(address)}; leave out user "
            "names, queries and fragments"
        ) from None
    raise InvalidParameter(
        f"expected an https address, because {host} is not this machine and http can be read on the way; "
        "use https"
    )


def exchange(
    to: SplitResult,
    method: str,
    path: str,
    body: bytes = b"",
    fields: Mapping[str, str] | None = None,
    *,
    timeout: float = TIMEOUT,
    most: int = MOST_ANSWER,
) -> HttpAnswer:
    """Send a request and return its answer; redirects and cookies are ignored.

    `timeout` is the limit of each wait, in seconds. Raise Unreachable if the answer is not complete after
    three timeouts, has more than `most` bytes, or is not HTTP.
    """
    bare, _, query = path.partition("?")
    more = dict(fields or {})
    form = more.pop("content-type", "")
    location = f"{to.scheme}://{to.netloc}"
    with unreachable(location, timeout, most):
        status, header, content = wire.exchange(
            location + bare, method, body, form, timeout, most, query=query, more=more
        )
    return HttpAnswer(status, header.get("content-type", ""), content, header.get("retry-after", ""))


@contextmanager
def unreachable(place: str, timeout: float, most: int) -> Iterator[None]:
    """Raise Unreachable, naming the host, if an exchange does not end with a complete answer."""
    try:
        yield
    except DitherError:
        raise
    except TimeoutError:
        raise Unreachable(f"{place} did not answer completely within {wire.WAITS * timeout:g} s") from None
    except Malformed as error:
        if error.word != "size":
            raise Unreachable(f"{place} does not answer as a web server does ({error})") from None
        raise Unreachable(f"{place} answers with more than {most} bytes") from None
    except OSError as error:
        raise Unreachable(f"{place} does not answer: {error.strerror or error}") from None
    except (http.client.HTTPException, ValueError) as error:
        words = str(error) if type(error) is http.client.HTTPException else type(error).__name__
        raise Unreachable(f"{place} does not answer as a web server does ({words})") from None


def judge(batch: str, status: int, content: bytes) -> Verdict:
    """Return the fate of a batch after an answer to it; `batch` is its identity, as hexadecimal text.

    A 2xx acknowledges a batch only if it contains the identity: a portal or a proxy may also answer 200. A
    conflict means that these reports are already stored, under another label: nobody else knows the identity.
    A batch is dropped only if the collector gives a reason.
    """
    return Verdict(*wire.judge(batch, status, content))
