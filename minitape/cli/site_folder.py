"""Replace the site in a folder in one step.

The old site remains in place until the new site is complete. Files that do not belong to a site are never changed.

A new site is built in a hidden folder next to the old site. Then the files of the two sites swap places. If an error
interrupts the exchange, it is undone. If the process is killed, the next build removes what is left of both sites.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp

from click import ClickException

from ..common.atomic_write import write_file
from ..common.read_data import read_text
from ..engine.types import NameSet

MANIFEST_FILE = ".minitape-site"
"""The file that lists the files and folders of the site, one in each line."""
ALLOWED_FILE = "CNAME"
"""A file that publishers keep next to a site. Hidden files are also allowed."""


@contextmanager
def replace_site_folder(target_folder: Path) -> Iterator[Path]:
    """Yield an empty folder for a new site. When the block ends, the new site replaces the site in ``target_folder``.

    If the block raises an exception, ``target_folder`` remains unchanged. Only one process at a time may replace a
    site.

    Args:
        target_folder: The folder of the site, which may not exist yet. Its hidden files and CNAME are kept.

    Yields:
        The folder for the new site.

    Raises:
        click.ClickException: If ``target_folder`` contains files that do not belong to a minitape site.
        OSError: If a file cannot be written or moved.
    """
    is_new = not target_folder.exists()
    _remove_scratch_folders(target_folder)
    old_names = _list_site_names(target_folder)
    target_folder.mkdir(parents=True, exist_ok=True)
    try:
        scratch_folder = Path(mkdtemp(prefix=f"{MANIFEST_FILE}-", dir=target_folder))
        new_folder = scratch_folder / "new"
        new_folder.mkdir()
        yield new_folder
        new_names = {path.name for path in new_folder.iterdir()}
        for name in sorted(new_names - old_names):
            if (target_folder / name).exists():
                raise ClickException(
                    f"{target_folder / name} does not belong to the site, but a page needs the same path"
                )
        _exchange_sites(target_folder, scratch_folder, old_names, new_names)
    finally:
        _remove_scratch_folders(target_folder)
        if is_new and not any(target_folder.iterdir()):
            target_folder.rmdir()


def _exchange_sites(target_folder: Path, scratch_folder: Path, old_names: NameSet, new_names: NameSet) -> None:
    """Move the old site away and the new site into its place.

    Raises:
        OSError: If a file cannot be moved. In that case, the old site has been restored.
    """
    old_folder = scratch_folder / "old"
    old_folder.mkdir()
    moves = [(target_folder / name, old_folder / name) for name in sorted(old_names)]
    moves += [(scratch_folder / "new" / name, target_folder / name) for name in sorted(new_names)]
    # The manifest first lists the files of both sites, in case the process is killed during the exchange.
    _write_manifest(target_folder, old_names | new_names)
    with ExitStack() as undo:  # An error runs these calls in reverse order.
        undo.callback(_write_manifest, target_folder, old_names)
        for source, destination in moves:
            os.rename(source, destination)
            undo.callback(os.rename, destination, source)
        _write_manifest(target_folder, new_names)
        undo.pop_all()


def _write_manifest(target_folder: Path, names: Iterable[str]) -> None:
    write_file(target_folder / MANIFEST_FILE, "\n".join(sorted(names)))


def _list_site_names(target_folder: Path) -> NameSet:
    """Return the names of the site's files and folders, except the manifest. The folder may be missing.

    Raises:
        click.ClickException: If the folder contains files that do not belong to a minitape site.
    """
    names = {path.name for path in target_folder.iterdir()} if target_folder.exists() else set()
    if MANIFEST_FILE in names:
        return names & {*read_text(target_folder / MANIFEST_FILE).splitlines()} - {MANIFEST_FILE}
    if foreign_names := sorted(name for name in names if name != ALLOWED_FILE and not name.startswith(".")):
        raise ClickException(
            f"{target_folder} contains files that do not belong to a site, such as {foreign_names[0]}; choose a "
            "different folder"
        )
    return set()


def _remove_scratch_folders(target_folder: Path) -> None:
    """Remove the hidden folders of this build and of builds that were killed."""
    for scratch_folder in target_folder.glob(f"{MANIFEST_FILE}-*"):
        if not scratch_folder.is_symlink():
            shutil.rmtree(scratch_folder, ignore_errors=True)
