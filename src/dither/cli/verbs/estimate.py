"""`dither estimate`: estimates from a file of reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from dither.cli.output import JSON_OPTION, number, print_json, probability, rows_done, table
from dither.domains import Categories
from dither.errors import unknown_name
from dither.estimation.api import distribution, estimate, quantile
from dither.estimation.estimate import Estimate, show
from dither.estimation.frequency import EstimatedFrequencies
from dither.estimation.summary import Summary
from dither.files.collect import summarise_file


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path, allow_dash=True))
@click.option("--column", help="Estimate one question only.")
@click.option("--bins", type=int, help="Also the distribution of numeric answers, in this many bins.")
@click.option(
    "--quantile", "shares", type=float, multiple=True, help="Also a quantile of numeric answers, such as 0.9."
)
@JSON_OPTION
def command(
    file: Path, column: str | None, bins: int | None, shares: tuple[float, ...], as_json: bool
) -> None:
    """Estimate means, mean directions and frequencies from FILE, which `dither perturb` wrote.

    Every estimate has a 95 % interval. FILE carries its questions. For trips: `dither trajectory density`.

    \b
    dither estimate reports.csv
    dither estimate reports.csv --column minutes --bins 32 --quantile 0.9
    """
    with rows_done(f"reading {file.name}") as progress:
        summaries = summarise_file(file, progress=progress)
    if column is not None:
        if column not in summaries:
            raise click.UsageError(f"{file.name}: {unknown_name('question', column, summaries)}")
        summaries = {column: summaries[column]}
    if (bins is not None or shares) and all(_is_categorical(summary) for summary in summaries.values()):
        raise click.UsageError("--bins and --quantile are for numbers; these answers are categories")
    answers = {name: _answers(summary, bins, shares) for name, summary in summaries.items()}
    if as_json:
        shown = {name: [_plain(label, value) for label, value in found] for name, found in answers.items()}
        print_json(shown)
        return
    for name, found in answers.items():
        summary = summaries[name]
        mechanism = summary.mechanism
        click.echo(f"{name}: {summary.n} reports of {type(mechanism).__name__}, {mechanism.guarantee}")
        for label, value in found:
            click.echo(_text(label, value))


def _is_categorical(summary: Summary) -> bool:
    return isinstance(summary.mechanism.domain, Categories)


def _answers(summary: Summary, bins: int | None, shares: tuple[float, ...]) -> list[tuple[str, Any]]:
    """Return the estimates of one question, each with its label."""
    if _is_categorical(summary):
        return [("frequencies", estimate(summary))]
    found: list[tuple[str, Any]] = [("mean", estimate(summary))]
    found += [(f"quantile {share:g}", quantile(summary, share)) for share in shares]
    if bins is not None:
        found.append(("distribution", distribution(summary, bins)))
    return found


def _text(label: str, value: Any) -> str:
    if isinstance(value, EstimatedFrequencies):
        half = np.asarray(value.half_width())
        rows = [
            [str(name), show(float(share), float(width))]
            for name, share, width in zip(value.labels, np.asarray(value.value), half, strict=True)
        ]
        return table(["answer", "share (95 %)"], rows)
    if isinstance(value, Estimate):
        return f"  {label}: {value}"
    low, high = value.bands()
    rows = [
        [
            _range(_edge, *value.edges[i : i + 2]),
            probability(p),
            _range(probability, low[i], high[i]),
        ]
        for i, p in enumerate(value.probabilities)
    ]
    lines = [table(["bin", "probability", "95 % band"], rows)]
    lines += [f"  point mass: {mass}" for mass in value.atoms]
    return "\n".join(lines)


def _edge(value: float) -> str:
    return number(value, 6)


def _range(written: Callable[[float], str], low: float, high: float) -> str:
    return f"{written(low)} – {written(high)}"


def _plain(label: str, value: Any) -> dict[str, Any]:
    if isinstance(value, EstimatedFrequencies):
        low, high = value.interval()
        return {
            "answer": label,
            "labels": [str(name) for name in value.labels],
            "value": np.asarray(value.value).tolist(),
            "low": np.asarray(low).tolist(),
            "high": np.asarray(high).tolist(),
            "n": value.n,
        }
    if isinstance(value, Estimate):
        low, high = value.interval()
        return {"answer": label, "value": float(value), "low": float(low), "high": float(high), "n": value.n}
    return {
        "answer": label,
        "edges": value.edges.tolist(),
        "probabilities": value.probabilities.tolist(),
        "point masses": [{"place": mass.place, "share": float(mass.share)} for mass in value.atoms],
    }
