"""tally: count lines, words or the most frequent words of text files. A small tool with honest telemetry.

python tally.py words README.md
python tally.py top README.md --most 5 --ignore-case
python tally.py telemetry show
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from dither_device import Telemetry

telemetry = Telemetry.from_campaign(
    Path(os.environ.get("TALLY_CAMPAIGN", Path(__file__).with_name("campaign.json"))),
    app="tally",
    version="1.0",
    address=os.environ.get("TALLY_COLLECTOR", "http://127.0.0.1:8000"),
)


def main() -> None:
    """Run a command, and answer what the campaign asks about it."""
    parser = argparse.ArgumentParser(prog="tally", description="Count lines, words or frequent words.")
    commands = parser.add_subparsers(required=True)
    for name, work in {"lines": lines, "words": words, "top": top}.items():
        command = commands.add_parser(name, help=work.__doc__)
        command.add_argument("file", type=Path, nargs="+")
        command.add_argument("--ignore-case", action="store_true")
        command.add_argument("--most", type=int, default=10)
        command.set_defaults(func=work, name=name)
    telemetry.add_parser(commands)
    given = parser.parse_args()
    given.func(given)
    if given.func in (lines, words, top):
        telemetry.answer("command", given.name)
        telemetry.answer("kilobytes", sum(file.stat().st_size for file in given.file) / 1000)
        telemetry.answer("options", [word for word in ("--ignore-case", "--most") if word in sys.argv])


def text_of(given: argparse.Namespace) -> str:
    """Return the text of all files."""
    text = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in given.file)
    return text.lower() if given.ignore_case else text


def lines(given: argparse.Namespace) -> None:
    """Count lines."""
    print(len(text_of(given).splitlines()))


def words(given: argparse.Namespace) -> None:
    """Count words."""
    print(len(text_of(given).split()))


def top(given: argparse.Namespace) -> None:
    """Print the most frequent words."""
    for word, count in Counter(text_of(given).split()).most_common(given.most):
        print(f"{count:6} {word}")


if __name__ == "__main__":
    main()
