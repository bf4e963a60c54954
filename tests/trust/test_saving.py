"""A saved notebook is either the old one or the new one, whatever happens, and remains the same file."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from click import ClickException
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat.sign import MemorySignatureStore, NotebookNotary
from nbformat.v4 import new_markdown_cell, new_notebook

from minitape.cli.contents_manager import NotebookContentsMixin
from minitape.cli.save import write_notebook
from minitape.common.atomic_write import open_replacement_file

KILLED_WHILE_SAVING = """
import asyncio, os, signal, sys
import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from minitape.cli.contents_manager import NotebookContentsMixin

class Notebooks(NotebookContentsMixin, AsyncLargeFileManager):
    pass

def half(notebook, file, **options):
    text = nbformat.writes(notebook)
    file.write(text[: len(text) // 2])
    os.kill(os.getpid(), signal.SIGKILL)

manager = Notebooks(root_dir=sys.argv[1])
nbformat.write = half
cells = [nbformat.v4.new_markdown_cell("new " * 100_000)]
asyncio.run(manager.save({"type": "notebook", "content": nbformat.v4.new_notebook(cells=cells)}, "mine.ipynb"))
"""


class Notebooks(NotebookContentsMixin, AsyncLargeFileManager):
    """The contents manager that the server extension derives."""


def build_notebook(text="old"):
    return new_notebook(cells=[new_markdown_cell(text, id="only")])


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.ipynb"
    nbformat.write(build_notebook(), path)
    return path


def list_file_names(folder):
    return sorted(child.name for child in folder.iterdir() if child.name != ".ipynb_checkpoints")


def save_through_jupyterlab(path, text="new"):
    manager = Notebooks(
        root_dir=str(path.parent), notary=NotebookNotary(store_factory=MemorySignatureStore), parent=None
    )
    saving = manager.save({"type": "notebook", "content": build_notebook(text)}, path.name)
    with ThreadPoolExecutor(1) as elsewhere:  # An event loop may be running in this thread.
        elsewhere.submit(asyncio.run, saving).result()


def save_from_shell(path, text="new"):
    write_notebook(build_notebook(text), path)


both = pytest.mark.parametrize("save", [save_from_shell, save_through_jupyterlab])
posix = pytest.mark.skipif(os.name != "posix", reason="modes and links are those of POSIX")


@posix
@both
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_the_mode_stays(mine, save, mode):
    mine.chmod(mode)
    save(mine)
    assert stat.S_IMODE(mine.stat().st_mode) == mode
    assert "new" in mine.read_text() and list_file_names(mine.parent) == ["mine.ipynb"]


@posix
@both
def test_a_link_stays_one(mine, save, tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "link.ipynb"
    link.symlink_to("../mine.ipynb")
    save(link)
    assert link.is_symlink() and "new" in mine.read_text()
    assert list_file_names(folder) == ["link.ipynb"] and "mine.ipynb" in list_file_names(tmp_path)


@posix
def test_a_new_file_has_the_usual_mode(tmp_path):
    (tmp_path / "usual").touch()
    save_from_shell(tmp_path / "new.ipynb")
    assert (tmp_path / "new.ipynb").stat().st_mode == (tmp_path / "usual").stat().st_mode


@both
def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(mine, save, monkeypatch):
    before = mine.read_bytes()

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match="No space left on device"):
        save(mine)
    assert mine.read_bytes() == before and list_file_names(mine.parent) == ["mine.ipynb"]


def test_a_file_that_may_not_be_written_is_not_replaced(mine, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, how: False)  # Root may write everywhere.
    with pytest.raises(ClickException, match=r"cannot write .*mine\.ipynb: Permission denied"):
        save_from_shell(mine)
    assert "old" in mine.read_text()


def test_the_name_of_the_file_beside_it_cannot_be_known(mine):
    seen = set()
    for _ in range(3):
        with open_replacement_file(mine) as file:
            seen.add(file.name)
    assert len(seen) == 3


@posix
@pytest.mark.parametrize("character", ["n", "\u0436"])
def test_a_name_as_long_as_names_may_be(tmp_path, character):
    path = tmp_path / (character * (240 // len(character.encode())) + ".ipynb")
    save_from_shell(path)
    assert list_file_names(tmp_path) == [path.name]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_server_that_is_killed_while_it_saves_leaves_the_old_notebook(mine):
    before = mine.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_SAVING, str(mine.parent)], timeout=600, check=False)
    assert done.returncode == -signal.SIGKILL
    assert mine.read_bytes() == before
