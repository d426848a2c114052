"""Reports in files, counted by group: one pass over each file, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dither.errors import InvalidParameter, Mismatch
from dither.estimation.comparison.groups import GroupCounts, check_labels
from dither.files.collect import carried_questions
from dither.files.format import Progress, silent
from dither.files.registry import table_format
from dither.files.streams import shown_name
from dither.question import Question
from dither.wire.campaign import Campaign


def group_files(
    paths: Iterable[Path | str],
    by: Sequence[str],
    questions: Mapping[str, Question] | Campaign | None = None,
    *,
    progress: Progress | None = None,
) -> dict[str, GroupCounts]:
    """Count files of reports of the same questions by columns of public labels: groups for each question.

    `counts["minutes"].estimates(dt.estimate, minimum=100)` is a table with a row for each group. Labels are
    read as the files hold them: those of CSV are texts.
    """
    totals: dict[str, GroupCounts] = {}
    done = progress or silent
    given = None if questions is None else Campaign.of(questions)
    for path in map(Path, paths):
        reader, campaign = table_format(path), carried_questions(path, given)
        check_labels(by, list(campaign.questions), reader.columns(path))
        if not totals:
            totals = {name: GroupCounts(one, by) for name, one in campaign.questions.items()}
        _check_alike(path, campaign, totals)
        for chunk in reader.read(path, [*campaign.questions, *by]):
            labels = [chunk.cells(column) for column in by]
            for name, mechanism in campaign.questions.items():
                totals[name].add(labels, chunk.reports(name, mechanism))
            done(len(chunk))
    if not totals:
        raise InvalidParameter("there is no file of reports; name at least one")
    return totals


def _check_alike(path: Path, campaign: Campaign, totals: Mapping[str, GroupCounts]) -> None:
    before = {name: counts.question.fingerprint for name, counts in totals.items()}
    if before != {name: one.fingerprint for name, one in campaign.questions.items()}:
        raise Mismatch(f"{shown_name(path)} does not have the same questions as the files before it")
