"""`dither estimate http://…`: the summaries of collectors, added up."""

import json
from functools import partial

import pytest

import dither as dt
from tests.collection.collectors import MONDAY, TUESDAY, make, people, send

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from tests.collection.pages.states import served
from tests.support.terminal import run

TOKEN = "correct horse battery"


def _serve(collector):
    return served(collector, campaigns=True, token=TOKEN)


_run = partial(run, "estimate")


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
        assert both["value"] == float(dt.mean(dt.Counts.of(one) + dt.Counts.of(two)).value)
        shown = _run(here + path, "--quantile", "0.5").output
        assert "at any time" in shown
        assert "no answer: too few people" in shown  # about browsers, of which none were sent
        assert _run(here + path, "--column", "minute").exit_code == 2
        other = _run(here + "/v1/campaigns/0000")
        assert other.exit_code != 0
        assert "expected the address of a campaign" in other.output
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


def test_waiting_reports_of_two_regions_are_added_up_with_the_token(tmp_path):
    found = []
    for seed in (1, 2):
        collector, published = make(people=100)
        sent = send(collector, published, "minutes", people(60, seed)[0], seed=seed)
        send(collector, published, "browser", people(40, seed)[1], seed=seed)
        found.append((collector, published, dt.Counts.of(sent)))
    tokens = [tmp_path / "here.token", tmp_path / "there.token"]
    for one in tokens:
        one.write_text(TOKEN, encoding="utf-8")
        one.chmod(0o600)
    with _serve(found[0][0]) as here, _serve(found[1][0]) as there:
        both = [f"{one}/v1/campaigns/{found[0][1].id}" for one in (here, there)]
        shown = _run(*both)
        assert "too few people" in shown.output
        for given in (tokens[:1], tokens):
            named = [word for one in given for word in ("--token-file", str(one))]
            done = _run(*both, *named, "--json")
            assert done.exit_code == 0, done.output
            whole = json.loads(done.stdout)
            assert whole["minutes"][0]["value"] == float(dt.mean(found[0][2] + found[1][2]).value)
            assert "too few people" in str(whole["browser"])  # 80 in both: the minimum is asked of the sum
        by = _run(*both, "--by", "label", "--token-file", str(tokens[0]))
        assert "left out: 1 group with too few people" in by.output
        tokens[0].write_text("a token of somebody else", encoding="utf-8")
        assert "check the token" in _run(*both, "--token-file", str(tokens[0])).output
        three = [word for one in (*tokens, tokens[0]) for word in ("--token-file", str(one))]
        assert "one for each" in _run(*both, *three).output


def test_by_day_and_by_label_collectors_are_added_up(tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN, encoding="utf-8")
    token.chmod(0o600)
    sent = {}
    found = []
    for seed in (1, 2):
        collector, published = make(people=100)
        parts = [(MONDAY, "1.0", 400), (TUESDAY, "1.1", 300), (TUESDAY, "", 50 * seed)]
        for day, label, count in parts:
            values = people(count, seed)[0]
            some = send(collector, published, "minutes", values, day=day, label=label, seed=seed)
            for key in (str(day), label):
                sent.setdefault(key, []).append(dt.Counts.of(some))
        found.append((collector, published))
    with _serve(found[0][0]) as here, _serve(found[1][0]) as there:
        path = f"/v1/campaigns/{found[0][1].id}"
        both = here + path, there + path
        for by, keys in (("day", [str(MONDAY), str(TUESDAY)]), ("label", ["1.0", "1.1"])):
            words = ["estimate", *both, "--by", by, "--json", "--token-file", str(token)]
            done = run(*words)
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
        assert rows[None]["n"] == 150
        open_to_all = run("estimate", *both, "--by", "label", "--json")
        rows = {row["label"]: row for row in json.loads(open_to_all.stdout)["minutes"]}
        assert rows[None]["n"] == 100  # without a label: the other collector has 50, which it does not tell
        assert rows["1.0"]["n"] == 800
        late, hidden = [300, 300], [300, 300, 50, 100]  # reports of Tuesday, of one label and of all
        for more, parts in (((), [*late, 100]), (("--token-file", str(token)), hidden)):
            since = run("estimate", *both, "--since", str(TUESDAY), "--json", *more)
            assert json.loads(since.stdout)["minutes"][0]["n"] == sum(parts)
            labels = run("estimate", *both, "--since", str(TUESDAY), "--by", "label", "--json", *more)
            assert {row["label"] for row in json.loads(labels.stdout)["minutes"]} == {"1.1", None}
        shown = _run(*both, "--by", "day")
        assert "2 groups by day, 95 % intervals, at any time" in shown.output
        assert _run(*both, "--by", "city").exit_code == 2
        assert _run(*both, "--by", "day", "--by", "label").exit_code == 2
        assert _run(*both, "--by", "day", "--bins", "4").exit_code == 2
        assert _run(*both, "--by", "day", "--column", "minute").exit_code == 2
