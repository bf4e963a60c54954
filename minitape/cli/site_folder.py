"""The folder that a site is written to: what is there stays until the new site is whole, and what is not the site's
stays for good.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..common.read_data import read_text
from ..common.write_beside import write

MARK = ".minitape-site"  # it names, line by line, what the site has in its folder
OTHERS = "CNAME"  # and hidden files: what those who publish a site keep beside it


@contextmanager
def new_site(out: Path) -> Iterator[Path]:
    """A folder to make a site in, which then takes the place of the one in ``out``; nothing changes if that fails.

    Raises click.ClickException where ``out`` holds files that are no site of minitape's.
    """
    there = {path.name for path in out.iterdir()} if out.exists() else set()
    if MARK in there:
        there &= {MARK, *read_text(out / MARK).splitlines()}
    elif others := sorted(name for name in there if name != OTHERS and not name.startswith(".")):
        raise click.ClickException(f"{out} holds files that are no site, such as {others[0]}; name another folder")
    else:
        there = set()
    first = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{MARK}-", dir=out) as beside:
            new, old = Path(beside, "new"), Path(beside, "old")
            new.mkdir()
            old.mkdir()
            yield new
            names = sorted(path.name for path in new.iterdir())
            write(new / MARK, "\n".join(names))
            moves = [(new / name, out / name) for name in [*names, MARK]]
            _move([*((out / name, old / name) for name in there), *moves])
    finally:
        if first and not any(out.iterdir()):
            out.rmdir()


def _move(pairs: list[tuple[Path, Path]]) -> None:
    """Renames all files and folders, or none."""
    done: list[tuple[Path, Path]] = []
    try:
        for here, place in pairs:
            if place.exists():
                raise click.ClickException(f"{place} is no file of the site, and a page wants its place")
            done.insert(0, (here, place))
            os.rename(here, place)
    except BaseException:
        for here, place in done:
            if not here.exists():
                os.rename(place, here)
        raise
