"""Communicate with a Jupyter server as a browser does, over its REST API and the kernel's websocket protocol.

This module needs only the standard library and tornado, which is installed with Jupyter.
"""

import asyncio
import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

TIMEOUT_SECONDS = 120.0


class ServerClient:
    """The browser of a single learner.

    Attributes:
        address: The URL of the server, without ``/api``.
        headers: The headers of each request, including the token.
    """

    def __init__(self, address: str, token: str):
        """Create a client for the server at ``address`` without sending a request."""
        self.address, self.headers = address.rstrip("/"), {"Authorization": f"token {token}"}

    def fetch_text(self, path: str, body: Any = None, method: str | None = None) -> str:
        """Send a request and return the response as text.

        Args:
            path: The path relative to the address.
            body: The body of the request, which is sent as JSON.
            method: The HTTP method. The default is POST for requests with a body, and GET otherwise.

        Raises:
            urllib.error.HTTPError: If the server reports an error. Its text is added as a note.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/{path}", data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                error.add_note(f"{path}: {error.read().decode()[:1000]}")
            raise

    def fetch_json(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """Send a request and return the response as JSON; see `fetch_text`."""
        return json.loads(self.fetch_text(path, body, method) or "null")

    def fetch_notebook(self, path: str) -> dict[str, Any]:
        """Return the content of a notebook on the server."""
        return self.fetch_json(f"api/contents/{path}?content=1")["content"]

    def start_session(self, path: str) -> dict[str, Any]:
        """Return the session of a notebook, starting a kernel if necessary."""
        kernel = {"name": "python3"}
        return self.fetch_json(
            "api/sessions", {"path": path, "name": path.rpartition("/")[2], "type": "notebook", "kernel": kernel}
        )

    def open_kernel(self, path: str) -> AbstractContextManager[Callable[[str], list[dict[str, Any]]]]:
        """Open the kernel of a notebook and shut it down at the end of the block.

        Args:
            path: The notebook's path on the server.

        Returns:
            A context manager for a function that runs code in the kernel and returns its outputs.
        """

        @contextmanager
        def run_session():
            session = self.start_session(path)
            try:
                yield lambda code: self.run_codes(session["kernel"]["id"], [code])[0]
            finally:
                self.fetch_text(f"api/sessions/{session['id']}", method="DELETE")

        return run_session()

    def run_codes(self, kernel_id: str, codes: list[str]) -> list[list[dict[str, Any]]]:
        """Run pieces of code in a kernel, one after the other.

        Args:
            kernel_id: The kernel's ID.
            codes: The pieces of code.

        Returns:
            The outputs of each piece of code.
        """
        with ThreadPoolExecutor(1) as executor:  # Playwright's event loop may be running in this thread.
            return executor.submit(asyncio.run, self.run_codes_async(kernel_id, codes)).result()

    async def run_codes_async(self, kernel_id: str, codes: list[str]) -> list[list[dict[str, Any]]]:
        """Run some codes in a kernel; see `run_codes`."""
        address = self.address.replace("http", "ws", 1)
        request = HTTPRequest(
            f"{address}/api/kernels/{kernel_id}/channels?session_id={uuid.uuid4().hex}",
            headers=self.headers,
            connect_timeout=TIMEOUT_SECONDS,
        )
        socket = await websocket_connect(request)
        try:
            return [await asyncio.wait_for(_run_code_in_kernel(socket, code), TIMEOUT_SECONDS) for code in codes]
        finally:
            socket.close()
            while await socket.read_message() is not None:  # The loop ends once the server has closed the connection.
                pass


async def _run_code_in_kernel(socket: WebSocketClientConnection, code: str) -> list[dict[str, Any]]:
    message_id = uuid.uuid4().hex
    content = {
        "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
        "stop_on_error": False,
    }  # fmt: skip
    header = {
        "msg_id": message_id,
        "msg_type": "execute_request",
        "username": "",
        "session": message_id,
        "version": "5.3",
    }
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
    await socket.write_message(json.dumps(message))
    outputs = []
    while True:
        reply = await socket.read_message()
        assert reply is not None, "the server closed the connection to the kernel"
        if isinstance(reply, bytes):  # The message contains the state of a widget and its buffers.
            continue
        reply = json.loads(reply)
        if reply["parent_header"].get("msg_id") != message_id:
            continue
        message_type = reply["msg_type"]
        if message_type == "status" and reply["content"]["execution_state"] == "idle":
            return outputs
        if message_type in ("stream", "error", "display_data", "execute_result"):
            outputs.append({"output_type": message_type, **reply["content"]})


def format_outputs_text(outputs: list[dict[str, Any]]) -> str:
    """Return the text of all streams, tracebacks and results among the outputs."""
    return "".join(
        output.get("text") or "\n".join(output.get("traceback", ())) or output.get("data", {}).get("text/plain", "")
        for output in outputs
    )
