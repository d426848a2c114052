"""Two devices toss: the right law, each its own coin only, and no message that is wrong does any harm."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dither as dt
from dither.errors import ExchangeFailed, InvalidParameter
from dither.extensions import protocols
from dither.extensions.protocols import Exchange, Role, Terms, exchange
from dither.extensions.protocols.device import converse
from dither.extensions.protocols.messages import NO_EXCHANGE, VERSION, ExpectedMessage, Kind, Reader, pack
from dither.extensions.protocols.transfer import TableReceiver, TableSender
from tests.extensions.protocols import golden
from tests.extensions.protocols.test_transfer import REFUSED
from tests.support.chi_square import ALARM
from tests.support.repository import ROOT
from tests.support.sources import Scripted, Separate

pytest.importorskip("nacl")
JRR = dt.JRR(dt.Categories(["no", "yes"]), p=0.7, rho=-0.4, n=2)
SMALL = Terms(JRR, bits=4)


def both(terms: Terms = SMALL, count: int = 1, **options: object) -> tuple[Exchange, Exchange]:
    first, second = (Exchange(terms, role, count, **options) for role in Role)
    return first, second


def transcript(count: int = 1) -> tuple[list[bytes], list[bytes]]:
    """Return the messages of a whole exchange: those of the first device, those of the second."""
    first, second = both(count=count)
    second.start()
    said, answers = [first.start()], []
    while said[-1]:
        answers.append(second.receive(said[-1]))
        said.append(first.receive(answers[-1]))
    assert first.done
    assert second.done
    return said[:-1], answers


# --- coins -------------------------------------------------------------------------------------------------


def scripted(secrets: list[int]) -> Separate:
    """Return a source whose uniform integers are those given: what a device would draw as its secrets."""
    return Separate(Scripted(*secrets), dt.Seeded(hash(tuple(secrets)) & 0xFFFF))


@pytest.mark.slow
def test_all_secrets_give_the_coins_of_their_sum() -> None:
    """Every pair of secrets once: exactly the table, and each coin that of R = r₁ + r₂ mod 16."""
    secrets = list(product(range(16), repeat=2))
    ours, theirs = (scripted([pair[side] for pair in secrets]) for side in (0, 1))
    first = Exchange(SMALL, Role.FIRST, 256, source=ours)
    second = Exchange(SMALL, Role.SECOND, 256, source=theirs)
    converse(first, second)
    low, middle, high = SMALL.thresholds
    sums = np.array([sum(pair) % 16 for pair in secrets])
    told = [[coin.truthful[0] for coin in side.coins()] for side in (first, second)]
    assert (np.array(told[0]) == (sums < middle)).all()
    assert (np.array(told[1]) == ((sums < low) | ((sums >= middle) & (sums < high)))).all()
    table = SMALL.mechanism.pairs
    counts = np.bincount(2 * ~np.array(told[0]) + ~np.array(told[1]), minlength=4)
    scale = 256 // table.total
    assert counts.tolist() == [weight * scale for weight in (table.both, table.one, table.one, table.neither)]


@pytest.mark.parametrize("broken", [False, True])
def test_coins_follow_the_joint_law(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin turns the second's table: each coin alone is right, but they look at other numbers."""
    if broken:
        fair = Terms.says
        monkeypatch.setattr(
            Terms, "says", lambda self, first: fair(self, first) if first else np.roll(fair(self, first), 100)
        )
    terms, count = Terms(JRR, bits=8), 120
    first, second = both(terms, count, source=dt.Seeded(4))
    converse(first, second)
    told = np.array([[coin.truthful[0] for coin in side.coins()] for side in (first, second)])
    counts = np.bincount(2 * ~told[0] + ~told[1], minlength=4)
    table = terms.mechanism.pairs
    weights = np.array([table.both, table.one, table.one, table.neither])
    assert (stats.chisquare(counts, count * weights / table.total).pvalue > ALARM) is not broken


def test_coins_pair_by_pair() -> None:
    jrr = dt.JRR(dt.Categories(2), p=0.6, rho=1 - 1 / 0.6, n=41)  # two partners never lie both
    coins = protocols.local_pairs(jrr, 41, bits=6, source=dt.Seeded(6))
    assert len(coins) == 41
    lies = [not coin.truthful[0] for coin in coins]
    assert not any(one and other for one, other in zip(lies[:-1:2], lies[1::2], strict=True))
    assert 4 < sum(lies) < 28
    reports = dt.Reports.concatenate([coin.apply(1) for coin in coins])
    assert dt.frequencies(reports).n == 41
    assert protocols.local_pairs(jrr, 4, bits=6)[0].mechanism.n == 4
    assert len(protocols.local_pairs(dt.JRR(dt.Categories(2), p=0.6, rho=0.1, n=2), bits=5)) == 2


def test_rows_of_coins() -> None:
    joint = dt.JRR.over(dt.rivals.SUE(dt.Categories(3), epsilon=2), rho=-0.2, n=2)
    coins = protocols.local_pairs(joint, bits=5)
    assert [len(coin.truthful) for coin in coins] == [3, 3]
    assert coins[0].apply(1).cells.shape == (1, 1)


@pytest.mark.slow
def test_many_batches() -> None:
    first, second = both(count=130)
    assert not first.agreed
    assert not second.agreed
    converse(first, second)
    assert first.agreed
    assert second.agreed
    assert len(first.coins()) == len(second.coins()) == 130


@pytest.mark.parametrize("bits", [8, 12, 16])
def test_an_exchange_takes_the_bytes_that_the_pages_say(bits: int) -> None:
    page = (ROOT / "docs" / "protocols.md").read_text()
    said = re.search(rf"^\| {bits} \| ([\d ]+) \| ([\d ]+) \|", page, re.MULTILINE)
    assert said
    terms = Terms(JRR, bits=bits)
    one, three = (converse(*both(terms, count)) for count in (1, 3))
    assert [one, (three - one) / 2] == [int(number.replace(" ", "")) for number in said.groups()]


def test_coins_are_given_once_and_only_at_the_end() -> None:
    first, second = both()
    for side in (first, second):
        with pytest.raises(ExchangeFailed, match="has not ended"):
            side.coins()
    converse(first, second)
    first.coins()
    with pytest.raises(ExchangeFailed):
        first.coins()
    with pytest.raises(ExchangeFailed):
        first.start()
    with pytest.raises(ExchangeFailed):
        first.receive(b"")
    with pytest.raises(ExchangeFailed, match="more bytes came"):
        second.receive(b"x")
    with pytest.raises(ExchangeFailed):
        second.coins()
    assert "truthful" not in repr(protocols.local_pairs(JRR, 2, bits=4)[0])


def test_a_new_exchange_draws_anew() -> None:
    """Two runs share no message but for what is the same by definition: a restart cannot reuse anything."""
    one, other = transcript(), transcript()
    for mine, theirs in zip((*one[0], *one[1]), (*other[0], *other[1]), strict=True):
        assert mine != theirs


def test_each_direction_of_each_exchange_has_its_own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a partner that sends back a device's own messages would share keys with it."""
    seen: list[bytes] = []
    for name in ("TableSender", "TableReceiver"):
        build = getattr(exchange, name)

        def spy(bits: int, session: bytes, *rest: object, build: Callable[..., object] = build) -> object:
            seen.append(session)
            return build(bits, session, *rest)

        monkeypatch.setattr(exchange, name, spy)
    for _ in range(2):
        converse(*both())
    assert len(seen) == 8
    assert sorted(seen.count(session) for session in set(seen)) == [2, 2, 2, 2]  # one sender, one receiver


# --- disagreement ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Exchange(SMALL, Role.FIRST), "this pair's secret"),  # the tag contains the role
        (lambda: Exchange(SMALL, Role.SECOND, secret=b"another"), "this pair's secret"),
        (lambda: Exchange(Terms(JRR, bits=5), Role.SECOND), "expected tosses of 5 bits, got 4.*same bits"),
        (
            lambda: Exchange(Terms(dt.JRR(JRR.domain, p=0.9, rho=-0.1, n=2), bits=4), Role.SECOND),
            "another question",
        ),
        (lambda: Exchange(SMALL, Role.SECOND, 2), "another number"),
        (lambda: Exchange(SMALL, Role.SECOND, context=b"others"), "other coins or partners"),
    ],
)
def test_devices_that_disagree_do_not_toss(make: Callable[[], Exchange], said: str) -> None:
    first, other = Exchange(SMALL, Role.FIRST), make()
    hello = first.start()
    other.start()
    with pytest.raises(ExchangeFailed, match=said):
        other.receive(hello)
    assert not other.done


def test_an_echo_is_refused() -> None:
    first, second = (Exchange(SMALL, role, source=golden.Shake("the same nonce")) for role in Role)
    second.start()
    hello = first.start()
    with pytest.raises(ExchangeFailed, match="sends back"):
        second.receive(hello)


@pytest.mark.parametrize("count", [0, -1, 1 << 21, 1.0, True])
def test_wrong_counts_are_refused(count: object) -> None:
    with pytest.raises(InvalidParameter, match="from 1 to"):
        Exchange(SMALL, Role.FIRST, count)


# --- wrong messages ----------------------------------------------------------------------------------------


def listen(side: Exchange, pieces: list[bytes]) -> bool:
    """Feed bytes to a device, and return whether it has coins; only ExchangeFailed may be raised."""
    try:
        side.start()
        for piece in pieces:
            side.receive(piece)
    except ExchangeFailed:
        assert not side.done
        with pytest.raises(ExchangeFailed):
            side.coins()
        with pytest.raises(ExchangeFailed):
            side.receive(b"")
        return False
    return side.done


@given(st.lists(st.binary(max_size=80), max_size=6), st.sampled_from(Role))
def test_noise_is_refused(pieces: list[bytes], role: Role) -> None:
    assert not listen(Exchange(SMALL, role), pieces)


SAID, ANSWERS = transcript()


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 60), st.integers(0, 3))
def test_recorded_messages_are_useless(place: int, other: int, cut: int, change: int) -> None:
    """Messages of an old exchange, cut, repeated or in another order: none is accepted after HELLO."""
    pieces = list(ANSWERS)
    if change == 0:
        pieces[place] = pieces[place][:cut]
    elif change == 1:
        pieces.insert(place, pieces[other])
    elif change == 2:
        pieces[place], pieces[other] = pieces[other], pieces[place]
    assert not listen(Exchange(SMALL, Role.FIRST), pieces)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data())
def test_a_changed_message_never_crashes(data: st.DataObject) -> None:
    """One live exchange in which one message is changed, cut, repeated or held back: an error, or no end."""
    first, second = both()
    second.start()
    said, step, sides = first.start(), 0, (second, first)
    at = data.draw(st.integers(0, 9))
    way = data.draw(st.sampled_from(["flip", "cut", "repeat", "extend", "swap"]))
    held = b""
    try:
        while said:
            if step == at:
                spot = data.draw(st.integers(0, len(said) - 1))
                if way == "flip":
                    said = (
                        said[:spot]
                        + bytes([said[spot] ^ 1 << data.draw(st.integers(0, 7))])
                        + said[spot + 1 :]
                    )
                else:
                    said = {"cut": said[:spot], "repeat": said * 2, "extend": said + b"\0", "swap": held}[way]
            held, said = said, sides[step % 2].receive(said)
            step += 1
    except ExchangeFailed:
        assert step >= at
    assert not (first.done and second.done)  # the digest in DONE also shows changed queries and tables


@pytest.mark.parametrize("name", [name for name, point in REFUSED.items() if len(point) == 32])
@pytest.mark.parametrize("step", [2, 3, 4, 5], ids=["offer", "offer back", "query", "query back"])
def test_a_partner_that_sends_a_wrong_point_gets_nothing(
    step: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first point of OFFER or QUERY is replaced, the tag is right: its receiver does not answer."""
    first, second = both()
    sides = (second, first)
    victim, wrong = sides[step % 2], sides[1 - step % 2]
    turn_of: list[Exchange] = [first]
    public, query = TableSender.public.fget, TableReceiver.query  # type: ignore[attr-defined]

    def wrong_public(sender: TableSender) -> bytes:
        return REFUSED[name] if turn_of[-1] is wrong else public(sender)

    def wrong_query(receiver: TableReceiver, choices: Sequence[int]) -> bytes:
        asked = query(receiver, choices)
        return REFUSED[name] + asked[32:] if turn_of[-1] is wrong else asked

    if step > 3:
        monkeypatch.setattr(TableReceiver, "query", wrong_query)
    else:
        monkeypatch.setattr(TableSender, "public", property(wrong_public))
    second.start()
    said = first.start()
    for turn in range(step):
        turn_of.append(sides[turn % 2])
        said = sides[turn % 2].receive(said)
    assert REFUSED[name] in said
    turn_of.append(victim)
    with pytest.raises(ExchangeFailed, match="prime-order group"):
        victim.receive(said)
    assert not victim.done
    with pytest.raises(ExchangeFailed):
        victim.coins()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_messages_come_in_any_pieces(sizes: list[int]) -> None:
    first, second = both()
    second.start()
    said, sides, turn = first.start(), (second, first), 0
    while said:
        answer, at, number = b"", 0, 0
        while at < len(said):
            size = sizes[number % len(sizes)]
            answer += sides[turn].receive(said[at : at + size])
            at, number = at + size, number + 1
        said, turn = answer, 1 - turn
    assert first.done
    assert second.done


def test_a_reader_says_what_is_wrong() -> None:
    expected = ExpectedMessage(Kind.DONE, 3, b"exchange", 0, 4)
    right = pack(Kind.DONE, 3, b"exchange", b"body")
    wrong = {
        b"x" + right[1:]: "not a message",
        right[:4] + bytes([VERSION + 1]) + right[5:]: "version",
        pack(Kind.HELLO, 3, b"exchange", b""): "out of turn",
        pack(Kind.DONE, 2, b"exchange", b""): "DONE was expected",
        pack(Kind.DONE, 3, NO_EXCHANGE, b""): "another exchange",
        pack(Kind.DONE, 3, b"exchange", b"12345"): "not the expected one",
        b"GET / HTTP": "not a message",
    }
    for data, said in wrong.items():
        reader = Reader()
        reader.feed(data)
        with pytest.raises(ExchangeFailed, match=said):
            reader.take(expected)
    reader = Reader()
    reader.feed(right[:-1])
    assert reader.take(expected) is None
    reader.feed(right[-1:])
    assert reader.take(expected) == b"body"
    assert reader.empty


def test_an_abandoned_exchange_is_over() -> None:
    first = Exchange(SMALL, Role.FIRST)
    first.start()
    first.lose_partner()
    with pytest.raises(ExchangeFailed, match="failed"):
        first.receive(b"")
