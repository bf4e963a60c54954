"""Read, write and run minitape's notebooks on a Jupyter server.

The `server` module adds the classes in this module to a server. Other notebooks are not affected.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import IO, Any

import psutil
from ipykernel.ipkernel import IPythonKernel

from ..common.atomic_write import open_replacement_file
from ..common.read_data import MAX_NOTEBOOK_SIZE, read_bytes
from ..engine.types import OptionalText, TextsByName
from .notebook_rules import LANGUAGE, WIDGET_VIEW, Notebook

# Jupyter Server defines the JSON format of a model.
ContentsModel = dict[str, Any]
"""A file or folder as Jupyter's server describes it."""
PACKAGE_NAME = "minitape"
STARTUP_FILE = Path(__file__).parents[1] / "course" / "startup.py"


class NotebookContentsMixin:
    """A contents manager mixin that serves minitape's notebooks in a form that JupyterLab can display.

    A notebook is served with the language information of its kernel. JupyterLab writes this information into every
    notebook it opens, and marks the notebook as changed if this differs from the saved information. Lessons are saved
    without language information, because it includes the Python version.

    A live widget is served only while the process that created the widget is running. Otherwise, JupyterLab would show
    "model not found", even after a kernel restart, so the widget's saved picture or text is served instead. minitape's
    widgets record when they were shown. All other widgets are assumed to have been shown when the notebook was saved.

    The mixin writes a new file next to the old file and then replaces the old file. JupyterLab, by contrast, makes a
    hidden copy and empties the old file first, so a server that stops at that moment leaves an empty file behind.
    """

    @contextmanager
    # Depending on the mode, the file contains str or bytes.
    def atomic_writing(self, os_path: str, *args: Any, **kwargs: Any) -> Iterator[IO[Any]]:
        """Open a new file that replaces the old file at the end of the block.

        JupyterLab's own method is used if the file is not a notebook, or if no file can be created next to it.

        Args:
            os_path: The path of the file.
            args: Positional arguments for `open`.
            kwargs: Keyword arguments for `open`.
        """
        # Type checkers cannot know that the next class in the method resolution order is a contents manager.
        manager: Any = super()
        folder = os.path.dirname(os.path.realpath(os_path))
        if manager.use_atomic_writing and os.access(folder, os.W_OK) and os_path.endswith(".ipynb"):
            with manager.perm_to_403(os_path), open_replacement_file(Path(os_path), *args, **kwargs) as file:
                yield file
        else:
            with manager.atomic_writing(os_path, *args, **kwargs) as file:
                yield file

    async def get(self, path: str, *arguments: object, **options: object) -> ContentsModel:
        """Return the model of a file or folder, adapted if it is one of minitape's notebooks.

        Args:
            path: The path on the server.
            arguments: Other positional arguments of the contents manager.
            options: Other keyword arguments of the contents manager.
        """
        # Type checkers cannot know that the next class in the method resolution order is a contents manager.
        manager: Any = super()
        model: ContentsModel = await manager.get(path, *arguments, **options)
        # A malformed notebook is served unchanged, because JupyterLab can display it.
        with suppress(AttributeError, KeyError, TypeError):
            if model["type"] == "notebook" and model["content"] and is_minitape_notebook(model["content"]):
                metadata = model["content"]["metadata"]
                if metadata.get("language_info", {}).get("name") == IPythonKernel.language_info["name"]:
                    metadata["language_info"] = IPythonKernel.language_info
                _remove_stale_widget_views(
                    model["content"], await self._find_kernel_start_time(path), model["last_modified"].timestamp()
                )
        return model

    async def _find_kernel_start_time(self, notebook_path: str) -> float:
        """Return the start time of a notebook's kernel: infinity if it has none, 0 if the time is unknown."""
        # The parent is the object that created the manager. Its class is unknown.
        server: Any = getattr(self, "parent", None)
        if server is None or not await server.session_manager.session_exists(notebook_path.strip("/")):
            return inf
        session = await server.session_manager.get_session(path=notebook_path.strip("/"))
        kernel = server.kernel_manager.get_kernel(session["kernel"]["id"])
        try:
            return psutil.Process(kernel.provisioner.pid).create_time()
        except (AttributeError, psutil.Error):  # The kernel is running on a different machine or has just exited.
            return 0.0


class KernelAdviceMixin:
    """A session manager mixin that makes the kernels of minitape's notebooks add advice to each NameError.

    The advice helps learners who resume a lesson in the middle, before any cell has imported minitape.
    """

    def get_kernel_env(self, path: OptionalText, name: OptionalText = None) -> TextsByName:
        """Return the environment variables for a notebook's kernel. A startup file set by the user is kept.

        Args:
            path: The notebook's path on the server.
            name: The session's name.
        """
        # Type checkers cannot know that the next class in the method resolution order is a session manager.
        manager: Any = super()
        variables: TextsByName = manager.get_kernel_env(path, name)
        if is_minitape_notebook_file(Path(variables["JPY_SESSION_NAME"])):
            variables.setdefault("PYTHONSTARTUP", str(STARTUP_FILE))
        return variables


def is_minitape_notebook(notebook: Notebook) -> bool:
    """Return whether a notebook uses minitape.

    A notebook uses minitape if a cell mentions minitape, or if `minitape save` saved the notebook. The glossary is such
    a notebook.

    >>> is_minitape_notebook({"cells": [{"source": "import minitape as tf"}], "metadata": {}})
    True
    >>> language = {"name": "python", "version": "3"}
    >>> is_minitape_notebook({"cells": [{"source": "import numpy"}], "metadata": {"language_info": language}})
    False

    Args:
        notebook: The notebook as a dictionary.
    """
    has_name = any(PACKAGE_NAME in cell["source"] for cell in notebook["cells"])
    return has_name or notebook["metadata"].get("language_info") == LANGUAGE


def is_minitape_notebook_file(path: Path) -> bool:
    """Return whether a file is a notebook that mentions minitape.

    Args:
        path: The path of the file. The file may be missing, and the notebook may be incomplete.
    """
    try:
        return path.suffix == ".ipynb" and PACKAGE_NAME.encode() in read_bytes(path, MAX_NOTEBOOK_SIZE)
    except (OSError, ValueError):
        return False


def _remove_stale_widget_views(notebook: Notebook, kernel_start_time: float, saved_time: float) -> None:
    """Remove live views that are older than the kernel if their output can be shown without them."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            shown_time = output.get("metadata", {}).get(WIDGET_VIEW, {}).get("shown", saved_time)
            if len(output.get("data", ())) > 1 and shown_time < kernel_start_time:
                output["data"].pop(WIDGET_VIEW, None)
