"""Replace the site in a folder in one step.

The old site remains in place until the new site is complete. Files that do not belong to a site are never changed.

A new site is built in a hidden folder next to the old site. The names of the files in both folders are then written to
a journal, and the files swap places. If an error interrupts the exchange, it is undone. If the process is killed during
the exchange, the next build finds the journal and completes the exchange. The function also removes the hidden folders
of builds that were killed.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from ..common.atomic_write import hold_marker_file, is_abandoned, write_file
from ..common.read_data import read_json, read_text

MANIFEST_FILE = ".minitape-site"
"""The file that lists the files and folders of the site, one in each line."""
ALLOWED_FILE = "CNAME"
"""A file that publishers keep next to a site. Hidden files are also allowed."""
MARKER_FILE = "in-use"
"""A file in the hidden folder of a build, which is marked while the build runs."""
JOURNAL_FILE = "swap.json"


@dataclass(frozen=True)
class SiteSwap:
    """The exchange of an old site for a new one.

    Every step can be repeated, so an interrupted exchange can be completed or undone.

    Attributes:
        target_folder: The folder of the site.
        scratch_folder: The hidden folder with the new site in ``new``. The old site is moved to ``old``.
    """

    target_folder: Path
    scratch_folder: Path

    @property
    def new_folder(self) -> Path:
        """The folder of the new site."""
        return self.scratch_folder / "new"

    @property
    def old_folder(self) -> Path:
        """The folder to which the old site is moved."""
        return self.scratch_folder / "old"

    @property
    def journal_file(self) -> Path:
        """The file that exists from the first to the last step of the exchange."""
        return self.scratch_folder / JOURNAL_FILE

    def write_journal(self, old_names: list[str], new_names: list[str]) -> None:
        """Write the journal.

        Args:
            old_names: The names of the old site's files and folders.
            new_names: The names of the new site's files and folders.
        """
        write_file(self.journal_file, json.dumps({"old": old_names, "new": new_names}))

    def complete_exchange(self) -> None:
        """Move the old site away and the new one into its place. Files that have already been moved are skipped."""
        old_names, new_names = self._read_journal()
        for name in old_names:
            if not os.path.lexists(self.old_folder / name):
                os.rename(self.target_folder / name, self.old_folder / name)
        for name in new_names:
            if os.path.lexists(self.new_folder / name):
                os.rename(self.new_folder / name, self.target_folder / name)
        self.journal_file.unlink()

    def undo_exchange(self) -> None:
        """Move the old site back into its place."""
        old_names, new_names = self._read_journal()
        for name in new_names:
            is_placed = not os.path.lexists(self.new_folder / name)
            if is_placed:
                os.rename(self.target_folder / name, self.new_folder / name)
        for name in old_names:
            if os.path.lexists(self.old_folder / name):
                os.rename(self.old_folder / name, self.target_folder / name)
        self.journal_file.unlink()

    def _read_journal(self) -> tuple[list[str], list[str]]:
        """Return the names of the old site's and the new site's files and folders.

        Raises:
            OSError: If the journal cannot be read or is not a journal. The journal may come from a stranger, together
                with the site's folder, so it must not move other files.
        """
        try:
            journal = read_json(self.journal_file)
            names = [*journal["old"], *journal["new"]]
            is_safe = all(Path(name).name == name not in ("", "..") for name in names)
        except (KeyError, TypeError, ValueError):
            is_safe = False
        if not is_safe or self.old_folder.is_symlink() or self.new_folder.is_symlink():
            raise OSError(errno.EINVAL, "is not a minitape journal; remove its folder", str(self.journal_file))
        return journal["old"], journal["new"]

    def exchange_sites(self, old_names: list[str], new_names: list[str]) -> None:
        """Exchange the sites.

        Args:
            old_names: The names of the old site's files and folders.
            new_names: The names of the new site's files and folders.

        Raises:
            OSError: If a file cannot be moved. In that case, the old site has been restored.
        """
        self.write_journal(old_names, new_names)
        try:
            self.complete_exchange()
        except BaseException:
            # If this fails as well, the journal remains, and the next build completes the exchange.
            with suppress(OSError):
                if self.journal_file.exists():
                    self.undo_exchange()
            raise


@contextmanager
def replace_site_folder(target_folder: Path) -> Iterator[Path]:
    """Yield an empty folder for a new site. When the block ends, the new site replaces the site in ``target_folder``.

    If the block raises an exception, ``target_folder`` remains unchanged.

    Args:
        target_folder: The folder of the site, which may not exist yet. Its hidden files and CNAME are kept.

    Yields:
        The folder for the new site.

    Raises:
        click.ClickException: If ``target_folder`` contains files that do not belong to a minitape site.
        OSError: If a file cannot be written or moved.
    """
    is_new = not target_folder.exists()
    if not is_new:
        _recover_abandoned_builds(target_folder)
    site_names = _list_site_names(target_folder)
    target_folder.mkdir(parents=True, exist_ok=True)
    try:
        with _create_scratch_folder(target_folder) as scratch_folder:
            swap = SiteSwap(target_folder, scratch_folder)
            swap.new_folder.mkdir()
            swap.old_folder.mkdir()
            yield swap.new_folder
            names = sorted(path.name for path in swap.new_folder.iterdir())
            write_file(swap.new_folder / MANIFEST_FILE, "\n".join(names))
            for name in names:
                if name not in site_names and (target_folder / name).exists():
                    raise click.ClickException(
                        f"{target_folder / name} does not belong to the site, but a page needs the same path"
                    )
            swap.exchange_sites(sorted(site_names), [*names, MANIFEST_FILE])
    finally:
        if is_new and not any(target_folder.iterdir()):
            target_folder.rmdir()


def _list_site_names(target_folder: Path) -> set[str]:
    """Return the names of the site's files and folders. The folder may be missing.

    Raises:
        click.ClickException: If the folder contains files that do not belong to a minitape site.
    """
    names = {path.name for path in target_folder.iterdir()} if target_folder.exists() else set()
    if MANIFEST_FILE in names:
        return names & {MANIFEST_FILE, *read_text(target_folder / MANIFEST_FILE).splitlines()}
    if foreign_names := sorted(name for name in names if name != ALLOWED_FILE and not name.startswith(".")):
        raise click.ClickException(
            f"{target_folder} contains files that do not belong to a site, such as {foreign_names[0]}; choose a "
            "different folder"
        )
    return set()


@contextmanager
def _create_scratch_folder(target_folder: Path) -> Iterator[Path]:
    """Create a hidden folder, which is removed at the end unless it contains a journal."""
    scratch_folder = Path(tempfile.mkdtemp(prefix=f"{MANIFEST_FILE}-", dir=target_folder))
    try:
        with hold_marker_file(scratch_folder / MARKER_FILE):
            yield scratch_folder
    finally:
        if not (scratch_folder / JOURNAL_FILE).exists():
            shutil.rmtree(scratch_folder, ignore_errors=True)


def _recover_abandoned_builds(target_folder: Path) -> None:
    """Complete the exchange of a build that was killed and remove the hidden folders of killed builds.

    Raises:
        OSError: If an exchange cannot be completed.
    """
    for scratch_folder in target_folder.glob(f"{MANIFEST_FILE}-*"):
        if scratch_folder.is_symlink() or not scratch_folder.is_dir() or _is_in_use(scratch_folder):
            continue
        if (scratch_folder / JOURNAL_FILE).exists():
            SiteSwap(target_folder, scratch_folder).complete_exchange()
        shutil.rmtree(scratch_folder, ignore_errors=True)


def _is_in_use(scratch_folder: Path) -> bool:
    """Return whether the build that created a hidden folder is still running."""
    marker_path = scratch_folder / MARKER_FILE
    try:
        if not is_abandoned(marker_path):
            return True
        marker_path.unlink()
    except FileNotFoundError:  # The build was killed before it created the file, or while it was removing its folder.
        return False
    except PermissionError:  # Windows does not remove a file that is open.
        return True
    return False
