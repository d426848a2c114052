"""`dither classify`: the utility of a classifier on a randomised record, as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.models import category_labels, features_of, load, records
from dither.cli.options import JSON_OPTION
from dither.cli.output import print_json, rows_done
from dither.errors import DitherError, InvalidParameter
from dither.foundation.atomic import whole

if TYPE_CHECKING:
    from dither.core.domains import Interval


def inside(kind: str, domain: Interval) -> Any:
    """Return the named mechanism; reports that could lie outside the domain are truncated to it."""
    from dither.core.registry import design_of

    made: Any = design_of(kind)(domain, epsilon=1.0)
    low, high = getattr(made, "support", (domain.low, domain.high))
    return made.truncated() if low < domain.low or high > domain.high else made


@click.command()
@click.argument("model")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--row", default=1, show_default=True, help="The record of FILE, counted from 1.")
@click.option(
    "--feature",
    "features",
    type=(str, float, float),
    multiple=True,
    metavar="NAME LOW HIGH",
    help="A number that is randomised, and public bounds of its values.",
)
@click.option(
    "--category",
    "categories",
    type=(str, str),
    multiple=True,
    metavar="NAME A,B,…",
    help="A category that is randomised (by KRR), and its public labels.",
)
@click.option(
    "--mechanism",
    "kinds",
    multiple=True,
    default=["ogpm"],
    show_default=True,
    help="A mechanism; repeat to compare.",
)
@click.option("--epsilon", default=2.0, show_default=True, help="The budget of all features together.")
@click.option(
    "--range",
    "ends",
    nargs=2,
    default=(0.2, 20.0),
    show_default=True,
    metavar="LOW HIGH",
    help="The range of ε.",
)
@click.option(
    "--budgets",
    "count",
    type=click.IntRange(2),
    default=50,
    show_default=True,
    help="The number of budgets in the range.",
)
@click.option(
    "--at-least", default=0.8, show_default=True, help="The smallest utility that a budget may have."
)
@click.option("--columns", help="The model's features, separated by commas, if the model has no names.")
@click.option(
    "--confidence", default=0.95, show_default=True, help="The confidence of the bounds; 1 requires proofs."
)
@click.option("--queries", default=20_000, show_default=True, help="The number of calls of the classifier.")
@click.option("--average", is_flag=True, help="Also bound the utility over all records of FILE.")
@click.option(
    "-o", "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The page to write."
)
@JSON_OPTION
def command(
    model: str,
    file: Path,
    row: int,
    features: tuple[tuple[str, float, float], ...],
    categories: tuple[tuple[str, str], ...],
    kinds: tuple[str, ...],
    epsilon: float,
    ends: tuple[float, float],
    count: int,
    at_least: float,
    columns: str | None,
    confidence: float,
    queries: int,
    average: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Bound the probability that MODEL's answer for a record of FILE stays when features are randomised.

    MODEL is package.module:name, or a file of joblib or pickle. Loading such a file runs code: use only files
    that you trust. MODEL may be a pipeline that encodes text. Reports that would lie outside the bounds of a
    feature are moved to the nearer bound.

    \b
    dither classify model.joblib people.csv --row 5 --feature age 18 100 --feature bmi 10 60 \\
        --mechanism ogpm --mechanism laplace --epsilon 4 -o report.html
    dither classify model.joblib people.csv --feature age 18 100 --category team red,blue -o report.html
    """
    import numpy as np

    from dither.core.domains import Categories, Interval
    from dither.extensions.classifiers import best_mechanism, over_records, report
    from dither.mechanisms.combined import Each
    from dither.mechanisms.frequency.krr import KRR

    if not features and not categories:
        raise click.UsageError(
            "expected at least one feature to randomise; give --feature NAME LOW HIGH or --category NAME "
            "A,B,…"
        )
    numbers, texts = [name for name, _, _ in features], [name for name, _ in categories]
    twice = [name for name in numbers + texts if (numbers + texts).count(name) > 1]
    if twice:
        raise click.UsageError(f"expected each feature once, got {twice[0]} twice; leave one of them out")
    classifier = load(model)
    names = features_of(classifier, columns, file, numbers + texts)
    people = records(file, names, numbers)
    if not 1 <= row <= len(people):
        raise click.UsageError(
            f"expected --row from 1 to {len(people)}, the number of rows of {file.name}, got {row}"
        )
    domains = {name: Interval(low, high) for name, low, high in features}
    answers = {name: KRR(Categories(category_labels(text)), epsilon=1.0) for name, text in categories}
    candidates = {
        kind: Each({name: inside(kind, line) for name, line in domains.items()} | answers).at(epsilon)
        for kind in (kinds if features else ("krr",))
    }
    more: dict[str, Any] = {"confidence": confidence, "queries": queries, "names": names}
    budgets = np.geomspace(*ends, count).tolist()
    try:
        ranking = best_mechanism(classifier, people[row - 1], candidates, epsilon=epsilon, **more)
    except DitherError:
        raise
    except ValueError:  # its text may contain values of the record
        raise InvalidParameter(
            f"the model {model} cannot process randomised records; give --category the labels that the "
            "model was trained with"
        ) from None
    page = report(
        classifier,
        people[row - 1],
        candidates,
        epsilon=epsilon,
        epsilons=budgets,
        at_least=at_least,
        ranking=ranking,
        **more,
    )
    with whole(out) as stream:
        stream.write(page)
    overall = {}
    if average:
        with rows_done("records", len(people) * len(candidates)) as progress:
            for kind, candidate in candidates.items():
                overall[kind] = over_records(
                    classifier, people, candidate, confidence=confidence, names=names, progress=progress
                )
    if as_json:
        answer: dict[str, dict[str, Any]] = {
            kind: {"lower": utility.lower, "method": utility.method, "confidence": utility.confidence}
            for kind, utility in zip(ranking.names, ranking.utilities, strict=True)
        }
        for kind, found in overall.items():
            answer[kind] |= {"average": found.average.lower, "worst": found.worst.lower}
        print_json({"page": str(out), "mechanisms": answer})
        return
    click.echo(repr(ranking))
    for kind, found in overall.items():
        click.echo(f"{kind}, {len(people)} records: {found}")
    click.echo(f"the page is {out}; it contains the values of the record")
