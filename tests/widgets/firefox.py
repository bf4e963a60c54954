"""Drive Firefox with WebDriver BiDi, a protocol that Firefox itself speaks."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from processes import end_processes
from websocket import create_connection

LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
SECONDS = 300


class Firefox:
    """A Firefox without a window, with one tab.

    Attributes:
        version: The version of the browser.
    """

    def __init__(self, program: str, folder: Path) -> None:
        """Start the browser.

        Args:
            program: The path of Firefox.
            folder: An empty folder for its profile.
        """
        command = [program, "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0"]
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(folder)}
        )
        assert self._process.stderr is not None
        address = next(filter(None, map(LISTENING.search, self._process.stderr)))[1]
        self._socket = create_connection(f"{address}/session", timeout=SECONDS, suppress_origin=True)
        self._count = 0
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self._tab = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        end_processes(self._process)
        if self._process.stderr is not None:
            self._process.stderr.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command, and return its result.

        Args:
            method: The command, such as "session.new".
            parameters: The command's parameters.

        Raises:
            RuntimeError: If Firefox answers with an error.
        """
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:  # Events may come before the answer.
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._count:
                break
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]

    def open_page(self, path: Path, width: int, height: int) -> None:
        """Show a file in a window of this size."""
        self.call("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})
        self.call("browsingContext.navigate", context=self._tab, url=path.as_uri(), wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, after its promise is fulfilled if it is one.

        Raises:
            RuntimeError: If the expression throws.
        """
        answer = self.call(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if answer["type"] != "success":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def type_text(self, text: str) -> None:
        """Press the keys of a text."""
        presses = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self.call(
            "input.performActions", context=self._tab, actions=[{"type": "key", "id": "keyboard", "actions": presses}]
        )
