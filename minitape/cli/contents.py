"""How `minitape lab` hands notebooks to JupyterLab."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import psutil
from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from .rules import WIDGET_VIEW
from .writing import replacing

if TYPE_CHECKING:
    from .rules import Notebook

Model: TypeAlias = dict[str, Any]  # of a file or folder, as JupyterLab's server describes it


class Notebooks(AsyncLargeFileManager):
    """The files of the server's folder; a notebook comes as JupyterLab can show it.

    It comes with what its kernel will say of the language. JupyterLab notes that in a notebook that it opens, and marks
    the notebook as changed where something else stood there. Lessons are saved without it, since it names the version
    of Python.

    A live widget comes only where the process that made it still runs: in the place of another one, also after a
    restart of the kernel, JupyterLab would say "model not found". There the picture or the text that is saved beside
    it is shown. minitape's widgets note when they were shown; another one was shown before it was saved.

    A file is written beside the old one, which it then replaces. JupyterLab's own way empties the old one first and
    keeps a copy of it meanwhile, so that a server that is ended then leaves an empty file and a hidden copy.
    """

    @contextmanager
    def atomic_writing(self, os_path: str, *args: Any, **kwargs: Any) -> Iterator[IO[Any]]:  # of str or bytes: as is said to who opens it
        """A file to write to; where no other may be made beside it, it is written in JupyterLab's way."""
        folder = os.path.dirname(os.path.realpath(os_path))
        if not self.use_atomic_writing or not os.access(folder, os.W_OK):
            with super().atomic_writing(os_path, *args, **kwargs) as file:
                yield file
        else:
            with self.perm_to_403(os_path), replacing(Path(os_path), *args, **kwargs) as file:
                yield file

    async def get(self, path: str, *arguments: object, **options: object) -> Model:
        """What JupyterLab is told of a file or folder: its contents manager's model of it."""
        model: Model = await super().get(path, *arguments, **options)
        if model["type"] == "notebook" and model["content"]:
            metadata = model["content"]["metadata"]
            if metadata.get("language_info", {}).get("name") == IPythonKernel.language_info["name"]:
                metadata["language_info"] = IPythonKernel.language_info
            _without_widgets(model["content"], await self._begun(path), model["last_modified"].timestamp())
        return model

    async def _begun(self, path: str) -> float:
        """When the process began that is the kernel of this notebook: never where there is none."""
        server = self.parent
        if server is None or not await server.session_manager.session_exists(path.strip("/")):
            return math.inf
        session = await server.session_manager.get_session(path=path.strip("/"))
        kernel = server.kernel_manager.get_kernel(session["kernel"]["id"])
        try:
            return psutil.Process(kernel.provisioner.pid).create_time()
        except (AttributeError, psutil.Error):  # it runs on another machine, or has just ended
            return 0.0


def _without_widgets(notebook: Notebook, begun: float, saved: float) -> None:
    """Take older live views out of the outputs that can be shown without them."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            shown = output.get("metadata", {}).get(WIDGET_VIEW, {}).get("shown", saved)
            if len(output.get("data", ())) > 1 and shown < begun:
                output["data"].pop(WIDGET_VIEW, None)
