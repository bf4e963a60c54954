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
            for name in names:
                if name not in there and (out / name).exists():
                    raise click.ClickException(f"{out / name} is no file of the site, and a page wants its place")
            for name in there:
                os.rename(out / name, old / name)
            for name in [*names, MARK]:
                os.rename(new / name, out / name)
    finally:
        if first and not any(out.iterdir()):
            out.rmdir()
