"""Errors of the library in the words of the command line: `--mechanism OLH` for `dt.OLH`."""

from __future__ import annotations

import re
from typing import Final

# Phrases of the library that have a shorter form at the terminal; replaced before single names.
_PHRASES: Final = {
    "give n, as in dt.goals.Mean(n=10_000)": "give --people",
    "give dt.goals.Maps(n=…)": "give --people",
    "expected n, how many people answer, to be": "expected --people to be",
    "with sampling=False": "with --no-sampling",
    "most_bytes": "--bytes",
    "shuffled=": "--shuffled",
    "detect=(0.10, 0.12), the values of two arms": "--detect 0.10 0.12",
    'method="likelihood"': "the likelihood",
    'zone="Europe/Berlin" of dt.Dates': "--zone Europe/Berlin",
    'zone="Europe/Berlin" of dt.Times': "--zone Europe/Berlin",
    "(dt.Nullable, --optional,": "(--optional,",
    "clipped = true": "`clipped = true` in a campaign",
    "force=True (at the terminal --force)": "use --force",
    'missing="skip", at the terminal --missing skip': "--missing skip",
    "outside='clip', at the terminal --outside clip": "--outside clip",
}
# Options and verbs with the same effect as a name of the library.
_NAMES: Final = {
    "Interval": "--interval",
    "Circle": "--circle",
    "Categories": "--categories",
    "Several": "--several",
    "Nullable": "--optional",
    "Vectors": "--vectors",
    "Rectangle": "--rectangle",
    "Dates": "--date",
    "Times": "--time",
    "quantile": "--quantile",
    "distribution": "--bins",
    "stats.crosstab": "--cross",
    "stats.difference": "--difference",
    "stats.regression": "--regression",
    "stats.post_stratified": "--population",
    "estimate": "`dither estimate`",
    "recommend": "`dither recommend`",
    "compare": "`dither compare`",
    "bounds": "`dither campaign next`",
    "data.perturb_file": "`dither perturb`",
    "data.perturb_trips": "`dither trajectory perturb`",
}
_GOALS: Final = {
    "SingleValues": "values",
    "Locations": "places",
    "Maps": "map",
    "MeanPlace": "mean-place",
    "MeanOfVectors": "mean-vector",
}
_CALL: Final = re.compile(r"\bdt\.((?:\w+\.)*\w+)(\([^()]*\))?")


def in_options(text: str) -> str:
    """Return a text of the library with the names of options and verbs; other names are marked as Python's.

    >>> in_options("for categories use dt.goals.Frequencies; dt.OLH takes more")
    'for categories use --goal frequencies; --mechanism OLH takes more'
    """
    if "dt." not in text and not any(phrase in text for phrase in _PHRASES):
        return text
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    return _CALL.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    from dither.core import registry

    name, arguments = found[1], found[2] or ""
    if name in _NAMES:
        given = " ".join(re.findall(r"\d[\d.]*", arguments))
        return f"{_NAMES[name]} {given}".rstrip() if name in ("Interval", "Circle") else _NAMES[name]
    if name.startswith("goals."):
        goal = name.removeprefix("goals.")
        return f"--goal {_GOALS.get(goal, goal.lower())}"
    if name in registry.names():
        return f"--mechanism {name}"
    return f"{found[0]} in Python"
