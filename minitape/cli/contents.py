"""How `minitape lab` hands notebooks to JupyterLab."""

from __future__ import annotations

from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager


class Notebooks(AsyncLargeFileManager):
    """The files of the server's folder; a notebook comes with what its kernel will say of the language.

    JupyterLab notes that in a notebook that it opens, and marks the notebook as changed where something else stood
    there. Lessons are saved without it, since it names the version of Python.
    """

    async def get(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """What JupyterLab is told of a file or folder: its contents manager's model of it."""
        model: dict[str, Any] = await super().get(*arguments, **options)
        if model["type"] == "notebook" and model["content"]:
            metadata = model["content"]["metadata"]
            if metadata.get("language_info", {}).get("name") == IPythonKernel.language_info["name"]:
                metadata["language_info"] = IPythonKernel.language_info
        return model
