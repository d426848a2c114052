"""The notebooks as they run today: `python -m tools.notebooks` executes all of them and stores their outputs.

`python -m tools.notebooks research` executes one. Reports are random, so a test compares texts with their
numbers masked.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
# An interval that is cut at the end of its domain is printed in another form, so both are one mark.
INTERVAL = re.compile(r"±\s*#|\(\s*‹?#\s*–\s*#›?\s*\)")
NUMBER = re.compile(r"[−-]?\d(?:[\d.,]|[\u202f\u00a0 ](?=\d))*(?:e[+-]?\d+)?")


def execute(path: Path) -> Any:
    """Return a notebook with the outputs of running it now, in an empty folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as empty:
        place = {"metadata": {"path": empty}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
    return notebook


def texts(notebook: Any) -> list[str]:
    """Return the printed text of each cell of code, with numbers masked and white space joined."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = (
                output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs
            )
            found.append(masked("".join(shown)))
    return found


def masked(text: str) -> str:
    """Return a text in which every number is `#` and every interval `±`."""
    plain = re.sub(r"<(Figure|AxesSubplot|Axes)[^>]*>", r"<\1>", text)
    numbers = re.sub(r"‹?#›?", "#", NUMBER.sub("#", INTERVAL.sub("±", NUMBER.sub("#", plain))))
    return " ".join(numbers.replace("‹", "").replace("›", "").split())


def main(names: list[str]) -> None:
    """Execute and store the notebooks with these names, or all."""
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(execute(path), path)  # type: ignore[no-untyped-call]
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
