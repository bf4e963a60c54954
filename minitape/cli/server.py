"""The extension of Jupyter's server that is enabled when minitape is installed.

It runs under `minitape lab`, on JupyterHub and in every other Jupyter server. It solves five problems of notebooks that
use minitape, and does not affect other notebooks:

- JupyterLab marks a lesson as changed when the lesson is only opened.
- On the second day, Python reports that a name is not defined, without naming the cells to run.
- After a reload, JupyterLab shows "model not found" instead of a picture.
- If a cell is run while JupyterLab still loads, JupyterLab starts two kernels and ends one of them.
- If the start of a kernel fails, pictures stay empty even after the next start.

The last two problems arise in the browser. ``jupyterlab_extensions`` contains an extension of JupyterLab that solves
them. Its source is in ``widgets/frontend/lab``.

The extension also stops JupyterLab from fetching news and looking for newer versions on other machines. JupyterLab
would still ask the learner for permission. A setting prevents that; the wheel installs it next to JupyterLab's own
settings, from ``jupyterlab_settings/overrides.d``.

To disable the extension, type ``jupyter server extension disable minitape.cli.server``. Add ``--user`` if the
environment belongs to another user. The server's own settings take precedence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

LAB_EXTENSIONS = str(Path(__file__).with_name("jupyterlab_extensions"))
EXTENSION_NAME = "minitape.cli.server"
# The class of the server depends on how it was started.
Server: TypeAlias = Any
"""Jupyter's server."""


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": EXTENSION_NAME}]


def _link_jupyter_server_extension(server: Server) -> None:
    """Set the classes of the server's managers, before the server creates them."""
    from jupyter_server.gateway.gateway_client import GatewayClient
    from jupyter_server.services.contents.manager import AsyncContentsManager
    from jupyter_server.services.sessions.sessionmanager import SessionManager

    from .contents_manager import KernelAdviceMixin, NotebookContentsMixin

    if issubclass(server.contents_manager_class, AsyncContentsManager):
        server.contents_manager_class = _derive_class_with_mixin(NotebookContentsMixin, server.contents_manager_class)
    else:
        class_name = server.contents_manager_class.__name__
        server.log.warning(
            f"{EXTENSION_NAME}: {class_name} is not asynchronous; lessons are handed out as they are saved"
        )
    # The server sets this next. It is needed now, because its classes depend on it.
    server.gateway_config = GatewayClient.instance(parent=server)
    is_remote = server.gateway_config.gateway_enabled  # Kernels on another machine do not have the startup file.
    if issubclass(server.session_manager_class, SessionManager) and not is_remote:
        server.session_manager_class = _derive_class_with_mixin(KernelAdviceMixin, server.session_manager_class)
    for app in server.extension_manager.extension_apps.get("jupyterlab", ()):
        _disable_news(app)
        app.extra_labextensions_path = [*app.extra_labextensions_path, LAB_EXTENSIONS]


def _load_jupyter_server_extension(server: Server) -> None:
    """Log that the extension is enabled. The server calls this function last."""
    server.log.info(f"{EXTENSION_NAME} is on")


def _derive_class_with_mixin(mixin: type, base_class: type) -> type:
    """Return a subclass of ``base_class`` with the mixin, or ``base_class`` itself if it has the mixin already."""
    return base_class if issubclass(base_class, mixin) else type(base_class.__name__, (mixin, base_class), {})


def _disable_news(lab_app: Server) -> None:
    """Keep JupyterLab from fetching news and updates, unless its own settings name a server."""
    from jupyterlab import NeverCheckForUpdate

    for trait, value in (("news_url", None), ("check_for_updates_class", NeverCheckForUpdate)):
        if trait not in lab_app.config.get(type(lab_app).__name__, {}):
            setattr(lab_app, trait, value)
