"""Views in a notebook's outputs: what is saved of them, and that a cell that runs again keeps none of its old ones."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jupyter_client import KernelManager

from minitape.cli.check_notebooks import check_notebook
from minitape.cli.save import run_and_save_notebook
from tests.jupyterlab_page import write_notebook

IMPORTS = "import minitape as tf\nfrom minitape_widgets import TapeView\nfrom IPython.display import display\n"
EARLY = IMPORTS + 'x = tf.Variable(2.0, name="x")\ntape = tf.GradientTape()\ndisplay(TapeView(tape))'
CELL = 'x = tf.Variable(2.0, name="x")\nwith tf.GradientTape() as tape:\n    y = x * x\nTapeView(tape)'


@pytest.mark.long
def test_a_view_that_was_shown_early_is_saved_with_the_picture_of_the_end(tmp_path):
    write_notebook(
        tmp_path / "early.ipynb", EARLY, "with tape:\n    y = x * x * x", "print(tape.gradient(y, x).numpy())"
    )
    run_and_save_notebook(tmp_path / "early.ipynb")
    (output,) = json.loads((tmp_path / "early.ipynb").read_text(encoding="utf-8"))["cells"][0]["outputs"]
    assert "".join(output["data"]["text/plain"]) == "TapeView(3 rows, 1 tape)"
    html = "".join(output["data"]["text/html"])
    assert html.startswith('<img src="data:image/svg+xml;base64,') and "∂ 12.0" in html
    assert not check_notebook(tmp_path / "early.ipynb").findings  # though nbval does not see outputs that are replaced


@pytest.fixture
def run() -> Iterator[Callable[..., str]]:
    """Runs code in a kernel as the cell with an id, as JupyterLab does; returns what it prints."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=600)

    def run(code: str, cell: str, **about: Any) -> str:
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = client.session.msg("execute_request", content)
        message["metadata"] = {"cellId": cell, **about}
        client.shell_channel.send(message)
        printed = ""
        while True:
            heard = client.get_iopub_msg(timeout=600)
            if heard["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            assert heard["msg_type"] != "error", heard["content"]
            printed += heard["content"].get("text", "")
            if heard["content"].get("execution_state") == "idle":
                return printed

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


OPEN = (
    "import gc; gc.collect(); print(len([v for v in gc.get_objects() if isinstance(v, TapeView) and v.comm is "
    "not None]))"
)


def test_a_cell_that_runs_again_or_is_deleted_closes_its_old_view(run):
    run(IMPORTS, "a")
    for _ in range(5):
        run(CELL, "b")
    assert run(OPEN, "c") == "1\n"
    run(CELL, "d")
    assert run(OPEN, "c") == "2\n"
    run("1", "e", deletedCells=["d"])
    assert run(OPEN, "c") == "1\n"
    assert run("print(_oh[2])", "f") == "TapeView(2 rows, 1 tape)\n"  # as it was shown


def test_a_view_that_the_program_has_a_name_for_stays_open(run):
    run(IMPORTS, "a")
    run(CELL.replace("TapeView(tape)", "view = TapeView(tape)"), "b")
    for _ in range(3):
        run("view", "c")
    run("1", "d", deletedCells=["c"])
    assert run(OPEN, "e") == "1\n"
