"""Write notebooks, and open and run them in a real JupyterLab."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator

KERNEL_URL = re.compile(r"/api/(sessions|kernels)\b")
GAVE_UP_MESSAGE = "[anywidget] Failed to initialize model."
"""The message of anywidget after two seconds. Our widgets receive the kernel's messages nevertheless."""


def wait_for_frame(page: Any) -> None:
    """Wait until the last change has been drawn, which happens once per frame.

    Args:
        page: The Playwright page.
    """
    page.evaluate("new Promise(requestAnimationFrame)")


def read_box(element: Locator) -> dict[str, float]:
    """Return where an element is on the screen. A view that is being drawn again may hide it for a moment.

    Args:
        element: The element that is or will be visible.

    Returns:
        Its box on the screen in pixels: "x", "y", "width" and "height".
    """
    while (box := element.bounding_box()) is None:
        # Not an expectation that it is visible: Playwright calls a line that is straight, and so has no width, hidden.
        element.page.evaluate("() => new Promise(requestAnimationFrame)")
    return box


def write_notebook(path: Path, *cells: str | dict[str, Any], **metadata: Any) -> None:
    """Write a notebook.

    Args:
        path: The file.
        cells: The cells. A string stands for a code cell.
        metadata: The notebook's metadata, in addition to the kernel.
    """
    empty_cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cell_nodes = [
        {"id": f"c{k}"} | (cell if isinstance(cell, dict) else empty_cell | {"source": cell})
        for k, cell in enumerate(cells)
    ]
    metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(json.dumps({"cells": cell_nodes, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))


class Notebook:
    """A notebook that is open in JupyterLab.

    Attributes:
        page: The Playwright page.
        errors: The errors that the page reported.
        kernel_requests: The requests that changed a kernel, for failure messages.
        file: The name of the notebook.
        url: The URL of the notebook in a separate workspace, including the token.
    """

    def __init__(self, page: Any, address: str, name: str, opens: bool = True) -> None:
        """Prepare a page for the notebook `name` on the server at `address`. Open the page if `opens` is true."""
        self.page, self.errors, self.kernel_requests = page, [], []
        # Other tests may slow this test down. The dialog also lists other sessions, so it is identified by its title.
        page.set_default_timeout(90000)
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
        """Record a page error, except for anywidget's timeout, which occurs on busy machines."""
        if not error.startswith(GAVE_UP_MESSAGE):
            self.errors.append(error)

    def note_kernel_request(self, request: Any) -> None:
        """Record a request that changes a kernel or a session, for failure messages."""
        if request.method != "GET" and KERNEL_URL.search(request.url):
            self.kernel_requests.append(
                f"{request.method} {request.url.split('/api/')[1].split('?')[0]} {request.post_data or ''}"
            )

    def answer_dialog(self, dialog: Any) -> None:
        """Accept the dialog in which JupyterLab asks for a kernel. The dialog appears on busy machines.

        The button is found by its class, because its accessible name differs from its label.
        """
        self.kernel_requests.append("the dialog that asks for a kernel")
        dialog.locator("button.jp-mod-accept").click()

    def open_page(self) -> None:
        """Open the notebook, and wait until its kernel is idle."""
        self.page.goto(self.url)
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=300_000)

    def run_cell(self, cell: int) -> None:
        """Run a cell and wait until it has finished.

        Args:
            cell: The index of the cell among the code cells, starting from 0.
        """
        earlier_prompt = self.read_prompt(cell)
        for _ in range(30):  # JupyterLab ignores attempts to run a cell before the kernel is connected, so try again.
            self.start_cell(cell)
            self.page.wait_for_timeout(100)
            # While a cell is running or being redrawn, its prompt contains no number.
            while not re.fullmatch(r"\[( |\d+)\]:", current_prompt := self.read_prompt(cell)):
                self.page.wait_for_timeout(50)
            if current_prompt not in (earlier_prompt, "[ ]:"):
                return
        raise AssertionError(f"cell {cell} does not run")

    def start_cell(self, cell: int) -> None:
        """Run a cell without waiting for it."""
        self.page.locator(".jp-CodeCell .jp-InputArea-editor").nth(cell).click()
        self.page.keyboard.press("Shift+Enter")

    def read_prompt(self, cell: int) -> str:
        """Return the prompt of a code cell, such as "[1]:"."""
        return self.page.locator(".jp-CodeCell .jp-InputPrompt").nth(cell).inner_text().strip()

    def wait_until(self, condition: str) -> None:
        """Wait until a JavaScript expression becomes true in the page.

        Args:
            condition: The expression.

        Raises:
            AssertionError: If the expression is not true within five minutes. The message contains the outputs of all
                cells.
        """
        try:
            self.page.wait_for_function(condition, timeout=300_000)
        except PlaywrightError as error:
            outputs = self.page.locator(".jp-OutputArea").all_inner_texts()
            raise AssertionError(
                "\n---\n".join([f"not true within five minutes: {condition}", *self.kernel_requests, *outputs])
            ) from error

    def read_output(self, cell: int) -> str:
        """Return the output of a code cell once the page shows it, possibly after the cell has finished."""
        self.wait_until(
            f"document.querySelectorAll('.jp-CodeCell')[{cell}]?.querySelector('.jp-OutputArea')?.textContent.trim()"
        )
        return self.page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea").text_content()
