"""Runs the lesson that is named first, and writes each ``TapeView`` and ``Moving`` that it shows into the folder that
is named second.

Prints a JSON object: id of a cell -> the text of each view that it shows, and the name of its file. ``minitape site``
runs this as a program.
"""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from minitape.common.read_data import MAX_NOTEBOOK_SIZE, read_json
from minitape.course import Moving
from minitape_widgets import TapeView

# A page tells the lesson around it how high it is, and is told whether that one is light or dark. It does not fill its
# frame, which would follow it.
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


def write_view_for_frame(view: TapeView | Moving, target_path: Path) -> None:
    """Write a view as a page for a frame of another page."""
    target_path.parent.mkdir(parents=True, exist_ok=True)
    view.save(target_path)
    with open(target_path, "a", encoding="utf-8") as file:
        file.write(IN_LESSON)


def run_lesson_and_save_views(lesson_path: Path, target_folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Run a lesson, and write each view when its cell has been run: it grows while the cell runs.

    Returns:
        By cell the text of each view that it shows, and the name of its file.
    """
    shell, shown_views = InteractiveShell.instance(), []

    def capture_view(view: Any, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, str]]:
        shown_views.append(view)
        return {"text/plain": repr(view)}, {}

    assert shell.display_formatter is not None
    for view_class in (TapeView, Moving):
        shell.display_formatter.mimebundle_formatter.for_type(view_class, capture_view)
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
