"""The page of a campaign: the skeleton, and the parts of it that change."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Final

from dither.deployments.batch import BatchPromise
from dither.html import Markup, element, joined
from dither.service.answers.answering import Answers
from dither.service.collector import Collector
from dither.service.contract import Published
from dither.service.pages import assets
from dither.service.pages.question import FILES, Told, queries, regions, section
from dither.service.pages.words import counted, narrow, promise, whole

_CROWD: Final = (
    "Whoever reads this page sees such batches: its numbers are counts, and grow by at least the minimum at "
    "a time. Whoever runs the collector sees reports arrive; it stores no address."
)
_LOOKS: Final = (
    "Intervals “at any time” of means and frequencies hold together at all numbers of reports, however often "
    "somebody looks. Those of quantiles and distributions hold at 100 looks, taken whenever the number of "
    "reports has grown by a fifth."
)
_BLANK: Final = "data:,"  # an icon that needs no request


def state(published: Published, day: datetime.date, grace: int) -> tuple[str, str]:
    """Return the state of a campaign in a word and in a sentence."""
    contract = published.contract
    if published.retired is not None and published.retired[0] <= day:
        return "retired", f"Retired on {published.retired[0]}; nothing is collected any more."
    if day < contract.begins:
        return "not begun", f"Collecting begins on {contract.begins}."
    if day > contract.ends + datetime.timedelta(grace):
        return "ended", f"Ended on {contract.ends}; these are its final numbers."
    return "collecting", f"From {contract.begins} to {contract.ends}."


def changing(
    collector: Collector, answers: Answers, published: Published, batch: Future[BatchPromise] | None
) -> dict[str, Markup]:
    """Return the parts that change, by identity. Computes answers: call it in a thread."""
    contract, total, waiting = published.contract, 0, 0
    parts: dict[str, Markup] = {}
    for number, (name, mechanism) in enumerate(contract.questions.items()):
        rows = {
            kind: [] if query is None else answers.compute(published.id, [query])
            for kind, query in queries(name, mechanism).items()
        }
        parts |= regions(number, Told(**rows), contract)
        total += collector.live.n(published.id, name, shown=True)
        waiting += collector.live.waiting(published.id, name)
    now = datetime.datetime.now(datetime.UTC)
    word, sentence = state(published, collector.day(), collector.settings.grace)
    parts["state"] = joined(
        [element("span", word, class_="state" if word == "collecting" else "state warn"), " ", sentence]
    )
    more = f", of which {whole(waiting)} wait for more to come" if waiting else ""
    parts["status"] = joined([f"{counted(total + waiting, 'report')}{more}; {now:%Y-%m-%d %H:%M} UTC."])
    parts["refused"] = _refused(collector, published.id)
    parts["health"] = _health(collector)
    parts["batch"] = _batch(batch)
    return parts


def whole_page(published: Published, parts: Mapping[str, Markup], others: Sequence[Published]) -> str:
    """Return the page of a campaign as HTML."""
    contract, base = published.contract, f"/v1/campaigns/{published.id}"
    sections = [
        section(number, name, contract, base, dict(parts)) for number, name in enumerate(contract.questions)
    ]

    def region(identity: str, name: str = "div", **more: str) -> Markup:
        return element(name, parts[identity], id=identity, **more)

    promised = element(
        "section",
        element("h2", "What is promised to a person", id="promised"),
        *(element("p", sentence) for sentence in promise(contract)),
        region("batch"),
        element("p", _assumptions(contract.guarantee.assumes), class_="soft"),
        **{"aria-labelledby": "promised"},
    )
    body = [
        element(
            "header",
            element("h1", contract.name),
            region("state", "p"),
            element("p", contract.purpose),
            element("p", f"{contract.asker}; {contract.contact}; version {contract.version}", class_="soft"),
        ),
        element(
            "main",
            region("status", "p", class_="soft"),
            element("p", "", id="live", role="status", class_="soft"),
            element("div", *sections, class_="questions"),
            promised,
            _titled("Refused batches", "refusals", region("refused")),
            _titled("Health", "healthy", region("health")),
            _titled("All answers", "export", _exports(base), element("p", _LOOKS, class_="soft")),
            **{"data-events": f"{base}/events"},
        ),
        _others(published, others),
    ]
    return document(f"{contract.name}: answers", body)


def document(title: str, body: Sequence[Markup]) -> str:
    """Return a whole document with the style and the script that the policy allows."""
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        Markup(f'<link rel="icon" href="{_BLANK}">'),
        element("style", Markup(assets.STYLE)),
    ]
    script = element("script", Markup(assets.SCRIPT))
    whole_document = element("html", element("head", *head), element("body", *body, script), lang="en")
    return f"<!doctype html>\n{whole_document}\n"


def listing(published: Sequence[Published], day: datetime.date, grace: int) -> str:
    """Return the page that lists the campaigns; also if there is none."""
    rows = [
        element(
            "li",
            element("a", f"{one.contract.name}, version {one.contract.version}", href=f"/campaigns/{one.id}"),
            f" ({state(one, day, grace)[0]})",
        )
        for one in published
    ]
    shown = element("ul", *rows) if rows else element("p", "No campaign has been published here.")
    return document("Campaigns", [element("main", element("h1", "Campaigns"), shown)])


def failure(words: str) -> str:
    """Return a page that says what is wrong."""
    link = element("p", element("a", "All campaigns", href="/"))
    return document("Not shown", [element("main", element("h1", "Not shown"), element("p", words), link)])


def _refused(collector: Collector, campaign: str) -> Markup:
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    for (whose, _, reason), count in collector.refused.items():
        if whose in (campaign, ""):
            counts[reason.value] += count
            words[reason.value] = reason.words
    if not counts:
        return element("p", "None.")
    top = element(
        "tr", *(element("th", one, scope="col") for one in ("batches", "reason", "what a device is told"))
    )
    body = [
        element(
            "tr",
            element("td", whole(count)),
            element("th", reason, scope="row"),
            element("td", words[reason]),
        )
        for reason, count in counts.most_common()
    ]
    table = element("table", element("thead", top), element("tbody", *body))
    more: dict[str, str] = {"aria-label": "Refused batches"}
    return element("div", table, class_="scroll", tabindex="0", role="group", **more)


def _health(collector: Collector) -> Markup:
    known = collector.health()
    word = "Ready to store reports." if known["ready"] else "Not ready: reports are refused for now."
    hours, minutes = divmod(int(known["seconds"]) // 60, 60)
    return joined(
        [
            element("p", word, class_=None if known["ready"] else "warn"),
            element(
                "p",
                f"{counted(known['reports'], 'report')} in {counted(known['campaigns'], 'campaign')}; up for "
                f"{whole(hours)}\u202fh {minutes}\u202fmin.",
                class_="soft",
            ),
        ]
    )


def _batch(batch: Future[BatchPromise] | None) -> Markup:
    if batch is None:
        return Markup()
    if not batch.done():
        return element("p", "The promise for shuffled reports is being computed.", class_="soft")
    if batch.exception() is not None:
        return element("p", "The promise for shuffled reports could not be computed.", class_="soft")
    found = batch.result()
    if found.guarantee is None:
        return element("p", found.officer, class_="soft")
    person, officer = narrow(found.person), narrow(found.officer)
    return joined([element("p", person), element("p", officer, " ", _CROWD, class_="soft")])


def _assumptions(assumed: Sequence[str]) -> str:
    return f"It assumes that {'; '.join(assumed)}." if assumed else "Nothing is assumed about who reads it."


def _exports(base: str) -> Markup:
    links = [element("a", word, href=f"{base}/answers.{one}") for one, word in FILES.items()]
    return element("p", joined(links, ", "), "; ", element("a", "the signed campaign", href=base))


def _titled(title: str, identity: str, *parts: Markup) -> Markup:
    return element("section", element("h2", title, id=identity), *parts, **{"aria-labelledby": identity})


def _others(published: Published, others: Sequence[Published]) -> Markup:
    rest = [one for one in others if one.id != published.id]
    if not rest:
        return Markup()
    links = [element("a", one.contract.name, href=f"/campaigns/{one.id}") for one in rest[:20]]
    return element("footer", element("p", "Other campaigns: ", joined(links, ", ")))
