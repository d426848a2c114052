"""The words of a question, for people, in the language that suits them: docs/wire.md, Words."""

from __future__ import annotations

import os

from dither_device.text import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def own_languages() -> list[str]:
    """Return the language of this computer, as its environment says it; none if it does not."""
    said = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
    tag = said.partition(".")[0].replace("_", "-")
    return [tag] if tag else []


def pick(tags: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the tag that suits best: the same, or the same but for script and region, or the first."""
    for one in wanted:
        near = [tag for tag in tags if tag.partition("-")[0] == one.partition("-")[0]]
        if near:
            return one if one in near else near[0]
    return tags[0] if tags else ""


class Words:
    """What a campaign says about a question: its text, and its answers as people read them.

    `said` has the `text` and the `names` of answers by language, the `languages` of the campaign and the
    `labels` of the question.
    """

    def __init__(self, name: str, said: Mapping[str, Any]) -> None:
        self._name, self._said = name, said

    def _of(self, field: str, wanted: Sequence[str]) -> Any:
        tag = pick(self._said.get("languages", ()), wanted or own_languages())
        return self._said.get(field, {}).get(tag)

    def text(self, *languages: str) -> str:
        """Return the question in the best of some languages; its name if the campaign has no words for it."""
        return str(self._of("text", languages) or self._name)

    def labels(self, *languages: str) -> list[tuple[Any, str]]:
        """Return each answer of a list with its words in the best of some languages; nothing for others."""
        labels = self._said.get("labels", ())
        return list(zip(labels, self._of("names", languages) or map(_plain, labels), strict=True))


def _plain(label: Any) -> str:
    integral = type(label) is int  # beyond 2^53, too
    return str(label) if integral or isinstance(label, str) else canonical(label)
