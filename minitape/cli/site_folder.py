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

from ..common.atomic_write import write_file
from ..common.read_data import read_text

MANIFEST_FILE = ".minitape-site"  # it names, line by line, what the site has in its folder
ALLOWED_FILE = "CNAME"  # and hidden files: what those who publish a site keep beside it


@contextmanager
def replace_site_folder(target_folder: Path) -> Iterator[Path]:
    """Yield a folder to make a site in, which then takes the place of the one in ``target_folder``.

    Nothing changes if that fails.

    Raises click.ClickException where ``target_folder`` holds files that are no site of minitape's.
    """
    site_names = {path.name for path in target_folder.iterdir()} if target_folder.exists() else set()
    if MANIFEST_FILE in site_names:
        site_names &= {MANIFEST_FILE, *read_text(target_folder / MANIFEST_FILE).splitlines()}
    elif foreign_names := sorted(name for name in site_names if name != ALLOWED_FILE and not name.startswith(".")):
        raise click.ClickException(
            f"{target_folder} holds files that are no site, such as {foreign_names[0]}; name another folder"
        )
    else:
        site_names = set()
    is_new = not target_folder.exists()
    target_folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{MANIFEST_FILE}-", dir=target_folder) as scratch:
            new_folder, old_folder = Path(scratch, "new"), Path(scratch, "old")
            new_folder.mkdir()
            old_folder.mkdir()
            yield new_folder
            names = sorted(path.name for path in new_folder.iterdir())
            write_file(new_folder / MANIFEST_FILE, "\n".join(names))
            for name in names:
                if name not in site_names and (target_folder / name).exists():
                    raise click.ClickException(
                        f"{target_folder / name} is no file of the site, and a page wants its place"
                    )
            for name in site_names:
                os.rename(target_folder / name, old_folder / name)
            for name in [*names, MANIFEST_FILE]:
                os.rename(new_folder / name, target_folder / name)
    finally:
        if is_new and not any(target_folder.iterdir()):
            target_folder.rmdir()
