"""The command ``minitape``. It is outside of the package so that ``minitape --version`` does not load NumPy."""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command with the arguments of this process."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"minitape, version {_read_package_version()}")
        return
    from minitape.cli import main as command

    command()


def _read_package_version() -> str:
    """Read the version of the package without importing it."""
    (folder,) = find_spec("minitape").submodule_search_locations  # type: ignore[union-attr, misc]
    with open(f"{folder}/__init__.py", encoding="utf-8") as file:
        return file.read().partition('__version__ = "')[2].partition('"')[0]
