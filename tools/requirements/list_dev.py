"""Print what the development environment needs, from pyproject.toml: the input of `make lock`."""

import tomllib
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))


def main() -> None:
    """Print the dependencies, those of the extras that the group dev names, the group's and the builder's."""
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    group = [*groups["dev"], *groups["node"]]
    (itself,) = (line for line in group if line.startswith("dither["))
    extras = itself.removeprefix("dither[").removesuffix("]").split(",")
    needed = [*project["dependencies"], *PROJECT["build-system"]["requires"], "editables", "pip>=25.1"]
    for extra in extras:
        needed += project["optional-dependencies"][extra]
    print("\n".join(sorted({*needed, *(line for line in group if line != itself)})))


if __name__ == "__main__":
    main()
