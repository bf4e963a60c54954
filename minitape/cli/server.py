"""The extension of Jupyter's server that installing minitape switches on: for `minitape lab`, on a hub, and everywhere
else.

It fixes five things for notebooks that use minitape, and leaves other notebooks alone:

- JupyterLab marks a lesson as changed when it is merely opened;
- on the second day Python says "name is not defined" without saying which cells to run;
- after a reload JupyterLab says "model not found" in the place of a picture;
- a cell that is run while JupyterLab still loads has it start two kernels, and end one;
- where the start of a kernel fails, no picture is shown after the next start either.

The last two happen in the browser: ``jupyterlab_extensions`` holds an extension of JupyterLab, whose source is in
``widgets/frontend/lab``.

It also keeps JupyterLab from asking another machine for news and for newer versions. That JupyterLab does not ask the
learner whether it may is a setting, which the wheel puts beside JupyterLab's own: ``jupyterlab_settings/overrides.d``.

Off again: ``jupyter server extension disable minitape.cli.server``, with ``--user`` where the environment is not yours.
What the server's own settings say comes first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

LAB_EXTENSIONS = str(Path(__file__).with_name("jupyterlab_extensions"))
EXTENSION_NAME = "minitape.cli.server"
Server: TypeAlias = Any  # Jupyter's: which class it is depends on how it was started


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": EXTENSION_NAME}]


def _link_jupyter_server_extension(server: Server) -> None:
    """Choose the classes of the server's managers, before it creates them."""
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
    server.gateway_config = GatewayClient.instance(
        parent=server
    )  # as the server does next; what it chooses depends on it
    is_remote = server.gateway_config.gateway_enabled  # kernels on another machine, where the startup file is not
    if issubclass(server.session_manager_class, SessionManager) and not is_remote:
        server.session_manager_class = _derive_class_with_mixin(KernelAdviceMixin, server.session_manager_class)
    for app in server.extension_manager.extension_apps.get("jupyterlab", ()):
        _disable_news(app)
        app.extra_labextensions_path = [*app.extra_labextensions_path, LAB_EXTENSIONS]


def _load_jupyter_server_extension(server: Server) -> None:
    """Log that the extension is on: the server calls this last."""
    server.log.info(f"{EXTENSION_NAME} is on")


def _derive_class_with_mixin(mixin: type, base_class: type) -> type:
    """Return a subclass of ``base_class`` with the mixin before it, or ``base_class`` where it has that already."""
    return base_class if issubclass(base_class, mixin) else type(base_class.__name__, (mixin, base_class), {})


def _disable_news(lab_app: Server) -> None:
    """Keep JupyterLab from asking a server for news, unless its own settings name one."""
    from jupyterlab import NeverCheckForUpdate

    for trait, value in (("news_url", None), ("check_for_updates_class", NeverCheckForUpdate)):
        if trait not in lab_app.config.get(type(lab_app).__name__, {}):
            setattr(lab_app, trait, value)
