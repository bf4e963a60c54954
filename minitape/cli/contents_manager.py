"""How a Jupyter server that `server` was added to reads, writes and runs minitape's notebooks; it leaves all others
alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import psutil
from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from ..common.atomic_write import open_replacement_file
from ..common.read_data import MAX_NOTEBOOK_SIZE, read_bytes
from .notebook_rules import LANGUAGE, WIDGET_VIEW

if TYPE_CHECKING:
    from .notebook_rules import Notebook

ContentsModel: TypeAlias = dict[str, Any]  # of a file or folder, as JupyterLab's server describes it
PACKAGE_NAME = "minitape"
STARTUP_FILE = Path(__file__).parents[1] / "course" / "startup.py"


class NotebookContentsMixin:
    """Put before a contents manager: minitape's notebooks come as JupyterLab can show them.

    A notebook comes with what its kernel will say of the language. JupyterLab notes that in a notebook that it opens,
    and marks the notebook as changed where something else was written there. Lessons are saved without it, since it
    names the version of Python.

    A live widget comes only where the process that made it still runs: in the place of another one, also after a
    restart of the kernel, JupyterLab would say "model not found". There the picture or the text that is saved beside
    it is shown. minitape's widgets note when they were shown; another one was shown before it was saved.

    A file is written beside the old one, which it then replaces. JupyterLab's own way empties the old one first and
    keeps a copy of it meanwhile, so that a server that is ended then leaves an empty file and a hidden copy.
    """

    @contextmanager
    # of str or bytes: as is said to who opens it
    def atomic_writing(self, os_path: str, *args: Any, **kwargs: Any) -> Iterator[IO[Any]]:
        """Open a file to write to. Where no file can be made next to it, it is written in JupyterLab's manner."""
        manager: Any = super()  # the contents or session manager that this comes before
        folder = os.path.dirname(os.path.realpath(os_path))
        if manager.use_atomic_writing and os.access(folder, os.W_OK) and os_path.endswith(".ipynb"):
            with manager.perm_to_403(os_path), open_replacement_file(Path(os_path), *args, **kwargs) as file:
                yield file
        else:
            with manager.atomic_writing(os_path, *args, **kwargs) as file:
                yield file

    async def get(self, path: str, *arguments: object, **options: object) -> ContentsModel:
        """Return the model of a file or folder that JupyterLab gets."""
        manager: Any = super()  # the contents or session manager that this comes before
        model: ContentsModel = await manager.get(path, *arguments, **options)
        # a part of it is of another kind than in notebooks: JupyterLab bears that
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
        """Return when the kernel of a notebook started: infinity where it has none, 0 where that is not known."""
        server: Any = getattr(self, "parent", None)  # whatever made the manager
        if server is None or not await server.session_manager.session_exists(notebook_path.strip("/")):
            return math.inf
        session = await server.session_manager.get_session(path=notebook_path.strip("/"))
        kernel = server.kernel_manager.get_kernel(session["kernel"]["id"])
        try:
            return psutil.Process(kernel.provisioner.pid).create_time()
        except (AttributeError, psutil.Error):  # it runs on another machine, or has just ended
            return 0.0


class Notebooks(NotebookContentsMixin, AsyncLargeFileManager):  # type: ignore[misc]  # its own bases differ
    """Jupyter's own contents manager with that."""


class KernelAdviceMixin:
    """Put before a session manager: the kernel of a notebook of minitape's gives advice with each NameError.

    It helps a learner who continues in the middle of a lesson the next day, before a cell imported minitape.
    """

    def get_kernel_env(self, path: str | None, name: str | None = None) -> dict[str, str]:
        """Return the environment variables of a notebook's kernel; a startup file of the user's own is left there."""
        manager: Any = super()  # the contents or session manager that this comes before
        variables: dict[str, str] = manager.get_kernel_env(path, name)
        if is_minitape_notebook_file(Path(variables["JPY_SESSION_NAME"])):
            variables.setdefault("PYTHONSTARTUP", str(STARTUP_FILE))
        return variables


def is_minitape_notebook(notebook: Notebook) -> bool:
    """Return whether a notebook names minitape in a cell, or is as `minitape save` left it: such as the glossary.

    >>> is_minitape_notebook({"cells": [{"source": "import minitape as tf"}], "metadata": {}})
    True
    >>> language = {"name": "python", "version": "3"}
    >>> is_minitape_notebook({"cells": [{"source": "import numpy"}], "metadata": {"language_info": language}})
    False
    """
    has_name = any(PACKAGE_NAME in cell["source"] for cell in notebook["cells"])
    return has_name or notebook["metadata"].get("language_info") == LANGUAGE


def is_minitape_notebook_file(path: Path) -> bool:
    """Return whether a file is a notebook that names minitape. It need not be whole."""
    try:
        return path.suffix == ".ipynb" and PACKAGE_NAME.encode() in read_bytes(path, MAX_NOTEBOOK_SIZE)
    except (OSError, ValueError):
        return False


def _remove_stale_widget_views(notebook: Notebook, kernel_start_time: float, saved_time: float) -> None:
    """Take older live views out of the outputs that can be shown without them."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            shown_time = output.get("metadata", {}).get(WIDGET_VIEW, {}).get("shown", saved_time)
            if len(output.get("data", ())) > 1 and shown_time < kernel_start_time:
                output["data"].pop(WIDGET_VIEW, None)
