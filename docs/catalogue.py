"""Pages made from the code itself: one for each mechanism, the public names, the command line."""

from __future__ import annotations

import inspect
from pathlib import Path

import click
import numpy as np
from matplotlib.figure import Figure

import dither as dt
from dither.campaigns.registry import names
from dither.cli.main import VERBS, main
from dither.domains import Circle, Interval
from dither.mechanisms.mechanism import Mechanism
from dither.mechanisms.questions import Questions

EPSILONS = np.geomspace(0.1, 8.0, 25)


def write(docs: Path) -> None:
    """Write every generated page below docs."""
    folder = docs / "mechanisms"
    folder.mkdir(exist_ok=True)
    pages = [_page(folder, name, kind) for name, kind in sorted(names().items())]
    listing = "\n".join(f"- [{name}](mechanisms/{name}.md): {line}" for name, line in pages)
    toctree = "\n".join(f"mechanisms/{name}" for name, _ in pages)
    (docs / "catalogue.md").write_text(
        f"# The mechanisms\n\n{listing}\n\n```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )
    (docs / "api.md").write_text(_api())
    (docs / "cli.md").write_text(_cli())


def _page(folder: Path, name: str, kind: type[Mechanism]) -> tuple[str, str]:
    doc = inspect.getdoc(kind) or ""
    first, _, rest = doc.partition("\n")
    text = [f"# {name}", "", first, "", "```text", rest.strip().split("\n\n>>>")[0], "```", ""]
    text += [f"Signature: `dt.{name}{_signature(kind)}`", ""]
    made = _made(kind)
    if isinstance(made, Questions):
        picture = folder / f"{name}.png"
        _draw(made, picture)
        text += [f"![What reports look like, and the error at each ε]({picture.name})", ""]
    if made is not None:
        text += [made.describe(), ""]
    (folder / f"{name}.md").write_text("\n".join(text) + "\n")
    return name, first.rstrip(".")


def _signature(kind: type[Mechanism]) -> str:
    shown = inspect.signature(kind)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in shown.parameters.values()]
    return str(shown.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _made(kind: type[Mechanism]) -> Mechanism | None:
    """Make an example on the first simple domain that the mechanism takes."""
    domains = [Interval(0, 1), Circle(360), dt.Categories(8), dt.Rectangle(Interval(0, 1), Interval(0, 1))]
    for domain in [*domains, dt.Disk(1.0)]:
        for more in ({}, {"delta": 1e-6}):
            try:
                return kind(domain, epsilon=1.0, **more)
            except (dt.errors.DitherError, TypeError):
                continue
    return None


def _draw(mechanism: Questions, picture: Path) -> None:
    figure = Figure(figsize=(10.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    line = mechanism.line
    mechanism.plot(line.from_unit(np.array([0.1, 0.6])), axes=left)
    left.set_title("the report for two inputs, ε = 1")
    for loss in (dt.absolute, dt.squared):
        worst = [mechanism.at(float(epsilon)).worst_error(loss) for epsilon in EPSILONS]  # type: ignore[attr-defined]
        right.loglog(EPSILONS, worst, label=f"worst {loss!r} error")
    right.set_xlabel("ε")
    right.legend(frameon=False)
    right.set_title("worst-case error")
    figure.savefig(picture, dpi=110)


def _api() -> str:
    text = ["# Public names", "", "Everything that `import dither as dt` offers.", ""]
    for name in dt.__all__:
        thing = getattr(dt, name)
        text += [f"## dt.{name}", "", "```text", (inspect.getdoc(thing) or "").strip(), "```", ""]
    return "\n".join(text)


def _cli() -> str:
    text = ["# The command line", "", "```text", _help(main, "dither"), "```", ""]
    context = click.Context(main, info_name="dither")
    for verb in sorted(VERBS):
        command = main.get_command(context, verb)
        if command is not None:
            text += [f"## dither {verb}", "", "```text", _help(command, f"dither {verb}"), "```", ""]
    return "\n".join(text)


def _help(command: click.Command, name: str) -> str:
    return command.get_help(click.Context(command, info_name=name, max_content_width=100))
