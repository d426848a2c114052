"""Files that appear complete or not at all, and inputs that are not overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.errors import InvalidParameter
from dither.foundation.atomic import refuse_to_overwrite, rename_after, whole


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "told.csv"
    with rename_after(path) as part:
        part.write_text("half")
        assert part.suffix == ".csv"
        assert not path.exists()
        part.write_text("all")
    assert path.read_text() == "all"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "told.csv"
    path.write_text("before")

    def interrupted() -> None:
        with whole(path) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"), rename_after(tmp_path / "absent" / "told.csv"):
        pass


def test_inputs_and_files_that_exist_are_kept(tmp_path: Path) -> None:
    given, told, link = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "link.csv"
    given.write_text("answers")
    refuse_to_overwrite(told, given)
    told.write_text("reports")
    with pytest.raises(InvalidParameter, match="force=True"):
        refuse_to_overwrite(told, given)
    refuse_to_overwrite(told, given, force=True)
    link.symlink_to(given)
    for same in (given, link):
        with pytest.raises(InvalidParameter, match="other than the input"):
            refuse_to_overwrite(same, given, force=True)
