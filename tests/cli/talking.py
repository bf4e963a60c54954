"""Talking to a Jupyter server as a browser does: its REST interface, and the kernel's protocol over a websocket.

Only the standard library and tornado are needed, which comes with Jupyter.
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

LONG = 120.0


class Talk:
    """What one learner's browser asks of the server at ``address``, which ends before ``/api``."""

    def __init__(self, address: str, token: str):
        self.address, self.headers = address.rstrip("/"), {"Authorization": f"token {token}"}

    def text(self, path: str, body: Any = None, method: str | None = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/{path}", data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LONG) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                error.add_note(f"{path}: {error.read().decode()[:1000]}")
            raise

    def json(self, path: str, body: Any = None, method: str | None = None) -> Any:
        return json.loads(self.text(path, body, method) or "null")

    def notebook(self, path: str) -> dict[str, Any]:
        return self.json(f"api/contents/{path}?content=1")["content"]

    def session(self, path: str) -> dict[str, Any]:
        """The session of a notebook; its kernel is started where there is none."""
        kernel = {"name": "python3"}
        return self.json(
            "api/sessions", {"path": path, "name": path.rpartition("/")[2], "type": "notebook", "kernel": kernel}
        )

    def kernel(self, path: str) -> AbstractContextManager[Callable[[str], list[dict[str, Any]]]]:
        """A function that runs code in the notebook's kernel, and gives back the outputs; the kernel ends with the
        block.
        """

        @contextmanager
        def opened():
            session = self.session(path)
            try:
                yield lambda code: self.run(session["kernel"]["id"], [code])[0]
            finally:
                self.text(f"api/sessions/{session['id']}", method="DELETE")

        return opened()

    def run(self, kernel: str, codes: list[str]) -> list[list[dict[str, Any]]]:
        """The outputs of each of some codes, which run one after the other."""
        with ThreadPoolExecutor(1) as elsewhere:  # a browser's event loop may be running in this thread
            return elsewhere.submit(asyncio.run, self.run_async(kernel, codes)).result()

    async def run_async(self, kernel: str, codes: list[str]) -> list[list[dict[str, Any]]]:
        address = self.address.replace("http", "ws", 1)
        request = HTTPRequest(
            f"{address}/api/kernels/{kernel}/channels?session_id={uuid.uuid4().hex}",
            headers=self.headers,
            connect_timeout=LONG,
        )
        socket = await websocket_connect(request)
        try:
            return [await asyncio.wait_for(_run(socket, code), LONG) for code in codes]
        finally:
            socket.close()
            while await socket.read_message() is not None:  # until the server has closed it, too
                pass


async def _run(socket: WebSocketClientConnection, code: str) -> list[dict[str, Any]]:
    asked = uuid.uuid4().hex
    content = {
        "code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
        "stop_on_error": False,
    }  # fmt: skip
    header = {"msg_id": asked, "msg_type": "execute_request", "username": "", "session": asked, "version": "5.3"}
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
    await socket.write_message(json.dumps(message))
    outputs = []
    while True:
        told = await socket.read_message()
        assert told is not None, "the server closed the connection to the kernel"
        if isinstance(told, bytes):  # a widget's state, with its buffers
            continue
        told = json.loads(told)
        if told["parent_header"].get("msg_id") != asked:
            continue
        kind = told["msg_type"]
        if kind == "status" and told["content"]["execution_state"] == "idle":
            return outputs
        if kind in ("stream", "error", "display_data", "execute_result"):
            outputs.append({"output_type": kind, **told["content"]})


def text_of(outputs: list[dict[str, Any]]) -> str:
    """What outputs say, as text."""
    return "".join(
        o.get("text") or "\n".join(o.get("traceback", ())) or o.get("data", {}).get("text/plain", "") for o in outputs
    )
