"""The extension of Jupyter's server that installing minitape switches on: for `minitape lab`, on a hub, and everywhere else.

It mends four things for notebooks that use minitape, and leaves other notebooks alone:

- JupyterLab marks a lesson as changed when it is merely opened;
- on the second day Python says "name is not defined" without saying which cells to run;
- after a reload JupyterLab says "model not found" in the place of a picture;
- pages that are exported link to notebooks, where no page is.

It also switches off JupyterLab's box about news, and its question to another machine whether there is a newer version.

Off again: ``jupyter server extension disable minitape.cli.server``, with ``--user`` where the environment is not yours. What the server's own settings say comes first.
"""

from __future__ import annotations

from typing import Any, TypeAlias

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
    server.config.HTMLExporter.preprocessors.append("minitape.cli.pages.Links")
    for app in server.extension_manager.extension_apps.get("jupyterlab", ()):
        _without_news(app)


def _load_jupyter_server_extension(server: Server) -> None:
    """Called last: all is done by then."""
    server.log.info(f"{NAME} is on")


def _with(addition: type, kind: type) -> type:
    return kind if issubclass(kind, addition) else type(kind.__name__, (addition, kind), {})


def _without_news(lab: Server) -> None:
    """Let JupyterLab ask nobody for news, unless its own settings say what to ask."""
    from jupyterlab import NeverCheckForUpdate

    for trait, value in (("news_url", None), ("check_for_updates_class", NeverCheckForUpdate)):
        if trait not in lab.config.get(type(lab).__name__, {}):
            setattr(lab, trait, value)
