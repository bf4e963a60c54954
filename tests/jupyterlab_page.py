"""A notebook in a real JupyterLab: written, opened in a browser, and run there."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError

KERNEL_URL = re.compile(r"/api/(sessions|kernels)\b")
GAVE_UP_MESSAGE = (
    "[anywidget] Failed to initialize model."  # after two seconds; our widgets hear the kernel all the same
)


def wait_for_frame(page: Any) -> None:
    """Waits until what was changed is drawn: that is done once for each frame."""
    page.evaluate("new Promise(requestAnimationFrame)")


def write_notebook(path: Path, *cells: str | dict[str, Any], **metadata: Any) -> None:
    """Writes a notebook of cells: of code, where only a text is given."""
    empty_cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cell_nodes = [
        {"id": f"c{k}"} | (cell if isinstance(cell, dict) else empty_cell | {"source": cell})
        for k, cell in enumerate(cells)
    ]
    metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(json.dumps({"cells": cell_nodes, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))


class Notebook:
    """One notebook, open in JupyterLab."""

    def __init__(self, page: Any, address: str, name: str, opens: bool = True) -> None:
        self.page, self.errors, self.kernel_requests = page, [], []
        page.set_default_timeout(90000)  # other tests may be running beside this one
        # it lists the other sessions, so that no word of their names may be asked for
        dialog = page.locator("dialog.jp-Dialog").filter(has_text="Select Kernel")
        page.add_locator_handler(dialog, lambda: self.answer_dialog(dialog))
        page.on("pageerror", lambda error: self.note_error(str(error)))
        page.on("request", self.note_kernel_request)
        page.on(
            "console",
            lambda message: (
                self.note_error(message.text) if message.type == "error" and "minitape" in message.text else None
            ),
        )
        self.file = f"{name}.ipynb"
        base, token = address.split("/lab")[0], address.split("token=")[1]
        self.url = f"{base}/lab/workspaces/{name}/tree/{self.file}?token={token}"
        if opens:
            self.open_page()

    def note_error(self, error: str) -> None:
        """Keeps what went wrong in the page; that anywidget gave up waiting, on a busy machine, is no failure."""
        if not error.startswith(GAVE_UP_MESSAGE):
            self.errors.append(error)

    def note_kernel_request(self, request: Any) -> None:
        """Keeps what the page changes of the server's kernels: a failure says it."""
        if request.method != "GET" and KERNEL_URL.search(request.url):
            self.kernel_requests.append(
                f"{request.method} {request.url.split('/api/')[1].split('?')[0]} {request.post_data or ''}"
            )

    def answer_dialog(self, dialog: Any) -> None:
        """On a busy machine JupyterLab asks for the kernel; the button's accessible name is not the word on it."""
        self.kernel_requests.append("the dialog that asks for a kernel")
        dialog.locator("button.jp-mod-accept").click()

    def open_page(self) -> None:
        self.page.goto(self.url)
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=300_000)

    def run_cell(self, cell: int) -> None:
        """Runs a cell and waits for its end."""
        earlier_prompt = self.read_prompt(cell)
        for _ in range(30):  # a cell that is run before the kernel answers is not run at all, so it is tried again
            self.start_cell(cell)
            self.page.wait_for_timeout(100)
            while not re.fullmatch(
                r"\[( |\d+)\]:", current_prompt := self.read_prompt(cell)
            ):  # it runs, or is being drawn anew
                self.page.wait_for_timeout(50)
            if current_prompt not in (earlier_prompt, "[ ]:"):
                return
        raise AssertionError(f"cell {cell} does not run")

    def start_cell(self, cell: int) -> None:
        """Runs a cell without waiting for it."""
        self.page.locator(".jp-CodeCell .jp-InputArea-editor").nth(cell).click()
        self.page.keyboard.press("Shift+Enter")

    def read_prompt(self, cell: int) -> str:
        return self.page.locator(".jp-CodeCell .jp-InputPrompt").nth(cell).inner_text().strip()

    def wait_until(self, condition: str) -> None:
        """Waits until an expression is true in the page; on the way out it says what the cells printed."""
        try:
            self.page.wait_for_function(condition, timeout=300_000)
        except PlaywrightError as error:
            outputs = self.page.locator(".jp-OutputArea").all_inner_texts()
            raise AssertionError(
                "\n---\n".join([f"not true within five minutes: {condition}", *self.kernel_requests, *outputs])
            ) from error

    def read_output(self, cell: int) -> str:
        """What a cell printed, once it stands in the page: that may be after the cell's end."""
        self.wait_until(
            f"document.querySelectorAll('.jp-CodeCell')[{cell}]?.querySelector('.jp-OutputArea')?.textContent.trim()"
        )
        return self.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea").text_content()
