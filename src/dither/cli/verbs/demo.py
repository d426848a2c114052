"""`dither demo`: perturb, estimate, audit and compare on generated data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dither.cli.options import JSON_OPTION
from dither.cli.output import number, print_json, save_picture, table
from dither.errors import INSTALL, MissingExtra

BROWSERS = ("firefox", "chrome", "safari", "other")


@click.command()
@click.option(
    "--people", default=40_000, show_default=True, help="The number of people who answer each question."
)
@click.option("--epsilon", default=1.0, show_default=True, help="The budget ε of each answer.")
@click.option(
    "-o",
    "--out",
    default=Path("demo-output"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the pictures.",
)
@JSON_OPTION
def command(people: int, epsilon: float, out: Path, as_json: bool) -> None:
    """Randomise generated people's answers to four questions, and compare the estimates with the truth.

    \b
    dither demo
    dither demo --people 1000000 --epsilon 0.5
    """
    import numpy as np

    from dither.advice.audits.api import audit
    from dither.advice.catalogue import default_protocol
    from dither.advice.compare import compare
    from dither.core.domains import Categories, Circle, Interval
    from dither.mechanisms.numeric.ogpm import OGPM
    from dither.mechanisms.numeric.podium import Podium
    from dither.mechanisms.numeric.sw import SW

    if people < 100:
        raise click.UsageError(f"expected --people to be at least 100, got {people}")
    generator = np.random.default_rng(2025)
    data = {
        "age": np.clip(generator.gamma(9.0, 5.0, people), 18, 100),
        "commute": np.clip(generator.gamma(4.0, 10.0, people), 0, 180),
        "heading": generator.normal(350.0, 30.0, people) % 360,
        "browser": generator.choice(BROWSERS, people, p=[0.2, 0.6, 0.15, 0.05]),
    }
    questions: dict[str, Any] = {
        "age": Podium(Interval(18, 100), epsilon=epsilon),
        "commute": SW(Interval(0, 180), epsilon=epsilon),
        "heading": OGPM(Circle(360), epsilon=epsilon),
        "browser": default_protocol(Categories(BROWSERS), epsilon),
    }
    reports = {name: question.perturb(data[name]) for name, question in questions.items()}
    rows = _answers(data, reports)
    findings = [audit(question) for question in questions.values()]
    pictures = _pictures(out, data, reports, questions)
    if as_json:
        shown = [dict(zip(("question", "truth", "estimate"), row, strict=True)) for row in rows]
        ok = all(finding.ok for finding in findings)
        print_json({"answers": shown, "ok": ok, "pictures": pictures})
        return
    click.echo(f"{people} people randomise their own answers, ε = {epsilon:g} each. One of the questions:\n")
    click.echo(_indent(questions["age"].describe()) + "\n")
    click.echo("The reports of the first five people, and the estimates from all reports:\n")
    click.echo(f"  {reports['age'].cells[:5].tolist()} …\n")
    click.echo(table(["question", "truth", "estimate (95 %)"], rows) + "\n")
    click.echo("The ε of each answer, recomputed from the integers that are sampled:\n")
    audited = [
        [finding.mechanism, f"{finding.realised:.6g}", "holds" if finding.ok else "does not hold"]
        for finding in findings
    ]
    click.echo(table(["mechanism", "realised ε", ""], audited) + "\n")
    click.echo("Mechanisms for a number, the best by worst-case absolute error first:\n")
    compared = compare(Interval(0, 1), epsilon=epsilon).narrow(["worst absolute", "variance", "bytes"], 6)
    click.echo("\n".join(f"  {line}" for line in repr(compared).splitlines()[2:]) + "\n")
    if pictures:
        click.echo(f"Pictures in {out}: {', '.join(Path(picture).name for picture in pictures)}")
    else:
        click.echo(f"Pictures: none; {INSTALL.format('plot')}")


def _indent(text: str) -> str:
    return click.wrap_text(text, 80, initial_indent="  ", subsequent_indent="  ")


def _answers(data: dict[str, Any], reports: dict[str, Any]) -> list[list[str]]:
    import numpy as np

    from dither.estimation.verbs import estimate, mean

    direction = np.degrees(np.angle(np.exp(1j * np.radians(data["heading"])).mean())) % 360
    truths = {
        "age": ("mean age", data["age"].mean(), mean(reports["age"])),
        "commute": ("mean commute, minutes", data["commute"].mean(), mean(reports["commute"])),
        "heading": ("mean heading, degrees", direction, mean(reports["heading"])),
    }
    rows = [[label, number(truth), repr(found).partition(" (")[0]] for label, truth, found in truths.values()]
    shares: Any = estimate(reports["browser"])
    for name in BROWSERS:
        truth = float((data["browser"] == name).mean())
        rows.append([f"share of {name}", number(truth, 3), repr(shares[name]).partition(" (")[0]])
    return rows


def _pictures(
    out: Path, data: dict[str, Any], reports: dict[str, Any], questions: dict[str, Any]
) -> list[str]:
    import numpy as np

    from dither.core.domains import Interval
    from dither.estimation.verbs import distribution
    from dither.foundation.plotting import axes_or_new, dress_axes
    from dither.mechanisms.numeric.ogpm import OGPM
    from dither.mechanisms.numeric.podium import Podium
    from dither.mechanisms.numeric.sw import SW

    try:
        axes = axes_or_new(None)
    except MissingExtra:
        return []
    out.mkdir(parents=True, exist_ok=True)
    distribution(reports["commute"]).plot(ax=axes)
    bins = np.linspace(0, 180, 37).tolist()
    axes.hist(data["commute"], bins, density=True, histtype="step", color="black", label="the truth")
    dress_axes(axes, title="Minutes of commuting, from randomised reports", x="minutes", y="share per minute")
    axes.legend(frameon=False)
    files = {"commute.png": axes}
    laws = questions["age"].plot([25.0, 44.0, 90.0])
    dress_axes(laws, title="Distribution of the report for three true ages", x="report, in years")
    files["reports.png"] = laws
    curves = axes_or_new(None)
    budgets = np.geomspace(0.1, 8.0, 30)
    for kind in (OGPM, SW, Podium):
        mechanisms = [kind(Interval(0, 1), epsilon=float(e)) for e in budgets]
        biased = max(abs(float(mechanisms[0].bias(x))) for x in (0.0, 1.0)) > 1e-6
        errors = [mechanism.worst_error("absolute") for mechanism in mechanisms]
        label = f"{kind.__name__}, {'biased: for single values' if biased else 'unbiased: for means'}"
        curves.loglog(budgets, errors, label=label, linestyle="-" if biased else "--")
    dress_axes(curves, title="Error of a single report", x="ε", y="worst expected distance on [0, 1]")
    curves.legend(frameon=False)
    files["errors.png"] = curves
    for name, drawn in files.items():
        save_picture(drawn, out / name, dpi=120)
    return [str(out / name) for name in files]
