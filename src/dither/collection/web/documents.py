"""The HTML of the page of a campaign, and of the page of all campaigns."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Final

from dither.advice.explain import BatchPromise
from dither.collection.collector import Collector
from dither.collection.presence import counts_presence
from dither.collection.published import Published
from dither.collection.web.answers import versions_of
from dither.collection.web.kept_changes import draw_changes
from dither.collection.web.presence import draw_presence
from dither.collection.web.query import By
from dither.collection.web.sections import COMING, FILES, section
from dither.collection.web.style import SCRIPT, STYLE
from dither.collection.web.views import View, has_sections, picker, question_names
from dither.collection.web.words import narrow, number_of, promise, short_budget
from dither.foundation.digits import whole
from dither.foundation.markup import Markup, element, join_markup

_CROWD: Final = (
    "Readers of this page see such batches: its numbers are counts, and grow by at least the minimum at a "
    "time. The operator of the collector sees reports arrive; it stores no address."
)
_LOOKS: Final = (
    "Intervals “at any time” of means and frequencies hold together at all numbers of reports, however often "
    "readers look. Those of quantiles and distributions hold at 100 looks, taken whenever the number of "
    "reports has grown by a fifth."
)
_BLANK: Final = "data:,"  # an icon that needs no request

Parts = dict[str, Markup]  # parts of a page, by identity


def state(published: Published, day: datetime.date, grace: int) -> tuple[str, str]:
    """Return the state of a campaign as one word and as a sentence."""
    contract = published.contract
    if published.retired is not None and published.retired[0] <= day:
        return "retired", f"Retired on {published.retired[0]}; nothing is collected any more."
    if day < contract.begins:
        return "not begun", f"Collecting begins on {contract.begins}."
    if day > contract.ends + datetime.timedelta(grace):
        return "ended", f"Ended on {contract.ends}; these are its final numbers."
    return "collecting", f"From {contract.begins} to {contract.ends}."


def surroundings(collector: Collector, published: Published, batch: Future[BatchPromise] | None) -> Parts:
    """Return the changing parts other than answers, by identity: states and sums. This is quick."""
    contract, names = published.contract, question_names(published)
    total = sum(collector.live.n(published.id, name, shown=True) for name in names)
    waiting = sum(collector.live.waiting(published.id, name, shown=True) for name in names)
    now = datetime.datetime.now(datetime.UTC)
    word, sentence = state(published, collector.day(), collector.settings.grace)
    more = f" {whole(waiting)} of them are counted when enough others have come." if waiting else ""
    counted = "" if counts_presence(contract) else f"{number_of(total + waiting, 'report')}, "
    return {
        "presence": join_markup([draw_presence(collector, published), draw_changes(collector, published)]),
        "state": join_markup(
            [element("span", word, class_="state" if word == "collecting" else "state warn"), " ", sentence]
        ),
        "status": join_markup([f"{counted}{now:%Y-%m-%d %H:%M} UTC.{more}"]),
        "refused": _refusal_list(collector, published.id),
        "health": _health(collector),
        "batch": _batch(batch),
    }


def _says(published: Published) -> str:
    """Return the text of a page that receives updates."""
    contract = published.contract
    when = f"when a {contract.every} is over" if counts_presence(contract) else "as reports arrive"
    return f"Live: numbers change {when}."


def whole_page(
    published: Published,
    parts: Parts,
    others: Sequence[Published],
    view: View,
    by: By,
    starts: Mapping[datetime.date, str],
) -> str:
    """Return the page of a campaign as HTML; `starts` are the offered first days, with their names."""
    contract, base = published.contract, f"/v1/campaigns/{published.id}"
    sections = [
        section(number, name, contract, base, parts, view, by)
        for number, name in enumerate(question_names(published))
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
            element(
                "p",
                join_markup(
                    [
                        element("a", "What is promised to a person", href="#promised"),
                        element("a", "For a privacy officer", href=f"/campaigns/{published.id}/officer"),
                    ],
                    " · ",
                ),
                class_="soft",
            ),
            _other_versions(published, others),
        ),
        element(
            "main",
            region("status", "p", class_="soft"),
            element("p", "", id="live", role="status", class_="soft"),
            picker(published, view, by, starts) if has_sections(contract) else Markup(),
            region("presence"),
            element("div", *sections, class_="questions"),
            promised,
            *([_all_answers(base)] if has_sections(contract) else []),
            **{"data-events": f"{base}/events{view.query}", "data-says": _says(published)},
        ),
        element(
            "footer",
            element("h2", "Health"),
            region("health"),
            element("h2", "Refused batches"),
            region("refused"),
            _others(published, others),
        ),
    ]
    return document(f"{contract.name}: answers", body, again=COMING in parts.values())


def document(title: str, body: Sequence[Markup], *, again: bool = False, live: bool = True) -> str:
    """Return a complete document with the style and the script allowed by the content policy.

    With `again` the page is loaded once more, because some parts are still being computed: by browsers
    without scripts, or by all browsers if the page is not `live`.
    """
    reload = element("meta", content="2", **{"http-equiv": "refresh"})
    head = [
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        Markup(f'<link rel="icon" href="{_BLANK}">'),
        element("style", Markup(STYLE)),
        *([element("noscript", reload) if live else reload] if again else []),
    ]
    script = element("script", Markup(SCRIPT))
    whole_document = element("html", element("head", *head), element("body", *body, script), lang="en")
    return f"<!doctype html>\n{whole_document}\n"


def listing(
    published: Sequence[Published], parts: Mapping[str, Markup], day: datetime.date, grace: int
) -> str:
    """Return the page of all campaigns, each with its versions and the headline of each question."""
    seen: set[str] = set()
    shown: list[Markup] = []
    for campaign in published:
        if campaign.id in seen:
            continue
        versions = versions_of(campaign, published)
        seen |= {version.id for version in versions}
        links = [
            join_markup(
                [
                    element("a", f"version {each.contract.version}", href=f"/campaigns/{each.id}"),
                    f" ({state(each, day, grace)[0]})",
                ],
                "",
            )
            for each in versions
        ]
        newest = versions[-1]
        about = element("p", newest.contract.purpose, class_="soft")
        heading = element("h2", newest.contract.name, id=f"c{newest.id[:16]}")
        inside = [heading, about, element("p", join_markup(links, ", ")), parts[newest.id]]
        shown.append(element("section", *inside, **{"aria-labelledby": f"c{newest.id[:16]}"}))
    if not shown:
        shown = [element("p", "No campaign has been published here.")]
    coming = any(str(COMING) in str(part) for part in parts.values())
    body = [element("main", element("h1", "Campaigns"), *shown)]
    return document("Campaigns", body, again=coming, live=False)


def failure(words: str) -> str:
    """Return a page with an error."""
    link = element("p", element("a", "All campaigns", href="/"))
    return document("Not shown", [element("main", element("h1", "Not shown"), element("p", words), link)])


def _refusal_list(collector: Collector, campaign: str) -> Markup:
    counts: Counter[str] = Counter()
    words: dict[str, str] = {}
    for (whose, _, reason), count in collector.refused.items():
        if whose in (campaign, ""):
            counts[reason.value] += count
            words[reason.value] = reason.words
    if not counts:
        return element("p", "None.")
    top = element(
        "tr",
        *(element("th", heading, scope="col") for heading in ("batches", "reason", "what a device is told")),
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
    return join_markup(
        [
            element("p", word, class_=None if known["ready"] else "warn"),
            element(
                "p",
                f"{number_of(known['reports'], 'report')} in {number_of(known['campaigns'], 'campaign')}; up "
                f"for {whole(hours)}\u202fh {minutes}\u202fmin.",
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
    person, officer = narrow(found.person), narrow(short_budget(found.officer))
    return join_markup([element("p", person), element("p", officer, " ", _CROWD, class_="soft")])


def _assumptions(assumed: Sequence[str]) -> str:
    return f"It assumes that {'; '.join(assumed)}." if assumed else "Nothing is assumed about who reads it."


def _exports(base: str) -> Markup:
    links = [element("a", word, href=f"{base}/answers.{ending}") for ending, word in FILES.items()]
    return element("p", join_markup(links, ", "), "; ", element("a", "the signed campaign", href=base))


def _all_answers(base: str) -> Markup:
    return _section("All answers", "export", _exports(base), element("p", _LOOKS, class_="soft"))


def _section(title: str, identity: str, *parts: Markup) -> Markup:
    return element("section", element("h2", title, id=identity), *parts, **{"aria-labelledby": identity})


def _others(published: Published, others: Sequence[Published]) -> Markup:
    own = {each.id for each in versions_of(published, others)}
    rest = [campaign for campaign in others if campaign.id not in own]
    if len(others) == 1:
        return Markup()
    if not rest:
        return element("p", element("a", "All versions on one page", href="/"))
    links = [
        element("a", campaign.contract.name, href=f"/campaigns/{campaign.id}")
        for campaign in {each.contract.name: each for each in rest}.values()
    ]
    every = element("a", "all campaigns on one page", href="/")
    return element("p", "Other campaigns: ", join_markup([*links[:20], every], ", "))


def _other_versions(published: Published, known: Sequence[Published]) -> Markup:
    """Return links to the other versions of a campaign."""
    links = [
        element("a", f"version {each.contract.version}", href=f"/campaigns/{each.id}")
        for each in versions_of(published, known)
        if each.id != published.id
    ]
    return element("p", "Also: ", join_markup(links, ", "), class_="soft") if links else Markup()
