"""A notebook whose parts have the wrong types opens in `minitape lab` as it does in JupyterLab."""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat.sign import MemorySignatureStore, NotebookNotary

from minitape.cli.check_notebooks import check_notebook
from minitape.cli.contents_manager import NotebookContentsMixin
from minitape.cli.lesson_files import list_notebook_files
from minitape.cli.notebook_rules import WIDGET_VIEW
from minitape.cli.server import _derive_class_with_mixin
from minitape.common.read_data import read_bytes


def notebook(language={"name": "python"}, source="import minitape", about={}, view=None):  # noqa: B006 - nobody changes them
    output = {
        "output_type": "display_data",
        "data": {"text/plain": "a", WIDGET_VIEW: {"model_id": "a"}},
        "metadata": about if view is None else {WIDGET_VIEW: view},
    }
    cells = [
        {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "source": "import minitape",
         "outputs": [output]},
        {"cell_type": "markdown", "id": "b", "metadata": {}, "source": source},
    ]  # fmt: skip
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": language}, "cells": cells}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_no_notebook(tmp_path):
    """A pipe is not listed, and a command for it fails at once, because reading it would never end."""
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "one.ipynb").write_text("{}")
    assert [path.name for path in list_notebook_files(tmp_path)] == ["one.ipynb"]
    result = check_notebook(tmp_path / "pipe.ipynb")
    assert (
        "pipe.ipynb is not a readable notebook" in result.failure_reason
        and "a pipe or a device" in result.failure_reason
    )
    for place in (tmp_path / "pipe.ipynb", tmp_path, "/dev/null"):
        with pytest.raises(OSError):
            read_bytes(place)


NOTEBOOKS = {
    "no language": notebook(language=None),
    "a language that is a text": notebook(language="python"),
    "a language that is a list": notebook(language=["python"]),
    "a cell without a text": notebook(source=None),
    "a cell that is a number": notebook(source=5),
    "an output without metadata": notebook(about=None),
    "metadata that are a list": notebook(about=[1]),
    "a view that is a list": notebook(view=[1]),
    "a view shown at no time": notebook(view={"shown": "yesterday"}),
}


@pytest.mark.filterwarnings("ignore")  # nbformat warns about the faults.
@pytest.mark.parametrize("what", NOTEBOOKS)
def test_it_opens(tmp_path, what):
    (tmp_path / "a.ipynb").write_text(json.dumps(NOTEBOOKS[what]))
    found = []
    for kind in (AsyncLargeFileManager, _derive_class_with_mixin(NotebookContentsMixin, AsyncLargeFileManager)):
        manager = kind(root_dir=str(tmp_path), notary=NotebookNotary(store_factory=MemorySignatureStore), parent=None)
        with ThreadPoolExecutor(1) as elsewhere:  # An event loop may be running in this thread.
            found.append(elsewhere.submit(asyncio.run, manager.get("a.ipynb")).result())
    assert [len(model["content"]["cells"]) for model in found] == [2, 2]
