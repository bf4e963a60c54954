"""Run a lesson and write each live view that it shows to a file.

``minitape site`` runs this module as a program with two arguments, the path of the lesson and a folder. The program
writes each ``TapeView`` and ``Moving`` of the lesson to a page in the folder. It prints a JSON object that maps the id
of each cell to the texts and file names of the views that the cell shows.
"""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TypeAlias

from IPython.core.interactiveshell import InteractiveShell

from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.course import Moving
from minitape_widgets import TapeView

View: TypeAlias = TapeView | Moving
VIEW_KEY = "minitape_view"
"""A key in the metadata of an output that stands for a captured view."""
# The page reports its height to the lesson around it, and follows the lesson's light or dark theme. It must not fill
# its frame, because the frame takes its height from the page.
IN_LESSON = """<style>
body { margin: 0 }
html[data-theme="light"], html[data-theme="light"] body { color-scheme: light; background: #fff }
html[data-theme="dark"], html[data-theme="dark"] body { color-scheme: dark; background: #131416 }
</style>
<script>
document.getElementById("view")?.removeAttribute("data-fill");
addEventListener("message", ({ data, source }) => {
  if (source === parent && /^(light|dark)$/.test(data?.theme)) document.documentElement.dataset.theme = data.theme;
});
new ResizeObserver(() => parent.postMessage({ tapeview: document.body.offsetHeight }, "*")).observe(document.body);
</script>
"""


def capture_shown_views(shell: InteractiveShell) -> list[View]:
    """Collect the views that a shell's cells show, because the shell's output contains only the text of each view.

    Args:
        shell: The shell that runs the cells.

    Returns:
        A list to which each view is appended when a cell shows it.
    """
    shown_views: list[View] = []

    def capture_view(
        view: View, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, bool]]:
        shown_views.append(view)
        return {"text/plain": repr(view)}, {VIEW_KEY: True}

    assert shell.display_formatter is not None
    for view_class in (TapeView, Moving):
        shell.display_formatter.mimebundle_formatter.for_type(view_class, capture_view)
    return shown_views


def write_view_for_frame(view: View, target_path: Path) -> None:
    """Write a view as a page that a lesson shows in a frame.

    Args:
        view: The view.
        target_path: The file, whose folders are created if they are missing.
    """
    target_path.parent.mkdir(parents=True, exist_ok=True)
    view.save(target_path)
    with open(target_path, "a", encoding="utf-8") as file:
        file.write(IN_LESSON)


def run_lesson_and_save_views(lesson_path: Path, target_folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Run a lesson and write each view that it shows.

    A view grows while its cell runs, so it is written after the cell has ended.

    Args:
        lesson_path: The notebook.
        target_folder: The folder for the pages.

    Returns:
        (text of the view, file name) pairs, by the id of the cell that shows the views.

    Raises:
        SystemExit: If a cell raises an exception that it is not expected to raise.
    """
    shell = InteractiveShell.instance()
    shown_views = capture_shown_views(shell)
    files_by_cell: dict[str, list[tuple[str, str]]] = {}
    for cell in read_json(lesson_path, MAX_NOTEBOOK_SIZE)["cells"]:
        if cell["cell_type"] != "code":
            continue
        result = shell.run_cell("".join(cell["source"]), store_history=True)
        if not result.success and "raises-exception" not in cell["metadata"].get("tags", ()):
            raise SystemExit(f"cell {cell['id']} failed: {result.error_before_exec or result.error_in_exec!r}")
        for number, view in enumerate(shown_views):
            path = target_folder / f"{cell['id']}-{number}.html"
            write_view_for_frame(view, path)
            files_by_cell.setdefault(cell["id"], []).append((repr(view), path.name))
        shown_views.clear()
    return files_by_cell


if __name__ == "__main__":
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        answer = run_lesson_and_save_views(Path(sys.argv[1]), Path(sys.argv[2]))
    print(json.dumps(answer))
