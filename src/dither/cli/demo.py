"""`dither demo`: the whole story on generated data."""

from __future__ import annotations

import click
import numpy as np

from dither.audits import audit
from dither.domains import Circle, Interval
from dither.losses import absolute
from dither.mechanisms import OGPM, Podium


@click.command()
@click.option("--people", default=40_000, show_default=True, help="How many people answer.")
@click.option("--epsilon", default=1.0, show_default=True, help="The budget ε of each.")
def command(people: int, epsilon: float) -> None:
    """Ask generated people for their age and for a direction, and compare what comes back with the truth."""
    generator = np.random.default_rng(2025)
    ages = np.clip(generator.gamma(9.0, 5.0, people), 18, 100)
    question = Podium(Interval(18, 100), epsilon=epsilon)
    click.echo(question.describe())
    reports = question.perturb(ages)
    error = reports.values.std() / np.sqrt(people)
    click.echo(f"  {reports}")
    click.echo(
        f"  mean age: {reports.values.mean():.2f} ± {1.96 * error:.2f}; the truth is {ages.mean():.2f}"
    )
    click.echo(f"  audit: {audit(question)}")
    heading = OGPM(Circle(360), epsilon=epsilon)
    click.echo(heading.describe())
    click.echo(f"  a single direction is off by {heading.error(absolute, 0.0):.0f}° on average")
