"""How `minitape lab` hands notebooks to JupyterLab."""

from __future__ import annotations

from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from .rules import WIDGET_VIEW


class Notebooks(AsyncLargeFileManager):
    """The files of the server's folder; a notebook comes as JupyterLab can show it.

    It comes with what its kernel will say of the language. JupyterLab notes that in a notebook that it opens, and marks
    the notebook as changed where something else stood there. Lessons are saved without it, since it names the version
    of Python.

    What was saved before its kernel began comes without live widgets: JupyterLab would say "model not found" in place
    of the picture, or the text, that is saved beside each.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._alone: dict[str, Any] = {}  # notebook -> when that was saved which was read while no kernel ran for it

    async def get(self, path: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        """What JupyterLab is told of a file or folder: its contents manager's model of it."""
        model: dict[str, Any] = await super().get(path, *arguments, **options)
        if model["type"] == "notebook" and model["content"]:
            metadata = model["content"]["metadata"]
            if metadata.get("language_info", {}).get("name") == IPythonKernel.language_info["name"]:
                metadata["language_info"] = IPythonKernel.language_info
            if not await self._runs(path):
                self._alone[path] = model["last_modified"]
            if self._alone.get(path) == model["last_modified"]:
                _without_widgets(model["content"])
        return model

    async def _runs(self, path: str) -> bool:
        """Whether the server has a kernel for this notebook."""
        sessions = getattr(self.parent, "session_manager", None)
        return sessions is not None and bool(await sessions.session_exists(path.strip("/")))


def _without_widgets(notebook: Any) -> None:
    """Take the live view out of each output that can be shown without it."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if len(output.get("data", ())) > 1:
                output["data"].pop(WIDGET_VIEW, None)
