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
NAME = "minitape.cli.server"
Server: TypeAlias = Any  # Jupyter's: which class it is depends on how it was started


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": NAME}]


def _link_jupyter_server_extension(server: Server) -> None:
    """Called before the server makes its managers: choose their classes."""
    from jupyter_server.gateway.gateway_client import GatewayClient
    from jupyter_server.services.contents.manager import AsyncContentsManager
    from jupyter_server.services.sessions.sessionmanager import SessionManager

    from .contents import WithAdvice, WithNotebooks

    if issubclass(server.contents_manager_class, AsyncContentsManager):
        server.contents_manager_class = _with(WithNotebooks, server.contents_manager_class)
    else:
        kind = server.contents_manager_class.__name__
        server.log.warning(f"{NAME}: {kind} is not asynchronous; lessons are handed out as they are saved")
    server.gateway_config = GatewayClient.instance(
        parent=server
    )  # as the server does next; what it chooses depends on it
    remote = server.gateway_config.gateway_enabled  # kernels on another machine, where the startup file is not
    if issubclass(server.session_manager_class, SessionManager) and not remote:
        server.session_manager_class = _with(WithAdvice, server.session_manager_class)
    for app in server.extension_manager.extension_apps.get("jupyterlab", ()):
        _without_news(app)
        app.extra_labextensions_path = [*app.extra_labextensions_path, LAB_EXTENSIONS]


def _load_jupyter_server_extension(server: Server) -> None:
    """Called last: all is done by then."""
    server.log.info(f"{NAME} is on")


def _with(addition: type, kind: type) -> type:
    return kind if issubclass(kind, addition) else type(kind.__name__, (addition, kind), {})


def _without_news(lab: Server) -> None:
    """Keep JupyterLab from asking a server for news, unless its own settings name one."""
    from jupyterlab import NeverCheckForUpdate

    for trait, value in (("news_url", None), ("check_for_updates_class", NeverCheckForUpdate)):
        if trait not in lab.config.get(type(lab).__name__, {}):
            setattr(lab, trait, value)
