"""Nothing public is undocumented: every verb and every option says what it does."""

from __future__ import annotations

import click
import pytest

from dither.cli.main import VERBS, main


def _commands(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    found = [(name, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            inner = command.get_command(context, child)
            assert inner is not None
            found += _commands(inner, f"{name} {child}")
    return found


ALL = _commands(main, "dither")


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_verb_and_option_has_help(name: str, command: click.Command) -> None:
    assert command.help, f"{name} has no help"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]} has no help"


def test_verbs_have_a_line_each() -> None:
    assert all(line.endswith(".") for line in VERBS.values())
