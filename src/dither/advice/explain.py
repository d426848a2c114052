"""`Questionnaire.explain`: a campaign in plain words, including the promise of mixed batches."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache, reduce
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Literal

from dither.core.combinator import Combinator
from dither.core.domains import Domain
from dither.core.memoised import Memoised
from dither.core.question import Question, as_question
from dither.core.questionnaire import Questionnaire
from dither.core.repetition import AskedAgain, KeptChange, Once
from dither.errors import DitherError, InvalidParameter, check_choice, unknown_name
from dither.foundation.markup import element
from dither.mechanisms.combined import Attributes, Each, Sampled
from dither.privacy import Approximate, Guarantee, Pure
from dither.privacy.guarantee import Metric, Nothing, largest_posterior

if TYPE_CHECKING:
    from dither_device.total import Total

DELTA: Final = 1e-6
Randomiser = Literal["device", "holder"]  # the randomiser: the person's device, or the holder of the raw file
_LESS: Final = 1 - 1e-6  # a mechanism spends a little less than its ε
WEAK, LITTLE = 5 * _LESS, 10 * _LESS  # ε of one person that is due a warning, and a plain sentence
_DENIABLE: Final = 2.0  # the ε up to which a report can be denied: at most 88 % of a guess of 50 %
PRIORS: Final = (0.01, 0.1, 0.5, 0.9)
PEOPLE: Final = (1_000, 10_000)
_LISTED: Final = 6  # questions that the text for the person names


Words = Mapping[str, Mapping[str, str]]


@cache
def sentences(language: str = "en") -> Words:
    """Return the table of sentences of a language: one file `explain.LANGUAGE.toml` each."""
    position = resources.files("dither.advice")
    known = [name.split(".")[1] for file in position.iterdir() if _TABLE.fullmatch(name := file.name)]
    if language not in known:
        raise unknown_name("language of explanations", language, known)
    return tomllib.loads(position.joinpath(f"explain.{language}.toml").read_text(encoding="utf-8"))


def officer_page(language: str = "en") -> str:
    """Return the page for a privacy officer, in Markdown: the statements that hold for every campaign."""
    return sentences(language)["page"]["text"].lstrip("\n")


_TABLE: Final = re.compile(r"explain\.[a-z-]+\.toml")


def caution(guarantee: Guarantee, language: str = "en") -> str | None:
    """Return the warning about one person's promise over a complete campaign; None below ε = 5.

    >>> caution(Guarantee(Pure(1.0))) is None, "little" in caution(Guarantee(Pure(12.0)))
    (True, True)
    """
    words = sentences(language)["warning"]
    if isinstance(guarantee.bound, Nothing):
        return words["none"].format(reason=guarantee.bound.reason)
    if isinstance(guarantee.bound, Metric) or guarantee.epsilon < WEAK:
        return None
    name = "weak" if guarantee.epsilon < LITTLE else "little"
    return words[name].format(epsilon=_in_words(f"{guarantee.epsilon:.4g}", sentences(language)))


@dataclass(frozen=True)
class BatchPromise:
    """The promise of a mixed batch: `guarantee` is None if mixing is not credited (`officer` says why)."""

    guarantee: Guarantee | None
    person: str
    officer: str


def batch_promise(
    questions: Mapping[str, Any] | Questionnaire | Each | Sampled,
    *,
    minimum_batch: int,
    delta: float = DELTA,
    language: str = "en",
) -> BatchPromise:
    """Return the promise, and its sentences, if answers are read only in mixed batches of `people`.

    `minimum_batch` is the smallest number of people in a batch; a larger batch promises more. With several
    questions, the answers of a person are mixed as one record. The bound of windows takes a few seconds the
    first time, so keep the result.

    >>> import dither as dt
    >>> promise = batch_promise({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}, minimum_batch=1000)
    >>> round(promise.guarantee.epsilon, 3)
    0.143
    """
    from dither.mechanisms.shuffled import can_be_shuffled, shuffled  # not for a warning at the terminal

    request, words = AskedQuestions.of(questions), sentences(language)
    people = f"{minimum_batch:,}".replace(",", " ") if isinstance(minimum_batch, int) else ""
    try:
        shuffled(1.0, n=minimum_batch, delta=delta)
    except InvalidParameter as error:
        raise InvalidParameter(f"the minimum batch: {error}") from None
    plain = {name: asking for name, asking in request.named.items() if not isinstance(asking, Combinator)}
    refused = [name for name in request.named if name not in plain or not can_be_shuffled(plain[name])]
    if refused or request.sampled:
        names = ", ".join(refused or request.named)
        return BatchPromise(None, "", words["officer"]["no_batch"].format(names=names))
    guarantee = _guarantee(plain, request.whole, minimum_batch, delta)
    percent = _at_most(guessed_right(guarantee), 1)
    least = _least(list(plain.values()), minimum_batch, delta)
    officer = words["officer"]["batch"].format(people=people, guarantee=_guarantee_words(guarantee, words))
    if least > 0.0:
        ratio = math.ceil(100.0 * guarantee.epsilon / least) / 100.0
        shown = f"{math.floor(least * 10**6) / 10**6:.4g}"
        officer += " " + words["officer"]["least"].format(epsilon=shown, ratio=f"{ratio:.2f}")
    return BatchPromise(
        guarantee, words["person"]["batch"].format(people=people, percent=_in_words(percent, words)), officer
    )


def _least(questions: Sequence[Question], people: int, delta: float) -> float:
    """Return a known lower bound of ε over all analyses, for one question, or 0."""
    from dither.mechanisms.shuffled import shuffled_lower_bound

    if len(questions) > 1:
        return 0.0
    try:
        return shuffled_lower_bound(questions[0], n=people, delta=delta)
    except InvalidParameter:
        return 0.0


def guessed_right(guarantee: Guarantee) -> float:
    """Return an upper bound on the probability of guessing right between two equally likely values.

    If the guess says the first value on a set S, then P₀(S) ≤ e^ε·P₁(S) + δ, and the same for the complement
    with the two exchanged. Added up, P₀(S) + P₁(not S) ≤ 2·(e^ε + δ)/(e^ε + 1); the guess is right with half
    of that.
    """
    bound = guarantee.bound
    epsilon, delta = float(getattr(bound, "epsilon", math.inf)), float(getattr(bound, "delta", 0.0))
    away = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * away) / (1.0 + away))


def _guarantee(questions: Mapping[str, Question], total: Guarantee, people: int, delta: float) -> Guarantee:
    from dither.mechanisms.shuffled import shuffled, shuffled_records

    if len(questions) == 1:
        (only,) = questions.values()
        return shuffled(only, n=people, delta=delta)
    return shuffled_records(questions, total, n=people, delta=delta)


@dataclass(frozen=True)
class Explanation:
    """The promise of a campaign: `person` is for people who answer, `officer` for the responsible officer."""

    person: str
    officer: str

    def __str__(self) -> str:
        return f"For the person asked\n\n{self.person}\n\nFor the officer\n\n{self.officer}"

    def _repr_html_(self) -> str:
        """Return both texts as notebooks show them."""
        officer = element("ul", *(element("li", line) for line in self.officer.split("\n")))
        heads = [element("h4", head) for head in ("For the person asked", "For the officer")]
        return element("div", heads[0], element("p", self.person), heads[1], officer)

    __repr__ = __str__


@dataclass(frozen=True)
class AskedQuestions:
    """A person's questions: single and repeated questions by name, and their guarantee together.

    `every` is the period of the calendar in which each is answered once. `stated` are the terms of a campaign
    by question: a `scale`, the `form` of dates and times, whether values are `clipped`. `phase` is the
    campaign's: people answer one of two campaigns.
    """

    named: Mapping[str, Any]
    whole: Guarantee
    sampled: bool = False  # True if a person answers only one of them, drawn at random
    every: str | None = None
    stated: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    phase: Mapping[str, Any] | None = None
    language: str = "en"  # the language of the words of the questions

    def __post_init__(self) -> None:
        """Escape names with control characters: names in a file are untrusted, and could add a line."""
        shown = {_escape(name): question for name, question in self.named.items()}
        object.__setattr__(self, "named", shown)

    @property
    def has_locations(self) -> bool:
        """Whether a question is about locations: a path of several of them reveals each."""
        return any(part.guarantee.unit == "location" for part in self.named.values())

    @property
    def routes(self) -> int:
        """The number of public paths of which a report names one; 0 without questions about paths."""
        return max((q.outcomes for q in self.inner if q.domain.kind == "routes"), default=0)

    @property
    def inner(self) -> list[Question]:
        """The questions; for a repeated question, the question inside."""
        return [getattr(part, "question", part) for part in self.named.values()]

    @classmethod
    def of(cls, questions: Any) -> AskedQuestions:
        """Return the questions of a mapping, a campaign, `Each` or `Sampled`.

        An empty mapping is a campaign that counts who is present: nothing is answered.
        """
        if isinstance(questions, Mapping) and not questions:
            return cls({}, Guarantee(Pure(0.0), "person"))
        if isinstance(questions, Attributes):
            named = {name: _plain(part) for name, part in questions.parts.items()}
            return cls(named, questions.guarantee, isinstance(questions, Sampled))
        again = isinstance(questions, Mapping) and any(
            isinstance(question, Combinator) for question in questions.values()
        )
        if not again:
            campaign = Questionnaire.of(questions)
            return cls(campaign.questions, campaign.guarantee, campaign.sampled)
        named = {}
        for name, question in questions.items():
            if isinstance(question, Combinator) and not isinstance(question, AskedAgain | KeptChange):
                raise InvalidParameter(
                    f"expected a single question for {name!r}, got {type(question).__name__} of several "
                    "questions; explain it by itself"
                )
            named[name] = _plain(question)
        total: Guarantee = reduce(Guarantee.compose, (part.guarantee for part in named.values()))
        return cls(named, total.of_record() if len(named) > 1 else total)


def _escape(name: str) -> str:
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")


def total_words(total: Total, language: str = "en") -> str:
    """Return the total of a campaign in words of a language, with its assumptions."""
    words = sentences(language)
    if total.epsilon is None:
        return words["officer"]["no_limit"].format(epsilon=_answer_epsilon(total, words))
    text = _guarantee_words(total_promise(total, language), words)
    if total.times is None or total.times < 2:
        return text
    each = _answer_epsilon(total, words)
    return text + words["promise"]["answers"].format(times=total.times, epsilon=each)


def odds_words(epsilon: float, language: str = "en", priors: Sequence[float] = PRIORS) -> str:
    """Return the largest certainty of an attacker after reports of ε, for several prior guesses."""
    pairs = (f"{100 * prior:g} % → {_at_most(largest_posterior(epsilon, prior))}" for prior in priors)
    return _in_words(", ".join(pairs), sentences(language))


def total_promise(total: Total, language: str = "en") -> Guarantee:
    """Return the promise to one person over all days of a campaign."""
    if total.epsilon is None:
        words = sentences(language)
        each = _in_words(f"{total.each:.6g}", words)
        return Guarantee(Nothing(words["promise"]["no_limit"].format(epsilon=each)), "person")
    bound = Approximate(total.epsilon, total.delta) if total.delta else Pure(total.epsilon)
    return Guarantee(bound, "person", tuple(total.assumes))


def _plain(target: object) -> Any:
    return target if isinstance(target, Combinator) else as_question(target)


def explain(
    questions: Mapping[str, Any] | Questionnaire | Each | Sampled,
    *,
    spent: Guarantee | None = None,
    minimum_batch: int | None = None,
    delta: float = DELTA,
    randomiser: Randomiser = "device",
    keep: Sequence[str] = (),
    weights: Sequence[str] = (),
    silent: Sequence[str] = (),
    beyond: Sequence[str] = (),
    repeat: str | None = None,
    total: Total | None = None,
    every: str | None = None,
    stated: Mapping[str, Mapping[str, Any]] | None = None,
    phase: Mapping[str, Any] | None = None,
    unit: Literal["row", "person"] = "person",
    rows: int = 1,
    language: str = "en",
) -> Explanation:
    """Explain questions in plain words: the reports, the odds, earlier losses, the assumptions.

    `questions` may be repeated (`Once`, `KeptChange`), or be an `Each` or a `Sampled`. `spent` is the loss of
    earlier answers, such as `account.ledger.spent`. If reports are mixed and read only in batches of at least
    `minimum_batch` people, the texts add the (ε, δ) of such a batch. `randomiser` says who randomises: a
    person's device, or the holder of a raw file. `keep` and `weights` are columns that stay as they are;
    `silent` and `beyond` are those whose gaps show who did not answer, and who was out of range. `repeat` is
    the rule for second answers, as in `dt.Inquiry`, and `total` the total of the complete campaign; `every`
    is its period of the calendar, and `stated` the terms of its questions, such as `scale`. `phase` says that
    people answer one of two campaigns. `unit` is "row" for a table in which a person may have several rows;
    `rows` is the largest number of rows of a person, as in the waves of a panel.

    >>> import dither as dt
    >>> told = explain({"age": dt.Podium(dt.Interval(18, 100), epsilon=1)})
    >>> "50 % can be at most 74 % sure" in told.person
    True
    """
    check_choice("randomiser", randomiser, Randomiser)
    request, words = AskedQuestions.of(questions), sentences(language)
    request = replace(request, every=every, stated=stated or {}, phase=phase, language=language)
    if total is not None:
        request = replace(request, whole=total_promise(total, language))
    if rows > 1:
        several = request.whole.repeated(rows)
        request = replace(request, whole=Guarantee(several.bound, "person", several.assumes))
    batch = (
        None
        if minimum_batch is None
        else batch_promise(questions, minimum_batch=minimum_batch, delta=delta, language=language)
    )
    columns = {"keep": keep, "weight": weights, "silent": silent, "beyond": beyond}
    beside = {name: ", ".join(map(_escape, given)) for name, given in columns.items() if given}
    if rows > 1:
        beside["rows"] = str(rows)
    person = person_text(request, spent, batch, randomiser, beside, repeat, words, total, unit)
    return Explanation(
        person, _officer(request, spent, batch, randomiser, beside, repeat, language, total, unit)
    )


def person_text(
    asked: AskedQuestions,
    spent: Guarantee | None,
    batch: BatchPromise | None,
    randomiser: Randomiser,
    beside: Mapping[str, str],
    repeat: str | None,
    words: Words,
    total: Total | None = None,
    unit: Literal["row", "person"] = "person",
) -> str:
    """Return the text for the person; it needs no prediction of errors (that may take a second)."""
    said = words["person"]
    if not asked.named:
        return said["present_only"]
    optional = [name for name, part in asked.named.items() if _is_optional(part)]
    every = len(optional) == len(asked.named)
    person = [
        _asked_about(asked, said),
        said[randomiser],
        *([said["sampled"]] if asked.sampled else []),
        *(
            [said["optional" if every else "optional_some"].format(names=", ".join(optional))]
            * bool(optional)
        ),
        *_again(asked, said, repeat, total),
        *_protection(asked.whole, said),
        *(said[name].format(names=names) for name, names in beside.items()),
        _sure(asked, words, total, "rows" in beside),
        *([said["row"]] if unit == "row" else []),
        *([said["location"]] if total is None and asked.has_locations else []),
        *([said["routes"].format(count=asked.routes)] if asked.routes else []),
        *_phase_words(asked.phase, said),
    ]
    if spent is not None:
        person.append(_together(asked.whole, spent, words))
    if batch is not None and batch.person:
        person.append(batch.person)
    if asked.whole.assumes:
        person.append(said["assumes"].format(assumptions="; ".join(asked.whole.assumes[:2])))
    person.append(said["averages" if _within(asked.whole, WEAK) else "averages_only"])
    return " ".join(person)


def _is_optional(target: object) -> bool:
    target = getattr(target, "question", target)  # the inside of a repeated question
    return bool(getattr(getattr(target, "domain", None), "optional", False))


def _asked_about(request: AskedQuestions, said: Mapping[str, str]) -> str:
    texts = {name: request.stated.get(name, {}).get("text", {}) for name in request.named}
    names = [name + _in_language(text, request.language) for name, text in texts.items()]
    listed = ", ".join(names[:_LISTED])
    if len(names) > _LISTED:
        listed = said["more"].format(names=listed, count=len(names) - _LISTED)
    return said["asked"].format(names=listed)


def _again(
    request: AskedQuestions, said: Mapping[str, str], repeat: str | None, total: Total | None
) -> list[str]:
    """Return sentences about the frequency of each question's use, grouped by frequency."""
    alike: dict[tuple[str, int, int], list[str]] = {}
    for name, asking in request.named.items():
        if isinstance(asking, Once) and request.every is not None:
            alike.setdefault((f"every_{request.every}", 0, asking.answers), []).append(name)
        elif isinstance(asking, Once):
            alike.setdefault(
                ("once" if asking.answers == 1 else "periods", asking.days, asking.answers), []
            ).append(name)
        elif isinstance(asking, KeptChange):
            kind = "kept_change" if asking.changes == 1 else "kept_changes"
            alike.setdefault((kind, asking.days, asking.changes), []).append(name)
        elif isinstance(asking, Memoised):
            alike.setdefault(("per_value", 0, 0), []).append(name)
    found = [
        said[kind].format(days=days, answers=answers, names=", ".join(names))
        for (kind, days, answers), names in alike.items()
    ]
    named = None if repeat is None else repeat.replace(" ", "_")
    if named == "fresh" and total is not None:
        if total.times is None:
            return found  # the sentence about the odds contains it
        named = "fresh_most"
    if named not in ("same", "per_value", "fresh", "fresh_most", "present"):
        return found
    return [*found, said[named].format(answers=None if total is None else total.times)]


def _within(total: Guarantee, epsilon: float) -> bool:
    return isinstance(total.bound, Pure) and total.epsilon < epsilon


def _protection(total: Guarantee, said: Mapping[str, str]) -> list[str]:
    """Return the sentence about the evidence of one report; "" unless it follows from the bound."""
    if isinstance(total.bound, Pure):
        limits = ((_DENIABLE / _LESS, "deny"), (WEAK, "prove"), (LITTLE, "weak"))
        return [said[next((name for limit, name in limits if total.epsilon < limit), "little")]]
    loose = not isinstance(total.bound, Metric) and total.epsilon >= WEAK
    return [said["weak" if total.epsilon < LITTLE else "little"]] if loose else []


def _sure(request: AskedQuestions, words: Words, total: Total | None, rows: bool) -> str:
    """Return an attacker's largest certainty; with `rows` a person has several rows of a table."""
    guarantee, said = request.whole, words["person"]
    if total is not None and total.epsilon is None:
        sure = _in_words(_at_most(largest_posterior(total.each, 0.5)), words)
        return said["no_limit"].format(percent=sure)
    if not isinstance(guarantee.bound, Pure):
        return said["promise"].format(bound=_in_words(guarantee.bound, words))
    many = len(request.named) > 1 and not request.sampled
    several = many or rows or (total is not None and (total.times or 1) > 1)
    sure = _in_words(_at_most(largest_posterior(guarantee.epsilon, 0.5)), words)
    return said["sure_all" if several else "sure"].format(percent=sure)


def _together(total: Guarantee, spent: Guarantee, words: Words) -> str:
    both, said = spent.compose(total), words["person"]
    if not isinstance(both.bound, Pure):
        return said["together_promise"].format(bound=_in_words(both.bound, words))
    return said["together"].format(percent=_in_words(_at_most(largest_posterior(both.epsilon, 0.5)), words))


def _in_words(number: object, words: Words) -> str:
    """Return a text with numbers, with the decimal sign of a language."""
    return re.sub(r"(?<=\d)\.(?=\d)", words["promise"]["decimal"], str(number))


def _guarantee_words(guarantee: Guarantee, words: Words) -> str:
    """Return a guarantee in a language; reasons and assumptions are as the mechanism states them."""
    said = words["promise"]
    bound = _in_words(guarantee.bound, words)
    if not isinstance(guarantee.bound, Nothing):
        bound = said["one"].format(bound=bound, unit=said[guarantee.unit])
    if guarantee.assumes:
        bound = said["assuming"].format(promise=bound, assumptions="; ".join(guarantee.assumes))
    return bound


def _at_most(share: float, decimals: int = 0) -> str:
    """Return a probability in per cent, rounded up; with two more decimals if it is then below 100."""
    share = math.nextafter(share, 1.0)  # it was computed in floats
    for digits in (decimals, decimals + 1, decimals + 2):
        percent = math.ceil(10**digits * 100.0 * share) / 10**digits
        if percent < 100.0:
            return f"{percent:.{digits}f}".rstrip("0").rstrip(".") + " %" if digits else f"{percent:.0f} %"
    return "100 %"


def _officer(
    request: AskedQuestions,
    spent: Guarantee | None,
    batch: BatchPromise | None,
    randomiser: Randomiser,
    beside: Mapping[str, str],
    repeat: str | None,
    language: str,
    total: Total | None,
    unit: Literal["row", "person"],
) -> str:
    words = sentences(language)
    complete, said = request.whole, words["officer"]
    if not request.named:
        return said["present_only"]
    drawn = len(request.named) if request.sampled else 1
    lines = []
    for name, asking in request.named.items():
        stated = {**request.stated.get(name, {}), "follows": (request.phase or {}).get("follows")}
        shown = _in_language(stated.get("text", {}), language)
        lines.append(f"{name}{shown}: {_question(asking, words, stated, drawn)}")
    lines.append(said[randomiser])
    if request.sampled:
        lines.append(said["sampled"])
    lines += [said[name].format(names=names) for name, names in beside.items()]
    if total is not None and total.epsilon is None:
        lines.append(
            said["whole"].format(guarantee=said["no_limit"].format(epsilon=_answer_epsilon(total, words)))
        )
        lines.append(said["odds_each"].format(odds=odds_words(total.each, language)))
    else:
        lines.append(
            said["whole_row" if unit == "row" else "whole"].format(
                guarantee=_guarantee_words(complete, words)
            )
        )
    if isinstance(complete.bound, Pure):
        lines.append(said["odds"].format(odds=odds_words(complete.epsilon, language)))
    if unit == "person" and (warning := caution(complete, language)) is not None:
        lines.append(warning)
    if spent is not None:
        before, both = (_guarantee_words(part, words) for part in (spent, spent.compose(complete)))
        lines.append(said["spent"].format(spent=before, together=both))
    lines += [said["assumption"].format(assumption=line) for line in complete.assumes] or [said["none"]]
    if batch is not None:
        lines.append(batch.officer)
    lines.append(_again_for_officer(repeat, total, words))
    if unit == "row":
        lines.append(said["row"])
    if total is None and request.has_locations:
        lines.append(said["location"])
    if request.routes:
        lines.append(said["routes"].format(count=request.routes))
    lines += _phase_words(request.phase, said)
    return "\n".join(lines)


def _in_language(text: Mapping[str, str], language: str) -> str:
    """Return the words of a question in quotes, in a language or the campaign's first; else an empty text."""
    near = [tag for tag in text if tag.partition("-")[0] == language] or list(text)
    return f" (“{text[near[0]]}”)" if near else ""


def _phase_words(phase: Mapping[str, Any] | None, said: Mapping[str, str]) -> list[str]:
    if phase is None:
        return []
    if "share" in phase:
        return [said["phase_share"].format(percent=f"{phase['share'] / 10:g}")]
    return [said["phase_follows"]]


def _answer_epsilon(total: Total, words: Words) -> str:
    return _in_words(f"{total.each:.6g}", words)


def _again_for_officer(repeat: str | None, total: Total | None, words: Words) -> str:
    """Return the loss of a second answer to the same question."""
    said = words["officer"]
    if repeat is None or total is None:
        return said["again"]
    name = f"again_{repeat.replace(' ', '_')}"
    if repeat == "fresh" and total.times is not None:
        name = "again_fresh_most"
    return said[name].format(times=total.times, epsilon=_answer_epsilon(total, words))


def _question(target: Any, words: Words, stated: Mapping[str, Any], drawn: int = 1) -> str:
    said = words["officer"]
    inner: Question = getattr(target, "question", target)  # for a repeated question, the question inside
    how = inner.name if target is inner else f"{inner.name} in {type(target).__name__}"
    kind = _answers(inner.domain, said, stated)
    text = f"{_in_words(kind, words) if stated else kind}, {how}, {_guarantee_words(target.guarantee, words)}"
    plain = target is inner and "scale" not in stated  # the error on a scale is not one of the numbers
    errors = _in_words(_errors(inner, said, drawn), words) if plain else ""
    return f"{text}; {errors}." if errors else f"{text}."


_EPOCH: Final = date(1970, 1, 1)
_WORDS: Final = {"interval": "number", "circle": "angle", "categories": "category", "several": "several"}


def _answers(domain: Domain, said: Mapping[str, str], stated: Mapping[str, Any]) -> str:
    """Return the possible answers; numbers of a scale and dates are shown as people give them."""
    if stated.get("clipped"):
        plain = {name: value for name, value in stated.items() if name not in ("clipped", "outside")}
        return _answers(domain, said, plain) + said["clipped"].format(found=_found_range(said, stated))
    if "scale" in stated or stated.get("form") in ("date", "time"):
        line, edges = domain.line, stated.get("scale", ())
        ends = [f"{edge:g}" for edge in (edges[0], edges[-1])] if edges else ["", ""]
        if stated.get("form") == "date" and line is not None:
            ends = [str(_EPOCH + timedelta(days=int(end))) for end in (line.low, line.high)]
        kind = said["scale" if edges else stated["form"]].format(
            low=ends[0], high=ends[1], parts=len(edges) - 1
        )
        return kind + (said["or_none"] if domain.optional else "")
    if domain.kind == "routes":
        return said["route"].format(area=getattr(domain, "area", ""))
    words = _WORDS.get(domain.kind)
    if words is None:
        return str(domain)
    items = 0 if domain.listed is None else len(domain.listed)
    return said[words].format(domain=domain, count=items, items=items, most=domain.most)


def _found_range(said: Mapping[str, str], stated: Mapping[str, Any]) -> str:
    """Return the share of people outside a range, with the sources of both, or an empty text."""
    if not stated.get("outside"):
        return ""
    share, low, high = (f"{100.0 * part:.2g}" for part in stated["outside"])
    outside = said["outside"].format(share=share, low=low, high=high)
    follows = stated.get("follows")
    return outside + (said["found_range"].format(follows=follows[:12]) if follows else "")


def _errors(mechanism: Question, said: Mapping[str, str], drawn: int = 1) -> str:
    """Return the errors that are predicted for some numbers of people; an empty text if none are known.

    Each person answers one of `drawn` questions, so each question has 1/`drawn` of the answers.
    """
    from dither.advice.goals.numbers import Frequencies, Mean  # not for a warning at the terminal

    goal = Mean if mechanism.domain.listed is None else Frequencies
    found = []
    for people in PEOPLE:
        try:
            error = goal(n=people).error(mechanism.design())
        except (DitherError, TypeError, AttributeError):  # a mechanism without such formulas
            return ""
        if error is None:
            return ""
        many = f"{people:,}".replace(",", " ")
        found.append(said["error"].format(error=_two_digits(error * math.sqrt(drawn)), people=many))
    what = "frequency" if goal is Frequencies else "mean"
    cost = getattr(mechanism.design(), "cut_cost", 0.0)
    cut = said["cut"].format(times=_two_digits(1.0 + cost)) if cost > 1.0 else ""
    return said[what].format(errors=said["and"].join(found)) + cut


def _two_digits(number: float) -> str:
    """Return a number with two significant digits and no exponent: 740, not 7.4e+02."""
    if not math.isfinite(number) or number == 0.0:
        return f"{number:g}"
    places = 1 - math.floor(math.log10(abs(number)))
    text = f"{round(number, places):.{max(0, places)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
