"""`dither recommend`: recommend a mechanism, a budget or a number of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

import click

from dither.cli.in_options import in_options
from dither.cli.options import CRITERION, JSON_OPTION, LOSS_CHOICES, domain_options, need_domain, read_loss
from dither.cli.output import emphasise, number, print_json, rows_done

if TYPE_CHECKING:
    from dither.advice import goals
    from dither.core.domains import Domain
    from dither.foundation.losses import Loss


_GOALS: Final = {
    **{
        name.lower(): name
        for name in ("Mean", "Distribution", "Quantile", "Frequencies", "Ranges", "Variance", "Covariance")
    },
    "values": "SingleValues",
    "places": "Locations",
    "map": "Maps",
    "districts": "Districts",
    "mean-place": "MeanPlace",
    "mean-vector": "MeanOfVectors",
}
_MEANINGS: Final = {
    "SingleValues": "the expected loss of one report, taken to the domain's units",
    "Locations": "the mean distance of a report to the person's place",
    "Quantile": "the standard error of the quantile (with the sampling error); from … to: of single shapes",
    "Distribution": "the distance of the distribution (with the sampling error); from … to: of single shapes",
    "Maps": "the share of people that a map puts into a wrong cell; from … to: of other populations",
    "MeanOfVectors": "the length of the error that privacy adds to the mean vector (root mean square)",
    "MeanPlace": "the distance that privacy adds to the mean place (root mean square)",
    **{
        name: f"the standard error that privacy adds to {what}"
        for name, what in {
            "Mean": "the mean",
            "Frequencies": "a share",
            "Ranges": "a cumulative share",
            "Districts": "the share of a district",
            "Variance": "the variance",
            "Covariance": "the covariance of two numbers, each from 0 to 1 (root mean square over the pairs)",
        }.items()
    },
}
_NO_STANDARD_ERRORS: Final = (
    "values",
    "places",
    "map",
    "mean-place",
    "mean-vector",
    "distribution",
)  # and so no confidence interval
_Z: Final = 1.959963984540054  # half the width of a 95 % interval, in standard errors


@click.command()
@domain_options
@click.option(
    "--rectangle",
    nargs=2,
    type=float,
    metavar="WIDTH HEIGHT",
    help="Locations in a rectangle of this size, for the goals places, map, districts and mean-place.",
)
@click.option(
    "--number",
    "numbers",
    nargs=3,
    type=(str, float, float),
    multiple=True,
    metavar="NAME LOW HIGH",
    help="One of several numbers of a person, for the goal covariance; give one option for each.",
)
@click.option("--vectors", type=int, metavar="D", help="Vectors of D numbers, for the goal mean-vector.")
@click.option("--length", type=float, help="With --vectors: their largest length.  [default: 1]")
@click.option(
    "--each",
    type=float,
    help="With --vectors: the largest distance of a single number from its centre, if known.",
)
@click.option(
    "--goal",
    type=click.Choice(list(_GOALS)),
    required=True,
    help="The purpose of the reports.",
)
@click.option("--people", type=int, help="The number of people who answer.")
@click.option("--epsilon", type=float, help="The budget ε.  [default: computed from --error]")
@click.option(
    "--error",
    type=float,
    help="The target standard error, in the domain's units: --people or --epsilon is computed from it.",
)
@click.option(
    "--margin",
    type=float,
    help="Instead of --error: half the width of a 95 % confidence interval, in the domain's units.",
)
@click.option(
    "--detect",
    nargs=2,
    type=float,
    metavar="A B",
    help="Instead of --error: the shares or means of two arms, such as 0.10 0.12. Computes the people "
    "of each "
    "arm or --epsilon; with both, the power.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="With --detect: the probability of finding the difference.",
)
@click.option(
    "--guess",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="For a mean: the likely range of most values; prints the cost of a wider domain.",
)
@click.option("--deviation", type=float, help="For a mean: the standard deviation of values, if known.")
@click.option(
    "--criterion", type=CRITERION, help="The largest error, or the mean over uniform values (mean, values)."
)
@click.option("--loss", callback=read_loss, metavar="LOSS", help=f"For values: {LOSS_CHOICES}.")
@click.option("--share", type=float, help="For a quantile: the share of values below it, 0.5 for the median.")
@click.option(
    "--distance",
    type=click.Choice(["w1", "ks"]),
    help="For a distribution: the area between cdfs, or their largest gap.",
)
@click.option(
    "--shuffled",
    type=int,
    metavar="N",
    help="The budget of a person whose report is mixed with others in a batch of N.",
)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="With --shuffled: the δ.")
@click.option(
    "--sampling/--no-sampling",
    default=True,
    show_default=True,
    help="With --error: the target includes the sampling error of a sample of a population.",
)
@click.option("--bytes", "size", type=int, metavar="N", help="Reports have at most N bytes.")
@click.option("--bins", type=int, help="For a distribution: the number of equal bins.")
@click.option(
    "--cells",
    nargs=2,
    type=int,
    metavar="N N",
    help="For a map or districts: the numbers of cells of the two sides.",
)
@JSON_OPTION
def command(
    domain: Domain | None,
    rectangle: tuple[float, float] | None,
    numbers: tuple[tuple[str, float, float], ...],
    vectors: int | None,
    length: float | None,
    each: float | None,
    goal: str,
    people: int | None,
    epsilon: float | None,
    error: float | None,
    margin: float | None,
    detect: tuple[float, float] | None,
    power: float,
    guess: tuple[float, float] | None,
    deviation: float | None,
    criterion: str | None,
    loss: Loss | None,
    share: float | None,
    distance: str | None,
    shuffled: int | None,
    delta: float,
    sampling: bool,
    size: int | None,
    bins: int | None,
    cells: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Rank the mechanisms for a goal by their expected error, or compute ε or the number of people.

    \b
    dither recommend --interval 0 180 --goal mean --people 10000 --epsilon 1
    dither recommend --interval 0 1440 --goal mean --people 10000 --epsilon 1 --guess 10 100
    dither recommend --interval 0 180 --goal mean --epsilon 1 --error 0.5
    dither recommend --categories "yes,no" --goal frequencies --epsilon 1 --margin 0.05
    dither recommend --categories "yes,no" --goal frequencies --epsilon 1 --detect 0.10 0.12
    dither recommend --interval 0 180 --goal mean --people 10000 --error 0.5
    dither recommend --interval 0 180 --goal mean --people 10000 --epsilon 0.1 --shuffled 10000
    dither recommend --interval 0 180 --goal distribution --distance ks --people 10000 --epsilon 1
    dither recommend --interval 0 180 --goal values --loss squared --criterion average --epsilon 2
    dither recommend --number age 18 100 --number bmi 10 60 --goal covariance --people 10000 --epsilon 1
    dither recommend --vectors 384 --goal mean-vector --people 20000 --epsilon 2
    dither recommend --rectangle 30 20 --goal map --cells 12 8 --people 100000 --epsilon 2
    """
    from dither.advice.recommend import epsilon_for, error_parts, people_for, recommend

    on = need_domain(_one_domain(_vectors(domain, vectors, length), rectangle, numbers))
    wanted = _goal(
        goal,
        n=people,
        criterion=criterion,
        deviation=deviation,
        each=each,
        loss=loss,
        bins=bins,
        share=share,
        distance=distance,
        across=cells and cells[0],
        along=cells and cells[1],
    )
    if detect is not None:
        if any(given is not None for given in (error, margin, shuffled, size, guess)):
            raise click.UsageError(
                "expected no --error, --margin, --shuffled, --bytes or --guess with --detect; leave them out"
            )
        _detect(on, wanted, detect, power, epsilon, sampling=sampling, as_json=as_json)
        return
    error = error if margin is None else _standard_error(goal, margin, error)
    _check_ranking({"--bytes": size, "--guess": guess}, error)
    if error is None:
        if epsilon is None:
            raise click.UsageError(
                "expected a budget; give --epsilon for a ranking, or give --error or --margin with "
                "--epsilon or --people"
            )
        with rows_done("simulating", unit="runs") as progress:
            table = recommend(
                on,
                wanted,
                epsilon=epsilon,
                shuffled=shuffled,
                delta=delta,
                most_bytes=size,
                progress=progress,
                guess=guess,
            )
        if as_json:
            print_json([dict(row) for row in table])
            click.echo("".join(f"{line}\n" for line in table.title.split("\n")[1:]), err=True, nl=False)
        else:
            click.echo(in_options(repr(table)))
            click.echo(click.wrap_text(f"error: {_MEANINGS[_GOALS[goal]]}", 80))
        return
    if people is not None and epsilon is not None:
        raise click.UsageError(
            "expected two of --people, --epsilon and --error, got all three; leave out the one to compute"
        )
    if shuffled is not None and epsilon is not None:
        raise click.UsageError(
            "expected --shuffled with --epsilon only, or with --error and --people; change the options"
        )
    found: dict[str, float] = (
        {"epsilon": epsilon_for(on, wanted, error, sampling=sampling, shuffled=shuffled, delta=delta)}
        if epsilon is None
        else {"people": people_for(on, wanted, error, epsilon=epsilon, sampling=sampling)}
    )
    contained = sampling and wanted.sampling(on) is not None
    parts: dict[str, float] = {}
    if contained and shuffled is None:
        planned = replace(cast("Any", wanted), n=found.get("people", people))
        parts = error_parts(on, planned, epsilon=epsilon or found["epsilon"])
    if as_json:
        print_json({**found, **parts})
        return
    ((name, value),) = found.items()
    click.echo(f"{name}: {value if name == 'people' else number(value, 6)}")
    _print_error(goal, error, people, parts, contained=contained)
    if name == "epsilon":
        _print_meaning(value)


def _print_meaning(epsilon: float) -> None:
    """Print the meaning of ε for one person, with a warning if it protects little."""
    from dither.advice.explain import caution, odds_words
    from dither.privacy import Guarantee, Pure

    click.echo(f"a guess of one answer before, and at most after a report: {odds_words(epsilon)}")
    warning = caution(Guarantee(Pure(epsilon)))
    if warning is not None:
        click.echo(emphasise(f"warning: {warning}", "yellow"), err=True)


def _check_ranking(options: Mapping[str, object], error: float | None) -> None:
    """Raise UsageError if an option of rankings comes with a target error."""
    for name, given in options.items():
        if given is not None and error is not None:
            raise click.UsageError(
                f"expected {name} only in a ranking; leave it out, or leave out --error and --margin"
            )


def _detect(
    domain: Domain,
    goal: goals.Goal,
    values: tuple[float, float],
    power: float,
    epsilon: float | None,
    *,
    sampling: bool,
    as_json: bool,
) -> None:
    """Print the number of people, the ε or the power of a difference of two arms."""
    from dither.advice.plan import check_difference, power_of
    from dither.advice.recommend import epsilon_for, people_for

    people = getattr(goal, "n", None)
    if epsilon is None and people is None:
        raise click.UsageError(
            "expected --epsilon, or --people of each arm, with --detect; give one of them, or both for the "
            "power"
        )
    facts: dict[str, float]
    if epsilon is None:
        facts = {"epsilon": epsilon_for(domain, goal, detect=values, power=power, sampling=sampling)}
    elif people is None:
        facts = {
            "people": people_for(domain, goal, epsilon=epsilon, detect=values, power=power, sampling=sampling)
        }
    else:
        check_difference(domain, goal, values, power)
        power = power_of(domain, goal, values, epsilon, sampling)
        facts = {"power": power}
    if as_json:
        print_json(facts)
        return
    ((name, value),) = facts.items()
    shown = f"{value} in each of two arms" if name == "people" else number(value, 4)
    click.echo(f"{name}: {shown}")
    click.echo(
        click.wrap_text(
            f"Then {100 * power:.3g} % of the 95 % intervals of the difference between {values[0]:g} and "
            f"{values[1]:g} exclude 0.",
            80,
        )
    )
    if name == "epsilon":
        _print_meaning(value)


def _print_error(
    goal: str, error: float, people: int | None, parts: dict[str, float], *, contained: bool
) -> None:
    """Print the planned error and its parts."""
    meaning, _, _ = _MEANINGS[_GOALS[goal]].partition(";")
    many = "" if people is None else f" of {people} people"
    if contained:
        meaning = meaning.replace(" that privacy adds to", " of")
    met = f"Then {meaning}{many} is at most {number(error, 4)}"
    if goal not in _NO_STANDARD_ERRORS:
        met += f": about 95 % of estimates are within ±{number(_Z * error, 4)} of it"
    click.echo(click.wrap_text(met + ".", 80))
    if parts:
        noise, drawn = (number(part, 3) for part in parts.values())
        most = "" if goal in ("variance", "covariance") else "at most "  # of people who are spread evenly
        click.echo(f"Privacy contributes {noise}, and sampling {most}{drawn}.")
    elif goal in ("quantile", "distribution"):
        click.echo("Noise and sampling are simulated together, over twelve shapes.")
    elif not contained and goal not in ("values", "places"):
        click.echo("The sampling error, because not everybody takes part, is not included.")


def _standard_error(goal: str, margin: float, error: float | None) -> float:
    """Return the standard error of a margin; raise UsageError if the goal has no confidence interval."""
    if error is not None:
        raise click.UsageError(
            "expected --error, a standard error, or --margin, half of a 95 % interval, got both; give one "
            "of them"
        )
    if goal in _NO_STANDARD_ERRORS:
        raise click.UsageError(
            f"expected --error, because the goal {goal!r} has no confidence interval; give it instead of "
            "--margin"
        )
    return margin / _Z


def _vectors(domain: Domain | None, size: int | None, length: float | None) -> Domain | None:
    """Return the domain, or vectors if their size was given."""
    from dither.core.domains import Vectors

    if size is None and length is not None:
        raise click.UsageError("expected --length with --vectors; add --vectors D, or leave --length out")
    if size is None:
        return domain
    if domain is not None:
        raise click.UsageError("expected one domain, got --vectors and another one; leave one of them out")
    return Vectors(size, 1.0 if length is None else length)


def _area(domain: Domain | None, size: tuple[float, float]) -> Domain:
    from dither.core.domains import Interval, Rectangle

    if domain is not None:
        raise click.UsageError("expected one domain, got --rectangle and another one; leave one of them out")
    return Rectangle(Interval(0.0, size[0]), Interval(0.0, size[1]))


def _one_domain(
    domain: Domain | None, rectangle: tuple[float, float] | None, numbers: Sequence[tuple[str, float, float]]
) -> Domain | None:
    """Return the domain that was given in one of three ways, or None."""
    from dither.core.domains import Interval
    from dither.core.domains.records import Box

    domain = domain if rectangle is None else _area(domain, rectangle)
    if not numbers:
        return domain
    if domain is not None:
        raise click.UsageError("expected one domain, got --number and another one; leave one of them out")
    if len({name for name, _, _ in numbers}) < len(numbers):
        raise click.UsageError("expected a different name for each --number; rename one of them")
    return Box({name: Interval(low, high) for name, low, high in numbers})


def _goal(name: str, **given: object) -> goals.Goal:
    """Return the goal of a name; raise UsageError for an option that it does not have."""
    from dither.advice import goals

    kind: type[Any] = getattr(goals, _GOALS[name])
    known = {field.name for field in fields(kind)}
    more = {option: value for option, value in given.items() if value is not None}
    for option in more:
        if option not in known:
            word = {"n": "people", "across": "cells", "along": "cells"}.get(option, option)
            raise click.UsageError(f"the goal {name!r} has no option --{word}; leave it out")
    goal: goals.Goal = kind(**more)
    return goal
