"""The page of one mechanism: what for, an example that is run, parameters, cost, rivals, source, tests."""

from __future__ import annotations

import inspect
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import definitions
import name_page
import numpy as np
import portraits
import prose
import site_parts

import dither as dt
from dither.errors import DitherError
from dither.mechanisms.mechanism import Mechanism

SQUARE = "dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))"
POINTS = "[(x / 6, y / 6) for x in (1, 3, 5) for y in (1, 3, 5)]"
# How the example makes a mechanism that needs more than a domain and a budget.
EXAMPLES = {
    "ATP": f"dt.rivals.ATP({SQUARE}, {POINTS}, epsilon=1)",
    "Matrix": "dt.Matrix(dt.Interval(0, 1), [[5, 2, 1], [2, 4, 2], [1, 2, 5]])",
    "Exponential": "dt.Exponential(dt.Interval(0, 1), [0, 0.25, 0.5, 0.75, 1], epsilon=1)",
    "Focused": "dt.optimal.Focused(dt.Interval(0, 1), focus=0.2, epsilon=1)",
    "Gaussian": "dt.Gaussian(dt.Interval(0, 1), epsilon=1, delta=1e-6)",
    "JRR": "dt.JRR(dt.Categories(2), p=0.75, rho=-0.2, n=1000)",
    "JointOLH": "dt.JRR.over(dt.OLH(dt.Categories(8), epsilon=1), rho=-0.2, n=1000)",
    "JointSUE": "dt.JRR.over(dt.rivals.SUE(dt.Categories(8), epsilon=1), rho=-0.2, n=1000)",
    "LSRR": f"dt.rivals.LSRR({SQUARE}, {POINTS}, epsilon=1)",
    "Marginals": 'dt.Marginals({name: dt.Categories(8) for name in ("age", "income", "town")}, epsilon=1)',
    "NGram": f"dt.rivals.NGram({SQUARE}, {POINTS}, epsilon=1)",
    "SetResponse": "dt.SetResponse(dt.Several(8, most=3), epsilon=1)",
    "SubsetIndices": 'dt.SubsetSelection(dt.Categories(8), epsilon=1, report="indices")',
    "PEM": "dt.PEM(dt.Text(6), epsilon=1)",
    "Workload": "dt.optimal.Workload.of(np.tril(np.ones((8, 8))), 1)",
    "RR": 'dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)',
}
DOMAINS = ("dt.Interval(0, 1)", "dt.Circle(360)", "dt.Categories(8)", SQUARE, "dt.Disk(1.0)")
GUIDES = {
    "numeric": ("estimation", "Means, quantiles and distributions"),
    "optimal": ("optimal", "The best possible mechanism"),
    "frequency": ("frequencies", "How many people gave which answer"),
    "joint": ("jrr", "Joint randomized response"),
    "marginals": ("attributes", "Several attributes"),
    "matrix": ("extend", "Extend"),
    "places": ("trajectories", "Places and paths"),
}
CARDS = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
RANKED = (0.5, 1.0, 2.0, 4.0)


def made_by(name: str, kind: type[Mechanism]) -> str:
    """Return the code that makes the mechanism of the example."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    domain = next(domain for domain in DOMAINS if isinstance(_evaluated(domain), kind._takes))
    return f"{address(name)}({domain}, epsilon=1)"


def address(name: str) -> str:
    """Return where a public mechanism stands, such as dt.PM or dt.rivals.BLH."""
    rooms = (room for room in ("rivals", "optimal", "jrr") if name in getattr(dt, room).__all__)
    return f"dt.{name}" if name in dt.__all__ else f"dt.{next(rooms)}.{name}"


@cache
def example(name: str, kind: type[Mechanism]) -> Mechanism:
    """Return the mechanism of the example."""
    made: Mechanism = _evaluated(made_by(name, kind))
    return made


def _evaluated(code: str) -> Any:
    return eval(code, {"dt": dt, "np": np})


def page(name: str, kind: type[Mechanism], rivals: list[str] | None = None) -> str:
    """Return the page of a mechanism; `rivals` are the lines of `standing`, which take longer to compute."""
    made, group = example(name, kind), group_of(kind)
    guide, title = GUIDES[group]
    path = name if name in dt.__all__ else f"rivals.{name}"
    path = next((known for known in name_page.public() if known.rpartition(".")[2] == name), path)
    full, avoid = CARDS[name]
    text = [
        f"# {name}",
        "",
        f"[The mechanisms](../catalogue.md) › dt.{path}",
        "",
        f"**{full[0].upper()}{full[1:]}.** {prose.summary(kind)}",
        "",
        prose.without_examples(prose.body(kind)).replace(
            "\n- **Reference:**", f"\n- **Do not use if** {avoid}.\n- **Reference:**"
        ),
        "",
    ]
    text += [f"![{portraits.caption(made)}]({name}.png)", "", portraits.caption(made), ""]
    text += ["## Example", "", *shown_run(name, kind), ""]
    text += ["## Definition", "", '<details class="formulas"><summary>The formulas</summary>', ""]
    text += [*definitions.definition(name), "", "</details>", ""]
    text += [*name_page.signature(path, kind), *name_page.parameters(path, kind)]
    text += name_page.members(kind)
    text += ["## What a report costs", "", f"{_cost(made)} The promise of the example: {made.guarantee}.", ""]
    if rivals:
        text += ["## Beside the best possible", "", *rivals, ""]
    text += ["## Source and tests", "", *_sources(name, kind), ""]
    text += ["## See also", "", f"- [{title}](../{guide}.md), the guide"]
    text += ["- [Which mechanism, which ε, how many people](../choose.md)"]
    text += ["- [Where we differ from the papers](../deviations.md), [references](../references.md)", ""]
    return "\n".join(text)


def group_of(kind: type[Mechanism]) -> str:
    """Return the room of mechanisms that a class is in."""
    return next(group for group in GUIDES if group in kind.__module__.split("."))


def shown_run(name: str, kind: type[Mechanism]) -> list[str]:
    """Return an example as a session, with the outputs of running it now, with a seeded source."""
    asked = _asked(example(name, kind), kind)
    return prose.session(
        ["import dither as dt", "import numpy as np", f"question = {made_by(name, kind)}", *asked]
    )


def _asked(made: Mechanism, kind: type[Mechanism]) -> list[str]:
    group, draw = group_of(kind), "reports = question.perturb(values, source=dt.Seeded(1))"
    random = "np.random.default_rng(1)"
    if isinstance(made, dt.PEM):
        return [f'values = {random}.choice(["cat", "dog"], 20_000)', draw, "dt.heavy_hitters(reports)"]
    if isinstance(made, dt.Marginals):
        columns = f'{{name: {random}.integers(8, size=5_000) for name in ("age", "income", "town")}}'
        return [f"values = {columns}", draw, "reports"]
    if isinstance(made, dt.SetResponse):
        size = len(made.domain)
        return [f"values = {random}.random((10_000, {size})) < 0.1", draw, "dt.frequencies(reports)"]
    if group in ("frequency", "joint"):
        labels = [label for label in made.domain.labels if isinstance(label, str)]  # type: ignore[attr-defined]
        size = len(made.domain)  # type: ignore[arg-type]
        n = 1_000 if group == "joint" else 10_000
        drawn = f"{random}.choice({labels}, {n})" if labels else f"{random}.integers({size}, size={n})"
        return [f"values = {drawn}", draw, "dt.frequencies(reports)"]
    if isinstance(made.domain, dt.Circle):
        told = [] if group == "places" else ["dt.mean(reports)"]
        return [f"values = {random}.normal(350, 20, 10_000) % 360", draw, "reports", *told]
    if isinstance(made.domain, dt.Interval):
        truth = "round(float(values.mean()), 3)  # the truth"
        told = [truth, "dt.mean(reports)"]
        if not hasattr(made, "line"):
            told = ["reports"]
        elif not _straight(made):
            told = ["distances = np.abs(np.asarray(reports) - values)", "round(float(distances.mean()), 3)"]
        return [f"values = {random}.beta(2, 5, 10_000)", draw, *told]
    if group == "optimal":
        return [f"values = {random}.integers(8, size=10_000)", draw, "reports"]
    places = "[[0.4, 0.3], [0.1, -0.2]]" if isinstance(made, dt.Polar) else "[[0.30, 0.35], [0.32, 0.40]]"
    return [f"values = np.array({places})", draw, "np.asarray(reports).round(2)"]


def _straight(made: Mechanism) -> bool:
    """Return whether `dt.mean` reads the reports."""
    try:
        dt.mean(made.perturb(np.array([0.2, 0.5, 0.8]), source=dt.Seeded(1)))
    except DitherError:
        return False
    return True


def _cost(made: Mechanism) -> str:
    size = int(made.question.layout.itemsize)
    each = "each location" if "places" in type(made).__module__ else "a report"
    return f"{size} byte{'' if size == 1 else 's'} for {each}, as it is sent and stored."


@cache
def _table(domain: str, epsilon: float) -> dict[str, dict[str, Any]]:
    return {row["mechanism"]: dict(row) for row in dt.compare(_evaluated(domain), epsilon=epsilon)}


def standing(name: str, kind: type[Mechanism]) -> list[str]:
    """Return the errors of a mechanism relative to the best possible at some ε, and what is better there."""
    made = example(name, kind)
    domain = next((candidate for candidate in DOMAINS[:3] if _evaluated(candidate) == made.domain), None)
    if domain is None:
        return []
    columns = (
        {"worst absolute": "single values, absolute error", "variance": "a mean, unbiased"}
        if "Categories" not in domain
        else {"average variance": "frequencies"}
    )
    rows = []
    for epsilon in RANKED:
        table = _table(domain, epsilon)
        mine = [row for key, row in table.items() if re.match(rf"{name}\b", key)]
        for column, task in columns.items():
            ratios = [row[f"relative {column}"] for row in mine if row.get(f"relative {column}")]
            if not ratios:
                continue
            ranked = sorted(
                (
                    (row[f"relative {column}"], key)
                    for key, row in table.items()
                    if row.get(f"relative {column}")
                )
            )
            better = [key for ratio, key in ranked if ratio < min(ratios) * (1 - 1e-6)]
            said = ", ".join(f"`{key}`" for key in better[:2]) or "nothing"
            rows.append(f"| {epsilon:g} | {task} | {min(ratios):.3f} | {said} |")
    if not rows:
        return []
    return [
        f"On `{domain}`, computed by `dt.compare` when this page was built; the best of its variants counts.",
        "",
        "| ε | for | error ÷ the best possible | smaller still |",
        "|---|---|---|---|",
        *rows,
    ]


def _sources(name: str, kind: type[Mechanism]) -> list[str]:
    source = Path(inspect.getfile(kind))
    cited = sorted(
        set(re.findall(r"\[((?:[A-Z]\w*\d\d|Thesis), [^\]\n]+)\]", source.read_text(encoding="utf-8")))
    )
    lines = [f"- source: {site_parts.link(source)}"]
    if cited:
        lines.append(f"- theorems beside the formulas: {', '.join(f'[{theorem}]' for theorem in cited)}")
    lines.append(f"- tests: {', '.join(site_parts.link(file) for file in tests_of(name, kind))}")
    return lines


@cache
def _test_files() -> dict[Path, str]:
    rooms = ("mechanisms", "optimal", "statistical", "support/cases")
    folders = [*(site_parts.ROOT / "tests" / room for room in rooms), site_parts.ROOT / "papers" / "tests"]
    return {
        file: file.read_text(encoding="utf-8") for folder in folders for file in sorted(folder.rglob("*.py"))
    }


def tests_of(name: str, kind: type[Mechanism]) -> list[Path]:
    """Return the files of tests that name a mechanism most often, at most three."""
    counted = {file: len(re.findall(rf"\b{name}\b", text)) for file, text in _test_files().items()}
    named = [file for file, count in sorted(counted.items(), key=lambda pair: -pair[1]) if count]
    return named[:3] or [site_parts.ROOT / "tests" / "laws" / "__init__.py"]
