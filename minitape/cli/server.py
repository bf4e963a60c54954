"""Define the Jupyter Server extension that is enabled when minitape is installed.

The extension runs under `minitape lab`, on JupyterHub and in every other Jupyter server. It solves five problems with
notebooks that use minitape, and does not affect other notebooks:

- JupyterLab marks a lesson as changed as soon as the lesson is opened.
- When a learner resumes a lesson, Python reports undefined names without naming the cells to run.
- After a page reload, JupyterLab shows "model not found" instead of a picture.
- If a cell is run while JupyterLab is still loading, JupyterLab starts two kernels and terminates one of them.
- If a kernel fails to start, pictures remain empty even after the next successful start.

The last two problems arise in the browser. The JupyterLab extension in ``jupyterlab_extensions`` solves them. Its
source is in ``widgets/frontend/lab``.

The server extension also stops JupyterLab from fetching news and looking for newer versions on other machines.
A setting in ``jupyterlab_settings/overrides.d`` prevents JupyterLab from asking the learner for permission to do so.
The wheel installs that file next to JupyterLab's own settings.

To disable the extension, run ``jupyter server extension disable minitape.cli.server``, with ``--user`` if the
environment belongs to another user. The server's own settings take precedence.
"""

from pathlib import Path
from typing import Any

from ..engine.types import TextsByName

LAB_SETTINGS_FOLDER = Path(__file__).with_name("jupyterlab_settings")
LAB_EXTENSIONS = str(Path(__file__).with_name("jupyterlab_extensions"))
EXTENSION_NAME = "minitape.cli.server"
# The server's class depends on how the server was started.
Server = Any
"""Jupyter's server."""


def _jupyter_server_extension_points() -> list[TextsByName]:
    return [{"module": EXTENSION_NAME}]


def _link_jupyter_server_extension(server: Server) -> None:
    """Set the server's manager classes before the server creates its managers."""
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
    # The server would set this attribute next, but the choice of classes already depends on it.
    server.gateway_config = GatewayClient.instance(parent=server)
    is_remote = server.gateway_config.gateway_enabled  # Kernels on other machines do not have the startup file.
    if issubclass(server.session_manager_class, SessionManager) and not is_remote:
        server.session_manager_class = _derive_class_with_mixin(KernelAdviceMixin, server.session_manager_class)
    for app in server.extension_manager.extension_apps.get("jupyterlab", ()):
        _disable_news_and_update_checks(app)
        app.extra_labextensions_path = [*app.extra_labextensions_path, LAB_EXTENSIONS]


def _load_jupyter_server_extension(server: Server) -> None:
    """Log that the extension is enabled. This is the last function that the server calls."""
    server.log.info(f"{EXTENSION_NAME} is on")


def _derive_class_with_mixin(mixin: type, base_class: type) -> type:
    """Return a subclass of ``base_class`` with the mixin, or ``base_class`` itself if it already has the mixin."""
    return base_class if issubclass(base_class, mixin) else type(base_class.__name__, (mixin, base_class), {})


def _disable_news_and_update_checks(lab_app: Server) -> None:
    """Stop JupyterLab from fetching news and updates unless its own settings name a server."""
    from jupyterlab import NeverCheckForUpdate

    for trait, value in (("news_url", None), ("check_for_updates_class", NeverCheckForUpdate)):
        if trait not in lab_app.config.get(type(lab_app).__name__, {}):
            setattr(lab_app, trait, value)
