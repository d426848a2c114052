"""Check the proofs in `proofs/` with Coq, and compile the program that is extracted from them.

`python -m tools.proofs` checks every file, prints on which axioms the theorems depend, and compiles the
program. It needs Coq 8.16 or later, and OCaml with Zarith for the program. Without Coq it says how to install
it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PROOFS: Final = ROOT / "proofs"
BUILD: Final = PROOFS / "build"
CHAPTERS: Final = (
    "Counting",
    "Lottery",
    "Window",
    "Exponential",
    "Combine",
    "Account",
    "Tables",
    "Assumptions",
)
EXTRACTED: Final = ("Counting", "Lottery", "Window", "Exponential", "Tables", "Extract")
INSTALL: Final = (
    "The proofs were not checked: coqc is not on the PATH. On Debian and Ubuntu: "
    "apt install coq ocaml-nox ocaml-findlib libzarith-ocaml-dev"
)


class NotProved(Exception):
    """Coq or OCaml refused a file; the message is the error output."""


def missing(*, program: bool = False) -> str | None:
    """Return what has to be installed to check the proofs, or to compile the program; None if nothing."""
    needed = ("coqc", "ocamlfind") if program else ("coqc",)
    absent = [name for name in needed if shutil.which(name) is None]
    if absent:
        return (
            f"{' and '.join(absent)} not found: apt install coq ocaml-nox ocaml-findlib libzarith-ocaml-dev"
        )
    if program and _run(["ocamlfind", "query", "zarith"], PROOFS).returncode:
        return "Zarith not found: apt install libzarith-ocaml-dev"
    return None


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def check(folder: Path, names: tuple[str, ...], changed: dict[str, str] | None = None) -> dict[str, str]:
    """Copy the files into a folder, check them in their order, and return what Coq printed about each.

    `changed` replaces the text of some files. Raise NotProved at the first file that Coq refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    printed: dict[str, str] = {}
    for name in names:
        source = (changed or {}).get(name) or (PROOFS / f"{name}.v").read_text(encoding="utf-8")
        (folder / f"{name}.v").write_text(source, encoding="utf-8")
        done = _run(["coqc", "-q", "-Q", ".", "Dither", f"{name}.v"], folder)
        if done.returncode:
            raise NotProved(done.stderr or done.stdout)
        printed[name] = done.stdout
    return printed


def compile_program(folder: Path) -> Path:
    """Compile the extracted program and its bridge in a folder in which `Extract` was checked."""
    shutil.copy(PROOFS / "main.ml", folder)
    command = "ocamlfind ocamlopt -O3 -package zarith -linkpkg -w -a -I . draws.mli draws.ml main.ml -o draws"
    done = _run(command.split(), folder)
    if done.returncode:
        raise NotProved(done.stderr or done.stdout)
    return folder / "draws"


def main() -> int:
    """Check everything and print what was done; return the exit code."""
    if missing() is not None:
        print(INSTALL)
        return 0
    begin = time.perf_counter()
    try:
        printed = check(BUILD, CHAPTERS)
        print(printed["Assumptions"].strip())
        print(f"{len(CHAPTERS)} files checked in {time.perf_counter() - begin:.0f} s")
        if (lacking := missing(program=True)) is not None:
            print(f"The program was not extracted: {lacking}")
        else:
            check(BUILD, ("Extract",))
            print(f"The program: {compile_program(BUILD)}")
    except NotProved as refused:
        print(refused)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
