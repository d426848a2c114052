"""The officer's sheet of one campaign, and a draft of its data protection impact assessment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dither.advice.explain import PRIORS, Explanation, odds_words, officer_page, sentences, total_words
from dither.foundation.markup import printable

if TYPE_CHECKING:
    from dither_device.total import Total

_TOPICS: Final = 3  # the promise, the risks, the visible data
_ROWS: Final = (
    *("campaign", "version", "digest", "signed", "date", "asker", "contact", "purpose", "days", "people"),
    *("labels", "raw", "total", "odds", "told", "retention", "deletion", "signature"),
)


@dataclass(frozen=True)
class CampaignFacts:
    """The statements of a campaign about itself: texts as they are signed, and the total of one person.

    `signed` is the asker's public key, or None for a campaign that is not signed. `date` is the day on which
    the sheet is made. `purposes` is the purpose by language; without languages its tag is empty. `retry` is
    how many days a batch is recognised. `sealed` says whether requests are encrypted so that a relay can pass
    them on.
    """

    name: str
    version: int
    digest: str
    signed: str | None
    date: str
    asker: str
    contact: str
    purposes: Mapping[str, str]
    labels: tuple[str, ...]
    retry: int
    begins: str
    ends: str
    people: int
    sealed: bool
    repeat: str
    total: Total


def officer_sheet(
    facts: CampaignFacts | None, told: Explanation, title: str, randomiser: str, language: str = "en"
) -> str:
    """Return the page for the officer with the campaign's own numbers first, in Markdown.

    Without facts, as for a file of questions, it has the lines of the explanation only.
    """
    head, *parts = officer_page(language).split("\n## ")  # the head describes the page and how to get it
    points = "\n".join(f"- {line}" for line in told.officer.split("\n"))
    if facts is not None:
        title, points = facts.name, f"{_fact_table(facts, told, randomiser, language)}\n\n{points}"
        parts = parts[:_TOPICS]  # so that the text fits on one sheet; the page itself has the others
    said = sentences(language)["sheet"]
    if randomiser == "holder":
        parts = [part.replace(said["on_device"], said["on_holder"]) for part in parts]
    own = f"{head.splitlines()[0]}\n\n## {_flat(title)}\n\n{points}\n"
    return "\n## ".join([own, *parts])


def assessment(facts: CampaignFacts, told: Explanation, language: str = "en") -> str:
    """Return the parts of a data protection impact assessment that the campaign states, in Markdown.

    Parts that the author must still write are marked by the same words everywhere, so that they can be found.
    """
    words = sentences(language)["dpia"]
    values = _values(facts, told, language)
    points = "\n".join(f"- {line}" for line in told.officer.split("\n"))
    parts = [f"# {words['title'].format(**values)}", words["intro"].format(**values)]
    for name in ("purpose", "data", "necessity", "risks", "measures", "residual", "retention", "children"):
        parts += [f"## {words[name]}", words[f"{name}_text"].format(**values, points=points)]
    parts += [f"## {words['subpoena']}", words["subpoena_text"].format(**values)]
    parts += [f"## {words['decision']}", words["decision_text"].format(**values)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _values(facts: CampaignFacts, explanation: Explanation, language: str) -> Mapping[str, str]:
    words = sentences(language)
    said = words["sheet"]
    total = facts.total
    odds = said["odds_one"] if total.epsilon is None else said["odds_all"]
    near = [tag for tag in facts.purposes if tag.partition("-")[0] == language] or list(facts.purposes)
    epsilon = total.each if total.epsilon is None else total.epsilon
    return {
        "write": words["dpia"]["write"],
        "campaign": _flat(facts.name),
        "version": str(facts.version),
        "digest": facts.digest,
        "signed": said["unsigned"] if facts.signed is None else said["signed_with"].format(key=facts.signed),
        "date": facts.date,
        "asker": _flat(facts.asker),
        "contact": _flat(facts.contact),
        "purpose": _flat(facts.purposes[near[0]]),
        "labels": _flat(", ".join(facts.labels)) or said["no_labels"],
        "retry": str(facts.retry),
        "told": _flat(explanation.person),
        "begins": facts.begins,
        "ends": facts.ends,
        "days": f"{facts.begins} – {facts.ends}",
        "people": str(facts.people),
        "total": total_words(total, language) if total.each else said["nothing_asked"],
        "odds": odds.format(odds=odds_words(epsilon, language, PRIORS)) if total.each else "–",
        "relay": said["sealed" if facts.sealed else "not_sealed"],
    }


def _fact_table(facts: CampaignFacts, explanation: Explanation, randomiser: str, language: str) -> str:
    said = sentences(language)["sheet"]
    values = {**_values(facts, explanation, language), "raw": said[f"raw_{randomiser}"]}
    values |= {
        name: said[f"{name}_value"].format(**values) for name in ("retention", "deletion", "signature")
    }
    rows = [f"| {said[name]} | {values[name]} |" for name in _ROWS]
    return "\n".join([f"| {said['field']} | {said['stated']} |", "|---|---|", *rows])


def _flat(text: str) -> str:
    """Return a text as one line of a table: no line breaks, and no marks of Markdown that end a cell."""
    return " ".join(printable(text, "\n").replace("|", "/").split())
