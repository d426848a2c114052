"""Errors of the library in the words of the command line: `--mechanism OLH` for `dt.OLH`."""

from __future__ import annotations

import re
from typing import Final

# Phrases of the library that have a shorter form at the terminal; replaced before single names.
_PHRASES: Final = {
    "n, how many people answer; give it, as in dt.goals.Mean(n=10_000)": "--people; give it",
    "give dt.goals.Maps(n=…)": "give --people",
    "expected n, how many people answer, to be": "expected --people to be",
    "with sampling=False": "with --no-sampling",
    "most_bytes": "--bytes",
    "shuffled=": "--shuffled",
    "detect=(0.10, 0.12), the values of two arms": "--detect 0.10 0.12",
    'method="likelihood"': "the likelihood",
    'zone="Europe/Berlin" of dt.Dates': "--zone Europe/Berlin",
    'zone="Europe/Berlin" of dt.Times': "--zone Europe/Berlin",
    "clipped = true": "`clipped = true` in a campaign",
    "force=True": "--force",
    "keep=[…]": "--keep COLUMN",
    'missing="skip"': "--missing skip",
    "outside='clip'": "--outside clip",
    "pass questions=…": "give --question SPECIFICATION.json",
    "codebook='codebook'": "--codebook codebook.sql",
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
    "data.summarise_file": "`dither estimate`",
    "data.perturb_trips": "`dither trajectory perturb`",
}
_GOALS: Final = {
    "SingleValues": "values",
    "Locations": "places",
    "Maps": "map",
    "MeanPlace": "mean-place",
    "MeanOfVectors": "mean-vector",
}
_DIALECT: Final = re.compile(r"(?:dt\.)?\bDialect\((\w+)=(?:'([^']*)'|[^()]*)\)")
_CALL: Final = re.compile(r"\bdt\.((?:\w+\.)*\w+)(\([^()]*\))?")


def in_options(text: str) -> str:
    """Return a text of the library with the names of options and verbs; other names are marked as Python's.

    >>> in_options("for categories use dt.goals.Frequencies; dt.OLH takes more")
    'for categories use --goal frequencies; --mechanism OLH takes more'
    """
    if not any(phrase in text for phrase in ("dt.", "Dialect(", *_PHRASES)):
        return text
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    return _CALL.sub(_option, _DIALECT.sub(_option_of_dialect, text))


def _option_of_dialect(found: re.Match[str]) -> str:
    """Return the option for a setting of the format of text: --na WORD for Dialect(na=[…])."""
    value = found[2] or {"na": "WORD", "items_sep": "CHARACTER"}.get(found[1], "…")
    return f"--{found[1].replace('_', '-')} {value}"


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
