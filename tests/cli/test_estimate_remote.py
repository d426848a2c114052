"""`dither estimate http://…`: the summaries of collectors, added up."""

import json

import pytest
from click.testing import CliRunner

import dither as dt
from dither.cli import main
from tests.service.collectors import MONDAY, TUESDAY, make, people, send

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from tests.service.pages.states import served


def _serve(collector):
    return served(collector, campaigns=True)


def _run(*arguments: str):
    return CliRunner().invoke(main, ["estimate", *arguments])


@pytest.fixture(scope="module")
def shards():
    found = []
    for seed in (1, 2):
        collector, published = make(people=100)
        sent = send(collector, published, "minutes", people(400, seed)[0], seed=seed)
        found.append((collector, published, sent))
    return found


def test_one_collector_and_two_of_them_added_up(shards):
    (first, published, one), (second, _, two) = shards
    with _serve(first) as here, _serve(second) as there:
        path = f"/v1/campaigns/{published.id}"
        alone = _run(here + path, "--json")
        assert alone.exit_code == 0, alone.output
        mean = json.loads(alone.output)["minutes"][0]
        assert mean["value"] == float(dt.mean(one).value)
        assert (mean["low"], mean["high"]) == dt.mean(one).at_any_time().interval()
        both = json.loads(_run(here + path, there + path, "--json").output)["minutes"][0]
        assert both["value"] == float(dt.mean(dt.Summary.of(one) + dt.Summary.of(two)).value)
        shown = _run(here + path, "--quantile", "0.5").output
        assert "at any time" in shown
        assert "no answer: too few people" in shown  # about browsers, of which none were sent
        assert _run(here + path, "--column", "minute").exit_code == 2
        other = _run(here + "/v1/campaigns/0000")
        assert other.exit_code != 0
        assert "not the address of a campaign" in other.output
        page = _run(here + "/")  # what a tired user copies
        assert page.exit_code != 0
        assert "/v1/campaigns/ID" in page.output


def test_nobody_answers_and_mixtures_are_refused(tmp_path):
    gone = _run("http://127.0.0.1:9/v1/campaigns/x")
    assert gone.exit_code != 0
    assert "does not answer" in gone.output
    assert "Traceback" not in gone.output
    mixed = _run("http://127.0.0.1:9/v1/campaigns/x", "reports.csv")
    assert mixed.exit_code == 2


def test_by_day_and_by_label_collectors_are_added_up():
    sent = {}
    found = []
    for seed in (1, 2):
        collector, published = make(people=100)
        parts = [(MONDAY, "1.0", 400), (TUESDAY, "1.1", 300), (TUESDAY, "", 50 * seed)]
        for day, label, count in parts:
            values = people(count, seed)[0]
            some = send(collector, published, "minutes", values, day=day, label=label, seed=seed)
            for key in (str(day), label):
                sent.setdefault(key, []).append(dt.Summary.of(some))
        found.append((collector, published))
    with _serve(found[0][0]) as here, _serve(found[1][0]) as there:
        path = f"/v1/campaigns/{found[0][1].id}"
        both = here + path, there + path
        for by, keys in (("day", [str(MONDAY), str(TUESDAY)]), ("label", ["1.0", "1.1"])):
            done = CliRunner().invoke(main, ["estimate", *both, "--by", by, "--json"])
            assert done.exit_code == 0, done.output
            rows = {row[by]: row for row in json.loads(done.stdout)["minutes"]}
            for key in keys:
                whole = sum(sent[key][1:], sent[key][0])
                assert rows[key]["n"] == whole.n
                low, high = dt.mean(whole).at_any_time().interval()
                assert (rows[key]["value"], rows[key]["low"], rows[key]["high"]) == (
                    float(dt.mean(whole).value),
                    float(low),
                    float(high),
                )
        assert rows[None]["n"] == 100  # without a label: the other collector has 50, too few to say
        assert "left out: 1 group with too few people" in done.stderr
        shown = _run(*both, "--by", "day")
        assert "2 groups by day, 95 % intervals, at any time" in shown.output
        assert _run(*both, "--by", "city").exit_code == 2
        assert _run(*both, "--by", "day", "--by", "label").exit_code == 2
        assert _run(*both, "--by", "day", "--bins", "4").exit_code == 2
        assert _run(*both, "--by", "day", "--column", "minute").exit_code == 2
