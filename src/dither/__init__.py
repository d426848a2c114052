"""Local differential privacy, exact to the last bit.

`__init__.pyi` lists the public names and the modules that define them. Type checkers read it, and so does
the lazy loader: a module is imported when one of its names is first used; `import dither` imports none.
"""

import lazy_loader

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
# Public modules for research and for audits, and the errors. They are not among the first names of `dir`.
_APART = ("audits", "errors", "jrr", "protocols", "randomness", "rivals")
__all__ = [name for name in __all__ if name not in _APART]

# Names of earlier versions, and their replacements.
_RENAMED = {
    "Asking": "dt.Inquiry",
    "Campaign": "dt.Questionnaire for named questions; dither.collection.Campaign is the signed one",
    "Cumulative": "dt.optimal.Cumulative",
    "Neighbours": "dt.audits.Neighbours",
    "Optional": "dt.Nullable",
    "Parallelogram": "dt.maps.Parallelogram",
    "RR": "dt.KRR",
    "SUE": "dt.rivals.SUE",
    "SubsetIndices": 'dt.SubsetSelection(…, report="indices")',
    "Summary": "dt.Counts",
    "card": "questionnaire.card(…)",
    "explain": "questionnaire.explain()",
    "to_bytes": "reports.to_bytes()",
    "to_json": "mechanism.to_json()",
    "fit": "dt.stats.fit_family",
    "together": "dt.stats.joint_frequency",
    "weights": "dt.stats.rake",
    **dict.fromkeys(
        ("answers", "combine", "correlation", "covariance", "crosstab", "difference"), "dt.stats"
    ),
    **dict.fromkeys(("goodness_of_fit", "post_stratified", "regression", "response_rate"), "dt.stats"),
    **dict.fromkeys(("resultant", "same_distribution", "tables"), "dt.stats"),
}


def __getattr__(name: str) -> object:
    """Return a public name, imported on first use, or the version."""
    if name == "__version__":
        from importlib.metadata import version

        return version("dither")
    if name in _RENAMED:
        new = f"dt.stats.{name}" if _RENAMED[name] == "dt.stats" else _RENAMED[name]
        raise AttributeError(f"dt.{name} does not exist: write {new}")
    try:
        return _public(name)
    except AttributeError:
        if name.startswith("__"):
            raise
        from difflib import get_close_matches  # needed for an error only

        near = get_close_matches(name, __all__, 1)
        raise AttributeError(
            f"dt.{name} does not exist: {f'did you mean dt.{near[0]}?' if near else 'see dir(dt)'}"
        ) from None
