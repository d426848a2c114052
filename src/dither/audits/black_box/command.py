"""A randomiser in another language: a command that reads values and writes reports."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from dither.errors import InvalidParameter

_MOST_ERROR: Final = 200  # letters of a command's own error message that are shown


@final
@dataclass(frozen=True)
class Command:
    """A callable that starts a command for every call: a JSON value a line in, a report a line out.

    A line of output that is JSON is read as JSON, any other as a text. The values are those that the audit
    chose itself.
    """

    words: tuple[str, ...]
    seconds: float = 600.0  # that one call may take

    def __str__(self) -> str:
        return " ".join(self.words)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        lines = [json.dumps(_plain(value), allow_nan=False) for value in values]
        try:
            done = subprocess.run(
                self.words,
                input="\n".join(lines) + "\n",
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                timeout=self.seconds,
                check=False,
            )
        except FileNotFoundError:
            raise CommandFailed(f"the command {self.words[0]} was not found") from None
        except OSError as error:
            raise CommandFailed(f"the command {self.words[0]} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise CommandFailed(
                f"the command {self.words[0]} took more than {self.seconds:g} s for {len(values)} values"
            ) from None
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise CommandFailed(
                f"the command {self.words[0]} ended with exit code {done.returncode}: "
                f"{said[0][:_MOST_ERROR]}; it must write a line for every value"
            )
        return [_read(line) for line in done.stdout.splitlines()]


class CommandFailed(InvalidParameter):
    """The command cannot be run, or fails."""


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; a set becomes a sorted list."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _read(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line
