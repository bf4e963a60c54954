"""What `deploy/jupyterhub` starts learners' servers with: one that ends while it starts is reported at once.

JupyterHub itself first asks a server that has ended for an answer until `http_timeout` is over,
and then names no reason.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from jupyterhub.spawner import LocalProcessSpawner

PAUSE = 0.1  # seconds between two looks


class ServerEnded(RuntimeError):
    """A learner's server ended before it answered; the page that the learner sees has the same words."""

    def __init__(self, name: str, code: int) -> None:
        why = (
            "the learner cannot run the hub's Python"
            if code in (126, 127)
            else "its own message is above this line in the hub's output"
        )
        self.jupyterhub_message = f"The server of {name} ended with code {code} while it started: {why}."
        super().__init__(self.jupyterhub_message)


class Watching:
    """Put before a spawner of local processes: `start` is over when the server can be reached."""

    async def start(self) -> tuple[str, int]:
        """The server's address. Raises ServerEnded where its process ends first."""
        spawner: Any = super()  # JupyterHub's spawner that this comes before
        address: tuple[str, int] = await spawner.start()
        while not await _reached(*address):
            code = await spawner.poll()
            if code is not None:
                raise ServerEnded(spawner.user.name, code)
            await asyncio.sleep(PAUSE)
        return address


async def _reached(ip: str, port: int) -> bool:
    with suppress(OSError):
        _, writer = await asyncio.open_connection(ip, port)
        writer.close()
        return True
    return False


class ClassSpawner(Watching, LocalProcessSpawner):
    """A process for each learner, with the rights of their account."""
