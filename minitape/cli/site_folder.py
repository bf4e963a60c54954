"""Write a site to a folder in one step.

The old site remains until the new one is complete. Files that do not belong to a site are never changed.
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

MANIFEST_FILE = ".minitape-site"
"""The file that lists the files and folders of the site, one in each line."""
ALLOWED_FILE = "CNAME"
"""A file that publishers keep next to a site. Hidden files are also allowed."""


@contextmanager
def replace_site_folder(target_folder: Path) -> Iterator[Path]:
    """Yield an empty folder for a new site. When the block ends, the new site replaces the site in ``target_folder``.

    If the block raises an exception, ``target_folder`` stays unchanged.

    Args:
        target_folder: The folder of the site, which may not exist yet. Its hidden files and CNAME are kept.

    Yields:
        The folder for the new site.

    Raises:
        click.ClickException: If ``target_folder`` contains files that do not belong to a minitape site.
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
