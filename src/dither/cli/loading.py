"""Questions out of a file: a campaign, a specification, a file of reports, a file of randomised trips."""

from __future__ import annotations

from pathlib import Path

import click

from dither.data.formats import TABLES, TRIPS, file_specification, is_of_trips
from dither.data.streams import ending
from dither.errors import DitherError
from dither.question import Question
from dither.wire.campaign import Campaign
from dither.wire.codec import from_json


def is_question_file(name: str) -> bool:
    """Return whether a name is one of a file that may hold questions, by its ending."""
    return ending(Path(name)) in {".toml", ".json", *TABLES, *TRIPS} and name != "-"


def questions_in(file: Path | str) -> dict[str, Question]:
    """Return the questions of a file by name; raise UsageError if it holds none."""
    path = Path(file)
    if not path.is_file():
        raise click.UsageError(f"the file {path} does not exist or cannot be read")
    try:
        return _read(path)
    except DitherError as error:
        raise click.UsageError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{path} is not UTF-8 text") from None


def _read(path: Path) -> dict[str, Question]:
    if path.suffix == ".toml":
        return dict(Campaign.read(path).questions)
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith('{"dither"') and '"questions"' in text:
            return dict(Campaign.from_json(text).questions)
        return {path.stem: from_json(text)}
    specification = file_specification(path)
    if specification is None:
        raise click.UsageError(f"{path} holds no questions: it is neither a campaign nor a file of reports")
    if is_of_trips(specification):
        from dither.data.trip_reports import read_trip_specification

        return {path.stem: read_trip_specification(specification)[0]}
    return dict(Campaign.from_json(specification).questions)
